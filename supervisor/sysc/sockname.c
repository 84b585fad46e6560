/*
 * What programs are told of their Unix sockets. The supervisor made, bound and connected them, so the kernel would tell of
 * the supervisor. Only answers about the caller's own descriptors, so where nothing better is known the kernel may give
 * them.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "supervisor/path.h"
#include "supervisor/sockets.h"
#include "supervisor/tracee.h"

/* Newer than the 6.1 headers. */
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

#define PATH_OFFSET offsetof(struct sockaddr_un, sun_path)

/* Answers with a value and its length, of which the caller has room for a part; both arguments are pointers. */
static void answer(struct call *c, int value, int length, const void *from, socklen_t len, size_t size)
{
	socklen_t room, copy;
	int rc = tracee_read(c, c->arg[length], &room, sizeof(room));

	if (rc == 0 && (int)room < 0)
		rc = -EINVAL;
	if (rc < 0) {
		path_copy_failed(c, rc);
		return;
	}
	copy = room < len ? room : len;
	if (copy > size)
		copy = (socklen_t)size;
	/* An address's length is told in full, an option's as far as it was copied. */
	if (value == 3)
		len = copy;
	rc = tracee_check(c);
	if (rc == 0)
		rc = tracee_write(c, c->arg[value], from, copy);
	if (rc == 0)
		rc = tracee_write(c, c->arg[length], &len, sizeof(len));
	call_result(c, rc);
}

static void answer_address(struct call *c, struct sockaddr_un *a, socklen_t len)
{
	/* The kernel counts the NUL that ends a path. */
	if (a->sun_family == AF_UNIX && a->sun_path[0]) {
		len = (socklen_t)(PATH_OFFSET + strnlen(a->sun_path, len - PATH_OFFSET) + 1);
		if (len <= sizeof(*a))
			((char *)a)[len - 1] = '\0';
	}
	answer(c, 1, 2, a, len, sizeof(*a));
}

/* The socket at the other end of an accepted one. 0 when this is not one. */
static uint64_t client_of(struct call *c, uint64_t inode)
{
	uint64_t client = inode && !sockets_type(c->s, inode) ? sockets_other_end(c->s, inode) : 0;

	return client && sockets_type(c->s, client) ? client : 0;
}

/* own: what is noted with the socket itself; other: what is noted with the client, if it is an accepted one. */
static void give_name(struct call *c, enum sockets_name own, enum sockets_name other)
{
	uint64_t inode = tracee_socket_inode(c, call_int(c, 0)), client;
	struct sockaddr_un a;
	socklen_t len;

	if (inode && sockets_name(c->s, inode, own, &a, &len)) {
		answer_address(c, &a, len);
		return;
	}
	client = client_of(c, inode);
	if (client && sockets_name(c->s, client, other, &a, &len))
		answer_address(c, &a, len);
	else
		call_continue(c);
}

static void handle_getsockname(struct call *c)
{
	give_name(c, SOCKETS_LOCAL, SOCKETS_PEER);
}

static void handle_getpeername(struct call *c)
{
	give_name(c, SOCKETS_PEER, SOCKETS_LOCAL);
}

/* The peer, or for a listening socket itself. */
static bool peer_cred(struct call *c, uint64_t inode, struct ucred *cred)
{
	uint64_t client;

	if (sockets_cred(c->s, inode, SOCKETS_OTHER, cred))
		return true;
	if (sockets_type(c->s, inode))
		return sockets_cred(c->s, inode, SOCKETS_SELF, cred);
	client = client_of(c, inode);
	return client && sockets_cred(c->s, client, SOCKETS_SELF, cred);
}

static void handle_getsockopt(struct call *c)
{
	uint64_t inode = tracee_socket_inode(c, call_int(c, 0));
	int type = SOCK_DGRAM;
	struct ucred cred;

	if (call_int(c, 2) == SO_TYPE && inode && sockets_type(c->s, inode) == SOCK_DGRAM)
		answer(c, 3, 4, &type, sizeof(type), sizeof(type));
	else if (call_int(c, 2) == SO_PEERCRED && inode && peer_cred(c, inode, &cred))
		answer(c, 3, 4, &cred, sizeof(cred), sizeof(cred));
	else
		call_continue(c);
}

const struct sysc sysc_getsockopt = {
	.name = "getsockopt",
	.op = "socket",
	.action = SYSC_ALLOW,
	SYSC_WHEN(SYSC_IF_ERRNO(ENOPROTOOPT, ARG_IS(1, SOL_SOCKET), ARG_IS(2, SO_PEERPIDFD)),
		  SYSC_IF(SYSC_NOTIFY, ARG_IS(1, SOL_SOCKET), ARG_IS(2, SO_TYPE)),
		  SYSC_IF(SYSC_NOTIFY, ARG_IS(1, SOL_SOCKET), ARG_IS(2, SO_PEERCRED))),
	.handle = handle_getsockopt,
	.doc = "SO_PEERPIDFD does not exist, since the peer of a Unix socket is the supervisor; SO_PEERCRED "
	       "and SO_TYPE are answered as they would be without it.",
};

#define ROW(call, text)                                                                                      \
	const struct sysc sysc_##call = {                                                                    \
		.name = #call,                                                                               \
		.op = "socket",                                                                              \
		.action = SYSC_NOTIFY,                                                                       \
		.handle = handle_##call,                                                                     \
		.doc = text,                                                                                 \
	}

ROW(getsockname, "Answers the address that the program bound, as it wrote it.");
ROW(getpeername, "Answers the address that the peer bound, as it wrote it.");
