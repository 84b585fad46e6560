/*
 * The files that a caller's memory maps: just after an exec that is what the kernel loaded.
 */
#ifndef CORDON_MAPPED_H
#define CORDON_MAPPED_H

#include <stdbool.h>
#include <stdint.h>

#include "supervisor/call.h"
#include "supervisor/resolve.h"

struct mapped {
	unsigned major, minor;
	uint64_t ino;
	const char *name; /* canonical, as the kernel tells it, " (deleted)" and all */
};

/* Calls fn for each file, for mappings of one that follow each other once. 0; 1: fn returned false; -errno: they cannot be
 * seen. */
int mapped_each(struct call *c, bool (*fn)(struct call *c, const struct mapped *m, void *arg), void *arg);

/* Whether it is the pinned file. */
bool mapped_is(const struct call *c, const struct mapped *m, const struct object *o);

#endif
