/*
 * Where a TCP connect of a program may go: nowhere, there, or somewhere else in its place. Decided on the copied address, by
 * the policy, by the names that led to the address, and by who listens, if that is on this machine. Callable from any worker.
 */
#ifndef CORDON_DESTINATION_H
#define CORDON_DESTINATION_H

#include <stdbool.h>
#include <sys/socket.h>

#include "supervisor/inetdiag.h"
#include "supervisor/sockcall.h"

struct destination {
	struct sockaddr_storage to; /* for connect() */
	socklen_t len;
	int family;	     /* of the socket */
	bool instead;	     /* another than the program asked for, which getpeername() is to name */
	bool dns;	     /* the gateway's stub: to be told which port the connection comes from */
	int device;	     /* to which the socket was tied when that was decided (binding.h) */
	bool own;	     /* allowed since the session itself listens there: destination_holds() */
	struct inet_end end; /* where that is */
};

/*
 * Fills d and the event of the call. 0: to be connected. Else the errno to answer; what was refused by the policy is recorded.
 */
int destination_find(struct sockcall *sc, struct destination *d);

/* Sockets of the session. */
struct inet_own destination_own(struct session *s);

/* Whether a session's own listener is there now. INET_NOBODY: no one listens; INET_UNKNOWN: another, perhaps. */
enum inet_answer destination_listener(struct session *s, const struct destination *d);

/* The socket fd was connected to d, which is own: whether the other end is the session's. If not, what was connected has to be
 * shut down. */
bool destination_holds(struct session *s, const struct destination *d, int fd);

/* An address that refuses connections, in place of one where nobody listened a moment ago. Its length, or 0. */
socklen_t destination_refuses(const struct destination *d, struct sockaddr_storage *to);

#endif
