/*
 * Looking into, tracing and tuning other processes; changes of identity.
 */
#include <errno.h>
#include <linux/ioprio.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/caps.h"
#include "supervisor/crew.h"
#include "supervisor/dumpable.h"
#include "supervisor/idchange.h"
#include "supervisor/ident.h"
#include "supervisor/isolate.h"
#include "supervisor/judge.h"
#include "supervisor/lockdown.h"
#include "supervisor/member.h"
#include "supervisor/tracee.h"
#include "supervisor/tracer.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(setpriority), OWN(ioprio_set));

extern const struct sysc sysc_setpriority, sysc_setgroups, sysc_capset;

static void handle_first(struct call *c)
{
	isolate_pid(c, "trace", call_int(c, 0));
}

static void handle_second(struct call *c)
{
	isolate_pid(c, "trace", call_int(c, 1));
}

static void handle_kcmp(struct call *c)
{
	int other = call_int(c, 1);

	if (!member_is(c->s, other))
		isolate_refuse(c, "trace", other);
	else
		handle_first(c);
}

/* setpriority and ioprio_set on a process or a group; by user would reach strangers (BPF refuses it). */
static void handle_priority(struct call *c)
{
	bool group = call_int(c, 0) == (c->sysc == &sysc_setpriority ? PRIO_PGRP : IOPRIO_WHO_PGRP);
	int who = call_int(c, 1);
	struct member_stat st;

	if (!group) {
		isolate_pid(c, "trace", who);
		return;
	}
	/* Which group 0 means can change at any time: it is named, and the call made here. */
	if (who == 0 && member_stat(c->s, c->tid, &st))
		who = st.pgrp;
	if (!isolate_group_is_own(c->s, who))
		isolate_refuse(c, "trace", -who);
	else if (call_int(c, 1) != 0)
		call_continue(c);
	else if (tracee_check(c) < 0)
		call_gone(c);
	else if (c->sysc == &sysc_setpriority)
		call_result(c, setpriority(PRIO_PGRP, (id_t)who, call_int(c, 2)) < 0 ? -errno : 0);
	else
		call_result(c, syscall(SYS_ioprio_set, call_int(c, 0), who, call_int(c, 2)) < 0 ? -errno : 0);
}

#define DOC_PID "On processes of the session only."
#define ROW(call, fn)                                                                                        \
	const struct sysc sysc_##call = {                                                                    \
		.name = #call,                                                                               \
		.op = "trace",                                                                               \
		.action = SYSC_NOTIFY,                                                                       \
		.handle = fn,                                                                                \
		.doc = DOC_PID,                                                                              \
	}
/* Zero is the caller itself. */
#define ROW_ZERO(call, fn)                                                                                   \
	const struct sysc sysc_##call = {                                                                    \
		.name = #call,                                                                               \
		.op = "trace",                                                                               \
		.action = SYSC_NOTIFY,                                                                       \
		SYSC_WHEN(SYSC_IF(SYSC_ALLOW, ARG_IS(0, 0))),                                                \
		.handle = fn,                                                                                \
		.doc = DOC_PID,                                                                              \
	}

ROW(kcmp, handle_kcmp);
ROW_ZERO(prlimit64, handle_first);
ROW_ZERO(sched_setaffinity, handle_first);
ROW_ZERO(sched_setscheduler, handle_first);
ROW_ZERO(sched_setparam, handle_first);
ROW_ZERO(sched_setattr, handle_first);
ROW_ZERO(migrate_pages, handle_first);
ROW_ZERO(move_pages, handle_first);
ROW_ZERO(get_robust_list, handle_first);

const struct sysc sysc_ptrace = {
	.name = "ptrace",
	.op = "trace",
	.action = SYSC_ALLOW,
	SYSC_WHEN(SYSC_IF(SYSC_NOTIFY, ARG_IS(0, PTRACE_ATTACH)),
		  SYSC_IF(SYSC_NOTIFY, ARG_IS(0, PTRACE_SEIZE))),
	.handle = handle_second,
	.doc = "A process of the session may be traced; other requests act on tracees only.",
};

#define PRIORITY_WHEN(process, user)                                                                         \
	SYSC_WHEN(SYSC_IF(SYSC_ALLOW, ARG_IS(0, process), ARG_IS(1, 0)), SYSC_IF(SYSC_EPERM, ARG_IS(0, user)))

const struct sysc sysc_setpriority = {
	.name = "setpriority",
	.op = "trace",
	.action = SYSC_NOTIFY,
	PRIORITY_WHEN(PRIO_PROCESS, PRIO_USER),
	.handle = handle_priority,
	.doc = DOC_PID,
};
const struct sysc sysc_ioprio_set = {
	.name = "ioprio_set",
	.op = "trace",
	.action = SYSC_NOTIFY,
	PRIORITY_WHEN(IOPRIO_WHO_PROCESS, IOPRIO_WHO_USER),
	.handle = handle_priority,
	.doc = DOC_PID,
};

static bool same_ids(const unsigned a[4], const unsigned b[4])
{
	return a[1] == b[1] && a[3] == b[3];
}

static bool is_one(const unsigned id[4])
{
	return id[0] == id[1] && id[1] == id[2];
}

/*
 * A change of effective or file system ids shuts the process: where root has no SYS_PTRACE, as in containers, its working
 * directory and descriptors could not be looked up any more, nor anything of its forked children. So it is opened again
 * before it goes on. That helps only where real, effective and saved ids are the same: who looks must have all three.
 */
static void open_again(struct tracer_hold *h, const struct tracee_status *before,
		       const struct member_stat *then)
{
	const uint64_t arg[6] = {PR_SET_DUMPABLE, 1};
	struct tracee_status now;
	long result;

	if (tracee_status(h->s, h->pid, &now) < 0 || !is_one(now.uid) || !is_one(now.gid) ||
	    (same_ids(now.uid, before->uid) && same_ids(now.gid, before->gid)))
		return;
	/* By itself it would not be. */
	if (tracer_inject(h, SYS_prctl, arg, &result) == 0 && result == 0)
		dumpable_set(now.tgid, then, false);
}

/* Performs the change of the caller h, if it is held or can be. True when it is to be released. */
static bool change_identity(struct call *c, struct tracer_hold *h, bool held)
{
	struct tracee_status before;
	struct member_stat then = {0};
	struct idchange change;
	bool alone = false;

	if (tracee_status(c->s, c->tid, &before) == 0) {
		dumpable_look(c->s, before.tgid, &then);
		change = (struct idchange){.tgid = before.tgid, .ppid = before.ppid, .stack = then.stack};
		alone = idchange_begin(&change);
	}
	/* In the middle of another thread's change the process was shut. */
	if (alone && !held)
		held = tracer_hold(c, h, false) == 0;
	if (alone && dumpable_look(c->s, before.tgid, &then)) {
		tracee_pin(c, &before);
		if (held) {
			call_continue(c);
			if (tracer_wait(h) == TRACER_STOPPED)
				open_again(h, &before, &then);
		}
	}
	if (alone)
		idchange_end(&change);
	if (!c->answered)
		call_continue(c);
	return held;
}

/*
 * From now on a process may be another user than the command was at its start, so every caller's identity is looked at.
 * Set before the kernel performs the change.
 */
static void handle_identity(struct call *c)
{
	struct tracer_hold h;

	atomic_store(&c->s->identity_changed, true);
	/* Groups and capabilities leave the memory as readable as it was; SYS_PTRACE reads it anyway. */
	if (c->sysc == &sysc_setgroups || c->sysc == &sysc_capset || caps_may_ptrace() ||
	    !crew_step_aside(c)) {
		call_continue(c);
		return;
	}
	/* First, since it may take as long as another program likes, and for the change its kin wait. One that is traced by
	 * another cannot be held: its memory stays readable, the rest does not. */
	if (change_identity(c, &h, tracer_hold(c, &h, false) == 0))
		tracer_release(&h);
}

#define ROW_IDENTITY(call)                                                                                   \
	const struct sysc sysc_##call = {                                                                    \
		.name = #call,                                                                               \
		.op = "identity",                                                                            \
		.action = SYSC_NOTIFY,                                                                       \
		.needs = FEATURE_IDENT,                                                                      \
		.handle = handle_identity,                                                                   \
		.doc = "Left to the kernel; a command that starts with capabilities is asked who it is "     \
		       "from then on.",                                                                      \
	}

ROW_IDENTITY(setuid);
ROW_IDENTITY(setgid);
ROW_IDENTITY(setreuid);
ROW_IDENTITY(setregid);
ROW_IDENTITY(setresuid);
ROW_IDENTITY(setresgid);
ROW_IDENTITY(setfsuid);
ROW_IDENTITY(setfsgid);
ROW_IDENTITY(setgroups);
ROW_IDENTITY(capset);
