/*
 * What programs are told of their Unix sockets. The supervisor made, bound and connected them, so the kernel would tell of
 * the supervisor. Only answers about the caller's own descriptors, so where nothing better is known the kernel may give
 * them.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "supervisor/binding.h"
#include "supervisor/datagram.h"
#include "supervisor/sockets.h"
#include "supervisor/tell.h"
#include "supervisor/tracee.h"

/* Newer than the 6.1 headers. */
#ifndef SO_PASSPIDFD
#define SO_PASSPIDFD 76
#endif
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

#define PATH_OFFSET offsetof(struct sockaddr_un, sun_path)

static void answer_address(struct call *c, struct sockaddr_un *a, socklen_t len)
{
	/* The kernel counts the NUL that ends a path. */
	if (a->sun_family == AF_UNIX && a->sun_path[0]) {
		len = (socklen_t)(PATH_OFFSET + strnlen(a->sun_path, len - PATH_OFFSET) + 1);
		if (len <= sizeof(*a))
			((char *)a)[len - 1] = '\0';
	}
	tell_address(c, 1, 2, a, len, sizeof(*a));
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

	if (datagram_name(c, inode, own == SOCKETS_PEER))
		return;
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

	if (datagram_getsockopt(c, inode))
		return;
	if (call_int(c, 1) != SOL_SOCKET)
		call_continue(c);
	else if (call_int(c, 2) == SO_TYPE && inode && sockets_type(c->s, inode) == SOCK_DGRAM)
		tell_option(c, 3, 4, &type, sizeof(type));
	else if (call_int(c, 2) == SO_PEERCRED && inode && peer_cred(c, inode, &cred))
		tell_option(c, 3, 4, &cred, sizeof(cred));
	else
		call_continue(c);
}

const struct sysc sysc_getsockopt = {
	.name = "getsockopt",
	.op = "socket",
	.action = SYSC_ALLOW,
	SYSC_WHEN(SYSC_IF_ERRNO(ENOPROTOOPT, ARG_IS(1, SOL_SOCKET), ARG_IS(2, SO_PEERPIDFD)),
		  SYSC_IF(SYSC_NOTIFY, ARG_IS(1, SOL_SOCKET), ARG_IS(2, SO_TYPE)),
		  SYSC_IF(SYSC_NOTIFY, ARG_IS(1, SOL_SOCKET), ARG_IS(2, SO_DOMAIN)),
		  SYSC_IF(SYSC_NOTIFY, ARG_IS(1, SOL_SOCKET), ARG_IS(2, SO_PROTOCOL)),
		  SYSC_IF(SYSC_NOTIFY, ARG_IS(1, SOL_SOCKET), ARG_IS(2, SO_PEERCRED)),
		  SYSC_IF(SYSC_NOTIFY, ARG_IS(1, SOL_SOCKET), ARG_IS(2, SO_REUSEPORT)),
		  SYSC_IF(SYSC_NOTIFY, ARG_IS(1, IPPROTO_IP)), SYSC_IF(SYSC_NOTIFY, ARG_IS(1, IPPROTO_IPV6)),
		  SYSC_IF(SYSC_NOTIFY, ARG_IS(1, IPPROTO_UDP))),
	.handle = handle_getsockopt,
	.doc = "SO_PEERPIDFD does not exist, since the peer of a Unix socket is the supervisor; SO_PEERCRED "
	       "and SO_TYPE are answered as they would be without it.",
};

/* What a listener's packets are known by (heldback.h). */
static bool is_mark(const struct call *c)
{
	return (call_int(c, 1) == IPPROTO_IP && call_int(c, 2) == IP_TTL) ||
	       (call_int(c, 1) == IPPROTO_IPV6 && call_int(c, 2) == IPV6_UNICAST_HOPS);
}

/* For other sockets a number that means another one by then makes no difference: what the filter lets pass is any socket's; and who
 * takes the mark away from a listener has connects time out. */
static void handle_setsockopt(struct call *c)
{
	uint64_t inode = tracee_socket_inode(c, call_int(c, 0));

	if (datagram_setsockopt(c, inode))
		return;
	if (call_int(c, 1) == SOL_SOCKET && call_int(c, 2) == SO_REUSEPORT)
		binding_set_reuseport(c, inode);
	else if (is_mark(c) && sockets_kind(c->s, inode) == SOCKETS_INET && sockets_listens(c->s, inode))
		call_return(c, 0);
	else
		call_continue(c);
}

/* A routing header makes packets go elsewhere than to the address that connect was judged by; a device, those to an address of this
 * machine, too. A postponed request goes out when
 * another may listen; and the least TTL is what the supervisor keeps answers out by (heldback.h). */
const struct sysc sysc_setsockopt = {
	.name = "setsockopt",
	.op = "socket",
	.action = SYSC_ALLOW,
	SYSC_WHEN(SYSC_IF_ERRNO(ENOPROTOOPT, ARG_IS(1, SOL_SOCKET), ARG_IS(2, SO_PASSPIDFD)),
		  SYSC_IF(SYSC_EPERM, ARG_IS(1, SOL_SOCKET), ARG_IS(2, SO_BINDTODEVICE)),
		  SYSC_IF(SYSC_EPERM, ARG_IS(1, SOL_SOCKET), ARG_IS(2, SO_BINDTOIFINDEX)),
		  SYSC_IF(SYSC_EPERM, ARG_IS(1, IPPROTO_IP), ARG_IS(2, IP_OPTIONS)),
		  SYSC_IF(SYSC_EPERM, ARG_IS(1, IPPROTO_IP), ARG_IS(2, IP_MINTTL)),
		  SYSC_IF(SYSC_EPERM, ARG_IS(1, IPPROTO_TCP), ARG_IS(2, TCP_REPAIR)),
		  SYSC_IF_ERRNO(ENOPROTOOPT, ARG_IS(1, IPPROTO_TCP), ARG_IS(2, TCP_FASTOPEN_CONNECT)),
		  SYSC_IF(SYSC_EPERM, ARG_IS(1, IPPROTO_IPV6), ARG_IS(2, IPV6_MINHOPCOUNT)),
		  SYSC_IF(SYSC_EPERM, ARG_IS(1, IPPROTO_IPV6), ARG_IS(2, IPV6_2292RTHDR)),
		  SYSC_IF(SYSC_EPERM, ARG_IS(1, IPPROTO_IPV6), ARG_IS(2, IPV6_2292PKTOPTIONS)),
		  SYSC_IF(SYSC_EPERM, ARG_IS(1, IPPROTO_IPV6), ARG_IS(2, IPV6_HOPOPTS)),
		  SYSC_IF(SYSC_EPERM, ARG_IS(1, IPPROTO_IPV6), ARG_IS(2, IPV6_RTHDRDSTOPTS)),
		  SYSC_IF(SYSC_EPERM, ARG_IS(1, IPPROTO_IPV6), ARG_IS(2, IPV6_RTHDR)),
		  SYSC_IF(SYSC_EPERM, ARG_IS(1, IPPROTO_IPV6), ARG_IS(2, IPV6_DSTOPTS)),
		  SYSC_IF(SYSC_NOTIFY, ARG_IS(1, SOL_SOCKET), ARG_IS(2, SO_REUSEPORT)),
		  SYSC_IF(SYSC_NOTIFY, ARG_IS(1, IPPROTO_IP)), SYSC_IF(SYSC_NOTIFY, ARG_IS(1, IPPROTO_IPV6)),
		  SYSC_IF(SYSC_NOTIFY, ARG_IS(1, IPPROTO_UDP))),
	.handle = handle_setsockopt,
	.doc = "Options that reroute packets past the judged address (IP options, IPv6 extension headers, "
	       "devices, TCP repair) or postpone a connect beyond its judgement (TCP_FASTOPEN_CONNECT, a "
	       "least TTL) are "
	       "refused; a listener keeps the TTL that it is known by; "
	       "SO_PASSPIDFD does not exist; SO_REUSEPORT is set by the supervisor; for stand-ins, it and "
	       "options of IP and UDP are remembered.",
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
