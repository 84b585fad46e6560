#include "supervisor/flights.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "supervisor/clock.h"
#include "supervisor/crew.h"
#include "supervisor/ident.h"
#include "supervisor/lockdown.h"
#include "supervisor/notify.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(epoll_create1), OWN(eventfd2), OWN(epoll_ctl), OWN_OLD(epoll_wait, epoll_pwait),
	  OWN(read), OWN(write), OWN(close), OWN(clock_nanosleep));

#define STACK_SIZE (128 * 1024)
/* Looking at a waiting caller takes about 5 us, so many of them are looked at less often. */
#define TICK_MS		 10
#define CALLS_FOR_MS	 10
#define LISTENER_TICK_MS 10
/* How long after the first chance that a program closed its socket, and then ever more rarely. */
#define FIRST_SWEEP_MS 1000
#define LAST_SWEEP_MS  30000

struct flights {
	pthread_mutex_t lock;
	bool started;
	int epoll, kick;
	struct flight *first; /* workers add in front; only the thread takes away */
	unsigned sweep_after; /* ms */
	uint64_t sweep_at;    /* 0: nothing to sweep for */
};

struct flights *flights_new(void)
{
	struct flights *t = calloc(1, sizeof(*t));
	struct epoll_event e = {.events = EPOLLIN};

	if (!t)
		return NULL;
	pthread_mutex_init(&t->lock, NULL);
	t->epoll = epoll_create1(EPOLL_CLOEXEC);
	t->kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (t->epoll < 0 || t->kick < 0 || epoll_ctl(t->epoll, EPOLL_CTL_ADD, t->kick, &e) < 0) {
		free(t);
		return NULL;
	}
	return t;
}

void flight_leave_call(struct flight *f)
{
	free(f->call);
	f->call = NULL;
}

void flight_free(struct flight *f)
{
	if (f->fd >= 0)
		close(f->fd);
	free(f->call);
	free(f);
}

/* The program's duplicate keeps an epoll entry alive, so it is taken out by hand. */
static void unlist(struct flights *t, struct flight *f)
{
	struct flight **p;

	pthread_mutex_lock(&t->lock);
	for (p = &t->first; *p != f; p = &(*p)->next)
		;
	*p = f->next;
	epoll_ctl(t->epoll, EPOLL_CTL_DEL, f->fd, NULL);
	pthread_mutex_unlock(&t->lock);
}

/* False: no worker is free; again at the next tick. */
static bool hand_back(struct flights *t, struct flight *f, enum flight_news news)
{
	static const struct timespec tick = {.tv_nsec = 1000000L * TICK_MS};

	/* Not in the list any more, as the worker may free it before this returns. */
	unlist(t, f);
	f->news = news;
	if (crew_take_up(f->call, connecting_resume, f))
		return true;
	flights_add(f);
	nanosleep(&tick, NULL);
	return false;
}

/* The caller is gone; others may have the socket. */
static void leave_alone(struct flights *t, struct flight *f)
{
	flight_leave_call(f);
	pthread_mutex_lock(&t->lock);
	t->sweep_after = FIRST_SWEEP_MS;
	t->sweep_at = clock_ms() + TICK_MS;
	pthread_mutex_unlock(&t->lock);
}

static void look_at_caller(struct flights *t, struct flight *f, uint64_t now)
{
	if (!notify_valid(f->s->listener, f->call->id))
		leave_alone(t, f);
	else if (pending_wakes(f->s, f->call->tid, &f->polls))
		hand_back(t, f, FLIGHT_SIGNAL);
	else if (f->deadline && now >= f->deadline)
		hand_back(t, f, FLIGHT_LATE);
}

static void look_at(struct flights *t, struct flight *f, uint64_t now)
{
	if (f->done && f->call) {
		hand_back(t, f, FLIGHT_READY);
	} else if (f->done) {
		unlist(t, f);
		connecting_landed(f);
		flight_free(f);
	} else if (f->call) {
		look_at_caller(t, f, now);
	} else if (sockets_kind(f->s, f->inode) == SOCKETS_NONE) { /* swept */
		unlist(t, f);
		flight_free(f);
	}
}

static struct flight *first(struct flights *t)
{
	struct flight *f;

	pthread_mutex_lock(&t->lock);
	f = t->first;
	pthread_mutex_unlock(&t->lock);
	return f;
}

/* all: also those of which nothing was heard. */
static void look(struct flights *t, bool all)
{
	uint64_t now = clock_ms();
	struct flight *next;

	for (struct flight *f = first(t); f; f = next) {
		next = f->next;
		if (f->look_at && !f->done && now >= f->look_at)
			connecting_look(f);
		if (f->done || all)
			look_at(t, f, now);
	}
}

static void sweep_when_due(struct flights *t, struct session *s)
{
	uint64_t now = clock_ms();
	bool due, kept;

	pthread_mutex_lock(&t->lock);
	due = t->sweep_at && now >= t->sweep_at;
	pthread_mutex_unlock(&t->lock);
	if (!due)
		return;
	sockets_sweep(s);
	kept = first(t) || sockets_keeps_bound(s);
	pthread_mutex_lock(&t->lock);
	t->sweep_after = t->sweep_after * 2 < LAST_SWEEP_MS ? t->sweep_after * 2 : LAST_SWEEP_MS;
	t->sweep_at = kept ? now + t->sweep_after : 0;
	pthread_mutex_unlock(&t->lock);
}

/* How often waiting callers are looked at, in ms. */
static unsigned tick_of(struct flights *t)
{
	unsigned calls = 0;

	pthread_mutex_lock(&t->lock);
	for (struct flight *f = t->first; f; f = f->next)
		calls += f->call != NULL;
	pthread_mutex_unlock(&t->lock);
	return TICK_MS + calls / CALLS_FOR_MS;
}

/* Until when nothing is to be done, unless something comes: ms, or -1. */
static int pause_of(struct flights *t)
{
	bool calls = false, looks = false;
	int tick = (int)tick_of(t);
	uint64_t now = clock_ms();
	int ms = -1;

	pthread_mutex_lock(&t->lock);
	for (struct flight *f = t->first; f; f = f->next) {
		calls |= f->call != NULL;
		looks |= f->look_at != 0;
	}
	if (t->sweep_at)
		ms = t->sweep_at > now ? (int)(t->sweep_at - now) : 0;
	pthread_mutex_unlock(&t->lock);
	if (calls && (ms < 0 || ms > tick))
		ms = tick;
	if (looks && (ms < 0 || ms > LISTENER_TICK_MS))
		ms = LISTENER_TICK_MS;
	return ms;
}

struct start {
	struct session *s;
	unsigned maker;
};

static void *watch_main(void *arg)
{
	struct start start = *(struct start *)arg;
	struct flights *t = start.s->flights;
	struct epoll_event e[64];
	uint64_t last = 0;
	eventfd_t x;

	free(arg);
	ident_begin_thread(start.s, start.maker);
	for (;;) {
		int n = epoll_wait(t->epoll, e, 64, pause_of(t));
		uint64_t now = clock_ms();
		bool all = now >= last + tick_of(t);

		for (int i = 0; i < n; i++) {
			struct flight *f = e[i].data.ptr;

			if (f)
				f->done = true;
			else
				eventfd_read(t->kick, &x);
		}
		look(t, all);
		sweep_when_due(t, start.s);
		if (all)
			last = now;
	}
	return NULL;
}

/* Under t->lock. */
static bool run(struct flights *t, struct session *s)
{
	struct start *start;
	pthread_attr_t attr;
	pthread_t thread;

	if (t->started)
		return true;
	start = malloc(sizeof(*start));
	if (!start)
		return false;
	*start = (struct start){s, ident_of_maker()};
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	t->started = pthread_create(&thread, &attr, watch_main, start) == 0;
	pthread_attr_destroy(&attr);
	if (!t->started)
		free(start);
	return t->started;
}

void flights_lead(struct flight *f, const struct destination *d)
{
	struct flights *t = f->s->flights;

	pthread_mutex_lock(&t->lock);
	f->d = *d;
	f->look_at = 0;
	pthread_mutex_unlock(&t->lock);
}

/* A call that joined an attempt may name another address: it is looked at who is reached by the first. */
static void follow(struct flight *f, const struct flight *o)
{
	if (!f->joined || o->joined)
		return;
	f->d = o->d;
	f->look_at = o->look_at;
	f->joined = false;
}

/* Under t->lock. Of several that watch a socket one notes the end; who waits comes before who went on, and who began before who
 * joined. False: there is one already, and f is not needed. */
static bool supersede(struct flights *t, struct flight *f)
{
	for (struct flight *o = t->first; o; o = o->next) {
		if (o->inode != f->inode)
			continue;
		follow(f, o);
		if (o->call)
			continue;
		if (!f->call && !o->superseded && (f->joined || !o->joined))
			return false;
		o->superseded = true;
	}
	return true;
}

void flights_add(struct flight *f)
{
	struct epoll_event e = {.events = EPOLLOUT, .data.ptr = f};
	struct flights *t = f->s->flights;
	bool ok;

	f->done = false;
	pthread_mutex_lock(&t->lock);
	if (!supersede(t, f)) {
		pthread_mutex_unlock(&t->lock);
		flight_free(f);
		return;
	}
	ok = run(t, f->s) && epoll_ctl(t->epoll, EPOLL_CTL_ADD, f->fd, &e) == 0;
	if (ok) {
		f->next = t->first;
		t->first = f;
		if (!t->sweep_at) {
			t->sweep_after = FIRST_SWEEP_MS;
			t->sweep_at = clock_ms() + FIRST_SWEEP_MS;
		}
		eventfd_write(t->kick, 1);
	}
	pthread_mutex_unlock(&t->lock);
	if (!ok) {
		if (f->call)
			call_error(f->call, ENOBUFS);
		flight_free(f);
	}
}

void flights_expect_close(struct session *s)
{
	struct flights *t = s->flights;

	pthread_mutex_lock(&t->lock);
	if (run(t, s)) {
		uint64_t soon = clock_ms() + FIRST_SWEEP_MS;

		t->sweep_after = FIRST_SWEEP_MS;
		if (!t->sweep_at || t->sweep_at > soon)
			t->sweep_at = soon;
		eventfd_write(t->kick, 1);
	}
	pthread_mutex_unlock(&t->lock);
}
