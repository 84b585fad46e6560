/*
 * POSIX message queues of a session. Their names are one name space for all of a container, so the session has names of
 * its own: each that a program asks for stands for a hash of it behind a random prefix, which no other session has. All
 * else the kernel decides itself.
 *
 * What is left at the end is removed, by front or supervisor, from a table that the two share (see sysv.h).
 *
 * Thread-safe but for mqueues_end(). The calls act with the identity of the calling thread.
 */
#ifndef CORDON_MQUEUE_H
#define CORDON_MQUEUE_H

#include <mqueue.h>
#include <stdbool.h>
#include <sys/types.h>

struct mqueues;

/* Before the supervisor is forked. NULL when memory is short. */
struct mqueues *mqueues_new(void);

/* As mq_open and mq_unlink of the kernel (a name without '/'; mode is masked; attr may be NULL). A descriptor
 * (O_CLOEXEC) or 0, or -errno. */
int mqueues_open(struct mqueues *t, const char *name, int flags, mode_t mode, const struct mq_attr *attr);
int mqueues_unlink(struct mqueues *t, const char *name);

/* Whether a path within the file system of message queues is that of one of the session's queues. t may be NULL: there are
 * none. */
bool mqueues_is_own(const struct mqueues *t, const char *path);

/* From now on none is made: a queue, of a caller that was killed meanwhile, would be left over. Not for the front: who was
 * killed may have had the lock. */
void mqueues_close(struct mqueues *t);

/* Removes all that is left. */
void mqueues_end(struct mqueues *t);

#endif
