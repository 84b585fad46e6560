/*
 * Opening once more, with the caller's flags, what is pinned and judged. Called by workers, within a call. What may be
 * waited for is watched, so that a signal to the caller, or its death, ends it (crew.h).
 */
#ifndef CORDON_REOPEN_H
#define CORDON_REOPEN_H

#include "supervisor/crew.h"
#include "supervisor/resolve.h"

/* A descriptor or -errno; *wake says why it is -EINTR. -EAGAIN may also be that nobody is free to wait. */
int reopen(struct call *c, const struct object *o, int flags, enum crew_wake *wake);

#endif
