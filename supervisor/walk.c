/*
 * Path resolution in the caller's terms.
 *
 * The kernel cannot do this for another process: /proc/self and /proc/thread-self name whoever walks, and the
 * magic links (/proc/PID/fd/N, cwd, root, exe, ...) jump to an object without a path. So each component is
 * opened by itself with O_PATH | O_NOFOLLOW; text links are read and their target put in front of what is
 * left; "self" is replaced by the caller's number; a magic link is followed by the kernel when the process it
 * belongs to is a member of the session, and refused otherwise.
 *
 * Directories may be moved while we walk: every step starts from a pinned descriptor, so the walk is one that
 * the caller could have made itself, and what it ends at is judged by its own name afterwards.
 */
#include "supervisor/lockdown.h"
#include "supervisor/resolve.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>

#include "supervisor/compat.h"
#include "supervisor/ident.h"
#include "supervisor/member.h"
#include "supervisor/mounts.h"
#include "supervisor/sticky.h"
#include "supervisor/tracee.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(openat), OWN(close), OWN(read), OWN(fstat), OWN(readlinkat), OWN(setfsuid),
	  OWN_IF(fcntl, ARG_IS(1, F_DUPFD_CLOEXEC)));

#define MAX_LINKS     40 /* as the kernel's MAXSYMLINKS */
#define PROC_ROOT_INO 1

struct walk {
	struct call *c;
	int cur;    /* O_PATH directory reached so far, at the end what was found; owned */
	int parent; /* at the end the directory in which that was found if it is none; -1; owned */
	char leaf[NAME_MAX + 1]; /* as what */
	char rest[4 * PATH_MAX]; /* what is left of the path; links that lead to themselves make it longer */
	int links;
	bool nofollow, to_magic;
	bool by_magic;
	int magic_mode;
};

/* Takes the next component off w->rest. Returns false at the end. last: nothing but slashes follows;
 * directory: it must be one. Of one that is too long for the kernel as much as is too long: what is wrong with the directory
 * comes before that. */
#define COMPONENT_SIZE (NAME_MAX + 2)
static bool next_component(struct walk *w, char *name, bool *last, bool *directory)
{
	char *p = w->rest, *end;
	size_t n;

	while (*p == '/')
		p++;
	if (*p == '\0')
		return false;
	end = strchrnul(p, '/');
	n = end - p < COMPONENT_SIZE ? (size_t)(end - p) : COMPONENT_SIZE - 1;
	memcpy(name, p, n);
	name[n] = '\0';
	*directory = *end == '/';
	while (*end == '/')
		end++;
	*last = *end == '\0';
	memmove(w->rest, end, strlen(end) + 1);
	return true;
}

static int put_in_front(struct walk *w, const char *text, bool directory)
{
	size_t n = strlen(text), rest = strlen(w->rest);

	if (n + rest + 2 > sizeof(w->rest))
		return -ENAMETOOLONG;
	if (++w->links > MAX_LINKS)
		return -ELOOP;
	memmove(w->rest + n + (directory ? 1 : 0), w->rest, rest + 1);
	memcpy(w->rest, text, n);
	if (directory)
		w->rest[n] = '/';
	return 0;
}

/* Replaces the current directory by fd. */
static void enter(struct walk *w, int fd)
{
	close(w->cur);
	w->cur = fd;
}

int walk_self(struct call *c, const char *name, char *buf, size_t size)
{
	struct tracee_status st;
	int rc = tracee_status(c->s, c->tid, &st);

	if (rc < 0)
		return rc;
	if (strcmp(name, "self") == 0)
		return snprintf(buf, size, "%d", st.tgid);
	return snprintf(buf, size, "%d/task/%d", st.tgid, c->tid);
}

/* The process that a directory below /proc/PID belongs to, or 0 when it is not such a directory. */
static pid_t owner_of(struct walk *w, char *name, size_t size)
{
	char number[16];
	ssize_t n;

	snprintf(number, sizeof(number), "%d", w->cur);
	n = readlinkat(w->c->s->self_fd, number, name, size - 1);
	if (n < 0)
		return 0;
	name[n] = '\0';
	if (strncmp(name, "/proc/", 6) != 0 || !isdigit((unsigned char)name[6]))
		return 0;
	return atoi(name + 6);
}

/* What the kernel says of a descriptor: its flags, and which object it refers to. */
struct fdinfo {
	long flags, mount, inode;
};

static long number_after(const char *text, const char *key, int base)
{
	const char *p = strstr(text, key);

	return p ? strtol(p + strlen(key), NULL, base) : -1;
}

static int open_raised(int dir, const char *name, int flags)
{
	int fd = -EACCES;

	if (ident_look_begin()) {
		fd = openat(dir, name, flags | O_CLOEXEC | O_NOCTTY);
		fd = fd < 0 ? -errno : fd;
		ident_look_end();
	}
	return fd;
}

static bool on_proc(const struct call *c, const struct object *o)
{
	return mounts_is_proc(c->s->mounts, makedev(o->st.stx_dev_major, o->st.stx_dev_minor));
}

/*
 * As openat(), beneath /proc/OWNER. A process may always look into itself, also when its user may not (one that changed
 * its user without exec): the supervisor then does it with what it may raise.
 */
static int open_at(const struct call *c, pid_t owner, int dir, const char *name, int flags)
{
	int fd = openat(dir, name, flags | O_CLOEXEC);

	if (fd < 0 && errno == EACCES && tracee_is_callers(c, owner)) {
		fd = open_raised(dir, name, flags);
		if (fd < 0)
			errno = -fd;
	}
	return fd;
}

ssize_t walk_read_link(const struct call *c, int link, const char *inner, char *buf, size_t size)
{
	ssize_t n = readlinkat(link, "", buf, size);
	int err = errno;

	if (n < 0 && err == EACCES && tracee_is_callers(c, (pid_t)strtol(inner + 1, NULL, 10)) &&
	    ident_look_begin()) {
		n = readlinkat(link, "", buf, size);
		err = errno;
		ident_look_end();
	}
	return n < 0 ? -err : n;
}

/* By owner and mode; besides, the kernel knows the process itself for its list of descriptors and its threads' names. */
static bool is_for_itself(const struct object *o, bool write)
{
	bool own = o->st.stx_uid == (uid_t)setfsuid((uid_t)-1);
	const char *leaf = strrchr(o->name, '/');

	if (strcmp(leaf, "/comm") == 0 && strstr(o->name, "/task/"))
		return true;
	return !write && ((o->st.stx_mode & (own ? S_IRUSR : S_IROTH)) || strcmp(leaf, "/fd") == 0);
}

int walk_open_own(const struct call *c, const struct object *o, int flags)
{
	char number[16];

	if (o->len < 7 || strncmp(o->name, "/proc/", 6) != 0 || !on_proc(c, o) ||
	    !is_for_itself(o, (flags & O_ACCMODE) != O_RDONLY) || !tracee_is_callers(c, atoi(o->name + 6)))
		return -EACCES;
	snprintf(number, sizeof(number), "%d", o->fd);
	return open_raised(c->s->self_fd, number, flags);
}

static bool parse_fdinfo(int fd, struct fdinfo *f)
{
	char buf[1024];
	ssize_t got;

	if (fd < 0)
		return false;
	/* The numbers stand before anything that a program could have had a hand in. */
	got = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	buf[got > 0 ? got : 0] = '\0';
	f->flags = number_after(buf, "flags:", 8);
	f->mount = number_after(buf, "\nmnt_id:", 10);
	f->inode = number_after(buf, "\nino:", 10);
	return f->flags >= 0 && f->mount >= 0 && f->inode >= 0;
}

/* Of the supervisor's descriptor. As another user it would not get to its own. */
static bool own_fdinfo(int pin, struct fdinfo *f)
{
	char path[48];
	bool raised = ident_look_begin();
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pin);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (raised)
		ident_look_end();
	return parse_fdinfo(fd, f);
}

/*
 * The access mode of the descriptor that "dir/name" stands for, dir being /proc/PID/fd, of which pin was taken. The number
 * may mean another descriptor by now: it must still be one of the same object. What is not a descriptor (cwd, root, exe)
 * gives no more than reading, and an O_PATH descriptor nothing.
 */
static int mode_of_descriptor(const struct call *c, pid_t owner, const char *dir, const char *name, int pin)
{
	size_t n = strlen(dir);
	char path[NAME_MAX + 256];
	struct fdinfo its, own;

	if (n < 3 || strcmp(dir + n - 3, "/fd") != 0)
		return O_RDONLY;
	snprintf(path, sizeof(path), "%.*s/fdinfo/%s", (int)(n - 3), dir, name);
	if (!parse_fdinfo(open_at(c, owner, AT_FDCWD, path, O_RDONLY), &its))
		return RESOLVE_NO_MODE;
	if (!own_fdinfo(pin, &own) || its.mount != own.mount || its.inode != own.inode)
		return RESOLVE_NO_MODE;
	return its.flags & O_PATH ? RESOLVE_NO_MODE : (int)(its.flags & O_ACCMODE);
}

int walk_mode_of(const struct call *c, int fd, int pin)
{
	char dir[32], number[16];

	snprintf(dir, sizeof(dir), "/proc/%d/fd", c->tid);
	snprintf(number, sizeof(number), "%d", fd);
	return mode_of_descriptor(c, c->tid, dir, number, pin);
}

static int follow_magic(struct walk *w, const char *name, int *fd)
{
	char dir[256];
	pid_t owner = owner_of(w, dir, sizeof(dir));

	if (owner == 0)
		return -EINVAL; /* a text link after all */
	if (w->to_magic)
		return -ELOOP;
	if (!member_is(w->c->s, owner))
		return -EACCES;
	*fd = open_at(w->c, owner, w->cur, name, O_PATH);
	if (*fd < 0)
		return -errno;
	w->magic_mode = mode_of_descriptor(w->c, owner, dir, name, *fd);
	return 0;
}

/* fd is a symbolic link named name in w->cur. Puts what it stands for in front of the rest, or, for a magic
 * link, replaces *fd by the object. Returns 1 when *fd is the object to go on with, 0 when the rest changed. */
static int follow(struct walk *w, const char *name, const struct stat *st, bool directory, int *fd)
{
	char text[PATH_MAX];
	int rc, to;
	ssize_t n;

	if (mounts_is_proc(w->c->s->mounts, st->st_dev)) {
		struct stat dir;

		if (fstat(w->cur, &dir) == 0 && dir.st_ino == PROC_ROOT_INO &&
		    (strcmp(name, "self") == 0 || strcmp(name, "thread-self") == 0)) {
			rc = walk_self(w->c, name, text, sizeof(text));
			return rc < 0 ? rc : put_in_front(w, text, directory);
		}
		rc = follow_magic(w, name, &to);
		if (rc == 0 && ++w->links > MAX_LINKS) {
			close(to);
			return -ELOOP;
		}
		if (rc == 0) {
			close(*fd);
			*fd = to;
			w->by_magic = true;
			return 1;
		}
		if (rc != -EINVAL)
			return rc;
	}
	if (sticky_hides_link(w->c->s, w->cur, st->st_uid))
		return -EACCES;
	n = readlinkat(*fd, "", text, sizeof(text));
	if (n < 0)
		return -errno;
	if (n == 0)
		return -ENOENT;
	if ((size_t)n >= sizeof(text))
		return -ENAMETOOLONG;
	text[n] = '\0';
	rc = put_in_front(w, text, directory);
	if (rc == 0 && text[0] == '/')
		enter(w, fcntl(w->c->s->root, F_DUPFD_CLOEXEC, 3));
	return rc;
}

static int open_step(struct walk *w, const char *name)
{
	char dir[256];
	int fd = openat(w->cur, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 && errno == EACCES)
		fd = open_at(w->c, owner_of(w, dir, sizeof(dir)), w->cur, name, O_PATH | O_NOFOLLOW);
	return fd;
}

/* One step. Returns 0 to go on, 1 when the walk ended at w->cur, or -errno. */
static int step(struct walk *w)
{
	char name[COMPONENT_SIZE];
	bool last, directory;
	struct stat st;
	int fd, rc;

	if (w->cur < 0)
		return -EMFILE;
	if (!next_component(w, name, &last, &directory))
		return 1;
	fd = open_step(w, name);
	if (fd < 0)
		return -errno;
	w->by_magic = false;
	w->magic_mode = O_RDWR;
	if (fstat(fd, &st) < 0) {
		rc = -errno;
		close(fd);
		return rc;
	}
	if (S_ISLNK(st.st_mode) && !(last && w->nofollow && !directory)) {
		rc = follow(w, name, &st, directory, &fd);
		if (rc != 1) {
			close(fd);
			return rc;
		}
		if (fstat(fd, &st) < 0)
			st.st_mode = 0;
	}
	if (directory && !S_ISDIR(st.st_mode)) {
		close(fd);
		return -ENOTDIR;
	}
	if (!S_ISDIR(st.st_mode)) { /* the end of it, or ENOTDIR follows */
		memcpy(w->leaf, name, strlen(name) + 1);
		if (w->parent >= 0)
			close(w->parent);
		w->parent = w->cur;
		w->cur = fd;
		return 0;
	}
	enter(w, fd);
	return 0;
}

/* The object at the end. */
static int arrive(struct walk *w, int slot, struct object *o)
{
	int rc = object_from_pin(w->c, slot, w->cur, o);

	if (rc == 0) {
		o->by_magic = w->by_magic;
		o->magic_mode = w->magic_mode;
	}
	if (rc == 0 && o->untold && !o->by_magic && w->parent >= 0) {
		rc = object_name_by(w->c, o, w->parent, w->leaf);
		w->parent = -1;
	}
	if (w->parent >= 0)
		close(w->parent);
	return rc;
}

int walk_path(struct call *c, int slot, int base, const char *path, int flags, struct object *o)
{
	struct walk w = {
		.c = c,
		.parent = -1,
		.nofollow = flags & RESOLVE_NOFOLLOW,
		.to_magic = flags & RESOLVE_TO_MAGIC,
		.magic_mode = O_RDWR,
	};
	int rc;

	o->fd = -1;
	if (strlen(path) >= sizeof(w.rest))
		return -ENAMETOOLONG;
	strcpy(w.rest, path);
	w.cur = fcntl(path[0] == '/' ? c->s->root : base, F_DUPFD_CLOEXEC, 3);
	do {
		rc = step(&w);
	} while (rc == 0);
	if (rc > 0)
		return arrive(&w, slot, o);
	if (w.cur >= 0)
		close(w.cur);
	if (w.parent >= 0)
		close(w.parent);
	return rc;
}
