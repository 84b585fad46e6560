/*
 * process_vm_readv and process_vm_writev. Between processes of the session they are left to the kernel, but for reads
 * while some file may not be read: then the supervisor reads, looks whether the other ran exec meanwhile, and hands on
 * only what is no program that is still to be verified. The caller's own memory is always left to the kernel. So is
 * writing: it shows nothing, and what is still to be verified runs only if it may, when its own debugger could have
 * changed it as well.
 *
 * The supervisor reads as the caller, so that the kernel's own checks hold; only Yama's does not keep a process from its
 * siblings then, as it never did from their /proc/PID/mem.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "supervisor/crew.h"
#include "supervisor/execs.h"
#include "supervisor/ident.h"
#include "supervisor/isolate.h"
#include "supervisor/lockdown.h"
#include "supervisor/member.h"
#include "supervisor/path.h"
#include "supervisor/tracee.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(process_vm_readv), OWN(openat), OWN(close));

#define CHUNK	  65536
#define PAGE	  4096
#define MAX_TOTAL 0x7ffff000UL /* the kernel's MAX_RW_COUNT */

/* One side's buffers, and how far they are used. */
struct side {
	struct iovec iov[IOV_MAX];
	size_t n, at, offset;
};

struct transfer {
	pid_t from;
	uint64_t mark;
	struct side local, remote;
	char buf[CHUNK];
};

static bool is_beyond_user(const struct iovec *v)
{
	uintptr_t base = (uintptr_t)v->iov_base;

	return (base | (base + v->iov_len)) >> (sizeof(base) * 8 - 1);
}

/* 0 or the kernel's -errno. own: its addresses are looked at before anything is copied. */
static int copy_side(struct call *c, int arg, struct side *side, bool own)
{
	uint64_t n = c->arg[arg + 1];
	int rc;

	side->n = side->at = side->offset = 0;
	if (n > IOV_MAX)
		return -EINVAL;
	rc = n == 0 ? 0 : tracee_read(c, c->arg[arg], side->iov, n * sizeof(struct iovec));
	if (rc < 0)
		return rc;
	side->n = n;
	for (size_t i = 0; i < n; i++)
		if ((ssize_t)side->iov[i].iov_len < 0)
			return -EINVAL;
	for (size_t i = 0; own && i < n; i++)
		if (is_beyond_user(&side->iov[i]))
			return -EFAULT;
	return 0;
}

static size_t side_total(const struct side *side)
{
	size_t total = 0;

	for (size_t i = 0; i < side->n; i++) {
		size_t len = side->iov[i].iov_len;

		total = len > MAX_TOTAL - total ? MAX_TOTAL : total + len;
	}
	return total;
}

/* The next piece, of at most max bytes, in one buffer; its length 0: there is no more. */
static struct iovec side_piece(struct side *side, size_t max)
{
	struct iovec v = {0};

	while (side->at < side->n && side->offset == side->iov[side->at].iov_len) {
		side->at++;
		side->offset = 0;
	}
	if (side->at < side->n) {
		v.iov_base = (char *)side->iov[side->at].iov_base + side->offset;
		v.iov_len = side->iov[side->at].iov_len - side->offset;
		v.iov_len = v.iov_len < max ? v.iov_len : max;
	}
	side->offset += v.iov_len;
	return v;
}

/* The process's effective capabilities may be fewer than those that the raw call looks at. */
static bool caller_may_look(struct call *c, pid_t pid)
{
	char name[32];
	int fd;

	if (!ident_is_assumed())
		return true;
	snprintf(name, sizeof(name), "%d/mem", pid);
	fd = openat(c->s->proc, name, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0 || (errno != EPERM && errno != EACCES);
}

/* Reads up to max bytes into t->buf. *wanted: how many there were to read. */
static ssize_t read_some(struct transfer *t, size_t max, size_t *wanted)
{
	struct iovec to, from[64];
	unsigned n = 0;
	ssize_t got;

	*wanted = 0;
	while (n < sizeof(from) / sizeof(*from) && *wanted < max) {
		from[n] = side_piece(&t->remote, max - *wanted);
		if (from[n].iov_len == 0)
			break;
		*wanted += from[n++].iov_len;
	}
	if (n == 0)
		return 0;
	to = (struct iovec){t->buf, *wanted};
	got = process_vm_readv(t->from, &to, 1, from, n, 0);
	return got < 0 ? -errno : got;
}

/* Writes what was read. The number of bytes that found room. */
static ssize_t write_some(struct call *c, struct transfer *t, size_t len)
{
	size_t done = 0;

	while (done < len) {
		struct iovec to = side_piece(&t->local, len - done);
		size_t n = to.iov_len, left = PAGE - ((uintptr_t)to.iov_base & (PAGE - 1));
		int rc = tracee_write(c, (uintptr_t)to.iov_base, t->buf + done, n);

		/* How far it reaches, page by page. */
		for (size_t at = 0; rc == -EFAULT && at < n; at += left, left = PAGE) {
			left = left < n - at ? left : n - at;
			if (tracee_write(c, (uintptr_t)to.iov_base + at, t->buf + done + at, left) < 0)
				return (ssize_t)(done + at);
		}
		if (rc < 0 && rc != -EFAULT)
			return done > 0 ? (ssize_t)done : rc;
		done += n;
	}
	return (ssize_t)done;
}

/* The first bytes decide which program's memory it is. Reads them, of one that is verified. */
static ssize_t read_first(struct call *c, struct transfer *t, size_t max, size_t *wanted)
{
	for (int i = 0; i < EXECS_RETRIES; i++) {
		int rc = execs_await(c, t->from, &t->mark);
		ssize_t got;

		if (rc < 0)
			return rc;
		if (!caller_may_look(c, t->from))
			return -EPERM;
		got = read_some(t, max, wanted);
		if (execs_none_since(c->s->execs, t->from, t->mark))
			/* The number could have become another's. */
			return member_is(c->s, t->from) ? got : -ESRCH;
		t->remote.at = t->remote.offset = 0;
	}
	return -EAGAIN;
}

/* The same for what follows: after an exec it is not the same memory, and the call ends. */
static ssize_t read_next(struct call *c, struct transfer *t, size_t max, size_t *wanted)
{
	ssize_t got = read_some(t, max, wanted);

	return execs_none_since(c->s->execs, t->from, t->mark) && member_is(c->s, t->from) ? got : 0;
}

/* The number of bytes, or -errno when there were none. */
static ssize_t copy_all(struct call *c, struct transfer *t, size_t total)
{
	size_t done = 0, wanted;

	while (done < total) {
		size_t max = total - done < CHUNK ? total - done : CHUNK;
		ssize_t got = done == 0 ? read_first(c, t, max, &wanted) : read_next(c, t, max, &wanted);
		ssize_t put = got;

		if (tracee_check(c) < 0)
			return -ESRCH;
		if (got > 0)
			put = write_some(c, t, (size_t)got);
		if (put <= 0)
			return done > 0 ? (ssize_t)done : put < 0 ? put : got > 0 ? -EFAULT : 0;
		done += (size_t)put;
		if ((size_t)put < wanted)
			break;
	}
	return (ssize_t)done;
}

/* In the order in which the kernel finds errors. */
static ssize_t transfer(struct call *c, struct transfer *t)
{
	int rc = c->arg[5] != 0 ? -EINVAL : copy_side(c, 1, &t->local, true);
	size_t total, theirs;

	if (rc < 0)
		return rc;
	total = side_total(&t->local);
	if (total == 0)
		return 0;
	rc = copy_side(c, 3, &t->remote, false);
	if (rc < 0)
		return rc;
	theirs = side_total(&t->remote);
	t->from = call_int(c, 0);
	return copy_all(c, t, theirs < total ? theirs : total);
}

static void perform(struct call *c)
{
	struct transfer *t = malloc(sizeof(*t));
	ssize_t n = t && crew_step_aside(c) ? transfer(c, t) : -ENOMEM;

	free(t);
	if (tracee_check(c) < 0)
		call_gone(c);
	else if (n == -EPERM && c->unreadable)
		path_copy_failed(c, -EPERM);
	else if (n < 0)
		call_error(c, (int)-n);
	else
		call_return(c, n);
}

/* By a number that stays its own as long as it waits. */
static bool is_own_number(struct call *c, pid_t pid)
{
	struct tracee_status st;

	return pid == c->tid || (tracee_status(c->s, c->tid, &st) == 0 && st.tgid == pid);
}

/* There is no process of such a number, which the kernel says after all else. */
static bool is_nobody(pid_t pid)
{
	return pid <= 0;
}

static void handle_read(struct call *c)
{
	pid_t pid = call_int(c, 0);

	if (is_nobody(pid))
		call_continue(c);
	else if (!execs_matter(c->s) || is_own_number(c, pid) || !member_is(c->s, pid))
		isolate_pid(c, "trace", pid);
	else
		perform(c);
}

static void handle_write(struct call *c)
{
	pid_t pid = call_int(c, 0);

	if (is_nobody(pid))
		call_continue(c);
	else
		isolate_pid(c, "trace", pid);
}

const struct sysc sysc_process_vm_readv = {
	.name = "process_vm_readv",
	.op = "trace",
	.action = SYSC_NOTIFY,
	.handle = handle_read,
	.doc = "On processes of the session only; while some file may not be read, by the supervisor, which "
	       "waits until what is started there is verified.",
};
const struct sysc sysc_process_vm_writev = {
	.name = "process_vm_writev",
	.op = "trace",
	.action = SYSC_NOTIFY,
	.handle = handle_write,
	.doc = "On processes of the session only.",
};
