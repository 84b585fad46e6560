/*
 * recvfrom that asks whom a message is from, and in the window of descriptor numbers where stand-ins for datagram sockets
 * are (standin.h) recvmsg and recvmmsg, which are too frequent elsewhere: for a stand-in performed by the supervisor on
 * its duplicate, and answered with whom the message would come from.
 *
 * Of all other sockets the kernel receives, whatever is behind the number by then: what it holds is the caller's.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "supervisor/crew.h"
#include "supervisor/lockdown.h"
#include "supervisor/nameserver.h"
#include "supervisor/path.h"
#include "supervisor/pending.h"
#include "supervisor/sockets.h"
#include "supervisor/standin.h"
#include "supervisor/tracee.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(recvmsg), OWN(getsockopt), OWN(close), OWN_IF(fcntl, ARG_IS(1, F_GETFL)));

/* More than any datagram. */
#define ROOM_MAX 65536

/* Where the caller wants a message. */
struct want {
	struct iovec iov[IOV_MAX];
	size_t n, room;
	uint64_t name; /* 0: does not want to know */
	uint32_t name_room;
};

struct receipt {
	int fd; /* the duplicate */
	struct standin standin;
	struct want want;
	ssize_t n;
	int flags; /* as the kernel tells them */
	char buf[ROOM_MAX];
};

static void end(struct receipt *r)
{
	close(r->fd);
	free(r);
}

/* NULL: answered. */
static struct receipt *begin(struct call *c, int flags)
{
	uint64_t inode = tracee_socket_inode(c, call_int(c, 0));
	struct receipt *r;
	struct standin st;

	if (!standin_look(c->s, inode, &st)) {
		call_continue(c);
		return NULL;
	}
	r = malloc(sizeof(*r));
	if (!r) {
		call_error(c, ENOMEM);
		return NULL;
	}
	r->standin = st;
	r->fd = sockets_get(c->s, inode);
	if (r->fd < 0) {
		call_error(c, r->fd == -ENOENT ? EBADF : ENOBUFS);
		free(r);
		return NULL;
	}
	/* Nothing is ever in the queue of errors. */
	if (flags & MSG_ERRQUEUE) {
		end(r);
		call_error(c, EAGAIN);
		return NULL;
	}
	return r;
}

/* One message. None is empty: without one the other end is closed, and so the gateway gone. */
static ssize_t receive_now(struct receipt *r, int flags)
{
	struct iovec iov = {r->buf, r->want.room < ROOM_MAX ? r->want.room : ROOM_MAX};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	ssize_t n = recvmsg(r->fd, &m, flags & (MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT));

	if (n < 0)
		return -errno;
	if (n == 0 && !(m.msg_flags & MSG_TRUNC))
		return -ECONNREFUSED;
	r->flags = (m.msg_flags & MSG_TRUNC) | (flags & MSG_CMSG_CLOEXEC);
	return n;
}

static bool has_timeout(int fd)
{
	struct timeval t = {0};
	socklen_t len = sizeof(t);

	return getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, &len) == 0 && (t.tv_sec || t.tv_usec);
}

/* The outcome of waiting that a signal or a death ended; the call is answered then. */
#define ENDED (-INT_MAX)

/* As the kernel: with a time limit the call is interrupted, else it may begin again. */
static ssize_t interrupted(struct call *c, struct receipt *r, enum crew_wake wake, bool may_restart)
{
	if (wake == CREW_GONE)
		call_gone(c);
	else if (!may_restart || has_timeout(r->fd))
		return -EINTR;
	else
		pending_restart(c);
	return ENDED;
}

/*
 * The number of bytes, -errno or ENDED. may_restart: nothing was received yet. The descriptor's O_NONBLOCK is the caller's own,
 * and the kernel looks at it again when it would wait.
 */
static ssize_t receive(struct call *c, struct receipt *r, int flags, bool may_restart)
{
	enum crew_wake wake = CREW_DONE;
	ssize_t n = receive_now(r, flags | MSG_DONTWAIT);

	if (n != -EAGAIN || (flags & MSG_DONTWAIT) || (fcntl(r->fd, F_GETFL) & O_NONBLOCK))
		return n;
	do {
		if (!crew_block_begin(c))
			return -EAGAIN;
		n = receive_now(r, flags);
		wake = crew_block_end(c);
	} while (n == -EINTR && wake == CREW_DONE);
	return n == -EINTR ? interrupted(c, r, wake, may_restart) : n;
}

/* What the caller gave room for. 0 or -errno. */
static int write_data(struct call *c, struct receipt *r)
{
	size_t left = (size_t)r->n < r->want.room ? (size_t)r->n : r->want.room;
	const char *from = r->buf;
	int rc = 0;

	if (left > ROOM_MAX)
		left = ROOM_MAX;
	for (size_t i = 0; i < r->want.n && left && rc == 0; i++) {
		size_t len = r->want.iov[i].iov_len < left ? r->want.iov[i].iov_len : left;

		rc = tracee_write(c, (uint64_t)(uintptr_t)r->want.iov[i].iov_base, from, len);
		from += len;
		left -= len;
	}
	return rc;
}

/* Whom it comes from: where the socket is connected to. Its length goes to where that is kept. */
static int write_name(struct call *c, struct receipt *r, uint64_t length)
{
	struct standin_addr from = r->standin.peer;
	int rc;

	if (!r->want.name)
		return 0;
	if (!from.len)
		from.len = nameserver_first(c->s->nameserver, r->standin.family, &from.a);
	rc = tracee_write(c, r->want.name, &from.a,
			  r->want.name_room < from.len ? r->want.name_room : from.len);
	return rc < 0 ? rc : tracee_write(c, length, &from.len, sizeof(from.len));
}

static void answer(struct call *c, struct receipt *r, ssize_t n, int rc)
{
	if (rc == -ESRCH)
		call_gone(c);
	else if (rc < 0 || n < 0)
		call_error(c, (int)(rc < 0 ? -rc : -n));
	else
		call_return(c, n);
	end(r);
}

static void handle_recvfrom(struct call *c)
{
	struct receipt *r;
	int flags = call_int(c, 3), rc = 0;

	r = begin(c, flags);
	if (!r)
		return;
	r->want.iov[0] = (struct iovec){(void *)(uintptr_t)c->arg[1], c->arg[2]};
	r->want.n = 1;
	r->want.room = c->arg[2];
	r->want.name = c->arg[4];
	r->n = receive(c, r, flags, true);
	if (r->n == ENDED) {
		end(r);
		return;
	}
	if (r->n >= 0)
		rc = write_data(c, r);
	if (r->n >= 0 && rc == 0)
		rc = tracee_read(c, c->arg[5], &r->want.name_room, sizeof(r->want.name_room));
	if (r->n >= 0 && rc == 0)
		rc = (int)r->want.name_room < 0 ? -EINVAL : write_name(c, r, c->arg[5]);
	answer(c, r, r->n, rc);
}

/* Copies what a msghdr at addr wants. 0 or the kernel's -errno. */
static int copy_want(struct call *c, uint64_t addr, struct want *w)
{
	struct msghdr m;
	int rc = tracee_read(c, addr, &m, sizeof(m));

	if (rc < 0)
		return rc;
	if (m.msg_name && (int)m.msg_namelen < 0)
		return -EINVAL;
	if (m.msg_iovlen > IOV_MAX)
		return -EMSGSIZE;
	w->name = (uint64_t)(uintptr_t)m.msg_name;
	w->name_room = m.msg_namelen;
	w->n = m.msg_iovlen;
	w->room = 0;
	rc = w->n ? tracee_read(c, (uint64_t)(uintptr_t)m.msg_iov, w->iov, w->n * sizeof(*w->iov)) : 0;
	for (size_t i = 0; i < w->n && rc == 0; i++) {
		if ((ssize_t)w->iov[i].iov_len < 0)
			return -EINVAL;
		w->room = w->iov[i].iov_len > SIZE_MAX - w->room ? SIZE_MAX : w->room + w->iov[i].iov_len;
	}
	return rc;
}

/* Fills in the msghdr. */
static int write_message(struct call *c, struct receipt *r, uint64_t addr)
{
	const size_t zero = 0;
	int rc = write_data(c, r);

	if (rc == 0)
		rc = write_name(c, r, addr + offsetof(struct msghdr, msg_namelen));
	if (rc == 0)
		rc = tracee_write(c, addr + offsetof(struct msghdr, msg_controllen), &zero, sizeof(zero));
	if (rc == 0)
		rc = tracee_write(c, addr + offsetof(struct msghdr, msg_flags), &r->flags, sizeof(r->flags));
	return rc;
}

/* One message into the msghdr at addr. As receive(). */
static ssize_t receive_message(struct call *c, struct receipt *r, uint64_t addr, int flags, bool may_restart)
{
	int rc = copy_want(c, addr, &r->want);

	if (rc < 0)
		return rc;
	r->n = receive(c, r, flags, may_restart);
	if (r->n < 0)
		return r->n;
	rc = write_message(c, r, addr);
	return rc < 0 ? rc : r->n;
}

static void handle_recvmsg(struct call *c)
{
	int flags = call_int(c, 2);
	struct receipt *r;
	ssize_t n;

	r = begin(c, flags);
	if (!r)
		return;
	n = receive_message(c, r, c->arg[1], flags, true);
	if (n == ENDED)
		end(r);
	else
		answer(c, r, n, n < 0 ? (int)n : 0);
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* The time limit of recvmmsg, which the kernel looks at after each message. */
struct limit {
	uint64_t addr; /* 0: none */
	int64_t end;
};

static int copy_limit(struct call *c, struct limit *l)
{
	struct timespec t;
	int rc;

	l->addr = c->arg[4];
	if (!l->addr)
		return 0;
	rc = tracee_read(c, l->addr, &t, sizeof(t));
	if (rc < 0)
		return rc;
	if (t.tv_sec < 0 || t.tv_nsec < 0 || t.tv_nsec > 999999999)
		return -EINVAL;
	if (t.tv_sec > INT_MAX)
		t.tv_sec = INT_MAX;
	l->end = now_ns() + t.tv_sec * 1000000000LL + t.tv_nsec;
	return 0;
}

static int write_limit(struct call *c, const struct limit *l)
{
	int64_t left = l->addr ? l->end - now_ns() : 0;
	struct timespec t;

	if (!l->addr)
		return 0;
	left = left > 0 ? left : 0;
	t = (struct timespec){left / 1000000000, left % 1000000000};
	return tracee_write(c, l->addr, &t, sizeof(t));
}

/* The number of messages, -errno or ENDED. */
static ssize_t receive_all(struct call *c, struct receipt *r, int flags, const struct limit *l)
{
	uint32_t max = (uint32_t)c->arg[2], done = 0;
	ssize_t n = 0;

	max = max < IOV_MAX ? max : IOV_MAX;
	while (done < max) {
		uint64_t addr = c->arg[1] + done * sizeof(struct mmsghdr);
		uint32_t len;
		int rc;

		n = receive_message(c, r, addr, flags & ~MSG_WAITFORONE, done == 0);
		if (n < 0)
			break;
		len = (uint32_t)n;
		rc = tracee_write(c, addr + offsetof(struct mmsghdr, msg_len), &len, sizeof(len));
		if (rc < 0) {
			n = rc;
			break;
		}
		done++;
		if (flags & MSG_WAITFORONE)
			flags |= MSG_DONTWAIT;
		if (l->addr && now_ns() >= l->end)
			break;
	}
	return n == ENDED || n == -ESRCH || done == 0 ? n : (ssize_t)done;
}

static void handle_recvmmsg(struct call *c)
{
	int flags = call_int(c, 3), rc;
	struct receipt *r;
	struct limit l = {0};
	ssize_t n;

	r = begin(c, flags);
	if (!r)
		return;
	rc = copy_limit(c, &l);
	n = rc < 0 ? rc : receive_all(c, r, flags, &l);
	if (n == ENDED) {
		end(r);
		return;
	}
	if (n > 0)
		rc = write_limit(c, &l);
	answer(c, r, n, rc);
}

const struct sysc sysc_recvfrom = {
	.name = "recvfrom",
	.op = "socket",
	.action = SYSC_ALLOW,
	SYSC_WHEN(SYSC_IF(SYSC_NOTIFY, ARG_ANY(4, ~0U))),
	.handle = handle_recvfrom,
	.doc = "Free without an address to be filled in. With one, the supervisor receives for the stand-ins "
	       "for "
	       "datagram sockets, and tells the address of the server that was asked; other sockets are left "
	       "to the "
	       "kernel.",
};

#define ROW(call, handler)                                                                                   \
	const struct sysc sysc_##call = {                                                                    \
		.name = #call,                                                                               \
		.op = "socket",                                                                              \
		.action = SYSC_ALLOW,                                                                        \
		SYSC_WHEN(SYSC_IF(SYSC_NOTIFY, STANDIN_IN_WINDOW(0))),                                       \
		.handle = handler,                                                                           \
		.doc = "Free, but in the window of numbers where the stand-ins for datagram sockets are: "   \
		       "for "                                                                                \
		       "these the supervisor receives, and tells the address of the server that was asked.", \
	}

ROW(recvmsg, handle_recvmsg);
ROW(recvmmsg, handle_recvmmsg);
