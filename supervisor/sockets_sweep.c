/*
 * Dropping what nobody in the session holds any more: records of sockets, and the duplicates that would keep them alive.
 *
 * A sweep looks at one process after the other while sockets go from one to another: by a message (SCM_RIGHTS), where a
 * descriptor may also stay for long, or to a child. So what is not seen is dropped only by the second sweep that does not
 * see it, and by none while descriptors wait in a Unix socket of a member. Of a socket that the supervisor has no duplicate
 * of, lists of the kernel tell whether it is alive: each Unix one, and TCP ones that listen.
 */
#include "supervisor/procunix.h"
#include "supervisor/proctcp.h"
#include "supervisor/sockets_table.h"
#include "supervisor/sockheld.h"

#define MISSES 2

struct sweep {
	struct sockets *t;
	struct procunix live; /* read when it is needed first */
	bool has_live, has_listening;
	bool unsure;		    /* some process could not be looked at, or descriptors wait */
	size_t missed, missed_kept; /* what the next sweep may drop; of it, with a duplicate */
};

static const struct procunix *unix_list(struct sweep *w)
{
	if (!w->has_live)
		procunix_read(&w->live);
	w->has_live = true;
	return &w->live;
}

/* --- Looking --- */

static bool mark_held(struct session *s, uint64_t inode, void *arg)
{
	enum sockets_kind kind = SOCKETS_NONE;
	struct sweep *w = arg;
	struct sock *k;

	pthread_mutex_lock(&s->sockets->lock);
	k = sockets_find(s->sockets, inode);
	if (k) {
		k->held = true;
		kind = k->kind;
	}
	pthread_mutex_unlock(&s->sockets->lock);
	if (kind != SOCKETS_NONE)
		return kind == SOCKETS_UNIX;
	/* From accept() or socketpair(), or from outside. A server may have thousands over TCP, in which none can wait. */
	return procunix_has(unix_list(w), inode) || !unix_list(w)->known;
}

static void mark_in_flight(struct session *s, void *arg)
{
	(void)s;
	((struct sweep *)arg)->unsure = true;
}

static void mark_hidden(struct session *s, pid_t pid, void *arg)
{
	struct sock *k, *next;

	((struct sweep *)arg)->unsure = true;
	pthread_mutex_lock(&s->sockets->lock);
	HASH_ITER(hh, s->sockets->table, k, next)
	k->hidden |= k->maker == pid;
	pthread_mutex_unlock(&s->sockets->lock);
}

static void begin(struct sockets *t)
{
	struct sock *k, *next;

	pthread_mutex_lock(&t->lock);
	HASH_ITER(hh, t->table, k, next)
	{
		k->held = !k->delivered;
		k->hidden = k->listed = k->doubtful = false;
	}
	pthread_mutex_unlock(&t->lock);
}

/* --- The kernel's lists --- */

static bool is_listener(const struct sock *k)
{
	return k->fd < 0 && k->kind == SOCKETS_INET && k->listens;
}

static bool is_unix(const struct sock *k)
{
	return k->fd < 0 && k->kind == SOCKETS_UNIX;
}

static bool mark_listening(uint64_t inode, void *arg)
{
	struct sockets *t = arg;
	struct sock *k;

	pthread_mutex_lock(&t->lock);
	k = sockets_find(t, inode);
	if (k)
		k->listed = true;
	pthread_mutex_unlock(&t->lock);
	return true;
}

/* Only where they are needed: they may be long. */
static void read_lists(struct sweep *w)
{
	bool listeners = false, unixes = false;
	struct sock *k, *next;

	pthread_mutex_lock(&w->t->lock);
	HASH_ITER(hh, w->t->table, k, next)
	{
		listeners |= !k->held && is_listener(k);
		unixes |= !k->held && is_unix(k);
	}
	pthread_mutex_unlock(&w->t->lock);
	if (unixes)
		unix_list(w);
	w->has_listening = listeners && proctcp_each_listening(mark_listening, w->t);
}

/* --- Dropping --- */

/* May one that was not seen be alive? */
static bool is_doubtful(const struct sweep *w, const struct sock *k)
{
	if (is_unix(k) && w->has_live && w->live.known)
		return procunix_has(&w->live, k->inode);
	if (is_listener(k) && w->has_listening)
		return k->listed;
	return w->unsure;
}

static void drop_missed(struct sweep *w)
{
	struct sock *k, *next;

	HASH_ITER(hh, w->t->table, k, next)
	{
		k->doubtful = !k->held && is_doubtful(w, k);
		if (k->held)
			k->misses = 0;
		if (k->held || k->doubtful)
			continue;
		if (++k->misses >= MISSES) {
			sockets_drop(w->t, k);
		} else {
			w->missed++;
			w->missed_kept += k->fd >= 0;
		}
	}
}

static bool are_too_many(const struct sockets *t, const struct sock *k)
{
	return t->count > SOCKETS_MAX / 2 || (k->fd >= 0 && t->kept > sockets_room() / 2) ||
	       (k->standin && t->standins > sockets_room_for_standins() / 2);
}

/*
 * Nobody was seen with these, but they may be alive. They may fill half of what there is: the oldest go first, as programs
 * connect soon, and those that a process made which may not be looked at go last. If one that goes is in use after all, it
 * can be connected no more.
 */
static void drop_doubtful(struct sockets *t, bool hidden)
{
	struct sock *k, *next;

	/* The oldest come first. */
	HASH_ITER(hh, t->table, k, next)
	{
		if (k->doubtful && k->hidden == hidden && are_too_many(t, k))
			sockets_drop(t, k);
	}
}

/* Seldom enough for what is held to be worth it; what was missed comes on top, so that it does not grow from sweep to sweep. */
static size_t next_sweep(size_t left, size_t missed, size_t first)
{
	size_t held = left - missed, at = missed + (held * 2 > first ? held * 2 : first);

	return at > SOCKETS_MAX ? SOCKETS_MAX : at;
}

/* Under t->sweeping. True: the next one may drop more. */
static bool sweep(struct session *s)
{
	static const struct sockheld told = {mark_held, mark_in_flight, mark_hidden};
	struct sockets *t = s->sockets;
	struct sweep w = {.t = t};

	begin(t);
	if (!sockheld_each(s, &told, &w))
		w.unsure = true;
	read_lists(&w);
	pthread_mutex_lock(&t->lock);
	drop_missed(&w);
	drop_doubtful(t, false);
	drop_doubtful(t, true);
	t->sweep_at = next_sweep(t->count, w.missed, SOCKETS_FIRST_SWEEP);
	t->sweep_at_kept = next_sweep(t->kept, w.missed_kept, SOCKETS_FIRST_SWEEP_KEPT);
	pthread_mutex_unlock(&t->lock);
	procunix_free(&w.live);
	return w.missed > 0;
}

/* One at a time: two would take each other's marks away. */
void sockets_sweep(struct session *s)
{
	pthread_mutex_lock(&s->sockets->sweeping);
	for (int i = 0; i < MISSES && sweep(s); i++)
		;
	pthread_mutex_unlock(&s->sockets->sweeping);
}

static bool is_due(struct sockets *t)
{
	bool due;

	pthread_mutex_lock(&t->lock);
	due = t->count >= t->sweep_at || t->kept >= t->sweep_at_kept || sockets_is_full(t);
	pthread_mutex_unlock(&t->lock);
	return due;
}

/* Before one more is made. Another may have done it meanwhile. One sweep is enough, unless there is no room otherwise. */
void sockets_sweep_when_due(struct session *s)
{
	if (!is_due(s->sockets))
		return;
	pthread_mutex_lock(&s->sockets->sweeping);
	for (int i = 0; i < MISSES && is_due(s->sockets); i++)
		sweep(s);
	pthread_mutex_unlock(&s->sockets->sweeping);
}
