/*
 * Dropping the duplicates of sockets that no process of the session holds any more.
 */
#include "supervisor/sockets_table.h"
#include "supervisor/sockheld.h"

static void mark_held(struct session *s, uint64_t inode, void *arg)
{
	struct sock *k;

	pthread_mutex_lock(&s->sockets->lock);
	k = sockets_find(s->sockets, inode);
	if (k)
		k->held = true;
	pthread_mutex_unlock(&s->sockets->lock);
}

static void mark_hidden(struct session *s, pid_t pid, void *arg)
{
	struct sock *k, *next;

	pthread_mutex_lock(&s->sockets->lock);
	s->sockets->unsure = true;
	HASH_ITER(hh, s->sockets->table, k, next)
	k->hidden |= k->maker == pid;
	pthread_mutex_unlock(&s->sockets->lock);
}

static bool are_too_many(const struct sockets *t, const struct sock *k)
{
	return t->count > SOCKETS_MAX / 2 || (k->fd >= 0 && t->kept > sockets_room() / 2) ||
	       (k->standin && t->standins > sockets_room_for_standins() / 2);
}

/*
 * Nobody was seen with these, but a process that may not be looked at may have any of them. They may fill half of what
 * there is: the oldest go first, as programs connect soon, and those that such a process made go last. If one that goes
 * is in use after all, it can be connected no more.
 */
static void drop_doubtful(struct sockets *t, bool hidden)
{
	struct sock *k, *next;

	/* The oldest come first. */
	HASH_ITER(hh, t->table, k, next)
	{
		if (!k->held && k->hidden == hidden && are_too_many(t, k))
			sockets_drop(t, k);
	}
}

static void drop_unheld(struct sockets *t)
{
	struct sock *k, *next;

	HASH_ITER(hh, t->table, k, next)
	if (!k->held)
		sockets_drop(t, k);
}

/* Seldom enough for what is left to be worth it. */
static size_t next_sweep(size_t left, size_t first)
{
	size_t at = left * 2 > first ? left * 2 : first;

	return at > SOCKETS_MAX ? SOCKETS_MAX : at;
}

/* Under t->sweeping. */
static void sweep(struct session *s)
{
	struct sockets *t = s->sockets;
	struct sock *k, *next;
	bool listed;

	pthread_mutex_lock(&t->lock);
	t->unsure = false;
	HASH_ITER(hh, t->table, k, next)
	{
		k->held = !k->delivered;
		k->hidden = false;
	}
	pthread_mutex_unlock(&t->lock);
	listed = sockheld_each(s, mark_held, mark_hidden, NULL);
	pthread_mutex_lock(&t->lock);
	if (!listed || t->unsure) {
		drop_doubtful(t, false);
		drop_doubtful(t, true);
	} else {
		drop_unheld(t);
	}
	t->sweep_at = next_sweep(t->count, SOCKETS_FIRST_SWEEP);
	t->sweep_at_kept = next_sweep(t->kept, SOCKETS_FIRST_SWEEP_KEPT);
	pthread_mutex_unlock(&t->lock);
}

/* One at a time: two would take each other's marks away. */
void sockets_sweep(struct session *s)
{
	pthread_mutex_lock(&s->sockets->sweeping);
	sweep(s);
	pthread_mutex_unlock(&s->sockets->sweeping);
}

static bool is_due(struct sockets *t)
{
	bool due;

	pthread_mutex_lock(&t->lock);
	due = t->count >= t->sweep_at || t->kept >= t->sweep_at_kept || t->kept >= sockets_room();
	pthread_mutex_unlock(&t->lock);
	return due;
}

/* Before one more is made. Another may have done it meanwhile. */
void sockets_sweep_when_due(struct session *s)
{
	if (!is_due(s->sockets))
		return;
	pthread_mutex_lock(&s->sockets->sweeping);
	if (is_due(s->sockets))
		sweep(s);
	pthread_mutex_unlock(&s->sockets->sweeping);
}
