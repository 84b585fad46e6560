/*
 * /proc/net/tcp and /proc/net/tcp6: every TCP socket of this machine's network namespace, with its inode. For questions about
 * all sockets of a port, and where the kernel does not answer those of inetdiag.h. Callable from any thread.
 */
#ifndef CORDON_PROCTCP_H
#define CORDON_PROCTCP_H

#include "supervisor/inetdiag.h"

/* As those of inetdiag.h. Of several listeners that may be meant each has to be own. */
enum inet_answer proctcp_listener(const struct inet_end *to, const struct inet_own *own);
enum inet_answer proctcp_connected(const struct inet_end *here, const struct inet_end *there,
				   uint64_t *inode);
/*
 * Whether each socket that listens at this end, or at an overlapping one (the same port at all addresses), is own. False
 * also when that cannot be known.
 */
bool proctcp_all_own(const struct inet_end *at, const struct inet_own *own);

/* Calls fn for each socket that listens until it returns false. False: a list could not be read. */
bool proctcp_each_listening(bool (*fn)(uint64_t inode, void *arg), void *arg);

/* A line of the lists. False when it is none. */
struct proctcp_line {
	struct inet_end here, there;
	unsigned state; /* TCP_LISTEN, ... */
	uint64_t inode;
};
bool proctcp_parse(const char *line, struct proctcp_line *out);

#endif
