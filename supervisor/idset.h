/*
 * A set of file system objects by identity: device, inode and a stamp that tells a reused inode number from the
 * object that was added (the birth time where the file system has one, else 0, which matches any).
 * Bounded: beyond IDSET_MAX entries nothing is added, so what is not in the set is refused, never allowed.
 * Thread-safe.
 */
#ifndef CORDON_IDSET_H
#define CORDON_IDSET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define IDSET_MAX (1u << 20)

struct statx;
struct idset;

struct idset *idset_new(void);
void idset_free(struct idset *s);

bool idset_has(struct idset *s, const struct statx *st);
/* False when the set is full or memory is short. */
bool idset_add(struct idset *s, const struct statx *st);
void idset_remove(struct idset *s, const struct statx *st);
/*
 * A set may count instead: how many of an object's names are the session's. idset_count() is 0 for one that is not in it;
 * idset_change() adds delta, to first for a new one, and forgets the object at 0.
 */
unsigned idset_count(struct idset *s, const struct statx *st);
void idset_change(struct idset *s, const struct statx *st, unsigned first, int delta);
/* True while nothing was ever added: a cheap first question. */
bool idset_is_empty(struct idset *s);

/* The mask that the functions above need of statx(2). */
#define IDSET_STATX (STATX_INO | STATX_BTIME)

#endif
