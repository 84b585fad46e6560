/*
 * The mounts of the supervisor's own mount namespace. An object on a mount that is not among them was
 * reached through another namespace, and its path means nothing here.
 *
 * Thread-safe.
 */
#ifndef CORDON_MOUNTS_H
#define CORDON_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mounts;

/* Reads /proc/self/mountinfo. NULL when it cannot be read. */
struct mounts *mounts_new(void);
void mounts_free(struct mounts *m);

/* True when the id (statx stx_mnt_id) is of this namespace; reads the table again for one that is new. */
bool mounts_known(struct mounts *m, uint64_t id);

/*
 * Calls fn with each other name that the tree at path (absolute, canonical) has by bind mounts: of the
 * object itself, or of a part of the tree beneath it.
 */
void mounts_aliases(struct mounts *m, const char *path, void (*fn)(const char *alias, void *arg), void *arg);

/* Calls fn with each mount point. */
void mounts_each(struct mounts *m, void (*fn)(const char *point, void *arg), void *arg);

#endif
