#include "supervisor/pins.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "supervisor/lockdown.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(close), OWN(pread64), OWN_IF(fcntl, ARG_IS(1, F_DUPFD_CLOEXEC)),
	  OWN_READ_LIMIT);

#define PINS_MAX   1024
#define SWEEP_FROM 32

struct pin {
	struct pin_owner owner;
	int mem;
};

struct pins {
	pthread_mutex_t lock;
	size_t count, sweep_at;
	struct pin list[PINS_MAX];
};

struct pins *pins_new(void)
{
	struct pins *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	pthread_mutex_init(&p->lock, NULL);
	p->sweep_at = SWEEP_FROM;
	return p;
}

void pins_free(struct pins *p)
{
	for (size_t i = 0; p && i < p->count; i++)
		close(p->list[i].mem);
	free(p);
}

bool pins_memory_is_gone(int mem)
{
	char byte;

	/* Nothing is mapped at 0, so living memory gives an error here. */
	return pread(mem, &byte, 1, 0) == 0;
}

/* The rest of the supervisor needs descriptors too. */
static size_t room(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) < 0 || l.rlim_cur / 4 > PINS_MAX)
		return PINS_MAX;
	return (size_t)l.rlim_cur / 4;
}

static void sweep(struct pins *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->count; i++) {
		if (pins_memory_is_gone(p->list[i].mem))
			close(p->list[i].mem);
		else
			p->list[kept++] = p->list[i];
	}
	p->count = kept;
	p->sweep_at = kept < SWEEP_FROM / 2 ? SWEEP_FROM : 2 * kept;
}

static struct pin *find(struct pins *p, pid_t tgid)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->list[i].owner.tgid == tgid)
			return &p->list[i];
	return NULL;
}

bool pins_is_same(const struct pin_owner *a, const struct pin_owner *b)
{
	return a->tgid == b->tgid && a->start == b->start && a->forked == b->forked &&
	       (a->stack == b->stack || !a->stack || !b->stack);
}

void pins_put(struct pins *p, const struct pin_owner *o, int mem)
{
	struct pin *pin;

	pthread_mutex_lock(&p->lock);
	pin = find(p, o->tgid);
	if (!pin) {
		if (p->count >= p->sweep_at || p->count >= room())
			sweep(p);
		if (p->count < room()) {
			pin = &p->list[p->count++];
			pin->mem = -1;
		}
	}
	if (pin) {
		if (pin->mem >= 0)
			close(pin->mem);
		*pin = (struct pin){*o, mem};
	} else {
		close(mem);
	}
	pthread_mutex_unlock(&p->lock);
}

int pins_get(struct pins *p, const struct pin_owner *o)
{
	struct pin *pin;
	int fd = -ENOENT;

	pthread_mutex_lock(&p->lock);
	pin = find(p, o->tgid);
	if (pin && pins_is_same(&pin->owner, o)) {
		fd = fcntl(pin->mem, F_DUPFD_CLOEXEC, 3);
		fd = fd < 0 ? -errno : fd;
	}
	pthread_mutex_unlock(&p->lock);
	return fd;
}

void pins_drop(struct pins *p, pid_t tgid)
{
	struct pin *pin;

	pthread_mutex_lock(&p->lock);
	pin = find(p, tgid);
	if (pin) {
		close(pin->mem);
		*pin = p->list[--p->count];
	}
	pthread_mutex_unlock(&p->lock);
}

size_t pins_count(struct pins *p)
{
	size_t n;

	pthread_mutex_lock(&p->lock);
	n = p->count;
	pthread_mutex_unlock(&p->lock);
	return n;
}
