#include "supervisor/mqueue.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/ident.h"
#include "supervisor/lockdown.h"
#include "supervisor/siphash.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(mq_open), OWN(geteuid));
OWN_CALLS(OWN_BOTH, OWN(mq_unlink));

/* The kernel allows 256 in all (fs.mqueue.queues_max) to those without privilege. */
#define QUEUES_MAX  1024
#define PREFIX_SIZE 32
#define NAME_SIZE   64

struct queue {
	uint64_t hash; /* of the name; 0: nothing here */
	uid_t maker;
};

struct mqueues {
	pthread_mutex_t lock;
	struct siphash_key key;
	char prefix[PREFIX_SIZE];
	int used; /* places beyond are empty */
	bool closed;
	struct queue queues[QUEUES_MAX];
};

struct mqueues *mqueues_new(void)
{
	struct mqueues *t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (t == MAP_FAILED)
		return NULL;
	pthread_mutex_init(&t->lock, NULL);
	siphash_key_make(&t->key);
	snprintf(t->prefix, sizeof(t->prefix), "cordon-%016llx-",
		 (unsigned long long)siphash(&t->key, "prefix", 6));
	return t;
}

static const char *kernel_name(const struct mqueues *t, uint64_t hash, char name[NAME_SIZE])
{
	snprintf(name, NAME_SIZE, "%s%016llx", t->prefix, (unsigned long long)hash);
	return name;
}

static uint64_t hash_of(const struct mqueues *t, const char *name)
{
	uint64_t hash = siphash(&t->key, name, strlen(name));

	return hash ? hash : 1;
}

/* The kernel's errors for names that no queue can have. */
static int check_name(const char *name)
{
	if (!*name)
		return -ENOENT;
	if (strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return -EACCES;
	return strlen(name) > NAME_MAX ? -ENAMETOOLONG : 0;
}

/* The place of the name, or else a free one; NULL when there is none. */
static struct queue *place_of(struct mqueues *t, uint64_t hash)
{
	struct queue *free_place = t->used < QUEUES_MAX ? &t->queues[t->used] : NULL;

	for (int i = 0; i < t->used; i++) {
		if (t->queues[i].hash == hash)
			return &t->queues[i];
		if (!t->queues[i].hash)
			free_place = &t->queues[i];
	}
	return free_place;
}

static void note(struct mqueues *t, struct queue *q, uint64_t hash)
{
	*q = (struct queue){hash, geteuid()};
	if (q == &t->queues[t->used])
		t->used++;
}

int mqueues_open(struct mqueues *t, const char *name, int flags, mode_t mode, const struct mq_attr *attr)
{
	uint64_t hash = hash_of(t, name);
	char real[NAME_SIZE];
	struct queue *q;
	int fd = check_name(name);

	if (fd < 0)
		return fd;
	pthread_mutex_lock(&t->lock);
	q = place_of(t, hash);
	if (t->closed || (!q && flags & O_CREAT)) {
		fd = -ENOSPC;
	} else {
		fd = (int)syscall(SYS_mq_open, kernel_name(t, hash, real), flags, mode, attr);
		fd = fd < 0 ? -errno : fd;
	}
	if (fd >= 0 && flags & O_CREAT && !q->hash)
		note(t, q, hash);
	pthread_mutex_unlock(&t->lock);
	return fd;
}

int mqueues_unlink(struct mqueues *t, const char *name)
{
	uint64_t hash = hash_of(t, name);
	char real[NAME_SIZE];
	struct queue *q;
	int rc = check_name(name);

	if (rc < 0)
		return rc;
	pthread_mutex_lock(&t->lock);
	rc = syscall(SYS_mq_unlink, kernel_name(t, hash, real)) < 0 ? -errno : 0;
	q = place_of(t, hash);
	if (rc == 0 && q)
		q->hash = 0;
	pthread_mutex_unlock(&t->lock);
	return rc;
}

bool mqueues_is_own(const struct mqueues *t, const char *path)
{
	return t && path[0] == '/' && strncmp(path + 1, t->prefix, strlen(t->prefix)) == 0;
}

void mqueues_close(struct mqueues *t)
{
	pthread_mutex_lock(&t->lock);
	t->closed = true;
	pthread_mutex_unlock(&t->lock);
}

void mqueues_end(struct mqueues *t)
{
	char name[NAME_SIZE];

	for (int i = 0; i < t->used; i++) {
		if (!t->queues[i].hash)
			continue;
		kernel_name(t, t->queues[i].hash, name);
		/* The directory is sticky, and root may lack CAP_FOWNER. */
		if (syscall(SYS_mq_unlink, name) < 0 && errno != ENOENT &&
		    ident_begin_user(t->queues[i].maker)) {
			syscall(SYS_mq_unlink, name);
			ident_end_user();
		}
	}
}
