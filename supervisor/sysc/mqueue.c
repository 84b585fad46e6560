/*
 * POSIX message queues. Opened by the supervisor, under names of the session's own.
 *
 * What is sent and received goes by a descriptor, and a plain open(2) of a file in /dev/mqueue makes such a descriptor too.
 * Where the supervisor decides opens, none to a stranger's queue exists inside, so the kernel may do the rest. Where
 * reads are left to the kernel nobody sees such an open: there messages go through a descriptor of the supervisor's own,
 * which was found to be of a queue of the session.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "supervisor/crew.h"
#include "supervisor/dispatch.h"
#include "supervisor/lockdown.h"
#include "supervisor/mqueue.h"
#include "supervisor/path.h"
#include "supervisor/pending.h"
#include "supervisor/refusal.h"
#include "supervisor/tracee.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(openat), OWN(close), OWN(fstatfs), OWN_OLD(readlink, readlinkat),
	  OWN(mq_getsetattr), OWN(mq_timedsend), OWN(mq_timedreceive));

#ifndef MQUEUE_MAGIC
#define MQUEUE_MAGIC 0x19800202
#endif

static int copy_attributes(struct call *c, struct mq_attr *attr)
{
	return c->arg[3] ? tracee_read(c, c->arg[3], attr, sizeof(*attr)) : 0;
}

static void handle_mq_open(struct call *c)
{
	struct tracee_status st;
	struct mq_attr attr;
	int rc = copy_attributes(c, &attr);

	if (rc == 0)
		rc = tracee_path(c, c->arg[0], c->path[0]);
	if (rc >= 0)
		rc = tracee_status(c->s, c->tid, &st);
	if (rc < 0) {
		path_copy_failed(c, rc);
		return;
	}
	if (tracee_check(c) < 0) {
		call_gone(c);
		return;
	}
	/* As the kernel: an empty name, then the number, then the queue. */
	if (c->path[0][0] && !tracee_has_free_numbers(c, 1)) {
		call_error(c, EMFILE);
		return;
	}
	c->event.op = "ipc";
	rc = mqueues_open(c->s->mqueues, c->path[0], call_int(c, 1), (mode_t)call_int(c, 2) & ~st.umask,
			  c->arg[3] ? &attr : NULL);
	if (rc < 0)
		call_error(c, -rc);
	else
		call_fd(c, rc, true);
}

static void handle_mq_unlink(struct call *c)
{
	int rc = tracee_path(c, c->arg[0], c->path[0]);

	if (rc < 0) {
		path_copy_failed(c, rc);
		return;
	}
	if (tracee_check(c) < 0) {
		call_gone(c);
		return;
	}
	c->event.op = "ipc";
	call_result(c, mqueues_unlink(c->s->mqueues, c->path[0]));
}

/* A queue's file is one of the session's by its name, which no other session can make. */
static bool is_own(struct call *c, int pin)
{
	char name[PATH_MAX], proc[PATH_PROC_SIZE];
	ssize_t n = readlink(path_proc(pin, proc), name, sizeof(name) - 1);
	const char *last;

	if (n <= 0)
		return false;
	name[n] = '\0';
	last = strrchr(name, '/');
	return last && mqueues_is_own(c->s->mqueues, last);
}

/*
 * A descriptor of our own to the queue behind the caller's, for reading or writing, which blocks if the caller's does. As
 * the caller's was opened so may be this one, unless the queue's mode has changed since. -errno: none.
 */
static int own_queue(struct call *c, int accmode)
{
	int fd = call_int(c, 0), flags = tracee_fd_flags(c, fd), pin, rc;
	char proc[PATH_PROC_SIZE];
	struct statfs fs;

	pin = flags < 0 ? -EBADF : tracee_fd(c, fd);
	if (pin < 0)
		return pin;
	if (flags & O_PATH || fstatfs(pin, &fs) < 0 || fs.f_type != MQUEUE_MAGIC ||
	    ((flags & O_ACCMODE) != O_RDWR && (flags & O_ACCMODE) != accmode)) {
		rc = -EBADF;
	} else if (!is_own(c, pin)) {
		rc = -refusal_firm(c, "ipc", "process isolation (built-in)", EBADF,
				   "a message queue that is not of this session was refused");
	} else {
		rc = open(path_proc(pin, proc), accmode | (flags & O_NONBLOCK) | O_CLOEXEC);
		rc = rc < 0 ? -errno : rc;
	}
	close(pin);
	return rc;
}

/* A message on its way: the copied timeout, and room for as much as the queue takes. */
struct transfer {
	int fd;
	size_t len; /* as asked for */
	struct timespec timeout;
	bool timed;
	char *text;
	size_t room;
	unsigned priority;
};

/* 0 or -errno. With 0 the end is transfer_end(). */
static int transfer_begin(struct call *c, struct transfer *t, int accmode)
{
	struct mq_attr attr;
	int rc = 0;

	*t = (struct transfer){.fd = -1, .len = c->arg[2], .timed = c->arg[4] != 0};
	if (t->timed)
		rc = tracee_read(c, c->arg[4], &t->timeout, sizeof(t->timeout));
	if (rc < 0)
		return rc;
	t->fd = own_queue(c, accmode);
	if (t->fd < 0)
		return t->fd;
	if (syscall(SYS_mq_getsetattr, t->fd, NULL, &attr) < 0)
		rc = -errno;
	t->room = rc == 0 ? (size_t)attr.mq_msgsize : 0;
	t->text = rc == 0 ? malloc(t->room) : NULL;
	if (!t->text) {
		close(t->fd);
		return rc ? rc : -ENOMEM;
	}
	return 0;
}

static void transfer_end(struct transfer *t)
{
	free(t->text);
	close(t->fd);
}

/* Performs it, which may take as long as it likes. True when there is a result to answer, in *rc. */
static bool transfer_perform(struct call *c, struct transfer *t, long number, long *rc)
{
	enum crew_wake wake;

	if (tracee_check(c) < 0) {
		call_gone(c);
		return false;
	}
	if (!crew_block_begin(c)) {
		*rc = -EAGAIN;
		return true;
	}
	*rc = number == SYS_mq_timedsend
		      ? syscall(number, t->fd, t->text, t->len, c->arg[3], t->timed ? &t->timeout : NULL)
		      : syscall(number, t->fd, t->text, t->len, &t->priority, t->timed ? &t->timeout : NULL);
	if (*rc < 0)
		*rc = -errno;
	wake = crew_block_end(c);
	if (wake == CREW_GONE)
		call_gone(c);
	else if (*rc == -EINTR && wake == CREW_SIGNAL)
		pending_restart(c);
	else
		return true;
	return false;
}

static void handle_mq_timedsend(struct call *c)
{
	struct transfer t;
	long rc = transfer_begin(c, &t, O_WRONLY);

	if (rc < 0) {
		path_copy_failed(c, (int)rc);
		return;
	}
	/* A longer one the kernel refuses without looking at it. */
	if (t.len <= t.room)
		rc = tracee_read(c, c->arg[1], t.text, t.len);
	if (rc < 0)
		path_copy_failed(c, (int)rc);
	else if (transfer_perform(c, &t, SYS_mq_timedsend, &rc))
		call_result(c, (int)rc);
	transfer_end(&t);
}

static void handle_mq_timedreceive(struct call *c)
{
	struct transfer t;
	long rc = transfer_begin(c, &t, O_RDONLY);

	if (rc < 0) {
		path_copy_failed(c, (int)rc);
		return;
	}
	if (transfer_perform(c, &t, SYS_mq_timedreceive, &rc)) {
		int written = rc < 0 ? 0 : tracee_check(c);

		if (rc >= 0 && written == 0 && c->arg[3])
			written = tracee_write(c, c->arg[3], &t.priority, sizeof(t.priority));
		if (rc >= 0 && written == 0)
			written = tracee_write(c, c->arg[1], t.text, (size_t)rc);
		call_result(c, written < 0 ? written : (int)rc);
	}
	transfer_end(&t);
}

#define DOC_NAME "Queues of the session only, under names of its own, and removed at its end."
#define DOC_USE                                                                                              \
	"On what mq_open gave. Where reads are left to the kernel, which opens others' queues by name, the " \
	"supervisor performs it on a queue of the session."
#define ROW(call, text, ...)                                                                                 \
	const struct sysc sysc_##call = {                                                                    \
		.name = #call,                                                                               \
		.op = "ipc",                                                                                 \
		.action = SYSC_NOTIFY,                                                                       \
		__VA_ARGS__.handle = handle_##call,                                                          \
		.doc = text,                                                                                 \
	}
#define ALLOW_WITH_READS SYSC_WHEN(SYSC_IF_ON(FEATURE_READS, SYSC_ALLOW, {0})),

ROW(mq_open, DOC_NAME, );
ROW(mq_unlink, DOC_NAME, );
ROW(mq_timedsend, DOC_USE, ALLOW_WITH_READS);
ROW(mq_timedreceive, DOC_USE, ALLOW_WITH_READS);

/* Not performed: the one who is told of a message would be the supervisor. */
const struct sysc sysc_mq_notify = {
	.name = "mq_notify",
	.action = SYSC_ALLOW,
	SYSC_WHEN(SYSC_IF_OFF(FEATURE_READS, SYSC_ENOSYS, {0})),
	.doc = "On what mq_open gave; absent where reads are left to the kernel, which opens others' queues "
	       "by name.",
};
