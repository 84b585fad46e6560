/*
 * What a socket is bound to: its port, whether it shares it (SO_REUSEPORT), and the device that it is tied to. What is decided by
 * these must hold while it is performed, against other threads of the program; so all that changes them is done by the supervisor,
 * here.
 */
#ifndef CORDON_BINDING_H
#define CORDON_BINDING_H

#include "supervisor/sockcall.h"

/*
 * Performs act(), which binds the socket of the call to the address or lets it listen there, unless it would share the port with a
 * listener of others, who have not agreed to share with the session. Returns what act() does, or -EADDRINUSE.
 */
int binding_perform(struct sockcall *sc, const struct sockaddr *sa, socklen_t len,
		    int (*act)(struct sockcall *sc));

/* Answers setsockopt(SO_REUSEPORT). inode: of the caller's descriptor, 0 when that is no socket. */
void binding_set_reuseport(struct call *c, uint64_t inode);

/*
 * The device that the Internet socket is tied to, 0: none. It is so by a bind to a link-local address of IPv6, or by the
 * supervisor. Packets of such a socket leave by it, also those to an address of this machine. Stays so between hold and
 * release.
 */
int binding_device(int fd, int family);
void binding_hold(void);
void binding_release(void);

#endif
