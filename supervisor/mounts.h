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
#include <sys/types.h>

struct mounts;

/* Reads /proc/self/mountinfo. NULL when it cannot be read. */
struct mounts *mounts_new(void);
void mounts_free(struct mounts *m);

/*
 * What the mount with this id (statx stx_mnt_id) is; the table is read again for one that is new. For a procfs, wherever it
 * is mounted, inner gets the object's path within it: "/PID/fd/3" for name "/proc/PID/fd/3". Only the numbers of the one
 * at /proc are known to be ours. The same for the file system of POSIX message queues.
 */
enum mount_kind { MOUNT_UNKNOWN, MOUNT_OTHER, MOUNT_PROC, MOUNT_FOREIGN_PROC, MOUNT_MQUEUE };
enum mount_kind mounts_look(struct mounts *m, uint64_t id, const char *name, char *inner, size_t size);

/* True for the device number of a procfs of this namespace. */
bool mounts_is_proc(struct mounts *m, dev_t dev);

/* True for the mount of a file system that a process or another machine serves (FUSE, NFS and their kin). */
bool mounts_is_served(struct mounts *m, uint64_t id);

/* True when /proc is mounted with hidepid: then processes of other users cannot be looked at. */
bool mounts_hides_processes(struct mounts *m);

/*
 * Calls fn with each other name that the tree at path (absolute, canonical) has by bind mounts: of the
 * object itself, or of a part of the tree beneath it.
 */
void mounts_aliases(struct mounts *m, const char *path, void (*fn)(const char *alias, void *arg), void *arg);

/* Calls fn with each mount point. */
void mounts_each(struct mounts *m, void (*fn)(const char *point, void *arg), void *arg);

#endif
