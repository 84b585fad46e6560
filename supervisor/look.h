/*
 * Calls that tell of an object that it is there and what it is, and nothing of its content: judged by a copy of the path,
 * then continued, so that the kernel gives all the rest exactly. A thread that changes the path in between learns
 * what listings and descriptors show as well.
 */
#ifndef CORDON_LOOK_H
#define CORDON_LOOK_H

#include "supervisor/resolve.h"

enum look_purpose {
	LOOK_STAT,
	LOOK_ENTER, /* what is got is a way to other objects: not into what strangers' /proc holds */
};

/* Answers the call whose path is argument `path`, relative to dirfd. how: RESOLVE_*; -1: flags that the call does not
 * know, for which the kernel does not look at the file. */
void look(struct call *c, int dirfd, int path, int how, enum look_purpose purpose);

#endif
