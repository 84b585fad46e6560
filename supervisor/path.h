/*
 * Small things that the path calls share.
 */
#ifndef CORDON_PATH_H
#define CORDON_PATH_H

#include <sys/types.h>

#include "supervisor/resolve.h"

/* The mode for a new object in dir: masked by the caller's umask, unless the directory has a default ACL, which then
 * takes the umask's place in the kernel. (The supervisor's own umask is 0.) */
mode_t path_mode(struct call *c, int dir, mode_t mode);

/* Puts what stands for path, whose last component is a symbolic link to target, into c->path[slot]. 0 or -errno. */
int path_join(struct call *c, int slot, const char *path, const char *target, size_t len);

/* The errno to answer when an entry of dir that is to be changed is not as it should be: a read-only file system is what the
 * kernel says first. */
int path_change_errno(int dir, int err);

/* Writes the canonical name of e (directory's name and leaf) into c->name[slot]. */
void path_name_entry(struct call *c, int slot, struct entry *e);

/* Answers when an argument could not be copied or resolved: EFAULT and its kin as the kernel would; when the caller may
 * not be looked into at all, EPERM with a record that says so. */
void path_copy_failed(struct call *c, int rc);

/* AT_SYMLINK_NOFOLLOW and AT_EMPTY_PATH as RESOLVE_* flags; -1 when there are others. */
int path_flags(int at_flags);

/* "/proc/self/fd/N" for calls that know no descriptor of an O_PATH kind. buf: PATH_PROC_SIZE. */
#define PATH_PROC_SIZE 32
const char *path_proc(int fd, char *buf);

#endif
