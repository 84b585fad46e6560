#include "supervisor/literals.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "supervisor/hash.h"
#include "supervisor/ident.h"
#include "supervisor/lockdown.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(statx));

#define FRESH_NS 1000000000LL

struct literal_key {
	uint64_t dev, ino;
};

struct literal {
	struct literal_key key, fresh; /* in the table; as it was seen last */
	const struct rule *rule;
	unsigned asking; /* how many threads look it up now */
	bool known, lost;
	UT_hash_handle hh;
};

struct literals {
	const struct config *config;
	pthread_mutex_t lock;
	struct literal *list; /* one per rule, in use or not */
	struct literal *table;
	long long made_ns;
	bool made, incomplete;
};

static struct literal_key key_of(const struct statx *st)
{
	return (struct literal_key){((uint64_t)st->stx_dev_major << 32) | st->stx_dev_minor, st->stx_ino};
}

/*
 * Under the lock, given up meanwhile: on a dead mount this takes for ever. One thread may be held up there, and for the others
 * what was seen before holds, as it does where the file cannot be seen for another reason than that it is not there.
 */
static void look_up(struct literals *l, size_t i)
{
	struct literal *e = &l->list[i];
	struct statx st;
	int err;

	if (e->asking && l->made)
		return;
	e->asking++;
	pthread_mutex_unlock(&l->lock);
	err = statx(AT_FDCWD, l->config->rules[i].path, AT_SYMLINK_NOFOLLOW, STATX_TYPE | STATX_INO, &st) < 0
		      ? errno
		      : 0;
	pthread_mutex_lock(&l->lock);
	e->asking--;
	if (err && err != ENOENT && err != ENOTDIR)
		return;
	e->known = err == 0 && S_ISREG(st.stx_mode);
	e->fresh = key_of(&st);
}

static void add(struct literals *l, size_t i)
{
	struct literal *e = &l->list[i], *other;

	if (!e->known)
		return;
	e->key = e->fresh;
	HASH_FIND(hh, l->table, &e->key, sizeof(e->key), other);
	if (other)
		return;
	e->rule = &l->config->rules[i];
	e->lost = false;
	HASH_ADD(hh, l->table, key, sizeof(e->key), e);
	l->incomplete |= e->lost;
}

static void each_literal(struct literals *l, void (*fn)(struct literals *l, size_t i))
{
	for (size_t i = 0; i < l->config->n_rules; i++)
		if (l->config->rules[i].kind == RULE_DENY_READ && l->config->rules[i].literal)
			fn(l, i);
}

/* Under the lock. Until it was done once, everyone who needs it does it. */
static void refresh(struct literals *l)
{
	struct timespec t;
	long long now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	now = t.tv_sec * 1000000000LL + t.tv_nsec;
	/* A worker that acts for another user may see less; what was seen before holds then. */
	if (l->made && (now - l->made_ns < FRESH_NS || ident_is_assumed()))
		return;
	l->made_ns = now;
	each_literal(l, look_up);
	HASH_CLEAR(hh, l->table);
	l->incomplete = false;
	each_literal(l, add);
	l->made = true;
}

struct literals *literals_new(const struct config *c, bool seen_by_others)
{
	struct literals *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->config = c;
	pthread_mutex_init(&l->lock, NULL);
	l->list = calloc(c->n_rules + 1, sizeof(*l->list));
	if (l->list) {
		if (seen_by_others) {
			pthread_mutex_lock(&l->lock);
			refresh(l);
			pthread_mutex_unlock(&l->lock);
		}
		return l;
	}
	free(l);
	return NULL;
}

const struct rule *literals_find(struct literals *l, const struct statx *st)
{
	struct literal_key key = key_of(st);
	const struct rule *rule = NULL;
	struct literal *e;

	pthread_mutex_lock(&l->lock);
	refresh(l);
	HASH_FIND(hh, l->table, &key, sizeof(key), e);
	if (e)
		rule = e->rule;
	else if (l->incomplete) /* out of memory: refuse rather than miss one */
		rule = &l->config->rules[0];
	pthread_mutex_unlock(&l->lock);
	return rule;
}
