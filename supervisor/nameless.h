/*
 * Objects that no path names: pipes, sockets, anonymous inodes, files whose name was removed, files too deep for a name.
 * What a descriptor of such an object could do already is allowed, no more. A part of judge.c; see there for results.
 */
#ifndef CORDON_NAMELESS_H
#define CORDON_NAMELESS_H

#include "supervisor/judge.h"

int nameless_judge(struct call *c, enum access a, const struct object *o, int accmode);

/* What descriptors 0 to 2 were at the start, if it is one of them; else NULL. */
const struct stdio_object *nameless_stdio(const struct session *s, const struct statx *st);

bool nameless_mode_within(int wanted, int had);

#endif
