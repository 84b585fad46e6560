#include "supervisor/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "supervisor/caps.h"
#include "supervisor/lockdown.h"
#include "supervisor/refusal.h"
#include "supervisor/tracee.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(getxattr), OWN(fstatfs), OWN(statx), OWN(getegid), OWN(getgroups));

const char *path_proc(int fd, char *buf)
{
	snprintf(buf, PATH_PROC_SIZE, "/proc/self/fd/%d", fd);
	return buf;
}

int path_flags(int at_flags)
{
	if (at_flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -1;
	return (at_flags & AT_SYMLINK_NOFOLLOW ? RESOLVE_NOFOLLOW : 0) |
	       (at_flags & AT_EMPTY_PATH ? RESOLVE_EMPTY : 0);
}

static bool is_in_group(gid_t gid)
{
	int n = getgroups(0, NULL);
	gid_t *list = n > 0 ? malloc((size_t)n * sizeof(*list)) : NULL;
	bool found = getegid() == gid;

	n = list ? getgroups(n, list) : 0;
	for (int i = 0; !found && i < n; i++)
		found = list[i] == gid;
	free(list);
	return found;
}

/*
 * A new file's S_ISGID is taken away in a setgid directory of a group that the caller is not in, if its group may execute it:
 * by the mode before the umask (Linux 6.0), which the kernel does not get from us.
 */
static bool loses_setgid(int dir, mode_t mode)
{
	struct caps caps;
	struct statx st;

	if ((mode & (S_ISGID | S_IXGRP)) != (S_ISGID | S_IXGRP))
		return false;
	if (statx(dir, "", AT_EMPTY_PATH, STATX_MODE | STATX_GID, &st) < 0 || caps_get(&caps) < 0)
		return true;
	return (st.stx_mode & S_ISGID) && !(caps.effective & CAPS_FSETID) && !is_in_group(st.stx_gid);
}

mode_t path_mode(struct call *c, int dir, mode_t mode)
{
	struct tracee_status st;
	char proc[PATH_PROC_SIZE];

	if (getxattr(path_proc(dir, proc), "system.posix_acl_default", NULL, 0) >= 0)
		return mode;
	if (tracee_status(c->s, c->tid, &st) < 0)
		return 0;
	if ((st.umask & S_IXGRP) && loses_setgid(dir, mode))
		mode &= ~(mode_t)S_ISGID;
	return mode & ~st.umask;
}

int path_change_errno(int dir, int err)
{
	struct statfs fs;

	return fstatfs(dir, &fs) == 0 && fs.f_flags & ST_RDONLY ? EROFS : err;
}

void path_name_entry(struct call *c, int slot, struct entry *e)
{
	char *buf = c->name[slot];
	size_t n = e->dir.len;

	e->name = buf;
	e->len = 0;
	if (n == 0) /* the directory has no name either */
		return;
	if (n == 1) /* "/" */
		n = 0;
	buf[n] = '/';
	memcpy(buf + n + 1, e->leaf, e->leaf_len);
	e->len = n + 1 + e->leaf_len;
	buf[e->len] = '\0';
}

int path_join(struct call *c, int slot, const char *path, const char *target, size_t len)
{
	size_t n = target[0] == '/' ? 0 : strlen(path);
	char *to = c->path[slot];

	while (n > 0 && path[n - 1] == '/')
		n--;
	while (n > 0 && path[n - 1] != '/')
		n--;
	if (len == 0 || n + len + 1 > PATH_MAX)
		return len == 0 ? -ENOENT : -ENAMETOOLONG;
	memcpy(to, path, n);
	memcpy(to + n, target, len);
	to[n + len] = '\0';
	return 0;
}

void path_copy_failed(struct call *c, int rc)
{
	if (rc != -EPERM || !c->unreadable) {
		call_error(c, -rc);
		return;
	}
	/* One that is just ending cannot be read either, and waits for no answer. */
	if (tracee_check(c) < 0) {
		call_gone(c);
		return;
	}
	refusal_firm(
		c, c->sysc->op, "unreadable caller (built-in)", EPERM,
		"a call was refused: the kernel lets nobody read this program's memory or descriptors (it "
		"changed its user and did not run exec since, or may be executed but not read)");
	call_error(c, EPERM);
}
