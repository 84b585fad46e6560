/*
 * Who belongs to the session: the command and all its descendants. Orphans become children of the supervisor (it is
 * a subreaper), so a member's chain of parents always ends there; the supervisor itself, the gateway, the process the
 * user started and everything else are strangers.
 */
#ifndef CORDON_MEMBER_H
#define CORDON_MEMBER_H

#include <stdbool.h>
#include <sys/types.h>

#include "supervisor/session.h"

/* pid may be a thread's number. False also when it does not exist. */
bool member_is(const struct session *s, pid_t pid);

/* Calls fn for each member process; all: also zombies. Stops when fn returns false. False: they
 * could not be listed. */
bool member_each(const struct session *s, bool (*fn)(pid_t pid, void *arg), void *arg);

/* From /proc/PID/stat. False: no such process. */
struct member_stat {
	pid_t ppid, pgrp, session;
	int tty_nr, tpgid;
	char state;
	unsigned flags; /* the kernel's: MEMBER_FORKED and others */
	unsigned long long start;
	unsigned long long
		stack; /* the address of the program's first stack; 0 where the kernel does not tell */
};
#define MEMBER_FORKED 0x40 /* PF_FORKNOEXEC: no exec since it was forked */
bool member_stat(const struct session *s, pid_t pid, struct member_stat *st);

#endif
