/*
 * open, openat, openat2, creat.
 *
 * An existing object is pinned with O_PATH, decided on, and opened again through its pin with the caller's flags, so
 * that what was judged is what is opened and the kernel gives the errors. A new one is made with O_EXCL in its pinned
 * directory, so that nothing put there in between is opened unjudged; if something was, it all starts again.
 *
 * BPF lets O_PATH through: such a descriptor reads and writes nothing, and each use of it with a path is judged. Where
 * something is to look absent, or strangers' /proc is to be kept shut, it is looked at first. BPF also lets read-only
 * opens through while no rule restricts reading.
 */
#include <errno.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/xattr.h>

#include "supervisor/change.h"
#include "supervisor/compat.h"
#include "supervisor/device.h"
#include "supervisor/judge.h"
#include "supervisor/lockdown.h"
#include "supervisor/look.h"
#include "supervisor/openflags.h"
#include "supervisor/path.h"
#include "supervisor/reopen.h"
#include "supervisor/settle.h"
#include "supervisor/sticky.h"
#include "supervisor/terminal.h"
#include "supervisor/pending.h"
#include "supervisor/tracee.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(openat), OWN(close), OWN(readlinkat));

#define RETRIES	  16
#define MAX_LINKS 40 /* as the kernel's MAXSYMLINKS */

/* A request to open as copied from the caller. */
struct opening {
	int dirfd;
	uint64_t addr;
	int flags;
	mode_t mode;
	uint64_t resolve; /* of openat2 */
};

static int judge_open(struct call *c, struct object *o, int flags)
{
	bool write = openflags_write(flags);

	/* The kernel refuses these before it changes anything: leave them to it. */
	if (S_ISLNK(o->st.stx_mode) || S_ISSOCK(o->st.stx_mode) || (S_ISDIR(o->st.stx_mode) && write))
		return tracee_check(c) < 0 ? JUDGE_GONE : 0;
	/* What may not be read may not be written either: one question is enough. */
	return judge_object(c, write ? ACCESS_WRITE : ACCESS_READ, o, openflags_accmode(flags));
}

/* Nobody waits for the end of such a descriptor. */
static bool is_plain_read(const struct object *o, int flags)
{
	return (flags & O_ACCMODE) == O_RDONLY && (S_ISREG(o->st.stx_mode) || S_ISDIR(o->st.stx_mode));
}

static void give(struct call *c, int fd, const struct object *o, int flags)
{
	if (o && device_is_ptmx(&o->st))
		device_note_pty(c, fd);
	if (o && terminal_is_taken(c, o, fd, flags))
		terminal_give(c, fd, flags);
	else if (o && is_plain_read(o, flags))
		call_fd(c, fd, flags & O_CLOEXEC);
	else
		call_fd_alone(c, fd, flags & O_CLOEXEC);
}

/* The kernel looks for a number before it looks at the path. */
static void fail(struct call *c, int err)
{
	path_copy_failed(c, tracee_has_free_numbers(c, 1) ? -err : -EMFILE);
}

/* Opens the judged pin and answers. */
static void open_pin(struct call *c, const struct object *o, int flags)
{
	enum crew_wake wake;
	int fd = reopen(c, o, flags, &wake);

	if (fd >= 0)
		give(c, fd, o, flags);
	else if (wake == CREW_GONE)
		call_gone(c);
	else if (fd == -EINTR && wake == CREW_SIGNAL)
		pending_restart(c);
	else
		fail(c, -fd);
}

/* O_CREAT on something that is there. 0 or the kernel's errno for it. */
static int existing_with_creat(const struct call *c, const struct object *o, int flags)
{
	if (flags & O_EXCL)
		return EEXIST;
	if (S_ISDIR(o->st.stx_mode))
		return EISDIR;
	return !S_ISLNK(o->st.stx_mode) && sticky_refuses_creat(c->s, o) ? EACCES : 0;
}

/* Opens what was judged, or answers rc. */
static void open_judged(struct call *c, const struct object *o, int flags, int rc)
{
	if (rc)
		judge_answer(c, rc);
	else if ((flags & O_TRUNC) && !tracee_has_free_numbers(c, 1))
		fail(c, EMFILE);
	else
		open_pin(c, o, flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW));
}

/* /dev/tty, judged, is then judged by the terminal that it stands for. */
static void open_tty(struct call *c, const struct object *o, int flags)
{
	struct object tty;
	int rc = device_pin_tty(c, o->slot, &tty);

	if (rc == 1) {
		open_judged(c, o, flags, 0);
	} else if (rc < 0) {
		fail(c, -rc);
	} else {
		memset(&c->event, 0, sizeof(c->event));
		open_judged(c, &tty, flags, judge_open(c, &tty, flags));
		object_close(&tty);
	}
}

static void open_existing(struct call *c, const struct opening *q, struct object *o)
{
	int flags = q->flags, rc = 0;

	if (flags & O_CREAT)
		rc = existing_with_creat(c, o, flags);
	if (rc == 0 && S_ISLNK(o->st.stx_mode) && !(flags & O_DIRECTORY))
		rc = ELOOP; /* O_NOFOLLOW: reopening the pin would not say so */
	if (rc) {
		fail(c, rc);
		return;
	}
	rc = judge_open(c, o, flags);
	if (rc == 0 && device_is_tty(&o->st))
		open_tty(c, o, flags);
	else
		open_judged(c, o, flags, rc);
}

/* Makes the file. Returns a descriptor, -errno, or -EEXIST when something else was there first. */
static int create(struct call *c, const struct opening *q, struct entry *e, int *answered)
{
	struct entry_verdict ev;
	int rc, fd;

	if (!tracee_has_free_numbers(c, 1))
		return -EMFILE;
	rc = change_judge(c, ACCESS_CREATE, e, &ev, false, change_check_absent, 0);
	if (rc == EEXIST)
		return -EEXIST;
	if (rc) {
		judge_answer(c, rc);
		*answered = 1;
		return -1;
	}
	/* O_EXCL follows no link, and O_NOFOLLOW would show in the descriptor's flags. */
	fd = openat(e->dir.fd, e->leaf, q->flags | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY,
		    path_mode(c, e->dir.fd, q->mode));
	fd = fd < 0 ? -errno : fd;
	if (fd >= 0)
		rc = settle_made(c, ACCESS_CREATE, e, &ev);
	if (fd >= 0 && rc == 0)
		judge_note_created(c, e, &ev);
	change_unlock(c);
	if (rc == 0)
		return fd;
	close(fd);
	judge_answer(c, rc);
	*answered = 1;
	return -1;
}

/*
 * e, found by path, is a dangling symbolic link: puts what it stands for into c->path[0], as a path that goes the same way
 * from the same base, so that the caller's own restrictions hold on it. Here no walk of the kernel looks at whose link it is. 0 or the errno to
 * answer.
 */
static int follow_dangling(struct call *c, const struct opening *q, const struct entry *e, const char *path)
{
	char target[PATH_MAX];
	ssize_t n;

	if (sticky_hides_link(c->s, e->dir.fd, e->st.stx_uid))
		return EACCES;
	if (q->resolve & RESOLVE_NO_SYMLINKS)
		return ELOOP;
	n = readlinkat(e->dir.fd, e->leaf, target, sizeof(target));
	return n < 0 ? errno : -path_join(c, 0, path, target, (size_t)n);
}

/*
 * O_CREAT where the whole path led to err. Symbolic links as the last component are followed: the file is made where they
 * point to. What they end at in "name/" is EISDIR without a look; else err was right, unless it was ENOENT. Returns true
 * when answered, false to start again.
 */
static bool open_new(struct call *c, const struct opening *q, int err)
{
	int answered = 0, fd, rc;
	char path[PATH_MAX];
	struct entry e;

	for (int links = 0;; links++) {
		memcpy(path, c->path[0], strlen(c->path[0]) + 1);
		rc = resolve_entry(c, 0, q->dirfd, q->resolve, &e);
		if (rc < 0) {
			fail(c, -rc);
			return true;
		}
		if (e.special || e.leaf[e.leaf_len] == '/') {
			fail(c, e.special && (q->flags & O_EXCL) ? EEXIST : EISDIR);
			entry_close(&e);
			return true;
		}
		if (!e.exists || !S_ISLNK(e.st.stx_mode) || q->flags & (O_EXCL | O_NOFOLLOW))
			break;
		rc = links < MAX_LINKS ? follow_dangling(c, q, &e, path) : ELOOP;
		entry_close(&e);
		if (rc) {
			fail(c, rc);
			return true;
		}
	}
	fd = err == ENOENT ? create(c, q, &e, &answered) : -err;
	entry_close(&e);
	if (answered)
		return true;
	if (fd == -EEXIST && !(q->flags & O_EXCL))
		return false;
	if (fd >= 0)
		give(c, fd, NULL, q->flags);
	else
		fail(c, -fd);
	return true;
}

/* An unnamed file in a directory: creating, and writing what it may become. */
static void open_tmpfile(struct call *c, const struct opening *q, struct object *dir)
{
	struct entry e = {.dir = *dir, .leaf = "(new)", .leaf_len = 5};
	struct entry_verdict ev;
	int rc, fd;

	if (!S_ISDIR(dir->st.stx_mode)) {
		fail(c, ENOTDIR);
		return;
	}
	if (dir->deleted &&
	    dir->st.stx_nlink == 0) { /* no name can ever be beneath it: the kernel says what it says */
		rc = tracee_check(c) < 0 ? JUDGE_GONE : 0;
	} else {
		path_name_entry(c, 0, &e);
		rc = judge_entry(c, ACCESS_CREATE, &e, &ev);
	}
	if (rc) {
		judge_answer(c, rc);
		return;
	}
	fd = openat(dir->fd, ".", q->flags | O_CLOEXEC, path_mode(c, dir->fd, q->mode));
	if (fd < 0)
		fail(c, errno);
	else
		give(c, fd, NULL, q->flags);
}

static int resolve_opening(struct call *c, const struct opening *q, struct object *o)
{
	bool nofollow = (q->flags & O_NOFOLLOW) || (q->flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);

	return resolve_object(c, 0, q->dirfd, nofollow ? RESOLVE_NOFOLLOW : 0, q->resolve, o);
}

/* A path that led to err may still be one for O_CREAT: of the last component the kernel looks at less then. */
static bool may_be_new(const struct opening *q, int err)
{
	return (q->flags & O_CREAT) && (err == ENOENT || err == ENOTDIR || (err == ELOOP && !q->resolve));
}

static void do_open(struct call *c, const struct opening *q)
{
	char copy[PATH_MAX];
	struct object o;
	int rc;

	if (!openflags_possible(q->flags)) {
		call_error(c, EINVAL);
		return;
	}
	rc = tracee_path(c, q->addr, c->path[0]);
	if (rc <= 0) { /* an empty path is refused as one that cannot be read: before there is a number */
		path_copy_failed(c, rc ?: -ENOENT);
		return;
	}
	memcpy(copy, c->path[0], (size_t)rc + 1);
	if ((q->flags & O_CREAT) && (q->flags & O_TMPFILE) != O_TMPFILE && path_wants_directory(copy)) {
		/* "name/" is EISDIR whatever is there, unless the way to it fails. */
		open_new(c, q, ENOENT);
		return;
	}
	for (int i = 0; i < RETRIES; i++) {
		memcpy(c->path[0], copy, strlen(copy) + 1);
		memset(&c->event, 0, sizeof(c->event));
		rc = resolve_opening(c, q, &o);
		if (rc == 0) {
			if ((q->flags & O_TMPFILE) == O_TMPFILE)
				open_tmpfile(c, q, &o);
			else
				open_existing(c, q, &o);
			object_close(&o);
			return;
		}
		if (!may_be_new(q, -rc)) {
			fail(c, -rc);
			return;
		}
		memset(&c->event, 0, sizeof(c->event));
		c->recorded = false;
		if (open_new(c, q, -rc))
			return;
	}
	fail(c, EAGAIN);
}

/* The kernel takes the path, then looks for a number, and only then looks at the object. */
static bool lacks_number(struct call *c, uint64_t path)
{
	int rc;

	if (tracee_has_free_numbers(c, 1))
		return false;
	rc = tracee_path(c, path, c->path[0]);
	if (rc == -EPERM)
		return false;
	path_copy_failed(c, rc > 0 ? -EMFILE : rc == 0 ? -ENOENT : rc);
	return true;
}

static void handle_open(struct call *c, int dirfd, int path, int flags, mode_t mode)
{
	struct opening q = {
		.dirfd = dirfd, .addr = c->arg[path], .flags = flags & OPENFLAGS_KNOWN, .mode = mode & 07777};

	if ((flags & O_PATH) && lacks_number(c, c->arg[path]))
		return;
	if (flags & O_PATH)
		look(c, dirfd, path, flags & O_NOFOLLOW ? RESOLVE_NOFOLLOW : 0, LOOK_ENTER);
	else
		do_open(c, &q);
}

#ifdef SYS_open
static void handle_open2(struct call *c)
{
	handle_open(c, AT_FDCWD, 0, call_int(c, 1), (mode_t)c->arg[2]);
}
#endif

static void handle_openat(struct call *c)
{
	handle_open(c, call_int(c, 0), 1, call_int(c, 2), (mode_t)c->arg[3]);
}

#ifdef SYS_creat
static void handle_creat(struct call *c)
{
	handle_open(c, AT_FDCWD, 0, O_CREAT | O_WRONLY | O_TRUNC, (mode_t)c->arg[1]);
}
#endif

static void handle_openat2(struct call *c)
{
	struct opening q = {.dirfd = call_int(c, 0), .addr = c->arg[1]};
	struct open_how how;
	int rc = openflags_copy_how(c, c->arg[2], c->arg[3], &how);

	if (rc < 0) {
		path_copy_failed(c, rc);
		return;
	}
	q.flags = (int)how.flags;
	q.mode = (mode_t)how.mode;
	q.resolve = how.resolve;
	if (q.flags & O_PATH) {
		/* The kernel gives no O_PATH descriptor to another process, and the flag lies in memory, where it could be
		 * changed. Programs fall back to openat(O_PATH). */
		call_error(c, ENOSYS);
		return;
	}
	do_open(c, &q);
}

#define OPEN_WHEN(arg)                                                                                       \
	SYSC_WHEN(SYSC_IF_OFF(FEATURE_HIDE | FEATURE_UNSCOPED, SYSC_ALLOW, ARG_ANY(arg, O_PATH)),            \
		  SYSC_IF(SYSC_NOTIFY, ARG_ANY(arg, O_PATH)),                                                \
		  SYSC_IF_OFF(FEATURE_READS, SYSC_ALLOW,                                                     \
			      ARG_NONE(arg, O_ACCMODE | O_CREAT | O_TRUNC | OPENFLAGS_TMPFILE)))
#define OPEN_DOC                                                                                             \
	"The object is pinned, judged and opened again by the supervisor with the caller's flags; O_PATH "   \
	"is left "                                                                                           \
	"to the kernel, after a look where something is hidden or Landlock is missing, and so are "          \
	"read-only "                                                                                         \
	"opens while nothing restricts reading."

#ifdef SYS_open
const struct sysc sysc_open = {
	.name = "open",
	.op = "open",
	.action = SYSC_NOTIFY,
	OPEN_WHEN(1),
	.handle = handle_open2,
	.doc = OPEN_DOC,
};
#endif
const struct sysc sysc_openat = {
	.name = "openat",
	.op = "open",
	.action = SYSC_NOTIFY,
	OPEN_WHEN(2),
	.handle = handle_openat,
	.doc = OPEN_DOC,
};
const struct sysc sysc_openat2 = {
	.name = "openat2",
	.op = "open",
	.action = SYSC_NOTIFY,
	.handle = handle_openat2,
	.doc = "As openat; with O_PATH it answers ENOSYS, since its flags lie in memory.",
};
#ifdef SYS_creat
const struct sysc sysc_creat = {
	.name = "creat",
	.op = "open",
	.action = SYSC_NOTIFY,
	.handle = handle_creat,
	.doc = "As open with O_CREAT, O_WRONLY and O_TRUNC.",
};
#endif
