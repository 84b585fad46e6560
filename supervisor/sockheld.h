/*
 * Which sockets the members hold, from their descriptors in /proc. Callable from any worker, which for the time may become
 * whoever a member is.
 */
#ifndef CORDON_SOCKHELD_H
#define CORDON_SOCKHELD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct session;

/* What is told of the members; all get arg. */
struct sockheld {
	/* A member has the socket with this inode. True: whether descriptors wait in it is wanted too. */
	bool (*held)(struct session *s, uint64_t inode, void *arg);
	/* Of such a Unix socket: messages with descriptors (SCM_RIGHTS) wait in it, or that cannot be known. */
	void (*in_flight)(struct session *s, void *arg);
	/* Nobody here may look at the member: its program's file may not be read, or it is about to change its user. Or NULL. */
	void (*shut)(struct session *s, pid_t pid, void *arg);
};

/*
 * Looks at one member after the other, so a socket that is handed on meanwhile can be missed: what decides on what nobody
 * holds looks twice. False: the members could not be listed.
 */
bool sockheld_each(struct session *s, const struct sockheld *told, void *arg);

#endif
