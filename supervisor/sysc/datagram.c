/*
 * Datagram sockets of the internet: a program gets a stand-in (standin.h). Addresses are real: each is tried on a datagram
 * socket of the supervisor's own, made for the moment, which sends nothing.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/dns.h"
#include "policy/inet.h"
#include "supervisor/datagram.h"
#include "supervisor/gateway.h"
#include "supervisor/lockdown.h"
#include "supervisor/sockcall.h"
#include "supervisor/standin.h"

OWN_CALLS(OWN_SUPERVISOR, OWN_IF(socket, ARG_IS(0, AF_INET), ARG_BITS(1, 0xf, SOCK_DGRAM)),
	  OWN_IF(socket, ARG_IS(0, AF_INET6), ARG_BITS(1, 0xf, SOCK_DGRAM)),
	  OWN_IF(socketpair, ARG_IS(0, AF_UNIX)), OWN(connect), OWN(bind), OWN(getsockname), OWN(getpeername),
	  OWN(fstat), OWN(close), OWN_IF(fcntl, ARG_IS(1, F_DUPFD_CLOEXEC)),
	  OWN_IF(fcntl, ARG_IS(1, F_SETFL)));

/* One end for the program, the other for the gateway, which waits in none. */
static int make_pair(struct call *c, int end[2])
{
	for (int tries = 0; tries < 2; tries++) {
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, end) == 0) {
			if (!(call_int(c, 1) & SOCK_NONBLOCK))
				fcntl(end[0], F_SETFL, O_RDWR);
			return 0;
		}
		if (errno != EMFILE)
			return -errno;
		sockets_sweep(c->s); /* the numbers are the supervisor's, not the program's */
	}
	return -ENFILE;
}

/* Keeps a duplicate of the program's end and hands on the gateway's. Consumes the latter. */
static int introduce(struct call *c, const int end[2], uint64_t inode)
{
	int kept = fcntl(end[0], F_DUPFD_CLOEXEC, 3), rc;

	rc = kept < 0 ? -ENFILE : standin_add(c->s, kept, call_int(c, 0), c->tid);
	if (rc < 0) {
		if (kept >= 0)
			close(kept);
		close(end[1]);
		return rc;
	}
	return gateway_give_channel(c->s, end[1], inode);
}

/* Answers unless the machine has such a socket and it would be one of UDP. */
static bool check_kind(struct call *c)
{
	int protocol = call_int(c, 2), fd = socket(call_int(c, 0), call_int(c, 1) | SOCK_CLOEXEC, protocol);

	if (fd < 0) {
		call_error(c, errno);
		return false;
	}
	close(fd);
	if (protocol == 0 || protocol == IPPROTO_UDP)
		return true;
	sockcall_refuse_protocol(c, EPROTONOSUPPORT); /* ping, UDP-Lite */
	return false;
}

static void make_datagram(struct call *c)
{
	struct stat st = {.st_ino = 0};
	int end[2], rc;

	if (!check_kind(c))
		return;
	rc = make_pair(c, end);
	if (rc < 0) {
		call_error(c, -rc);
		return;
	}
	if (fstat(end[0], &st) == 0)
		rc = introduce(c, end, st.st_ino);
	else
		close(end[1]);
	if (rc == 0 && st.st_ino) {
		standin_give(c, end[0], call_int(c, 1) & SOCK_CLOEXEC);
	} else {
		close(end[0]);
		call_error(c, rc ? -rc : ENFILE);
	}
	sockets_delivered(c->s, st.st_ino);
}

static int local_of(int fd, struct standin_addr *a)
{
	a->len = sizeof(a->a);
	return getsockname(fd, (struct sockaddr *)&a->a, &a->len) < 0 ? -errno : 0;
}

/* A datagram socket bound to the address, at a port of the kernel's choice: the one that is asked for is nobody's to take. */
static int try_bind(int family, const struct standin_addr *to)
{
	struct standin_addr a = *to;
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc;

	if (fd < 0)
		return -errno;
	*inet_port(&a.a) = 0;
	if (bind(fd, (struct sockaddr *)&a.a, a.len) == 0)
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

/* Where the routing table leads: the address that packets would come from, and the other as the kernel shows it. */
static int find_route(struct standin *st, const struct standin_addr *to)
{
	uint16_t port = st->local.len ? *inet_port(&st->local.a) : 0; /* it stays */
	struct standin_addr any;
	int fd, rc = 0;

	standin_no_address(st->family, &any);
	fd = try_bind(st->family, st->bound.len ? &st->bound : &any);
	if (fd < 0)
		return fd;
	/* A socket that is connected already keeps its own address. */
	if (st->peer.len)
		connect(fd, (const struct sockaddr *)&st->peer.a, st->peer.len);
	if (connect(fd, (const struct sockaddr *)&to->a, to->len) < 0)
		rc = -errno;
	if (rc == 0)
		rc = local_of(fd, &st->local);
	st->peer.len = sizeof(st->peer.a);
	if (rc == 0 && getpeername(fd, (struct sockaddr *)&st->peer.a, &st->peer.len) < 0)
		rc = -errno;
	close(fd);
	if (rc == 0 && port)
		*inet_port(&st->local.a) = port;
	return rc;
}

/* The stub answers whatever lies between here and the server that is asked. */
static bool is_question(struct standin_addr *to, int rc)
{
	return rc != -EINVAL && rc != -EAFNOSUPPORT && *inet_port(&to->a) == htons(DNS_PORT);
}

/* Seen in a trail of everything. Resolvers sort addresses by such connects, and nothing is sent: no refusal. */
static void note_connect(struct call *c, struct standin_addr *to, int family)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&to->a;
	const void *addr = family == AF_INET ? (const void *)&((const struct sockaddr_in *)in6)->sin_addr
					     : (const void *)&in6->sin6_addr;

	if (!inet_ntop(family, addr, c->name[0], INET6_ADDRSTRLEN))
		return;
	c->event.op = "connect";
	c->event.ip = (struct bytes){c->name[0], strlen(c->name[0])};
	c->event.port = ntohs(*inet_port(&to->a));
	c->event.rule_name = STANDIN_RULE;
}

static int connect_to(struct call *c, struct standin *st, struct standin_addr *to)
{
	struct standin was = *st;
	int rc = find_route(st, to);

	if (rc < 0 && is_question(to, rc)) {
		*st = was;
		st->peer = *to;
		st->peer.len =
			to->a.ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
		if (!st->local.len)
			standin_no_address(st->family, &st->local);
		rc = 0;
	}
	if (rc == 0)
		note_connect(c, &st->peer, st->family);
	return rc;
}

/* connect() to AF_UNSPEC: what was asked for is left, a port that the kernel chose is not. */
static void disconnect(struct standin *st)
{
	st->peer.len = 0;
	st->local = st->bound;
}

static struct standin_addr address_of(const struct sockcall *sc)
{
	return (struct standin_addr){.a = sc->addr.any, .len = sc->len};
}

static void connect_datagram(struct sockcall *sc)
{
	struct standin_addr to = address_of(sc);
	struct standin st;
	int rc = 0;

	if (!standin_look(sc->c->s, sc->inode, &st)) /* its program closed it meanwhile */
		rc = -EBADF;
	else if (to.len >= sizeof(sa_family_t) && to.a.ss_family == AF_UNSPEC)
		disconnect(&st);
	else
		rc = connect_to(sc->c, &st, &to);
	datagram_conclude(sc->c, sc->inode, &st, rc);
}

static int bind_to(struct standin *st, struct standin_addr *to)
{
	uint16_t port = *inet_port(&to->a);
	int fd, rc;

	if (st->local.len && *inet_port(&st->local.a))
		return -EINVAL;
	fd = try_bind(st->family, to);
	if (fd < 0)
		return fd;
	rc = local_of(fd, &st->local);
	close(fd);
	if (port)
		*inet_port(&st->local.a) = port;
	st->bound = st->local;
	*inet_port(&st->bound.a) = port;
	return rc;
}

static void bind_datagram(struct sockcall *sc)
{
	struct standin_addr to = address_of(sc);
	struct standin st;
	int rc = standin_look(sc->c->s, sc->inode, &st) ? bind_to(&st, &to) : -EBADF;

	datagram_conclude(sc->c, sc->inode, &st, rc);
}

static void listen_datagram(struct sockcall *sc)
{
	call_error(sc->c, EOPNOTSUPP);
}

const struct sockkind sockkind_datagram = {make_datagram, connect_datagram, bind_datagram, listen_datagram};
