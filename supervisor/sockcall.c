#include "supervisor/sockcall.h"

#include <errno.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/lockdown.h"
#include "supervisor/refusal.h"
#include "supervisor/tracee.h"

OWN_CALLS(OWN_SUPERVISOR, OWN_IF(socket, ARG_IS(0, AF_UNIX)),
	  OWN_IF(socket, ARG_IS(0, AF_INET), ARG_BITS(1, 0xf, SOCK_STREAM)),
	  OWN_IF(socket, ARG_IS(0, AF_INET6), ARG_BITS(1, 0xf, SOCK_STREAM)),
	  OWN_IF(socket, ARG_IS(0, AF_NETLINK), ARG_IS(2, NETLINK_ROUTE)), OWN(close), OWN(fstat));

int sockcall_no_socket(struct call *c)
{
	int pin = tracee_fd(c, call_int(c, 0));

	if (pin < 0)
		return pin;
	close(pin);
	return -ENOTSOCK;
}

void sockcall_refuse(struct call *c, const char *op, int err, const char *message)
{
	if (strcmp(op, "socket") == 0) {
		snprintf(c->host, sizeof(c->host), "family %d, type %d, protocol %d", call_int(c, 0),
			 call_int(c, 1) & SOCKCALL_TYPE_MASK, call_int(c, 2));
		c->event.target = (struct bytes){c->host, strlen(c->host)};
	}
	call_error(c, refusal_firm(c, op, SOCKCALL_RULE, err, message));
}

/* ping tries one of two types after the other, of one protocol: that is one thing to say. */
void sockcall_refuse_protocol(struct call *c, int err)
{
	int protocol = call_int(c, 2), type = call_int(c, 1) & SOCKCALL_TYPE_MASK;
	const char *name = protocol == IPPROTO_ICMP	 ? "ICMP "
			   : protocol == IPPROTO_ICMPV6	 ? "ICMPv6 "
			   : protocol == IPPROTO_UDPLITE ? "UDP-Lite "
			   : type == SOCK_RAW		 ? "raw "
							 : "";

	snprintf(c->message, sizeof(c->message),
		 "%ssocket refused: only TCP and questions to name servers are passed", name);
	sockcall_refuse(c, "socket", err, c->message);
}

/* A new one. Where there is no descriptor left, those of dead sockets are. */
static int make(struct call *c)
{
	int fd;

	for (int tries = 0; tries < 2; tries++) {
		fd = socket(call_int(c, 0), call_int(c, 1) | SOCK_CLOEXEC, call_int(c, 2));
		if (fd >= 0)
			return fd;
		if (errno != EMFILE)
			return -errno;
		sockets_sweep(c->s);
	}
	return -ENFILE; /* the numbers are the supervisor's, not the program's */
}

static int keep(struct call *c, enum sockets_kind kind, int fd, uint64_t *inode)
{
	struct sockets_made m = {.kind = kind, .family = call_int(c, 0), .fd = fd, .maker = c->tid};
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	m.inode = *inode = st.st_ino;
	return sockets_add(c->s, &m);
}

void sockcall_make(struct call *c, enum sockets_kind kind)
{
	int fd = make(c), rc;
	uint64_t inode = 0;

	rc = fd < 0 ? fd : keep(c, kind, fd, &inode);
	if (rc < 0) {
		if (fd >= 0)
			close(fd);
		call_error(c, -rc);
		return;
	}
	/* The kept one itself: until it is delivered nobody else closes it. */
	call_fd_kept(c, fd, call_int(c, 1) & SOCK_CLOEXEC);
	sockets_delivered(c->s, inode);
}

void sockcall_release(struct sockcall *sc)
{
	sockets_release(sc->c->s, sc->inode);
	if (sc->fd >= 0)
		close(sc->fd);
	sc->fd = -EISCONN;
}
