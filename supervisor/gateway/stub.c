/* Channels, and who may connect to the listeners: see stub.h. */
#include "supervisor/gateway/stub.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "policy/inet.h"
#include "supervisor/clock.h"
#include "supervisor/gateway/control.h"
#include "supervisor/gateway/query.h"
#include "supervisor/gateway/stub_conn.h"
#include "supervisor/lockdown.h"

OWN_CALLS(OWN_GATEWAY, OWN(accept4), OWN(recvfrom), OWN(sendto), OWN(close));

/* Each socket of a program is one; those that it closed go at once. */
#define CHANNELS_MAX 16384
/* Of one channel; as with UDP, what is too much is lost. */
#define CHANNEL_QUERIES 64
#define TURN		16
#define EXPECTED	256
#define EXPECTED_MS	10000

struct channel {
	struct watch w;
	struct peer peer;
	struct stub *stub;
	bool strayed; /* which was reported: once is enough */
};

struct expected {
	uint16_t port; /* 0: none */
	uint64_t until;
};

struct stub {
	struct gateway *g;
	struct watch listener[2];
	size_t n_channels;
	struct expected expected[EXPECTED];
	size_t next_expected;
	struct conns *conns;
};

static void channel_answer(struct peer *p, const uint8_t *msg, size_t len)
{
	struct channel *c = container_of(p, struct channel, peer);

	send(c->w.fd, msg, len, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void end_channel(struct channel *c)
{
	query_forget(&c->peer);
	loop_drop(c->stub->g->loop, &c->w);
	close(c->w.fd);
	c->stub->n_channels--;
	free(c);
}

/* A program may have connected it to elsewhere than a name server, and wrote. */
static void report_stray(struct channel *c)
{
	const struct report r = {.kind = REPORT_STRAY, .channel = c->peer.channel};

	if (!c->strayed)
		control_report(c->stub->g->control, &r);
	c->strayed = true;
}

static void on_channel(struct watch *w, uint32_t events)
{
	struct channel *c = (struct channel *)w;
	uint8_t msg[STUB_QUESTION_MAX];

	for (int i = 0; i < TURN; i++) {
		ssize_t n = recv(w->fd, msg, sizeof(msg), MSG_DONTWAIT | MSG_TRUNC);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		/* An empty message looks like the end. */
		if (n < 0 || (n == 0 && events & (EPOLLHUP | EPOLLRDHUP | EPOLLERR))) {
			end_channel(c);
			return;
		}
		if (n > 0 && c->peer.n < CHANNEL_QUERIES &&
		    ((size_t)n > sizeof(msg) || !query_ask(&c->peer, msg, (size_t)n)))
			report_stray(c);
	}
}

void stub_channel(struct stub *s, int fd, uint32_t number)
{
	struct channel *c = fd >= 0 && s->n_channels < CHANNELS_MAX ? calloc(1, sizeof(*c)) : NULL;

	if (!c) {
		if (fd >= 0)
			close(fd);
		return;
	}
	c->w = (struct watch){fd, on_channel};
	c->peer = (struct peer){.g = s->g, .channel = number, .answer = channel_answer};
	c->stub = s;
	s->n_channels++;
	if (loop_add(s->g->loop, &c->w, EPOLLIN | EPOLLRDHUP) < 0)
		end_channel(c);
}

void stub_expect(struct stub *s, uint16_t port)
{
	if (conns_expect(s->conns, port))
		return;
	s->expected[s->next_expected] = (struct expected){port, clock_ms() + EXPECTED_MS};
	s->next_expected = (s->next_expected + 1) % EXPECTED;
}

static bool was_expected(struct stub *s, uint16_t port)
{
	for (size_t i = 0; i < EXPECTED; i++)
		if (s->expected[i].port == port && port && s->expected[i].until > clock_ms()) {
			s->expected[i].port = 0;
			return true;
		}
	return false;
}

static void on_listener(struct stub *s, int fd)
{
	for (int i = 0; i < TURN; i++) {
		struct sockaddr_storage from;
		socklen_t len = sizeof(from);
		int conn = accept4(fd, (struct sockaddr *)&from, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
		uint16_t port;

		if (conn < 0)
			return;
		port = ntohs(*inet_port(&from));
		conns_add(s->conns, conn, port, was_expected(s, port));
	}
}

static void on_v4(struct watch *w, uint32_t events)
{
	(void)events;
	on_listener(container_of(w, struct stub, listener[0]), w->fd);
}

static void on_v6(struct watch *w, uint32_t events)
{
	(void)events;
	on_listener(container_of(w, struct stub, listener[1]), w->fd);
}

struct stub *stub_new(struct gateway *g)
{
	struct stub *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->g = g;
	s->conns = conns_new(g);
	if (!s->conns) {
		free(s);
		return NULL;
	}
	for (int i = 0; i < 2; i++) {
		s->listener[i] = (struct watch){g->dns_listener[i], i ? on_v6 : on_v4};
		if (g->dns_listener[i] >= 0)
			loop_add(g->loop, &s->listener[i], EPOLLIN);
	}
	return s;
}
