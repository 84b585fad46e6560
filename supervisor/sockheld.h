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

/*
 * Calls held() for each socket of each member, by its inode, and shut(), if there is one, for each member that nobody here may look at: one
 * whose program's file may not be read, or that is about to change its user. False: the members could not be listed.
 */
bool sockheld_each(struct session *s, void (*held)(struct session *s, uint64_t inode, void *arg),
		   void (*shut)(struct session *s, pid_t pid, void *arg), void *arg);

#endif
