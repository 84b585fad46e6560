/*
 * System V objects. Made by the supervisor, under keys of the session's own; used by the kernel, since their ids are
 * registers: what was judged is what the kernel acts on.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

#include "supervisor/judge.h"
#include "supervisor/sysv.h"
#include "supervisor/tracee.h"

static void get(struct call *c, enum sysv_kind kind, uint64_t size, int flags)
{
	int rc;

	c->event.op = "ipc";
	if (tracee_check(c) < 0) {
		call_gone(c);
		return;
	}
	rc = sysv_get(c->s->sysv, kind, (key_t)call_int(c, 0), size, flags);
	call_result(c, rc);
}

static void handle_shmget(struct call *c)
{
	get(c, SYSV_SHM, c->arg[1], call_int(c, 2));
}

static void handle_semget(struct call *c)
{
	get(c, SYSV_SEM, c->arg[1], call_int(c, 2));
}

static void handle_msgget(struct call *c)
{
	get(c, SYSV_MSG, 0, call_int(c, 1));
}

/* As an id that does not exist; when it is a stranger's, a record tells. */
static void refuse(struct call *c, enum sysv_kind kind, int id)
{
	if (id < 0 || sysv_at(kind, id) != id) {
		call_error(c, EINVAL);
		return;
	}
	snprintf(c->message, sizeof(c->message),
		 "%s on System V id %d refused: the object is not of this session", c->sysc->name, id);
	if (judge_refuse(c, "ipc", "process isolation (built-in)", EINVAL, c->message) == 0)
		call_continue(c);
	else
		call_error(c, EINVAL);
}

static void use(struct call *c, enum sysv_kind kind)
{
	int id = call_int(c, 0);

	c->event.op = "ipc";
	if (sysv_is_own(c->s->sysv, kind, id))
		call_continue(c);
	else
		refuse(c, kind, id);
}

/* Performed here, so that the key is free at once. */
static void remove_object(struct call *c, enum sysv_kind kind)
{
	int id = call_int(c, 0);

	c->event.op = "ipc";
	if (!sysv_is_own(c->s->sysv, kind, id))
		refuse(c, kind, id);
	else if (tracee_check(c) < 0)
		call_gone(c);
	else
		call_result(c, sysv_remove(c->s->sysv, kind, id));
}

/* The number is a place in the kernel's table here, and strangers' places look empty. */
static void stat_place(struct call *c, enum sysv_kind kind)
{
	int id = sysv_at(kind, call_int(c, 0));

	if (id >= 0 && !sysv_is_own(c->s->sysv, kind, id))
		id = -EINVAL;
	if (id < 0)
		call_error(c, -id);
	else
		call_continue(c);
}

static void handle_shm(struct call *c)
{
	use(c, SYSV_SHM);
}

static void handle_sem(struct call *c)
{
	use(c, SYSV_SEM);
}

static void handle_msg(struct call *c)
{
	use(c, SYSV_MSG);
}

/* stat, stat_any: the commands whose number is a place. */
static void control(struct call *c, enum sysv_kind kind, int cmd, int stat, int stat_any)
{
	if (cmd == IPC_RMID)
		remove_object(c, kind);
	else if (cmd == stat || cmd == stat_any)
		stat_place(c, kind);
	else
		use(c, kind);
}

static void handle_shmctl(struct call *c)
{
	control(c, SYSV_SHM, call_int(c, 1), SHM_STAT, SHM_STAT_ANY);
}

static void handle_semctl(struct call *c)
{
	control(c, SYSV_SEM, call_int(c, 2), SEM_STAT, SEM_STAT_ANY);
}

static void handle_msgctl(struct call *c)
{
	control(c, SYSV_MSG, call_int(c, 1), MSG_STAT, MSG_STAT_ANY);
}

#define DOC_GET "Made by the supervisor, under keys of the session's own, and removed at its end."
#define DOC_USE "On objects of the session only; another id answers EINVAL, as one that does not exist."
#define DOC_CTL DOC_USE " The kernel's limits are free to read."
#define ROW(call, fn, text)                                                                                  \
	const struct sysc sysc_##call = {                                                                    \
		.name = #call,                                                                               \
		.op = "ipc",                                                                                 \
		.action = SYSC_NOTIFY,                                                                       \
		.handle = fn,                                                                                \
		.doc = text,                                                                                 \
	}
#define ROW_CTL(call, command, info)                                                                         \
	const struct sysc sysc_##call = {                                                                    \
		.name = #call,                                                                               \
		.op = "ipc",                                                                                 \
		.action = SYSC_NOTIFY,                                                                       \
		SYSC_WHEN(SYSC_IF(SYSC_ALLOW, ARG_IS(command, IPC_INFO)),                                    \
			  SYSC_IF(SYSC_ALLOW, ARG_IS(command, info))),                                       \
		.handle = handle_##call,                                                                     \
		.doc = DOC_CTL,                                                                              \
	}

ROW(shmget, handle_shmget, DOC_GET);
ROW(semget, handle_semget, DOC_GET);
ROW(msgget, handle_msgget, DOC_GET);
ROW(shmat, handle_shm, DOC_USE);
ROW(semop, handle_sem, DOC_USE);
ROW(semtimedop, handle_sem, DOC_USE);
ROW(msgsnd, handle_msg, DOC_USE);
ROW(msgrcv, handle_msg, DOC_USE);
ROW_CTL(shmctl, 1, SHM_INFO);
ROW_CTL(semctl, 2, SEM_INFO);
ROW_CTL(msgctl, 1, MSG_INFO);
