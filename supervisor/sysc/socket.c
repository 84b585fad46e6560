/*
 * Sockets: the rows, and which kind a socket is of. The supervisor makes each itself and performs connect, bind and listen on
 * its duplicate, in the way of that kind.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/lockdown.h"
#include "supervisor/path.h"
#include "supervisor/sockcall.h"
#include "supervisor/tracee.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(close));

/* Of a kind that is missing no socket can be made. */
static const struct sockkind *const kinds[SOCKETS_KINDS] = {
	[SOCKETS_UNIX] = &sockkind_unix,
	[SOCKETS_INET] = &sockkind_inet,
	[SOCKETS_NETLINK] = &sockkind_netlink,
	[SOCKETS_STANDIN] = &sockkind_datagram,
};

static enum sockets_kind kind_wanted(int family, int type)
{
	if (family == AF_UNIX)
		return SOCKETS_UNIX;
	if (family == AF_NETLINK)
		return SOCKETS_NETLINK;
	if (family == AF_INET || family == AF_INET6)
		return type == SOCK_STREAM  ? SOCKETS_INET
		       : type == SOCK_DGRAM ? SOCKETS_STANDIN
					    : SOCKETS_NONE;
	return SOCKETS_NONE;
}

static void handle_socket(struct call *c)
{
	const struct sockkind *kind = kinds[kind_wanted(call_int(c, 0), call_int(c, 1) & SOCKCALL_TYPE_MASK)];

	if (kind)
		kind->make(c);
	else
		sockcall_refuse_protocol(c, EAFNOSUPPORT);
}

/* Finds our duplicate of the caller's socket. NULL: answered. */
static const struct sockkind *begin(struct sockcall *sc, struct call *c)
{
	const struct sockkind *kind;

	sc->c = c;
	sc->inode = tracee_socket_inode(c, call_int(c, 0));
	if (sc->inode == 0) {
		path_copy_failed(c, sockcall_no_socket(c));
		return NULL;
	}
	kind = kinds[sockets_kind(c->s, sc->inode)];
	sc->fd = kind ? sockets_get(c->s, sc->inode) : -ENOENT;
	if (sc->fd == -ENOENT) {
		sockcall_refuse(
			c, c->sysc->op, EPERM,
			"an inherited or received socket was refused: it was not made in this session");
		return NULL;
	}
	if (sc->fd < 0 && sc->fd != -EISCONN) {
		path_copy_failed(c, sc->fd);
		return NULL;
	}
	return kind;
}

static void end(struct sockcall *sc)
{
	if (sc->fd >= 0)
		close(sc->fd);
}

/* Copies the address. False: answered, with the errno that the kernel gives. */
static bool copy_address(struct sockcall *sc)
{
	uint32_t len = (uint32_t)sc->c->arg[2];
	int rc = len > sizeof(sc->addr) ? -EINVAL : 0;

	memset(&sc->addr, 0, sizeof(sc->addr));
	sc->len = len;
	if (rc == 0 && len)
		rc = tracee_read(sc->c, sc->c->arg[1], &sc->addr, len);
	if (rc < 0)
		path_copy_failed(sc->c, rc);
	return rc == 0;
}

static void handle_connect(struct call *c)
{
	struct sockcall sc;
	const struct sockkind *kind = begin(&sc, c);

	if (kind && copy_address(&sc))
		kind->connect(&sc);
	if (kind)
		end(&sc);
}

static void handle_bind(struct call *c)
{
	struct sockcall sc;
	const struct sockkind *kind = begin(&sc, c);

	if (kind && copy_address(&sc))
		kind->bind(&sc);
	if (kind)
		end(&sc);
}

static void handle_listen(struct call *c)
{
	struct sockcall sc;
	const struct sockkind *kind = begin(&sc, c);

	if (kind) {
		kind->listen(&sc);
		end(&sc);
	}
}

const struct sysc sysc_socket = {
	.name = "socket",
	.op = "socket",
	.action = SYSC_ERRNO,
	.err = EAFNOSUPPORT,
	SYSC_WHEN(SYSC_IF_ERRNO(EPROTONOSUPPORT, ARG_IS(0, AF_INET), ARG_IS(2, IPPROTO_MPTCP)),
		  SYSC_IF_ERRNO(EPROTONOSUPPORT, ARG_IS(0, AF_INET), ARG_IS(2, IPPROTO_SCTP)),
		  SYSC_IF_ERRNO(EPROTONOSUPPORT, ARG_IS(0, AF_INET6), ARG_IS(2, IPPROTO_MPTCP)),
		  SYSC_IF_ERRNO(EPROTONOSUPPORT, ARG_IS(0, AF_INET6), ARG_IS(2, IPPROTO_SCTP)),
		  SYSC_IF(SYSC_NOTIFY, ARG_IS(0, AF_UNIX)), SYSC_IF(SYSC_NOTIFY, ARG_IS(0, AF_INET)),
		  SYSC_IF(SYSC_NOTIFY, ARG_IS(0, AF_INET6)),
		  SYSC_IF(SYSC_NOTIFY, ARG_IS(0, AF_NETLINK), ARG_IS(2, NETLINK_ROUTE)),
		  SYSC_IF_ERRNO(EPROTONOSUPPORT, ARG_IS(0, AF_NETLINK))),
	.handle = handle_socket,
	.doc = "TCP sockets, Unix stream and seqpacket sockets, and netlink sockets that tell of routes and "
	       "interfaces, are made by the supervisor; for Internet datagram sockets there are stand-ins, "
	       "which "
	       "carry questions to DNS; everything else is closed.",
};

#define ROW(call, word, text)                                                                                \
	const struct sysc sysc_##call = {                                                                    \
		.name = #call,                                                                               \
		.op = word,                                                                                  \
		.action = SYSC_NOTIFY,                                                                       \
		.handle = handle_##call,                                                                     \
		.doc = text,                                                                                 \
	}

ROW(connect, "connect",
    "Performed by the supervisor on its duplicate of the socket: over TCP to what the policy allows and to "
    "listeners of the "
    "session, else to sockets of the session.");
ROW(bind, "bind",
    "Performed by the supervisor on its duplicate of the socket; of a Unix socket in the judged directory.");
ROW(listen, "bind",
    "Performed by the supervisor on its duplicate of the socket, over TCP as far as local_binding allows.");
