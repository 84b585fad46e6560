#include "supervisor/resolve.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "supervisor/compat.h"
#include "supervisor/hide.h"
#include "supervisor/lockdown.h"
#include "supervisor/longname.h"
#include "supervisor/mounts.h"
#include "supervisor/path.h"
#include "supervisor/tracee.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(openat2), OWN(close), OWN(fstat), OWN(statx), OWN(readlinkat), OWN(newfstatat));

void object_close(struct object *o)
{
	if (o->fd >= 0)
		close(o->fd);
	o->fd = -1;
	if (o->has_parent)
		close(o->parent);
	o->has_parent = false;
}

void entry_close(struct entry *e)
{
	object_close(&e->dir);
}

bool path_wants_directory(const char *path)
{
	size_t n = strlen(path);

	return n > 1 && path[n - 1] == '/';
}

/* A path that is its own canonical name once no symbolic link was followed on it. */
static bool path_is_clean(const char *p)
{
	if (p[0] != '/')
		return false;
	for (; *p; p++) {
		if (*p != '/')
			continue;
		if (p[1] == '\0' || p[1] == '/')
			return false;
		if (p[1] == '.' && (p[2] == '\0' || p[2] == '/'))
			return false;
		if (p[1] == '.' && p[2] == '.' && (p[3] == '\0' || p[3] == '/'))
			return false;
	}
	return true;
}

static int fill_stat(int fd, struct statx *st)
{
	return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, OBJECT_STATX, st) < 0 ? -errno : 0;
}

/* A deleted object reads back as "NAME (deleted)", which is also a legal name. */
static bool is_deleted(const char *name, size_t len, const struct statx *st)
{
	static const char suffix[] = " (deleted)";
	struct statx now;

	if (st->stx_nlink == 0)
		return true;
	if (len < sizeof(suffix) || strcmp(name + len - (sizeof(suffix) - 1), suffix) != 0)
		return false;
	if (statx(AT_FDCWD, name, AT_SYMLINK_NOFOLLOW, STATX_INO, &now) < 0)
		return true;
	return !object_is_same(&now, st);
}

/* The name does not fit into what the kernel tells. Of a directory it can be put together. */
static int read_long_name(struct call *c, struct object *o)
{
	int n;

	if (o->st.stx_nlink == 0) {
		o->deleted = true;
		return 0;
	}
	if (!S_ISDIR(o->st.stx_mode)) {
		o->untold = true;
		o->magic_mode = RESOLVE_NO_MODE;
		return 0;
	}
	n = longname_read(c, o->slot, o->fd);
	if (n < 0)
		return n;
	o->name = c->name[o->slot];
	o->len = (size_t)n;
	return 0;
}

/* Reads the canonical name of the pin back from the kernel into its slot's buffer. */
static int read_name(struct call *c, struct object *o)
{
	char *buf = c->name[o->slot], number[16];
	ssize_t n;

	o->name = buf;
	o->len = 0;
	buf[0] = '\0';
	snprintf(number, sizeof(number), "%d", o->fd);
	n = readlinkat(c->s->self_fd, number, buf, PATH_MAX);
	if (n == PATH_MAX || (n < 0 && errno == ENAMETOOLONG))
		return read_long_name(c, o);
	if (n < 0)
		return -errno;
	buf[n] = '\0';
	if (buf[0] != '/') {
		/* "pipe:[1]" and its kin, or "(unreachable)/..." */
		o->foreign = buf[0] == '(';
	} else if (is_deleted(buf, (size_t)n, &o->st)) {
		o->deleted = true;
	} else {
		o->len = (size_t)n;
	}
	return 0;
}

static void object_init(struct object *o, int slot, int fd)
{
	*o = (struct object){.fd = fd, .slot = slot, .magic_mode = O_RDWR};
}

static int finish(struct call *c, int slot, int fd, const char *clean, struct object *o)
{
	int rc;

	object_init(o, slot, fd);
	rc = fill_stat(fd, &o->st);
	if (rc == 0 && clean) {
		o->len = strlen(clean);
		memcpy(c->name[slot], clean, o->len + 1);
		o->name = c->name[slot];
		o->unread = true;
	} else if (rc == 0) {
		rc = read_name(c, o);
	}
	if (rc < 0)
		object_close(o);
	return rc;
}

int object_reread(struct call *c, struct object *o)
{
	int rc = fill_stat(o->fd, &o->st);

	o->unread = o->deleted = o->foreign = o->untold = false;
	return rc < 0 ? rc : read_name(c, o);
}

int object_from_pin(struct call *c, int slot, int fd, struct object *o)
{
	return finish(c, slot, fd, NULL, o);
}

int object_name_by(struct call *c, struct object *o, int parent, const char *leaf)
{
	int n = longname_read(c, o->slot, parent);
	char *buf = c->name[o->slot];

	o->has_parent = true;
	o->parent = parent;
	if (n < 0) {
		object_close(o);
		return n;
	}
	o->untold = false;
	o->magic_mode = O_RDWR;
	o->name = buf;
	o->len = (size_t)(n + snprintf(buf + n, NAME_MAX + 2, "/%s", leaf));
	return 0;
}

/* An object that the caller holds a descriptor of: known by it, not by a name. */
static int object_from_descriptor(struct call *c, int slot, int fd, int pin, struct object *o)
{
	int rc = object_from_pin(c, slot, pin, o);

	o->by_magic = rc == 0;
	if (rc == 0 && o->untold)
		o->magic_mode = walk_mode_of(c, fd, pin);
	return rc;
}

int resolve_fd(struct call *c, int slot, int fd, struct object *o)
{
	int pin = tracee_fd(c, fd);

	o->fd = -1;
	return pin < 0 ? pin : object_from_descriptor(c, slot, fd, pin, o);
}

static bool on_proc(const struct session *s, const struct object *o)
{
	return mounts_is_proc(s->mounts, makedev(o->st.stx_dev_major, o->st.stx_dev_minor));
}

/*
 * A symbolic link was met. The kernel's walk is right unless it went through /proc, where "self" is the
 * supervisor: success elsewhere is final, and so is a failure on a walk that left no mount.
 */
static int resolve_linked(struct call *c, int slot, int base, const char *path, int how, int flags,
			  struct object *o)
{
	int fd = compat_openat2(base, path, how, 0, RESOLVE_NO_MAGICLINKS);
	int rc;

	if (fd >= 0) {
		rc = finish(c, slot, fd, NULL, o);
		if (rc < 0 || !on_proc(c->s, o))
			return rc;
		object_close(o);
	} else if (fd != -ELOOP &&
		   compat_openat2(base, path, how, 0, RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV) == fd) {
		struct stat st;

		if (fstat(base, &st) == 0 && !mounts_is_proc(c->s->mounts, st.st_dev))
			return fd;
	}
	return walk_path(c, slot, base, path, flags, o);
}

/* After a walk by the kernel with restrictions that walk_path() does not know: "self" was the supervisor's on it, so
 * nothing of /proc can be had that way. */
static int finish_restricted(struct call *c, int slot, int fd, struct object *o)
{
	int rc = finish(c, slot, fd, NULL, o);

	if (rc == 0 && on_proc(c->s, o)) {
		object_close(o);
		return -EPERM;
	}
	return rc;
}

static int resolve_by_kernel(struct call *c, int slot, int base, const char *path, int flags, uint64_t extra,
			     struct object *o)
{
	int how = O_PATH | O_CLOEXEC | (flags & RESOLVE_NOFOLLOW ? O_NOFOLLOW : 0);
	int fd;

	if (extra & ~(uint64_t)RESOLVE_NO_MAGICLINKS) {
		/* The caller's own restrictions: the kernel enforces them, from the caller's base. */
		fd = compat_openat2(base, path, how, 0, extra | RESOLVE_NO_MAGICLINKS);
		return fd < 0 ? fd : finish_restricted(c, slot, fd, o);
	}
	if (extra)
		flags |= RESOLVE_TO_MAGIC;
	fd = compat_openat2(base, path, how, 0, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	if (fd == -ELOOP)
		return resolve_linked(c, slot, base, path, how, flags, o);
	if (fd < 0)
		return fd;
	return finish(c, slot, fd, path_is_clean(path) ? path : NULL, o);
}

/* As above; what is too deep for the kernel to tell its name is named by the directory that a walk finds it in. */
static int resolve_from(struct call *c, int slot, int base, const char *path, int flags, uint64_t extra,
			struct object *o)
{
	int rc = resolve_by_kernel(c, slot, base, path, flags, extra, o);
	struct statx found;

	if (rc < 0 || !o->untold || o->by_magic)
		return rc;
	found = o->st;
	object_close(o);
	rc = walk_path(c, slot, base, path, flags, o);
	if (rc == 0 && extra && !(object_is_same(&found, &o->st) && found.stx_mnt_id == o->st.stx_mnt_id)) {
		object_close(o);
		rc = -EAGAIN; /* it was changed in between, as openat2(2) says, too */
	}
	return rc;
}

/* The directory that path starts from. An absolute one starts from the session's root, which stays open; with
 * RESOLVE_BENEATH it is refused before the descriptor is looked at. */
static int open_base(struct call *c, int dirfd, const char *path, uint64_t extra)
{
	if (path[0] == '/' && !(extra & RESOLVE_IN_ROOT))
		return extra & RESOLVE_BENEATH ? -EXDEV : c->s->root;
	return dirfd == AT_FDCWD ? tracee_cwd(c) : tracee_fd(c, dirfd);
}

static void close_base(const struct call *c, int base)
{
	if (base != c->s->root)
		close(base);
}

/* What looks absent was not found. */
static int without_hidden(struct call *c, struct object *o)
{
	if (!hide_object(c, o))
		return 0;
	object_close(o);
	return -ENOENT;
}

int resolve_object(struct call *c, int slot, int dirfd, int flags, uint64_t extra, struct object *o)
{
	const char *path = c->path[slot];
	int base, rc;

	o->fd = -1;
	if (path[0] == '\0' && !(flags & RESOLVE_EMPTY))
		return -ENOENT;
	base = open_base(c, dirfd, path, extra);
	if (base < 0)
		return base;
	if (path[0] == '\0')
		return object_from_descriptor(c, slot, dirfd, base, o);
	rc = resolve_from(c, slot, base, path, flags, extra, o);
	close_base(c, base);
	return rc < 0 ? rc : without_hidden(c, o);
}

int resolve_object_at(struct call *c, int slot, int dirfd, uint64_t addr, int flags, struct object *o)
{
	bool by_opened = (flags & RESOLVE_EMPTY) && (flags & RESOLVE_OPENED);
	int rc = 0;

	o->fd = -1;
	c->path[slot][0] = '\0';
	if (addr != 0 || !by_opened)
		rc = tracee_path(c, addr, c->path[slot]);
	rc = rc < 0 ? rc : resolve_object(c, slot, dirfd, flags, 0, o);
	if (rc == 0 && by_opened && c->path[slot][0] == '\0' && dirfd != AT_FDCWD &&
	    (tracee_fd_flags(c, dirfd) & O_PATH)) {
		object_close(o);
		rc = -EBADF;
	}
	return rc;
}

/* Splits path in place into the directory part (returned) and the last component (copied to e). */
static const char *split(char *path, struct entry *e, const char **leaf)
{
	size_t n = strlen(path), end = n;
	char *slash;

	while (end > 0 && path[end - 1] == '/')
		end--;
	if (end == 0) { /* only slashes */
		e->special = true;
		e->leaf[0] = '/';
		e->leaf_len = 1;
		*leaf = "/";
		return "/";
	}
	path[end] = '\0';
	slash = strrchr(path, '/');
	*leaf = slash ? slash + 1 : path;
	e->special = strcmp(*leaf, ".") == 0 || strcmp(*leaf, "..") == 0;
	e->leaf_len = strnlen(*leaf, NAME_MAX + 1);
	snprintf(e->leaf, sizeof(e->leaf), "%.*s%s", (int)e->leaf_len, *leaf, end < n ? "/" : "");
	if (!slash)
		return "";
	while (slash > path && slash[-1] == '/')
		slash--;
	if (slash == path)
		return "/";
	*slash = '\0';
	return path;
}

static int resolve_parent(struct call *c, int slot, int dirfd, const char *parent, uint64_t extra,
			  struct entry *e)
{
	int base = open_base(c, dirfd, parent, extra), rc;

	if (base < 0)
		return base;
	if (parent[0] == '\0') {
		rc = object_from_pin(c, slot, base, &e->dir);
	} else {
		rc = resolve_from(c, slot, base, parent, 0, extra, &e->dir);
		close_base(c, base);
	}
	return rc < 0 ? rc : without_hidden(c, &e->dir);
}

/* Names the entry and finds out what is there. */
static void look_at(struct call *c, struct entry *e)
{
	char plain[sizeof(e->leaf)];

	path_name_entry(c, e->slot, e);
	memcpy(plain, e->leaf, e->leaf_len);
	plain[e->leaf_len] = '\0';
	e->exists =
		statx(e->dir.fd, plain, AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC, OBJECT_STATX, &e->st) == 0;
	e->err = e->exists ? 0 : errno;
	e->hidden = e->exists && hide_entry(c, e);
	if (e->hidden) {
		e->exists = false;
		e->err = ENOENT;
	}
}

int resolve_entry(struct call *c, int slot, int dirfd, uint64_t extra, struct entry *e)
{
	const char *parent, *leaf;
	struct stat st;
	int rc;

	memset(e, 0, sizeof(*e));
	e->dir.fd = -1;
	e->slot = slot;
	if (c->path[slot][0] == '\0')
		return -ENOENT;
	parent = split(c->path[slot], e, &leaf);
	rc = resolve_parent(c, slot, dirfd, parent, extra, e);
	if (rc < 0)
		return rc;
	if (!S_ISDIR(e->dir.st.stx_mode)) {
		entry_close(e);
		return -ENOTDIR;
	}
	if (!e->special)
		look_at(c, e);
	else if (e->leaf[0] == '.' && fstatat(e->dir.fd, ".", &st, 0) < 0)
		e->err = errno;
	if (e->err == EACCES) { /* the way through the directory is closed: the kernel says so first */
		entry_close(e);
		return -EACCES;
	}
	return 0;
}

int entry_reread(struct call *c, struct entry *e)
{
	int rc = object_reread(c, &e->dir);

	if (rc == 0)
		look_at(c, e);
	return rc;
}

int resolve_entry_at(struct call *c, int slot, int dirfd, uint64_t addr, struct entry *e)
{
	int rc = tracee_path(c, addr, c->path[slot]);

	memset(e, 0, sizeof(*e));
	e->dir.fd = -1;
	return rc < 0 ? rc : resolve_entry(c, slot, dirfd, 0, e);
}
