#include "supervisor/gateway/dial.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "policy/inet.h"
#include "supervisor/lockdown.h"

OWN_CALLS(OWN_GATEWAY, OWN_IF(socket, ARG_IS(0, AF_INET)), OWN_IF(socket, ARG_IS(0, AF_INET6)), OWN(connect),
	  OWN(setsockopt), OWN(getsockopt), OWN(close));

#define PATIENCE_MS	 3000
#define LAST_PATIENCE_MS 30000

static void close_watch(struct dial *d)
{
	loop_drop(d->loop, &d->watch);
	loop_timer(d->loop, &d->timer, 0);
	close(d->watch.fd);
	d->watch.fd = -1;
}

static void finish(struct dial *d, int fd)
{
	d->watch.fd = -1;
	d->done(d, fd);
}

/* 0: it goes on by itself, or is connected. Else -errno. */
static int begin_one(struct dial *d, const struct dial_to *to)
{
	struct inet_addr a = {.port = to->port, .v6 = !host_is_v4(to->addr)};
	struct sockaddr_storage sa;
	int family = a.v6 ? AF_INET6 : AF_INET, on = 1, rc;
	socklen_t len;

	memcpy(a.addr, to->addr, sizeof(a.addr));
	len = inet_make(&a, family, &sa);
	d->watch.fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (d->watch.fd < 0)
		return -errno;
	/* Bytes go on as they come; who waits for more of them has done so already. */
	setsockopt(d->watch.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(d->watch.fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	rc = connect(d->watch.fd, (struct sockaddr *)&sa, len) < 0 && errno != EINPROGRESS ? -errno : 0;
	if (rc == 0)
		rc = loop_add(d->loop, &d->watch, EPOLLOUT);
	if (rc < 0) {
		close(d->watch.fd);
		d->watch.fd = -1;
	}
	return rc;
}

static void next(struct dial *d)
{
	while (d->at < d->n) {
		const struct dial_to *to = &d->to[d->at++];
		int rc = begin_one(d, to);

		if (rc == 0) {
			loop_timer(d->loop, &d->timer, d->at == d->n ? LAST_PATIENCE_MS : PATIENCE_MS);
			return;
		}
		d->err = -rc;
	}
	finish(d, -d->err);
}

static void ready(struct watch *w, uint32_t events)
{
	struct dial *d = container_of(w, struct dial, watch);
	int err = 0, fd = w->fd;
	socklen_t len = sizeof(err);

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) < 0)
		err = errno;
	if (err) {
		d->err = err;
		close_watch(d);
		next(d);
		return;
	}
	loop_drop(d->loop, w);
	loop_timer(d->loop, &d->timer, 0);
	finish(d, fd);
}

static void expired(struct timer *t)
{
	struct dial *d = container_of(t, struct dial, timer);

	d->err = ETIMEDOUT;
	close_watch(d);
	next(d);
}

void dial_begin(struct dial *d)
{
	d->watch = (struct watch){.fd = -1, .ready = ready};
	d->timer = (struct timer){.expired = expired};
	d->at = 0;
	d->err = EHOSTUNREACH;
	next(d);
}

void dial_cancel(struct dial *d)
{
	if (d->done && d->watch.fd >= 0)
		close_watch(d);
}
