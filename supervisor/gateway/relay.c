#include "supervisor/gateway/relay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "supervisor/lockdown.h"

OWN_CALLS(OWN_GATEWAY, OWN(recvfrom), OWN(sendto), OWN(shutdown), OWN(setsockopt));

/* One connection is left for another after so many chunks. */
#define TURN 8

static char chunk[RELAY_CHUNK];

/* How many of the bytes may pass; the rest are dropped. -1: they break the limit. */
static ssize_t pass(struct relay_flow *f, const char *bytes, size_t n)
{
	bool end = false;
	int taken;

	switch (f->limit) {
	case RELAY_ALL:
		return (ssize_t)n;
	case RELAY_LENGTH:
		n = n < f->left ? n : (size_t)f->left;
		f->left -= n;
		if (!f->left)
			f->limit = RELAY_NOTHING;
		return (ssize_t)n;
	case RELAY_CHUNKED:
		taken = http_chunks(&f->chunks, bytes, n, &end);
		if (end)
			f->limit = RELAY_NOTHING;
		return taken;
	case RELAY_NOTHING:
	case RELAY_WAITS:
		break;
	}
	return 0;
}

/* The first answer tells whether the two have agreed on another protocol. */
static void note_answer(struct relay *r, const char *bytes, size_t n)
{
	struct relay_flow *up = &r->from[RELAY_PROGRAM];

	while (r->n_status < sizeof(r->status) && n) {
		r->status[r->n_status++] = *bytes++;
		n--;
	}
	if (r->n_status < sizeof(r->status))
		return;
	up->limit = http_status(r->status, r->n_status) == 101 ? RELAY_ALL : RELAY_NOTHING;
	/* The server was not told to close after its answer, as it is of other requests. */
	up->ended = up->limit == RELAY_NOTHING;
}

static bool hold(struct relay_flow *f, const char *bytes, size_t n)
{
	char *all = realloc(f->held, f->n_held + n);

	if (!all)
		return false;
	memcpy(all + f->n_held, bytes, n);
	f->held = all;
	f->n_held += n;
	return true;
}

static void let_go(struct relay_flow *f)
{
	free(f->held);
	f->held = NULL;
	f->n_held = f->at = 0;
}

bool relay_put(struct relay *r, enum relay_side from, const char *bytes, size_t n, bool limited)
{
	struct relay_flow *f = &r->from[from];
	ssize_t passing = limited ? pass(f, bytes, n) : (ssize_t)n;

	return passing == 0 || (passing > 0 && hold(f, bytes, (size_t)passing));
}

/* How many were taken, -errno. */
static ssize_t send_some(int fd, const char *bytes, size_t n)
{
	ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (sent < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	return sent;
}

/* False: broken. */
static bool send_held(struct relay_flow *f, int to)
{
	ssize_t n = send_some(to, f->held + f->at, f->n_held - f->at);

	if (n < 0)
		return false;
	f->at += (size_t)n;
	if (f->at == f->n_held)
		let_go(f);
	return true;
}

/* One chunk from one side to the other. 1: there may be more; 0: not now; -1: broken. */
static int move_chunk(struct relay *r, struct relay_flow *f, int from, int to)
{
	ssize_t n = recv(from, chunk, sizeof(chunk), MSG_DONTWAIT), passing, sent;

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	if (n == 0) {
		f->ended = true;
		return 1;
	}
	if (f == &r->from[RELAY_SERVER] && r->from[RELAY_PROGRAM].limit == RELAY_WAITS)
		note_answer(r, chunk, (size_t)n);
	passing = pass(f, chunk, (size_t)n);
	if (passing <= 0)
		return (int)passing;
	sent = send_some(to, chunk, (size_t)passing);
	if (sent < 0 || (sent < passing && !hold(f, chunk + sent, (size_t)(passing - sent))))
		return -1;
	return 1;
}

static bool reads(const struct relay_flow *f)
{
	return !f->ended && !f->held && f->limit != RELAY_NOTHING && f->limit != RELAY_WAITS;
}

static bool run(struct relay *r, enum relay_side side)
{
	struct relay_flow *f = &r->from[side];
	int from = r->end[side].watch.fd, to = r->end[!side].watch.fd, more = 1;

	for (int i = 0; i < TURN && more > 0; i++) {
		if (f->held && !send_held(f, to))
			return false;
		if (!reads(f))
			break;
		more = move_chunk(r, f, from, to);
	}
	return more >= 0;
}

static void tell_end(struct relay *r, enum relay_side from)
{
	struct relay_flow *f = &r->from[from];

	if (!f->ended || f->held || f->told)
		return;
	shutdown(r->end[!from].watch.fd, SHUT_WR);
	f->told = true;
}

/* Of HTTP the server's end is the end: a program may keep its side open for a next request, which it does not get. */
static bool is_over(const struct relay *r)
{
	const struct relay_flow *up = &r->from[RELAY_PROGRAM], *down = &r->from[RELAY_SERVER];

	return down->told && (up->told || up->limit != RELAY_ALL);
}

static void watch_end(struct relay *r, enum relay_side side)
{
	struct relay_end *e = &r->end[side];
	const struct relay_flow *f = &r->from[side];
	uint32_t events = (reads(f) ? EPOLLIN : 0) | (r->from[!side].held ? EPOLLOUT : 0);

	/* That the program goes away is to be seen though nothing is read from it. */
	if (!f->ended && (f->limit == RELAY_NOTHING || f->limit == RELAY_WAITS))
		events |= EPOLLRDHUP;
	if (e->watched && events == e->events)
		return;
	/* Out of the set, not asked for nothing: else an end that is closed on both ways would be told for ever. */
	if (!events)
		loop_drop(r->loop, &e->watch);
	else if (e->watched)
		loop_change(r->loop, &e->watch, events);
	else
		loop_add(r->loop, &e->watch, events);
	e->watched = events != 0;
	e->events = events;
}

void relay_cancel(struct relay *r)
{
	for (int side = 0; side < 2; side++) {
		if (r->end[side].watched)
			loop_drop(r->loop, &r->end[side].watch);
		r->end[side].watched = false;
		let_go(&r->from[side]);
	}
}

/* What the one side does not get in full it is not to take for the whole. */
static void reset(struct relay *r)
{
	const struct linger now = {.l_onoff = 1};

	for (int side = 0; side < 2; side++)
		setsockopt(r->end[side].watch.fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
}

static void go_on(struct relay *r, bool ok)
{
	/* Now that both have run: what a server answers may end what its program says. */
	if (ok) {
		tell_end(r, RELAY_PROGRAM);
		tell_end(r, RELAY_SERVER);
	}
	if (ok && !is_over(r)) {
		watch_end(r, RELAY_PROGRAM);
		watch_end(r, RELAY_SERVER);
		return;
	}
	relay_cancel(r);
	if (!ok)
		reset(r);
	r->done(r, !ok);
}

static void ready(struct watch *w, uint32_t events)
{
	struct relay_end *e = container_of(w, struct relay_end, watch);
	struct relay *r = e->relay;
	enum relay_side side = e == &r->end[RELAY_PROGRAM] ? RELAY_PROGRAM : RELAY_SERVER;
	struct relay_flow *f = &r->from[side];

	if (events & (EPOLLRDHUP | EPOLLHUP) && (f->limit == RELAY_NOTHING || f->limit == RELAY_WAITS))
		f->ended = true;
	/* What came before a reset is still there. Both ways, since what one took may be what the other waits for. */
	go_on(r, (!(events & EPOLLERR) || reads(f)) && run(r, side) && run(r, !side));
}

void relay_begin(struct relay *r, int program, int server)
{
	r->end[RELAY_PROGRAM] = (struct relay_end){.watch = {.fd = program, .ready = ready}, .relay = r};
	r->end[RELAY_SERVER] = (struct relay_end){.watch = {.fd = server, .ready = ready}, .relay = r};
	go_on(r, run(r, RELAY_PROGRAM) && run(r, RELAY_SERVER));
}
