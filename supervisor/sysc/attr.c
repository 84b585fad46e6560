/*
 * Mode, owner, times and length by path or descriptor.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
#include <utime.h>

#include "supervisor/change.h"
#include "supervisor/crew.h"
#include "supervisor/device.h"
#include "supervisor/lockdown.h"
#include "supervisor/path.h"
#include "supervisor/pending.h"
#include "supervisor/tracee.h"

OWN_CALLS(OWN_SUPERVISOR, OWN_OLD(chmod, fchmodat), OWN(fchownat), OWN(utimensat), OWN(truncate), OWN(tgkill),
	  OWN_FACCESSAT);

struct attr {
	mode_t mode;
	uid_t uid;
	gid_t gid;
	struct timespec times[2];
	bool now; /* no times given */
	int64_t length;
};

static int act_chmod(struct call *c, const struct object *o, void *arg)
{
	const struct attr *a = arg;
	char proc[PATH_PROC_SIZE];

	if (chmod(path_proc(o->fd, proc), a->mode) < 0)
		return -errno;
	device_pty_changed(c->s, &o->st, o->fd);
	return 0;
}

static void do_chmod(struct call *c, int dirfd, int path, uint64_t mode, int flags)
{
	struct attr a = {.mode = (mode_t)mode & 07777};
	int how = path_flags(flags);

	if (how < 0)
		call_error(c, EINVAL);
	else
		change_object(c, dirfd, path, how, act_chmod, &a);
}

static int act_chown(struct call *c, const struct object *o, void *arg)
{
	const struct attr *a = arg;

	if (fchownat(o->fd, "", a->uid, a->gid, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	device_pty_changed(c->s, &o->st, o->fd);
	return 0;
}

static void do_chown(struct call *c, int dirfd, int path, uint64_t uid, uint64_t gid, int flags)
{
	struct attr a = {.uid = (uid_t)uid, .gid = (gid_t)gid};
	int how = path_flags(flags);

	if (how < 0)
		call_error(c, EINVAL);
	else
		change_object(c, dirfd, path, how, act_chown, &a);
}

static int act_utime(struct call *c, const struct object *o, void *arg)
{
	const struct attr *a = arg;

	(void)c;
	if (syscall(SYS_utimensat, o->fd, "", a->now ? NULL : a->times, AT_EMPTY_PATH) < 0)
		return -errno;
	return 0;
}

static bool is_omit(const struct attr *a)
{
	return !a->now && a->times[0].tv_nsec == UTIME_OMIT && a->times[1].tv_nsec == UTIME_OMIT;
}

static void handle_utimensat(struct call *c)
{
	struct attr a = {.now = c->arg[2] == 0};
	bool on_descriptor = c->arg[1] == 0 && call_int(c, 0) != AT_FDCWD;
	int flags = call_int(c, 3), how = path_flags(flags), rc = 0;

	if (!a.now)
		rc = tracee_read(c, c->arg[2], a.times, sizeof(a.times));
	if (rc < 0)
		path_copy_failed(c, rc);
	else if (is_omit(&a)) /* the kernel then looks at nothing else */
		call_return(c, 0);
	else if (how < 0 || (on_descriptor && flags))
		call_error(c, EINVAL);
	else if (on_descriptor)
		change_descriptor(c, call_int(c, 0), false, act_utime, &a);
	else
		change_object(c, call_int(c, 0), 1, how, act_utime, &a);
}

/* Kills the caller's thread with SIGXFSZ when the length is beyond its own limit, as the kernel does with a file that may be
 * written. */
static int check_limit(struct call *c, const struct object *o, int64_t length)
{
	struct tracee_status st;
	rlim_t limit;
	int rc = tracee_file_limit(c, &limit);

	if (rc < 0 || limit == RLIM_INFINITY || (rlim_t)length <= limit)
		return rc;
	if (faccessat(o->fd, "", W_OK, AT_EACCESS | AT_EMPTY_PATH) < 0)
		return -errno;
	if (tracee_status(c->s, c->tid, &st) == 0)
		syscall(SYS_tgkill, st.tgid, c->tid, SIGXFSZ);
	return -EFBIG;
}

/* Somebody's lease may have to be waited for. */
static void truncate_pin(struct call *c, const struct object *o, int64_t length)
{
	char proc[PATH_PROC_SIZE];
	enum crew_wake wake;
	int rc;

	crew_linger_begin(c);
	rc = truncate(path_proc(o->fd, proc), length) < 0 ? -errno : 0;
	wake = crew_block_end(c);
	if (wake == CREW_GONE)
		call_gone(c);
	else if (rc == -EINTR && wake == CREW_SIGNAL)
		pending_restart(c);
	else
		call_result(c, rc);
}

static void handle_truncate(struct call *c)
{
	int64_t length = (int64_t)c->arg[1];
	struct object o;
	int rc;

	if (length < 0) {
		call_error(c, EINVAL);
		return;
	}
	rc = resolve_object_at(c, 0, AT_FDCWD, c->arg[0], 0, &o);
	if (rc < 0) {
		path_copy_failed(c, rc);
		return;
	}
	if (!S_ISREG(o.st.stx_mode)) {
		call_error(c, S_ISDIR(o.st.stx_mode) ? EISDIR : EINVAL);
		object_close(&o);
		return;
	}
	rc = judge_object(c, ACCESS_WRITE, &o, O_WRONLY);
	if (rc) {
		judge_answer(c, rc);
	} else {
		rc = (uint64_t)length > o.st.stx_size ? check_limit(c, &o, length) : 0;
		if (rc < 0)
			call_result(c, rc);
		else
			truncate_pin(c, &o, length);
	}
	object_close(&o);
}

static void handle_fchmod(struct call *c)
{
	struct attr a = {.mode = (mode_t)c->arg[1] & 07777};

	change_descriptor(c, call_int(c, 0), false, act_chmod, &a);
}

static void handle_fchown(struct call *c)
{
	struct attr a = {.uid = (uid_t)c->arg[1], .gid = (gid_t)c->arg[2]};

	change_descriptor(c, call_int(c, 0), false, act_chown, &a);
}

static void handle_fchmodat(struct call *c)
{
	do_chmod(c, call_int(c, 0), 1, c->arg[2], 0);
}

static void handle_fchmodat2(struct call *c)
{
	do_chmod(c, call_int(c, 0), 1, c->arg[2], call_int(c, 3));
}

static void handle_fchownat(struct call *c)
{
	do_chown(c, call_int(c, 0), 1, c->arg[2], c->arg[3], call_int(c, 4));
}

#define DOC_ATTR "The object is pinned and judged, and the supervisor changes the pin."
#define ROW(call, fn)                                                                                        \
	const struct sysc sysc_##call = {                                                                    \
		.name = #call,                                                                               \
		.op = "metadata",                                                                            \
		.action = SYSC_NOTIFY,                                                                       \
		.handle = fn,                                                                                \
		.doc = DOC_ATTR,                                                                             \
	}

ROW(fchmod, handle_fchmod);
ROW(fchown, handle_fchown);
ROW(fchmodat, handle_fchmodat);
ROW(fchmodat2, handle_fchmodat2);
ROW(fchownat, handle_fchownat);
ROW(utimensat, handle_utimensat);

const struct sysc sysc_truncate = {
	.name = "truncate",
	.op = "write",
	.action = SYSC_NOTIFY,
	.handle = handle_truncate,
	.doc = DOC_ATTR,
};

#ifdef SYS_chmod
static void handle_chmod(struct call *c)
{
	do_chmod(c, AT_FDCWD, 0, c->arg[1], 0);
}

static void handle_chown(struct call *c)
{
	do_chown(c, AT_FDCWD, 0, c->arg[1], c->arg[2], 0);
}

static void handle_lchown(struct call *c)
{
	do_chown(c, AT_FDCWD, 0, c->arg[1], c->arg[2], AT_SYMLINK_NOFOLLOW);
}

static void handle_utime(struct call *c)
{
	struct attr a = {.now = c->arg[1] == 0};
	struct utimbuf buf;
	int rc = a.now ? 0 : tracee_read(c, c->arg[1], &buf, sizeof(buf));

	if (rc < 0) {
		path_copy_failed(c, rc);
		return;
	}
	if (!a.now) {
		a.times[0].tv_sec = buf.actime;
		a.times[1].tv_sec = buf.modtime;
	}
	change_object(c, AT_FDCWD, 0, 0, act_utime, &a);
}

static void do_utimes(struct call *c, int dirfd, int path, uint64_t times)
{
	struct attr a = {.now = times == 0};
	struct timeval tv[2];
	int rc = a.now ? 0 : tracee_read(c, times, tv, sizeof(tv));

	if (rc < 0) {
		path_copy_failed(c, rc);
		return;
	}
	for (int i = 0; !a.now && i < 2; i++) {
		if (tv[i].tv_usec < 0 || tv[i].tv_usec >= 1000000) {
			call_error(c, EINVAL);
			return;
		}
		a.times[i] = (struct timespec){tv[i].tv_sec, tv[i].tv_usec * 1000};
	}
	if (c->arg[path] == 0 && dirfd != AT_FDCWD)
		change_descriptor(c, dirfd, false, act_utime, &a);
	else
		change_object(c, dirfd, path, 0, act_utime, &a);
}

static void handle_utimes(struct call *c)
{
	do_utimes(c, AT_FDCWD, 0, c->arg[1]);
}

static void handle_futimesat(struct call *c)
{
	do_utimes(c, call_int(c, 0), 1, c->arg[2]);
}

ROW(chmod, handle_chmod);
ROW(chown, handle_chown);
ROW(lchown, handle_lchown);
ROW(utime, handle_utime);
ROW(utimes, handle_utimes);
ROW(futimesat, handle_futimesat);
#endif
