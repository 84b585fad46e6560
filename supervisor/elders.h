/*
 * The front's own older children. cordon may be what a shell became by exec: then processes that the user started before
 * are its children, and those that they leave behind become so, since it is a subreaper. When the front ends what is
 * left of a session, these must live.
 *
 * All of this is for the front's one thread. Before the supervisor is started elders_note(); and elders_has() when it is
 * over.
 */
#ifndef CORDON_ELDERS_H
#define CORDON_ELDERS_H

#include <stdbool.h>
#include <stddef.h>

#include "supervisor/session.h"

struct elders {
	unsigned filters;	  /* seccomp filters of this process; each process of the session has more */
	unsigned long long since; /* when the supervisor started; what is older is not the session's */
	size_t n;
	struct elder *list;
};

/* Notes the children that there are; few processes have any. 0, or -errno: they cannot be seen. */
int elders_note(struct elders *e);

/* Is pid, a descendant of this process, no part of the session? Of s .proc and .supervisor (this process) are used. */
bool elders_has(const struct elders *e, const struct session *s, pid_t pid);

#endif
