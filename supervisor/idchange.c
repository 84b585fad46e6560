#include "supervisor/idchange.h"

#include <pthread.h>
#include <time.h>

#include "supervisor/tracee.h"

/* Longer than any change takes whose process does what it is told. */
#define WAIT_SECONDS 2

static struct {
	pthread_mutex_t lock;
	pthread_cond_t ended;
	struct idchange *list;
} under_way = {.lock = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};

/* An address that neither shows may be the same. */
static bool is_same_memory(const struct idchange *a, const struct idchange *b)
{
	if (a->tgid == b->tgid)
		return true;
	if (a->ppid != b->tgid && b->ppid != a->tgid)
		return false;
	return a->stack == b->stack || !a->stack || !b->stack;
}

/* Under the lock. */
static bool is_under_way(const struct idchange *like)
{
	for (const struct idchange *ch = under_way.list; ch; ch = ch->next)
		if (is_same_memory(ch, like))
			return true;
	return false;
}

/* Under the lock, which it gives up meanwhile. False: it took too long. */
static bool await_end(const struct idchange *like)
{
	struct timespec until;
	int rc = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += WAIT_SECONDS;
	while (is_under_way(like) && rc == 0)
		rc = pthread_cond_clockwait(&under_way.ended, &under_way.lock, CLOCK_MONOTONIC, &until);
	return !is_under_way(like);
}

bool idchange_begin(struct idchange *ch)
{
	bool alone;

	pthread_mutex_lock(&under_way.lock);
	alone = await_end(ch);
	if (alone) {
		ch->next = under_way.list;
		under_way.list = ch;
	}
	pthread_mutex_unlock(&under_way.lock);
	return alone;
}

void idchange_end(struct idchange *ch)
{
	struct idchange **p;

	pthread_mutex_lock(&under_way.lock);
	for (p = &under_way.list; *p != ch; p = &(*p)->next)
		;
	*p = ch->next;
	pthread_cond_broadcast(&under_way.ended);
	pthread_mutex_unlock(&under_way.lock);
}

void idchange_wait(const struct session *s, pid_t tid)
{
	struct tracee_status st;
	struct idchange like;

	if (tracee_status(s, tid, &st) < 0)
		return;
	like = (struct idchange){.tgid = st.tgid, .ppid = st.ppid};
	pthread_mutex_lock(&under_way.lock);
	await_end(&like);
	pthread_mutex_unlock(&under_way.lock);
}
