/*
 * The System V objects of a session (shared memory, semaphores, message queues), apart from those of everybody else who
 * has the same user id.
 *
 * The session has keys of its own: each key that a program asks for stands for a random one that the supervisor made the
 * object with, so all else that the kernel decides by key (ENOENT, EEXIST, EACCES, sizes) it decides itself. An id is the
 * session's while the object behind it still has that random key: ids are used again one day, and others may remove an
 * object.
 *
 * The table lies in memory that front and supervisor share, so that whoever of the two is left removes the objects at the
 * end, as the end of an IPC namespace would. Its pages are touched only when there are objects.
 *
 * Thread-safe but for sysv_end(). The calls act with the identity of the calling thread.
 */
#ifndef CORDON_SYSV_H
#define CORDON_SYSV_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum sysv_kind { SYSV_SHM, SYSV_SEM, SYSV_MSG, SYSV_KINDS };

struct sysv;

/* Before the supervisor is forked. NULL when memory is short. */
struct sysv *sysv_new(void);

/* shmget, semget (size: number of semaphores) and msgget (size is nothing). The id, or -errno; -ENOSPC also when the
 * table has no room. */
int sysv_get(struct sysv *t, enum sysv_kind kind, key_t key, uint64_t size, int flags);

bool sysv_is_own(struct sysv *t, enum sysv_kind kind, int id);

/* IPC_RMID. 0 or -errno; -EINVAL for what is not the session's. */
int sysv_remove(struct sysv *t, enum sysv_kind kind, int id);

/* The id of the object, whoever's, at this place of the kernel's table (an id will do for one), or -errno. */
int sysv_at(enum sysv_kind kind, int index);

/* From now on none is made: an object, of a caller that was killed meanwhile, would be left over. Not for the front: who was
 * killed may have had the lock. */
void sysv_close(struct sysv *t);

/* Removes all that is left. */
void sysv_end(struct sysv *t);

#endif
