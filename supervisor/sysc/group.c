/*
 * setpgid: who is in a process group meets what a terminal sends to it. A member in the background of a job of the
 * user's would have the kernel stop that job (SIGTTOU), so only groups of the session are joined, and the one that the
 * command started in.
 *
 * All that decides lies in registers, so what was judged is what the kernel does. Whose group may be changed it decides:
 * the caller's own and its children's, which are members.
 */
#include <errno.h>
#include <signal.h>
#include <sys/types.h>

#include "supervisor/isolate.h"
#include "supervisor/lockdown.h"
#include "supervisor/member.h"
#include "supervisor/tracee.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(kill));

/* A group that a member leads was made by it, and outsiders do not join it. */
static bool may_join(struct session *s, pid_t group)
{
	struct member_stat leader;

	if (group == s->group)
		return true;
	if (member_stat(s, group, &leader) && leader.pgrp == group && member_is(s, group))
		return true;
	return isolate_group_is_own(s, group);
}

/* No news is what the kernel would have refused as well: no such group, or one of another session of terminals. */
static void refuse(struct call *c, pid_t group)
{
	struct member_stat caller, leader;

	if (!member_stat(c->s, c->tid, &caller) || (kill(-group, 0) < 0 && errno == ESRCH) ||
	    (member_stat(c->s, group, &leader) && leader.session != caller.session))
		call_error(c, EPERM);
	else
		isolate_refuse(c, "group", -group);
}

static void handle_setpgid(struct call *c)
{
	pid_t pid = call_int(c, 0), group = call_int(c, 1);
	struct tracee_status st;
	struct member_stat stat;

	if (pid == 0 && tracee_status(c->s, c->tid, &st) == 0)
		pid = st.tgid;
	/* A new group, or no valid number. */
	if (group < 0 || group == pid || may_join(c->s, group))
		call_continue(c);
	else if (!member_stat(c->s, pid, &stat))
		call_error(c, ESRCH);
	else
		refuse(c, group);
}

const struct sysc sysc_setpgid = {
	.name = "setpgid",
	.op = "group",
	.action = SYSC_NOTIFY,
	SYSC_WHEN(SYSC_IF(SYSC_ALLOW, ARG_IS(1, 0))),
	.handle = handle_setpgid,
	.doc = "Joins groups of the session's processes only, and the one that the command started in; a new "
	       "group of "
	       "one's own is free.",
};
