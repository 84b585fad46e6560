#include "supervisor/gateway/loop.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "supervisor/clock.h"
#include "supervisor/lockdown.h"

OWN_CALLS(OWN_GATEWAY, OWN(epoll_ctl), OWN_OLD(epoll_wait, epoll_pwait), OWN(close));

#define BATCH 64

struct loop {
	int epoll;
	bool ended;
	struct epoll_event batch[BATCH]; /* being handed out */
	int at, n;
	struct timer *first, *last; /* by time */
};

struct loop *loop_new(void)
{
	struct loop *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (l->epoll < 0) {
		free(l);
		return NULL;
	}
	return l;
}

void loop_free(struct loop *l)
{
	if (!l)
		return;
	close(l->epoll);
	free(l);
}

static int change(struct loop *l, int op, struct watch *w, uint32_t events)
{
	struct epoll_event e = {.events = events, .data.ptr = w};

	return epoll_ctl(l->epoll, op, w->fd, &e) < 0 ? -errno : 0;
}

int loop_add(struct loop *l, struct watch *w, uint32_t events)
{
	return change(l, EPOLL_CTL_ADD, w, events);
}

int loop_change(struct loop *l, struct watch *w, uint32_t events)
{
	return change(l, EPOLL_CTL_MOD, w, events);
}

void loop_drop(struct loop *l, struct watch *w)
{
	change(l, EPOLL_CTL_DEL, w, 0);
	for (int i = l->at; i < l->n; i++)
		if (l->batch[i].data.ptr == w)
			l->batch[i].data.ptr = NULL;
}

static void unlink_timer(struct loop *l, struct timer *t)
{
	*(t->prev ? &t->prev->next : &l->first) = t->next;
	*(t->next ? &t->next->prev : &l->last) = t->prev;
	t->at = 0;
	t->next = t->prev = NULL;
}

/* From the end: most timers run for as long as those before them, so they come last. */
void loop_timer(struct loop *l, struct timer *t, unsigned ms)
{
	struct timer *before = l->last;

	if (t->at)
		unlink_timer(l, t);
	if (ms == 0)
		return;
	t->at = clock_ms() + ms;
	before = l->last;
	while (before && before->at > t->at)
		before = before->prev;
	t->prev = before;
	t->next = before ? before->next : l->first;
	*(before ? &before->next : &l->first) = t;
	*(t->next ? &t->next->prev : &l->last) = t;
}

static int until_timer(const struct loop *l)
{
	uint64_t now;

	if (!l->first)
		return -1;
	now = clock_ms();
	return l->first->at <= now ? 0 : (int)(l->first->at - now);
}

/* Those that are due now: one that is set meanwhile waits for the next turn. */
static void run_timers(struct loop *l)
{
	uint64_t now = clock_ms();

	while (l->first && l->first->at <= now && !l->ended) {
		struct timer *t = l->first;

		unlink_timer(l, t);
		t->expired(t);
	}
}

void loop_run(struct loop *l)
{
	while (!l->ended) {
		l->n = epoll_wait(l->epoll, l->batch, BATCH, until_timer(l));
		if (l->n < 0 && errno != EINTR)
			return;
		for (l->at = 0; l->at < l->n && !l->ended;) {
			struct epoll_event *e = &l->batch[l->at++];
			struct watch *w = e->data.ptr;

			if (w)
				w->ready(w, e->events);
		}
		l->n = 0;
		run_timers(l);
	}
}

void loop_end(struct loop *l)
{
	l->ended = true;
}
