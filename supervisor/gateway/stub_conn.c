#include "supervisor/gateway/stub_conn.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "supervisor/gateway/query.h"
#include "supervisor/lockdown.h"

OWN_CALLS(OWN_GATEWAY, OWN(recvfrom), OWN(sendto), OWN(close));

#define CONNS_MAX 1024
#define IDLE_MS	  30000
/* Those that were not announced: how long, and how many. Then the first of them goes. */
#define UNKNOWN_MS  2000
#define UNKNOWN_MAX 64
/* Of one connection at a time; it is read again when some are answered. */
#define CONN_QUERIES 64
#define OUT_MAX	     65536

struct conn {
	struct watch w;
	struct peer peer;
	struct timer idle;
	struct conns *all;
	struct conn *next, *prev;
	uint16_t port;
	bool known;
	bool ended;  /* no more questions, but answers are awaited */
	bool broken; /* ends at the next turn of the loop */
	size_t have;
	uint8_t in[2 + STUB_QUESTION_MAX];
	uint8_t *out; /* what the other end has not taken */
	size_t out_len;
};

struct conns {
	struct gateway *g;
	struct conn *first, *last; /* by age */
	size_t n, n_unknown;
};

struct conns *conns_new(struct gateway *g)
{
	struct conns *c = calloc(1, sizeof(*c));

	if (c)
		c->g = g;
	return c;
}

static void end(struct conn *c)
{
	struct conns *all = c->all;

	query_forget(&c->peer);
	loop_timer(all->g->loop, &c->idle, 0);
	if (c->known)
		loop_drop(all->g->loop, &c->w);
	else
		all->n_unknown--;
	close(c->w.fd);
	*(c->prev ? &c->prev->next : &all->first) = c->next;
	*(c->next ? &c->next->prev : &all->last) = c->prev;
	all->n--;
	free(c->out);
	free(c);
}

static void on_idle(struct timer *t)
{
	end(container_of(t, struct conn, idle));
}

/* Not here and now: somebody up the stack still holds it. */
static void fail(struct conn *c)
{
	c->broken = true;
	loop_timer(c->all->g->loop, &c->idle, 1);
}

static void watch_again(struct conn *c)
{
	bool reads = !c->ended && c->peer.n < CONN_QUERIES && c->out_len < OUT_MAX;
	uint32_t events = (c->out_len ? EPOLLOUT : 0U) | (reads ? EPOLLIN : 0U);

	if (c->ended && !c->peer.n && !c->out_len)
		fail(c);
	loop_change(c->all->g->loop, &c->w, events);
}

static void send_out(struct conn *c)
{
	ssize_t n = c->out_len ? send(c->w.fd, c->out, c->out_len, MSG_NOSIGNAL | MSG_DONTWAIT) : 0;

	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		fail(c);
		return;
	}
	if (n > 0) {
		memmove(c->out, c->out + n, c->out_len - (size_t)n);
		c->out_len -= (size_t)n;
		loop_timer(c->all->g->loop, &c->idle, IDLE_MS);
	}
	watch_again(c);
}

static void conn_answer(struct peer *p, const uint8_t *msg, size_t len)
{
	struct conn *c = container_of(p, struct conn, peer);
	uint8_t *out = c->broken ? NULL : realloc(c->out, c->out_len + 2 + len);

	if (!out) {
		if (!c->broken)
			fail(c);
		return;
	}
	c->out = out;
	out[c->out_len] = (uint8_t)(len >> 8);
	out[c->out_len + 1] = (uint8_t)len;
	memcpy(out + c->out_len + 2, msg, len);
	c->out_len += 2 + len;
	send_out(c);
}

/* Not more than one question is read, so that what waits stays in the kernel. False: nothing came. */
static bool read_in(struct conn *c)
{
	size_t want = 2;
	ssize_t n;

	if (c->have >= 2)
		want += (size_t)(c->in[0] << 8 | c->in[1]);
	if (want > sizeof(c->in)) {
		fail(c);
		return false;
	}
	n = recv(c->w.fd, c->in + c->have, want - c->have, MSG_DONTWAIT);
	c->ended = n == 0;
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		fail(c);
	if (n <= 0)
		return false;
	c->have += (size_t)n;
	loop_timer(c->all->g->loop, &c->idle, IDLE_MS);
	/* The length has just come, or all has. */
	if (c->have == 2 && (c->in[0] || c->in[1]))
		return true;
	if (c->have >= 2 && c->have == 2 + (size_t)(c->in[0] << 8 | c->in[1])) {
		query_ask(&c->peer, c->in + 2, c->have - 2);
		c->have = 0;
	}
	return true;
}

static void on_conn(struct watch *w, uint32_t events)
{
	struct conn *c = (struct conn *)w;

	if (c->broken)
		return;
	if (events & EPOLLOUT)
		send_out(c);
	if (!c->broken && events & (EPOLLHUP | EPOLLERR) && !(events & EPOLLIN))
		fail(c);
	for (int i = 0; i < CONN_QUERIES && events & EPOLLIN && !c->broken; i++)
		if (c->ended || c->peer.n >= CONN_QUERIES || c->out_len >= OUT_MAX || !read_in(c))
			break;
	if (c->broken)
		loop_change(c->all->g->loop, &c->w, 0);
	else
		watch_again(c);
}

static void know(struct conn *c)
{
	c->known = true;
	loop_timer(c->all->g->loop, &c->idle, IDLE_MS);
	if (loop_add(c->all->g->loop, &c->w, EPOLLIN) < 0)
		fail(c);
}

static struct conn *oldest_unknown(struct conns *all)
{
	struct conn *c = all->first;

	while (c && c->known)
		c = c->next;
	return c;
}

void conns_add(struct conns *all, int fd, uint16_t port, bool expected)
{
	struct conn *c;

	if (!expected && all->n_unknown == UNKNOWN_MAX)
		end(oldest_unknown(all));
	c = all->n < CONNS_MAX ? calloc(1, sizeof(*c)) : NULL;
	if (!c) {
		close(fd);
		return;
	}
	c->w = (struct watch){fd, on_conn};
	c->peer = (struct peer){.g = all->g, .whole = true, .answer = conn_answer};
	c->idle.expired = on_idle;
	c->all = all;
	c->port = port;
	c->prev = all->last;
	*(all->last ? &all->last->next : &all->first) = c;
	all->last = c;
	all->n++;
	if (expected) {
		know(c);
		return;
	}
	all->n_unknown++;
	loop_timer(all->g->loop, &c->idle, UNKNOWN_MS);
}

bool conns_expect(struct conns *all, uint16_t port)
{
	for (struct conn *c = all->first; c; c = c->next)
		if (!c->known && c->port == port) {
			all->n_unknown--;
			know(c);
			return true;
		}
	return false;
}
