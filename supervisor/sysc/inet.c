/*
 * TCP sockets. Where a connect may go: destination.h. Who may be listened to: `local_binding`.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "policy/inet.h"
#include "supervisor/binding.h"
#include "supervisor/connecting.h"
#include "supervisor/destination.h"
#include "supervisor/flights.h"
#include "supervisor/heldback.h"
#include "supervisor/judge.h"
#include "supervisor/lockdown.h"
#include "supervisor/sockcall.h"
#include "supervisor/tracee.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(bind), OWN(listen), OWN(getsockname), OWN(getsockopt), OWN(close),
	  OWN_IF(socket, ARG_IS(0, AF_INET), ARG_BITS(1, 0xf, SOCK_STREAM)),
	  OWN_IF(socket, ARG_IS(0, AF_INET6), ARG_BITS(1, 0xf, SOCK_STREAM)),
	  OWN_IF(setsockopt, ARG_IS(1, SOL_SOCKET), ARG_IS(2, SO_BINDTODEVICE)));

#define LOOPBACK "lo"

/* Other protocols of streams (SMC, ...) would go elsewhere than TCP does. Those that the machine does not have it refuses. */
static void make_inet(struct call *c)
{
	int protocol = call_int(c, 2), fd;

	if (protocol == 0 || protocol == IPPROTO_TCP) {
		sockcall_make(c, SOCKETS_INET);
		return;
	}
	fd = socket(call_int(c, 0), call_int(c, 1) | SOCK_CLOEXEC, protocol);
	if (fd < 0) {
		call_error(c, errno);
		return;
	}
	close(fd);
	sockcall_refuse_protocol(c, EPROTONOSUPPORT);
}

/* --- connect --- */

static void connect_inet(struct sockcall *sc)
{
	struct destination d;
	struct call *c = sc->c;
	int rc;

	if (sc->len < sizeof(sa_family_t)) {
		call_error(c, EINVAL);
		return;
	}
	if (sc->addr.sa.sa_family == AF_UNSPEC) {
		/* It would free the socket for another connection, of which the supervisor has no duplicate any more. */
		sockcall_refuse(c, "connect", EPERM, NULL);
		return;
	}
	if (sc->fd < 0) {
		call_result(c, sockets_collect(c->s, sc->inode) ? 0 : -EISCONN);
		return;
	}
	rc = destination_find(sc, &d);
	if (rc)
		call_error(c, rc);
	else if (tracee_check(c) < 0)
		call_gone(c);
	else
		connecting_begin(sc, &d);
}

/* --- bind and listen --- */

/* Where it is bound to, which for one that is not yet is any port of all addresses. */
static void say_binding(struct call *c, const struct sockaddr *sa, socklen_t len)
{
	struct inet_addr a;

	c->event.op = "bind";
	c->event.syscall = c->sysc->name;
	if (inet_parse_binding(sa, len, &a) != 0)
		return;
	host_format_addr(a.addr, false, c->ip);
	c->event.ip = (struct bytes){c->ip, strlen(c->ip)};
	c->event.port = a.port;
}

/* True: refused, and answered. */
static bool refuse_binding(struct call *c)
{
	bool refused;

	if (c->s->config->local_binding != LOCAL_BINDING_NONE)
		return false;
	snprintf(c->message, sizeof(c->message), "listening at port %d refused by local_binding = none",
		 c->event.port);
	refused = judge_refuse(c, "bind", "local_binding = none", EPERM, c->message) != 0;
	c->event.suggestion = "local_binding = loopback";
	if (refused)
		call_error(c, EPERM);
	return refused;
}

/* A port of 0 names no port: it is for a choice of the source address before a connect. */
static bool names_port(const struct sockcall *sc)
{
	struct inet_addr a;

	return inet_parse_binding(&sc->addr, sc->len, &a) == 0 && a.port != 0;
}

static int try_bind(struct sockcall *sc)
{
	return bind(sc->fd, &sc->addr.sa, sc->len) < 0 ? -errno : 0;
}

static void bind_inet(struct sockcall *sc)
{
	struct call *c = sc->c;
	int rc;

	say_binding(c, &sc->addr.sa, sc->len);
	if (sc->fd < 0) {
		call_error(c, EINVAL);
		return;
	}
	if (names_port(sc) && refuse_binding(c))
		return;
	if (tracee_check(c) < 0) {
		call_gone(c);
		return;
	}
	rc = binding_perform(sc, &sc->addr.sa, sc->len, try_bind);
	if (rc == -EADDRINUSE) {
		/* Perhaps only our own duplicate of one that was closed still has it. */
		sockets_sweep(c->s);
		rc = binding_perform(sc, &sc->addr.sa, sc->len, try_bind);
	}
	if (rc == 0) {
		sockets_note_bound(c->s, sc->inode);
		flights_expect_close(c->s);
	}
	call_result(c, rc);
}

/*
 * Nobody from other machines is let in, whatever the socket is bound to: it is bound to the loopback device. An address of
 * loopback instead would cut off one of the two families. Undoing it wants CAP_NET_RAW.
 */
static int keep_to_loopback(int fd)
{
	char device[16] = "";
	socklen_t len = sizeof(device);

	if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, LOOPBACK, sizeof(LOOPBACK)) == 0)
		return 0;
	if (errno == EPERM && getsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device, &len) == 0 &&
	    strcmp(device, LOOPBACK) == 0)
		return 0;
	return -EPERM;
}

static int try_listen(struct sockcall *sc)
{
	struct session *s = sc->c->s;
	int rc;

	/* It is connected, or is being so: a bind or connect does not come between. */
	if (!connecting_is_idle(sc->fd))
		return -EINVAL;
	rc = heldback_mark(sc->fd, sockets_family(s, sc->inode));
	connecting_let_in(s, sc->inode, sc->fd);
	if (rc == 0 && s->config->local_binding == LOCAL_BINDING_LOOPBACK)
		rc = keep_to_loopback(sc->fd);
	if (rc == 0 && listen(sc->fd, call_int(sc->c, 1)) < 0)
		rc = -errno;
	return rc;
}

static int perform_listen(struct sockcall *sc)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	if (getsockname(sc->fd, (struct sockaddr *)&ss, &len) < 0)
		return -errno;
	say_binding(sc->c, (struct sockaddr *)&ss, len);
	return binding_perform(sc, (struct sockaddr *)&ss, len, try_listen);
}

static void listen_inet(struct sockcall *sc)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	struct call *c = sc->c;
	int rc;

	if (sc->fd < 0) {
		call_result(c, sockets_listens(c->s, sc->inode) ? 0 : -EINVAL);
		return;
	}
	if (getsockname(sc->fd, (struct sockaddr *)&ss, &len) == 0)
		say_binding(c, (struct sockaddr *)&ss, len);
	if (refuse_binding(c))
		return;
	if (tracee_check(c) < 0) {
		call_gone(c);
		return;
	}
	rc = perform_listen(sc);
	if (rc == 0) {
		sockets_note_listening(c->s, sc->inode, sc->fd);
		sockcall_release(sc);
	}
	call_result(c, rc);
}

const struct sockkind sockkind_inet = {make_inet, connect_inet, bind_inet, listen_inet};
