/*
 * Netlink sockets that tell of routes and interfaces. Only reading is possible, since changes need CAP_NET_ADMIN of the
 * sender, which nobody in the session has. Without it the kernel also refuses to name another socket of a process as
 * destination (connect, sendto), but it is asked for here as well: what is sent must go to the kernel alone.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include "supervisor/lockdown.h"
#include "supervisor/sockcall.h"
#include "supervisor/tracee.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(connect), OWN(bind));

static void make_netlink(struct call *c)
{
	sockcall_make(c, SOCKETS_NETLINK);
}

/* The duplicate is kept: connecting and binding are no states that a netlink socket does not leave again. */
static void connect_netlink(struct sockcall *sc)
{
	const struct sockaddr_nl *a = (const struct sockaddr_nl *)&sc->addr;
	struct call *c = sc->c;

	if (sc->len >= sizeof(*a) && a->nl_family == AF_NETLINK && (a->nl_pid || a->nl_groups)) {
		sockcall_refuse(c, "connect", EPERM, NULL);
		return;
	}
	if (tracee_check(c) < 0)
		call_gone(c);
	else
		call_result(c, connect(sc->fd, &sc->addr.sa, sc->len) < 0 ? -errno : 0);
}

static int try_bind(struct sockcall *sc)
{
	return bind(sc->fd, &sc->addr.sa, sc->len) < 0 ? -errno : 0;
}

/* Where the kernel is to choose a number, it takes that of the process, if it is free: of the caller's, not of ours. */
static int bind_anywhere(struct sockcall *sc, struct sockaddr_nl *a)
{
	struct tracee_status st;
	int rc = tracee_status(sc->c->s, sc->c->tid, &st);

	if (rc < 0)
		return rc;
	a->nl_pid = (uint32_t)st.tgid;
	rc = try_bind(sc);
	a->nl_pid = 0;
	/* EINVAL: it has a number already. */
	return rc == -EADDRINUSE || rc == -EINVAL ? try_bind(sc) : rc;
}

static void bind_netlink(struct sockcall *sc)
{
	struct sockaddr_nl *a = (struct sockaddr_nl *)&sc->addr;
	bool anywhere = sc->len >= sizeof(*a) && a->nl_pid == 0;
	struct call *c = sc->c;
	int rc;

	if (tracee_check(c) < 0) {
		call_gone(c);
		return;
	}
	rc = anywhere ? bind_anywhere(sc, a) : try_bind(sc);
	if (rc == -EADDRINUSE) {
		/* Perhaps only our own duplicate still has the number. */
		sockets_sweep(c->s);
		rc = try_bind(sc);
	}
	call_result(c, rc);
}

static void listen_netlink(struct sockcall *sc)
{
	call_error(sc->c, EOPNOTSUPP);
}

const struct sockkind sockkind_netlink = {make_netlink, connect_netlink, bind_netlink, listen_netlink};
