/*
 * Signals to processes.
 *
 * A number in a register is judged and the call continued. Groups and "all" would reach strangers (the process the user
 * started, the other commands of its pipeline): they are sent by the supervisor, to members only, unless the group
 * consists of members.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/compat.h"
#include "supervisor/isolate.h"
#include "supervisor/judge.h"
#include "supervisor/lockdown.h"
#include "supervisor/member.h"
#include "supervisor/path.h"
#include "supervisor/tracee.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(kill), OWN(close), OWN(pidfd_send_signal));

#define EVERYONE (-1)

struct sending {
	struct session *s;
	int sig;
	pid_t pgrp;   /* EVERYONE; 0: the one that this pid namespace has no number for */
	pid_t except; /* kill(-1) spares the caller */
	int sent, failed;
};

static bool send_one(pid_t pid, void *arg)
{
	struct sending *x = arg;
	struct member_stat st;

	if (pid == x->except)
		return true;
	if (x->pgrp != EVERYONE && (!member_stat(x->s, pid, &st) || st.pgrp != x->pgrp))
		return true;
	if (kill(pid, x->sig) == 0)
		x->sent++;
	else if (x->pgrp != EVERYONE || errno != EPERM)
		x->failed = errno;
	else /* those of others that -1 meets are passed over */
		x->sent++;
	return true;
}

static void send_many(struct call *c, pid_t pgrp, pid_t except, int sig)
{
	struct sending x = {.s = c->s, .sig = sig, .pgrp = pgrp, .except = except};

	if (pgrp != EVERYONE && (sig < 0 || sig > 64)) {
		call_error(c, EINVAL);
		return;
	}
	if (tracee_check(c) < 0) {
		call_gone(c);
		return;
	}
	member_each(c->s, send_one, &x);
	if (x.sent)
		call_return(c, 0);
	else if (x.failed)
		call_error(c, x.failed);
	else if (pgrp > 0)
		isolate_refuse(c, "signal", -pgrp);
	else
		call_error(c, ESRCH);
}

/* pid 0. The group that cordon was started in may be one of another pid namespace. */
static void kill_own_group(struct call *c, int sig)
{
	struct member_stat st;

	if (!member_stat(c->s, c->tid, &st))
		call_error(c, ESRCH);
	else if (st.pgrp <= 0 || !isolate_group_is_own(c->s, st.pgrp))
		send_many(c, st.pgrp, 0, sig);
	else if (tracee_check(c) < 0) /* which group 0 means can change at any time, so it is named */
		call_gone(c);
	else
		call_result(c, kill(-st.pgrp, sig) < 0 ? -errno : 0);
}

static void handle_kill(struct call *c)
{
	int pid = call_int(c, 0), sig = call_int(c, 1);
	struct tracee_status who;

	if (pid > 0) {
		isolate_pid(c, "signal", pid);
	} else if (pid == -1) {
		if (tracee_status(c->s, c->tid, &who) < 0)
			call_error(c, EPERM);
		else
			send_many(c, EVERYONE, who.tgid, sig);
	} else if (pid == INT_MIN) {
		call_error(c, ESRCH); /* as the kernel: its negation is no number */
	} else if (pid == 0) {
		kill_own_group(c, sig);
	} else if (isolate_group_is_own(c->s, -pid)) {
		call_continue(c);
	} else {
		send_many(c, -pid, 0, sig);
	}
}

static void handle_first(struct call *c)
{
	isolate_pid(c, "signal", call_int(c, 0));
}

/* The kernel looks at the flags first; which there are depends on its version. */
static bool has_unknown_flags(unsigned flags)
{
	return syscall(SYS_pidfd_send_signal, -1, 0, NULL, flags) < 0 && errno == EINVAL;
}

/* For a process, or for the group that has its number. False: refused. */
static bool may_send(struct call *c, pid_t pid, unsigned flags)
{
	bool to_group = flags & COMPAT_PIDFD_SIGNAL_PROCESS_GROUP;

	if (to_group ? isolate_group_is_own(c->s, pid) : member_is(c->s, pid))
		return true;
	isolate_refuse(c, "signal", to_group ? -pid : pid);
	return false;
}

/* These numbers stand for the caller, or are none: no descriptor has them. */
static bool is_self(int fd)
{
	return fd == COMPAT_PIDFD_SELF_THREAD || fd == COMPAT_PIDFD_SELF_THREAD_GROUP ||
	       fd == COMPAT_PIDFD_SELF_THREAD_GROUP_OLD;
}

static void send_to_self(struct call *c)
{
	struct tracee_status st;

	if (tracee_status(c->s, c->tid, &st) < 0)
		call_gone(c);
	else if (may_send(c, call_int(c, 0) == COMPAT_PIDFD_SELF_THREAD ? c->tid : st.tgid,
			  (unsigned)c->arg[3]))
		call_continue(c);
}

/* By a descriptor of our own: the caller could make its number mean another process meanwhile. */
static void send_by(struct call *c, int fd, pid_t pid)
{
	unsigned flags = (unsigned)c->arg[3];
	siginfo_t info;
	int rc = 0;

	if (c->arg[2])
		rc = tracee_read(c, c->arg[2], &info, sizeof(info));
	if (rc < 0) {
		path_copy_failed(c, rc);
		return;
	}
	if (!may_send(c, pid, flags))
		return;
	if (tracee_check(c) < 0) {
		call_gone(c);
		return;
	}
	rc = (int)syscall(SYS_pidfd_send_signal, fd, call_int(c, 1), c->arg[2] ? &info : NULL, flags);
	call_result(c, rc < 0 ? -errno : 0);
}

static void handle_pidfd_send_signal(struct call *c)
{
	pid_t pid;
	int fd;

	if (has_unknown_flags((unsigned)c->arg[3])) {
		call_error(c, EINVAL);
		return;
	}
	if (is_self(call_int(c, 0))) {
		send_to_self(c);
		return;
	}
	fd = tracee_pidfd(c, call_int(c, 0), &pid);
	if (fd < 0) {
		path_copy_failed(c, fd);
		return;
	}
	send_by(c, fd, pid);
	close(fd);
}

#define DOC_PID "Reaches processes of the session only."
#define ROW(call, fn, text)                                                                                  \
	const struct sysc sysc_##call = {                                                                    \
		.name = #call,                                                                               \
		.op = "signal",                                                                              \
		.action = SYSC_NOTIFY,                                                                       \
		.handle = fn,                                                                                \
		.doc = text,                                                                                 \
	}

ROW(kill, handle_kill,
    "Reaches processes of the session only; a group or -1 means its members in the session.");
ROW(tkill, handle_first, DOC_PID);
ROW(tgkill, handle_first, DOC_PID);
ROW(rt_sigqueueinfo, handle_first, DOC_PID);
ROW(rt_tgsigqueueinfo, handle_first, DOC_PID);
ROW(pidfd_open, handle_first, DOC_PID);
ROW(pidfd_send_signal, handle_pidfd_send_signal, "Sent by the supervisor, to processes of the session only.");
