#include "supervisor/idset.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "supervisor/hash.h"

struct id_key {
	uint64_t dev, ino;
};

struct id_entry {
	struct id_key key;
	int64_t stamp;
	unsigned names;
	bool lost;
	UT_hash_handle hh;
};

struct idset {
	pthread_mutex_t lock;
	struct id_entry *table;
	size_t count;
};

struct idset *idset_new(void)
{
	struct idset *s = calloc(1, sizeof(*s));

	if (s)
		pthread_mutex_init(&s->lock, NULL);
	return s;
}

void idset_free(struct idset *s)
{
	struct id_entry *e, *next;

	if (!s)
		return;
	HASH_ITER(hh, s->table, e, next)
	{
		HASH_DEL(s->table, e);
		free(e);
	}
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static struct id_key key_of(const struct statx *st)
{
	return (struct id_key){((uint64_t)st->stx_dev_major << 32) | st->stx_dev_minor, st->stx_ino};
}

static int64_t stamp_of(const struct statx *st)
{
	if (!(st->stx_mask & STATX_BTIME))
		return 0;
	return st->stx_btime.tv_sec * 1000000000LL + st->stx_btime.tv_nsec;
}

static struct id_entry *find(struct idset *s, const struct statx *st)
{
	struct id_key key = key_of(st);
	struct id_entry *e;

	HASH_FIND(hh, s->table, &key, sizeof(key), e);
	return e;
}

bool idset_has(struct idset *s, const struct statx *st)
{
	struct id_entry *e;
	bool has;

	pthread_mutex_lock(&s->lock);
	e = find(s, st);
	has = e && e->stamp == stamp_of(st);
	pthread_mutex_unlock(&s->lock);
	return has;
}

static bool add_locked(struct idset *s, const struct statx *st)
{
	struct id_entry *e = find(s, st);

	if (!e) {
		if (s->count == IDSET_MAX)
			return false;
		e = calloc(1, sizeof(*e));
		if (!e)
			return false;
		e->key = key_of(st);
		HASH_ADD(hh, s->table, key, sizeof(e->key), e);
		if (e->lost) {
			free(e);
			return false;
		}
		__atomic_store_n(&s->count, s->count + 1, __ATOMIC_RELAXED);
	}
	e->stamp = stamp_of(st);
	return true;
}

bool idset_add(struct idset *s, const struct statx *st)
{
	bool added;

	pthread_mutex_lock(&s->lock);
	added = add_locked(s, st);
	pthread_mutex_unlock(&s->lock);
	return added;
}

static void remove_locked(struct idset *s, struct id_entry *e)
{
	HASH_DEL(s->table, e);
	free(e);
	__atomic_store_n(&s->count, s->count - 1, __ATOMIC_RELAXED);
}

void idset_remove(struct idset *s, const struct statx *st)
{
	struct id_entry *e;

	pthread_mutex_lock(&s->lock);
	e = find(s, st);
	if (e)
		remove_locked(s, e);
	pthread_mutex_unlock(&s->lock);
}

unsigned idset_count(struct idset *s, const struct statx *st)
{
	struct id_entry *e;
	unsigned n;

	pthread_mutex_lock(&s->lock);
	e = find(s, st);
	n = e && e->stamp == stamp_of(st) ? e->names : 0;
	pthread_mutex_unlock(&s->lock);
	return n;
}

void idset_change(struct idset *s, const struct statx *st, unsigned first, int delta)
{
	struct id_entry *e;

	pthread_mutex_lock(&s->lock);
	e = find(s, st);
	if ((!e || e->stamp != stamp_of(st)) && delta > 0 && add_locked(s, st)) {
		e = find(s, st);
		e->names = first;
	}
	if (e && e->stamp == stamp_of(st)) {
		if (delta < 0 && e->names <= (unsigned)-delta)
			remove_locked(s, e);
		else
			e->names = (unsigned)((int)e->names + delta);
	}
	pthread_mutex_unlock(&s->lock);
}

bool idset_is_empty(struct idset *s)
{
	return __atomic_load_n(&s->count, __ATOMIC_RELAXED) == 0;
}
