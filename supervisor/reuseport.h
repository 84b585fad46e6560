/*
 * SO_REUSEPORT: sockets that share a port by it share what comes, and no one outside of the session has agreed to share with
 * the session. What a bind or listen looks at must hold while it is performed, so the option, too, is set by the supervisor.
 */
#ifndef CORDON_REUSEPORT_H
#define CORDON_REUSEPORT_H

#include "supervisor/sockcall.h"

/*
 * Performs act(), which binds the socket of the call to the address or lets it listen there, unless it would share the port with a
 * listener of others. Returns what act() does, or -EADDRINUSE.
 */
int reuseport_perform(struct sockcall *sc, const struct sockaddr *sa, socklen_t len,
		      int (*act)(struct sockcall *sc));

/* Answers setsockopt(SO_REUSEPORT). inode: of the caller's descriptor, 0 when that is no socket. */
void reuseport_set(struct call *c, uint64_t inode);

#endif
