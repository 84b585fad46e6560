/*
 * connect() of TCP sockets, performed on the supervisor's duplicate. Called by the worker that has the call.
 */
#ifndef CORDON_CONNECTING_H
#define CORDON_CONNECTING_H

#include "supervisor/destination.h"
#include "supervisor/sockcall.h"

/* Connects to where it was decided, and answers. */
void connecting_begin(struct sockcall *sc, const struct destination *d);

/* A socket that is to do something else than the connect that it may be held back for. */
void connecting_let_in(struct session *s, uint64_t inode, int fd);

/* Neither connected nor in flight. */
bool connecting_is_idle(int fd);

#endif
