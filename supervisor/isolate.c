#include "supervisor/isolate.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/judge.h"
#include "supervisor/landlock.h"
#include "supervisor/listing.h"
#include "supervisor/lockdown.h"
#include "supervisor/member.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(kill), OWN(openat), OWN(close), OWN_READDIR);

/* Nobody can let through what Landlock refuses: signals to others, and what needs the leave that ptrace(2) does. */
static bool landlock_refuses(const struct call *c)
{
	static const char *const looks[] = {"ptrace",	  "process_vm_readv", "process_vm_writev", "kcmp",
					    "move_pages", "migrate_pages",    "get_robust_list"};
	static const char *const signals[] = {
		"kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal"};
	const char *name = c->sysc->name;

	for (size_t i = 0; i < sizeof(looks) / sizeof(*looks); i++)
		if (strcmp(name, looks[i]) == 0)
			return c->s->landlock_abi > 0;
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (strcmp(name, signals[i]) == 0)
			return c->s->landlock_abi >= LANDLOCK_ABI_SCOPES;
	return false;
}

void isolate_refuse(struct call *c, const char *op, pid_t pid)
{
	bool quiet = strcmp(c->sysc->name, "kill") == 0 && call_int(c, 1) == 0;
	struct member_stat st;

	/* A shell that ends tells the groups of its jobs, which may have ended before. */
	if (pid > 0 ? !member_stat(c->s, pid, &st) : kill(pid, 0) < 0 && errno == ESRCH) {
		call_error(c, ESRCH);
		return;
	}
	/* No news: "kill -0" to see whether one is there, and what the kernel would refuse as well. */
	quiet = quiet || (strcmp(op, "signal") == 0 && kill(pid, 0) < 0 && errno == EPERM);
	snprintf(c->message, sizeof(c->message), "%s on %s %d refused: it is not of this session",
		 c->sysc->name, pid < 0 ? "process group" : "process", pid < 0 ? -pid : pid);
	/* The record names whom it was about. */
	c->event.target.len = (size_t)snprintf(c->suggestion, sizeof(c->suggestion), "%d", pid);
	c->event.target.bytes = c->suggestion;
	if (judge_refuse(c, op, "process isolation (built-in)", EPERM, quiet ? NULL : c->message) == 0 &&
	    !landlock_refuses(c))
		call_continue(c);
	else
		call_error(c, EPERM);
}

void isolate_pid(struct call *c, const char *op, pid_t pid)
{
	if (member_is(c->s, pid))
		call_continue(c);
	else
		isolate_refuse(c, op, pid);
}

bool isolate_group_is_own(struct session *s, pid_t pgrp)
{
	DIR *d = listing_open(openat(s->proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	bool own = false, stranger = false;
	struct member_stat st;
	struct dirent *e;

	while (d && !stranger && (e = readdir(d))) {
		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		errno = 0;
		if (!member_stat(s, atoi(e->d_name), &st)) {
			/* One that cannot be looked at, for want of descriptors, may be anyone. */
			stranger = errno != ENOENT && errno != ESRCH;
			continue;
		}
		if (st.pgrp != pgrp)
			continue;
		own = true;
		stranger = !member_is(s, atoi(e->d_name));
	}
	if (d)
		closedir(d);
	return own && !stranger;
}
