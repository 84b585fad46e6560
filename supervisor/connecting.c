#include "supervisor/connecting.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include "supervisor/crew.h"
#include "supervisor/gateway.h"
#include "supervisor/lockdown.h"
#include "supervisor/pending.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(connect), OWN(shutdown), OWN(getsockname), OWN(getsockopt),
	  OWN_IF(fcntl, ARG_IS(1, F_GETFL)));

/* TCP_ESTABLISHED, TCP_SYN_SENT, ... */
static int state_of(int fd)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);

	return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) < 0 ? 0 : info.tcpi_state;
}

/* The gateway answers only who it was told of. */
static void announce(struct session *s, int fd)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	if (getsockname(fd, (struct sockaddr *)&ss, &len) == 0)
		gateway_expect(s, ntohs(((struct sockaddr_in *)&ss)->sin_port));
}

static int perform(struct sockcall *sc, const struct destination *d, enum crew_wake *wake)
{
	int rc;

	*wake = CREW_DONE;
	if (!crew_block_begin(sc->c))
		return -EAGAIN;
	rc = connect(sc->fd, (const struct sockaddr *)&d->to, d->len) < 0 ? -errno : 0;
	*wake = crew_block_end(sc->c);
	return rc;
}

void connecting_begin(struct sockcall *sc, const struct destination *d)
{
	struct call *c = sc->c;
	enum crew_wake wake;
	bool connected;
	int rc;

	rc = perform(sc, d, &wake);
	if (d->dns)
		announce(c->s, sc->fd);
	connected = rc == 0 || (rc == -EINPROGRESS && state_of(sc->fd) == TCP_ESTABLISHED);
	if (connected && d->own && !destination_holds(c->s, d, sc->fd)) {
		shutdown(sc->fd, SHUT_RDWR);
		rc = -EPERM;
	}
	if (connected) {
		sockets_set_name(c->s, sc->inode, SOCKETS_PEER, &sc->addr, d->instead ? sc->len : 0);
		if (rc == -EINPROGRESS)
			sockets_note_collectable(c->s, sc->inode);
		sockcall_release(sc);
	}
	if (wake == CREW_GONE)
		call_gone(c);
	else if (rc == -EINTR && wake == CREW_SIGNAL)
		pending_restart(c);
	else
		call_result(c, rc);
}
