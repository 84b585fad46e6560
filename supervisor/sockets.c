#include "supervisor/sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/idset.h"
#include "supervisor/lockdown.h"
#include "supervisor/session.h"
#include "supervisor/sockdiag.h"
#include "supervisor/sockheld.h"
#include "supervisor/hash.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(openat), OWN(close), OWN(read), OWN(fstat), OWN(getsockopt),
	  OWN_IF(fcntl, ARG_IS(1, F_DUPFD_CLOEXEC)), OWN_READ_LIMIT);

#define FIRST_SWEEP 64
#define MAX_SOCKETS 65536
#define MAX_KEPT    16384

struct sock {
	uint64_t inode;
	int fd; /* the kept duplicate, or -1 */
	int type;
	bool lost;
	pid_t maker;	/* the thread, which most often is its process's first */
	bool held;	/* seen in a process, or not to be swept this time */
	bool hidden;	/* made by a process that this sweep could not look at */
	bool delivered; /* its program has it: before that nobody could hold it */
	struct sockaddr_un name[SOCKETS_NAMES];
	socklen_t len[SOCKETS_NAMES];
	struct ucred cred[SOCKETS_WHO]; /* pid 0: not known */
	uint64_t file_dev, file_ino;	/* where it was bound; 0: nowhere */
	UT_hash_handle hh;
};

struct sockets {
	pthread_mutex_t lock, sweeping;
	struct sock *table;
	size_t count, kept, sweep_at; /* kept: of the count, those with a duplicate */
	bool unsure;		      /* a sweep could not look at some process */
	struct idset *files;
	struct sockdiag *diag;
};

struct sockets *sockets_new(void)
{
	struct sockets *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	pthread_mutex_init(&t->lock, NULL);
	pthread_mutex_init(&t->sweeping, NULL);
	t->sweep_at = FIRST_SWEEP;
	t->files = idset_new();
	t->diag = sockdiag_new();
	return t->files && t->diag ? t : NULL;
}

static struct sock *find(struct sockets *t, uint64_t inode)
{
	struct sock *k;

	HASH_FIND(hh, t->table, &inode, sizeof(inode), k);
	return k;
}

static void give_up_fd(struct sockets *t, struct sock *k)
{
	if (k->fd < 0)
		return;
	close(k->fd);
	k->fd = -1;
	t->kept--;
}

static void drop(struct sockets *t, struct sock *k)
{
	HASH_DEL(t->table, k);
	t->count--;
	give_up_fd(t, k);
	free(k);
}

/* How many duplicates there may be. The rest of the supervisor needs descriptors too. */
static size_t room(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) < 0 || l.rlim_cur / 2 > MAX_KEPT)
		return MAX_KEPT;
	return (size_t)l.rlim_cur / 2;
}

static int type_of(int fd)
{
	socklen_t len = sizeof(int);
	int type = 0;

	getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len);
	return type;
}

/* fd: the duplicate to keep, or -1. */
static int add_locked(struct sockets *t, uint64_t inode, int fd, pid_t maker)
{
	struct sock *k = find(t, inode);

	if (k) /* a number used again */
		drop(t, k);
	if (t->count >= MAX_SOCKETS || (fd >= 0 && t->kept >= room()))
		return -ENFILE;
	k = calloc(1, sizeof(*k));
	if (!k)
		return -ENOMEM;
	k->inode = inode;
	k->held = true;
	k->fd = fd;
	k->type = type_of(fd);
	k->maker = maker;
	HASH_ADD(hh, t->table, inode, sizeof(k->inode), k);
	if (k->lost) {
		free(k);
		return -ENOMEM;
	}
	t->count++;
	t->kept += fd >= 0;
	return 0;
}

int sockets_get(struct session *s, uint64_t inode)
{
	struct sockets *t = s->sockets;
	struct sock *k;
	int fd = -ENOENT;

	pthread_mutex_lock(&t->lock);
	k = find(t, inode);
	if (k && k->fd < 0)
		fd = -EISCONN;
	else if (k)
		fd = fcntl(k->fd, F_DUPFD_CLOEXEC, 3);
	if (fd == -1)
		fd = -errno;
	pthread_mutex_unlock(&t->lock);
	return fd;
}

void sockets_delivered(struct session *s, uint64_t inode)
{
	struct sock *k;

	pthread_mutex_lock(&s->sockets->lock);
	k = find(s->sockets, inode);
	if (k)
		k->delivered = true;
	pthread_mutex_unlock(&s->sockets->lock);
}

void sockets_drop_all(struct session *s)
{
	struct sock *k, *next;

	pthread_mutex_lock(&s->sockets->lock);
	HASH_ITER(hh, s->sockets->table, k, next)
	drop(s->sockets, k);
	pthread_mutex_unlock(&s->sockets->lock);
}

void sockets_release(struct session *s, uint64_t inode)
{
	struct sock *k;

	pthread_mutex_lock(&s->sockets->lock);
	k = find(s->sockets, inode);
	if (k)
		give_up_fd(s->sockets, k);
	pthread_mutex_unlock(&s->sockets->lock);
}

void sockets_set_name(struct session *s, uint64_t inode, enum sockets_name which, const struct sockaddr_un *a,
		      socklen_t len)
{
	struct sock *k;

	pthread_mutex_lock(&s->sockets->lock);
	k = find(s->sockets, inode);
	if (k && len <= sizeof(*a)) {
		memcpy(&k->name[which], a, len);
		k->len[which] = len;
	}
	pthread_mutex_unlock(&s->sockets->lock);
}

bool sockets_name(struct session *s, uint64_t inode, enum sockets_name which, struct sockaddr_un *a,
		  socklen_t *len)
{
	struct sock *k;
	bool has;

	pthread_mutex_lock(&s->sockets->lock);
	k = find(s->sockets, inode);
	has = k && k->len[which] > 0;
	if (has) {
		memcpy(a, &k->name[which], k->len[which]);
		*len = k->len[which];
	}
	pthread_mutex_unlock(&s->sockets->lock);
	return has;
}

static uint64_t dev_of(const struct statx *st)
{
	return (uint64_t)st->stx_dev_major << 32 | st->stx_dev_minor;
}

void sockets_note_file(struct session *s, uint64_t inode, const struct statx *st)
{
	struct sock *k;

	idset_add(s->sockets->files, st);
	pthread_mutex_lock(&s->sockets->lock);
	k = find(s->sockets, inode);
	if (k) {
		k->file_dev = dev_of(st);
		k->file_ino = st->stx_ino;
	}
	pthread_mutex_unlock(&s->sockets->lock);
}

uint64_t sockets_file_owner(struct session *s, const struct statx *st)
{
	struct sock *k, *next;
	uint64_t inode = 0;

	pthread_mutex_lock(&s->sockets->lock);
	HASH_ITER(hh, s->sockets->table, k, next)
	{
		if (k->file_ino == st->stx_ino && k->file_dev == dev_of(st))
			inode = k->inode;
	}
	pthread_mutex_unlock(&s->sockets->lock);
	return inode;
}

int sockets_type(struct session *s, uint64_t inode)
{
	struct sock *k;
	int type;

	pthread_mutex_lock(&s->sockets->lock);
	k = find(s->sockets, inode);
	type = k ? k->type : 0;
	pthread_mutex_unlock(&s->sockets->lock);
	return type;
}

void sockets_set_self(struct session *s, uint64_t inode, const struct ucred *self)
{
	struct sock *k;

	pthread_mutex_lock(&s->sockets->lock);
	k = find(s->sockets, inode);
	if (k)
		k->cred[SOCKETS_SELF] = *self;
	pthread_mutex_unlock(&s->sockets->lock);
}

void sockets_connected(struct session *s, uint64_t inode, uint64_t listener)
{
	struct sock *k, *l;

	pthread_mutex_lock(&s->sockets->lock);
	k = find(s->sockets, inode);
	l = find(s->sockets, listener);
	if (k && l) {
		k->cred[SOCKETS_OTHER] = l->cred[SOCKETS_SELF];
		k->name[SOCKETS_PEER] = l->name[SOCKETS_LOCAL];
		k->len[SOCKETS_PEER] = l->len[SOCKETS_LOCAL];
	}
	pthread_mutex_unlock(&s->sockets->lock);
}

bool sockets_cred(struct session *s, uint64_t inode, enum sockets_who who, struct ucred *cred)
{
	struct sock *k;

	pthread_mutex_lock(&s->sockets->lock);
	k = find(s->sockets, inode);
	if (k)
		*cred = k->cred[who];
	pthread_mutex_unlock(&s->sockets->lock);
	return k && cred->pid;
}

uint64_t sockets_other_end(struct session *s, uint64_t inode)
{
	return sockdiag_other_end(s->sockets->diag, inode);
}

bool sockets_is_own_file(struct session *s, const struct statx *st)
{
	return idset_has(s->sockets->files, st);
}

#define SAME_NAME_MAX 32

/* The inodes of the sockets of the session that were bound to the abstract name, dead ones too. */
static int bound_to(struct sockets *t, int type, const struct sockaddr_un *a, socklen_t len,
		    unsigned long inodes[SAME_NAME_MAX])
{
	struct sock *k, *next;
	int n = 0;

	pthread_mutex_lock(&t->lock);
	HASH_ITER(hh, t->table, k, next)
	{
		if (k->type == type && k->len[SOCKETS_LOCAL] == len &&
		    memcmp(&k->name[SOCKETS_LOCAL], a, len) == 0 && n < SAME_NAME_MAX)
			inodes[n++] = k->inode;
	}
	pthread_mutex_unlock(&t->lock);
	return n;
}

/*
 * The kernel keeps each name once for each type of socket, so the session's own socket that lives is the only one. A
 * line of /proc/net/unix is "num: refs proto flags type state inode path". What follows the inode is not compared: it shows
 * different names alike. Nothing in the session can put a line of its own there, as bind() refuses line breaks.
 */
uint64_t sockets_abstract_owner(struct session *s, int fd, const struct sockaddr_un *a, socklen_t len)
{
	unsigned long inodes[SAME_NAME_MAX], inode;
	int n = bound_to(s->sockets, type_of(fd), a, len, inodes);
	FILE *f = n > 0 ? fopen("/proc/net/unix", "re") : NULL;
	char *line = NULL;
	size_t size = 0;
	uint64_t own = 0;

	while (f && !own && getline(&line, &size, f) > 0) {
		if (sscanf(line, "%*s %*s %*s %*s %*s %*s %lu", &inode) != 1)
			continue;
		for (int i = 0; i < n; i++)
			own = inodes[i] == inode ? inode : own;
	}
	free(line);
	if (f)
		fclose(f);
	return own;
}

static void mark_held(struct session *s, uint64_t inode)
{
	struct sock *k;

	pthread_mutex_lock(&s->sockets->lock);
	k = find(s->sockets, inode);
	if (k)
		k->held = true;
	pthread_mutex_unlock(&s->sockets->lock);
}

static void mark_hidden(struct session *s, pid_t pid)
{
	struct sock *k, *next;

	pthread_mutex_lock(&s->sockets->lock);
	s->sockets->unsure = true;
	HASH_ITER(hh, s->sockets->table, k, next)
	k->hidden |= k->maker == pid;
	pthread_mutex_unlock(&s->sockets->lock);
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
		if (!k->held && k->hidden == hidden &&
		    (t->count > MAX_SOCKETS / 2 || (k->fd >= 0 && t->kept > room() / 2)))
			drop(t, k);
	}
}

static void drop_unheld(struct sockets *t)
{
	struct sock *k, *next;

	HASH_ITER(hh, t->table, k, next)
	if (!k->held)
		drop(t, k);
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
	listed = sockheld_each(s, mark_held, mark_hidden);
	pthread_mutex_lock(&t->lock);
	if (!listed || t->unsure) {
		drop_doubtful(t, false);
		drop_doubtful(t, true);
	} else {
		drop_unheld(t);
	}
	t->sweep_at = t->count * 2 > FIRST_SWEEP ? t->count * 2 : FIRST_SWEEP;
	if (t->sweep_at > MAX_SOCKETS)
		t->sweep_at = MAX_SOCKETS;
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
	due = t->count >= t->sweep_at || t->kept >= room();
	pthread_mutex_unlock(&t->lock);
	return due;
}

/* Before one more is made. Another may have done it meanwhile. */
static void sweep_when_due(struct session *s)
{
	if (!is_due(s->sockets))
		return;
	pthread_mutex_lock(&s->sockets->sweeping);
	if (is_due(s->sockets))
		sweep(s);
	pthread_mutex_unlock(&s->sockets->sweeping);
}

int sockets_add(struct session *s, int fd, pid_t maker)
{
	struct sockets *t = s->sockets;
	struct stat st;
	int rc;

	if (fstat(fd, &st) < 0)
		return -errno;
	sweep_when_due(s);
	pthread_mutex_lock(&t->lock);
	rc = add_locked(t, st.st_ino, fd, maker);
	pthread_mutex_unlock(&t->lock);
	return rc;
}

int sockets_add_pair(struct session *s, int fd, const struct ucred *maker)
{
	struct stat st;
	struct sock *k;
	int rc;

	if (fstat(fd, &st) < 0)
		return -errno;
	sweep_when_due(s);
	pthread_mutex_lock(&s->sockets->lock);
	rc = add_locked(s->sockets, st.st_ino, -1, maker->pid);
	k = rc == 0 ? find(s->sockets, st.st_ino) : NULL;
	if (k) {
		k->type = SOCK_DGRAM;
		k->cred[SOCKETS_OTHER] = *maker;
	}
	pthread_mutex_unlock(&s->sockets->lock);
	return rc;
}
