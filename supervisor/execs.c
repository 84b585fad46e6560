#include "supervisor/execs.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "supervisor/crew.h"
#include "supervisor/lockdown.h"
#include "supervisor/mounts.h"
#include "supervisor/resolve.h"
#include "supervisor/tracee.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(close));

#define BUCKETS 256
/* An exec takes a millisecond; one that the kernel holds up may take any time. */
#define ROUND_MS 100
#define ROUNDS	 50

struct bucket {
	unsigned under_way;
	uint64_t begun; /* how many ever */
};

struct execs {
	pthread_mutex_t lock;
	pthread_cond_t ended;
	struct bucket bucket[BUCKETS];
};

struct execs *execs_new(void)
{
	struct execs *e = calloc(1, sizeof(*e));
	pthread_condattr_t attr;

	if (!e)
		return NULL;
	pthread_mutex_init(&e->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&e->ended, &attr);
	pthread_condattr_destroy(&attr);
	return e;
}

static struct bucket *bucket_of(struct execs *e, pid_t pid)
{
	return &e->bucket[(unsigned)pid % BUCKETS];
}

void execs_begin(struct execs *e, pid_t pid)
{
	pthread_mutex_lock(&e->lock);
	bucket_of(e, pid)->under_way++;
	bucket_of(e, pid)->begun++;
	pthread_mutex_unlock(&e->lock);
}

void execs_end(struct execs *e, pid_t pid)
{
	pthread_mutex_lock(&e->lock);
	bucket_of(e, pid)->under_way--;
	pthread_cond_broadcast(&e->ended);
	pthread_mutex_unlock(&e->lock);
}

/* Whether none is under way, waiting a little for that. */
static bool await_round(struct execs *e, struct bucket *b, int ms, uint64_t *mark)
{
	struct timespec until;
	int rc = 0;
	bool none;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += ms * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	pthread_mutex_lock(&e->lock);
	while (b->under_way > 0 && ms > 0 && rc == 0)
		rc = pthread_cond_timedwait(&e->ended, &e->lock, &until);
	none = b->under_way == 0;
	*mark = b->begun;
	pthread_mutex_unlock(&e->lock);
	return none;
}

int execs_await(struct call *c, pid_t pid, uint64_t *mark)
{
	struct execs *e = c->s->execs;
	struct bucket *b = bucket_of(e, pid);

	if (await_round(e, b, 0, mark))
		return 0;
	if (!crew_step_aside(c))
		return -EAGAIN;
	for (int i = 0; i < ROUNDS; i++) {
		if (await_round(e, b, ROUND_MS, mark))
			return 0;
		if (tracee_check(c) < 0)
			return -ESRCH;
	}
	return -EAGAIN;
}

bool execs_none_since(struct execs *e, pid_t pid, uint64_t mark)
{
	bool none;

	pthread_mutex_lock(&e->lock);
	none = bucket_of(e, pid)->begun == mark;
	pthread_mutex_unlock(&e->lock);
	return none;
}

/* The number by which o shows a process's memory; 0 when it is something else. */
static pid_t memory_of(const struct session *s, const struct object *o)
{
	static const char leaf[] = "/mem";
	size_t n = sizeof(leaf) - 1;
	const char *p;

	if (!execs_matter(s) || !S_ISREG(o->st.stx_mode) || o->len <= n ||
	    memcmp(o->name + o->len - n, leaf, n) != 0 ||
	    !mounts_is_proc(s->mounts, makedev(o->st.stx_dev_major, o->st.stx_dev_minor)))
		return 0;
	for (p = o->name + o->len - n; p > o->name && isdigit((unsigned char)p[-1]); p--)
		;
	return (pid_t)strtol(p, NULL, 10);
}

int execs_open(struct call *c, const struct object *o, int flags,
	       int (*open_as)(struct call *c, const struct object *o, int flags))
{
	pid_t pid = memory_of(c->s, o);
	uint64_t mark;

	if (pid == 0)
		return open_as(c, o, flags);
	for (int i = 0; i < EXECS_RETRIES; i++) {
		int rc = execs_await(c, pid, &mark), fd;

		if (rc < 0)
			return rc;
		fd = open_as(c, o, flags);
		if (fd < 0 || execs_none_since(c->s->execs, pid, mark))
			return fd;
		close(fd);
	}
	return -EAGAIN;
}

bool execs_matter(const struct session *s)
{
	return policy_restricts_reads(s->policy) && !s->log_only;
}
