#include "supervisor/sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/heldback.h"
#include "supervisor/idset.h"
#include "supervisor/lockdown.h"
#include "supervisor/sockdiag.h"
#include "supervisor/sockets_table.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(close), OWN(fstat), OWN(getsockopt), OWN_IF(fcntl, ARG_IS(1, F_DUPFD_CLOEXEC)),
	  OWN_READ_LIMIT);

#define MAX_KEPT 16384

struct sockets *sockets_new(void)
{
	struct sockets *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	pthread_mutex_init(&t->lock, NULL);
	pthread_mutex_init(&t->sweeping, NULL);
	t->sweep_at = SOCKETS_FIRST_SWEEP;
	t->sweep_at_kept = SOCKETS_FIRST_SWEEP_KEPT;
	t->files = idset_new();
	t->diag = sockdiag_new();
	return t->files && t->diag ? t : NULL;
}

struct sock *sockets_find(struct sockets *t, uint64_t inode)
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

void sockets_drop(struct sockets *t, struct sock *k)
{
	HASH_DEL(t->table, k);
	t->count--;
	give_up_fd(t, k);
	t->standins -= k->standin != NULL;
	free(k->standin);
	free(k);
}

size_t sockets_room(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) < 0 || l.rlim_cur / 2 > MAX_KEPT)
		return MAX_KEPT;
	return (size_t)l.rlim_cur / 2;
}

int sockets_type_of(int fd)
{
	socklen_t len = sizeof(int);
	int type = 0;

	getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len);
	return type;
}

bool sockets_is_full(const struct sockets *t)
{
	return t->kept >= SOCKETS_FIRST_SWEEP_KEPT && t->kept >= sockets_room();
}

/* m->fd: the duplicate to keep, or -1. */
static int add_locked(struct sockets *t, const struct sockets_made *m)
{
	struct sock *k = sockets_find(t, m->inode);

	if (k) /* a number used again */
		sockets_drop(t, k);
	if (t->count >= SOCKETS_MAX || (m->fd >= 0 && sockets_is_full(t)))
		return -ENFILE;
	k = calloc(1, sizeof(*k));
	if (!k)
		return -ENOMEM;
	k->inode = m->inode;
	k->kind = m->kind;
	k->family = m->family;
	k->held = true;
	k->fd = m->fd;
	k->type = m->kind == SOCKETS_INET ? SOCK_STREAM : sockets_type_of(m->fd);
	k->maker = m->maker;
	HASH_ADD(hh, t->table, inode, sizeof(k->inode), k);
	if (k->lost) {
		free(k);
		return -ENOMEM;
	}
	t->count++;
	t->kept += m->fd >= 0;
	return 0;
}

int sockets_get(struct session *s, uint64_t inode)
{
	struct sockets *t = s->sockets;
	struct sock *k;
	int fd = -ENOENT;

	pthread_mutex_lock(&t->lock);
	k = sockets_find(t, inode);
	if (k && k->fd < 0)
		fd = -EISCONN;
	else if (k)
		fd = fcntl(k->fd, F_DUPFD_CLOEXEC, 3);
	if (fd == -1)
		fd = -errno;
	pthread_mutex_unlock(&t->lock);
	return fd;
}

int sockets_family(struct session *s, uint64_t inode)
{
	struct sock *k;
	int family;

	pthread_mutex_lock(&s->sockets->lock);
	k = sockets_find(s->sockets, inode);
	family = k ? k->family : 0;
	pthread_mutex_unlock(&s->sockets->lock);
	return family;
}

enum sockets_kind sockets_kind(struct session *s, uint64_t inode)
{
	enum sockets_kind kind;
	struct sock *k;

	pthread_mutex_lock(&s->sockets->lock);
	k = sockets_find(s->sockets, inode);
	kind = k ? k->kind : SOCKETS_NONE;
	pthread_mutex_unlock(&s->sockets->lock);
	return kind;
}

pid_t sockets_maker(struct session *s, uint64_t inode)
{
	struct sock *k;
	pid_t maker;

	pthread_mutex_lock(&s->sockets->lock);
	k = sockets_find(s->sockets, inode);
	maker = k ? k->maker : 0;
	pthread_mutex_unlock(&s->sockets->lock);
	return maker;
}

void sockets_delivered(struct session *s, uint64_t inode)
{
	struct sock *k;

	pthread_mutex_lock(&s->sockets->lock);
	k = sockets_find(s->sockets, inode);
	if (k)
		k->delivered = true;
	pthread_mutex_unlock(&s->sockets->lock);
}

void sockets_drop_all(struct session *s)
{
	struct sock *k, *next;

	pthread_mutex_lock(&s->sockets->lock);
	HASH_ITER(hh, s->sockets->table, k, next)
	if (k->delivered) /* else a worker is about to give it */
		sockets_drop(s->sockets, k);
	pthread_mutex_unlock(&s->sockets->lock);
}

void sockets_release(struct session *s, uint64_t inode)
{
	struct sock *k;

	pthread_mutex_lock(&s->sockets->lock);
	k = sockets_find(s->sockets, inode);
	if (k)
		give_up_fd(s->sockets, k);
	pthread_mutex_unlock(&s->sockets->lock);
}

int sockets_add(struct session *s, const struct sockets_made *m)
{
	struct sockets *t = s->sockets;
	int rc;

	sockets_sweep_when_due(s);
	pthread_mutex_lock(&t->lock);
	rc = add_locked(t, m);
	pthread_mutex_unlock(&t->lock);
	return rc;
}

static void add_kept(struct session *s, int fd)
{
	struct sockets_made m = {.fd = -1};
	socklen_t len = sizeof(int);
	struct stat st;
	struct sock *k;
	int listens = 0;

	if (fstat(fd, &st) < 0 || getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) < 0 || !listens ||
	    getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &m.family, &len) < 0)
		return;
	m.kind = m.family == AF_UNIX ? SOCKETS_UNIX : SOCKETS_INET;
	if (m.kind == SOCKETS_INET)
		heldback_mark(fd, m.family);
	m.inode = st.st_ino;
	pthread_mutex_lock(&s->sockets->lock);
	add_locked(s->sockets, &m);
	k = sockets_find(s->sockets, st.st_ino);
	if (k) {
		k->type = sockets_type_of(fd);
		k->delivered = true;
		sockets_mark_listening(s->sockets, k, fd);
	}
	pthread_mutex_unlock(&s->sockets->lock);
}

void sockets_add_kept(struct session *s, const int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add_kept(s, fds[i]);
}

int sockets_add_pair(struct session *s, int fd, const struct ucred *maker)
{
	struct sockets_made m = {.kind = SOCKETS_UNIX, .family = AF_UNIX, .fd = -1, .maker = maker->pid};
	struct stat st;
	struct sock *k;
	int rc;

	if (fstat(fd, &st) < 0)
		return -errno;
	m.inode = st.st_ino;
	sockets_sweep_when_due(s);
	pthread_mutex_lock(&s->sockets->lock);
	rc = add_locked(s->sockets, &m);
	k = rc == 0 ? sockets_find(s->sockets, st.st_ino) : NULL;
	if (k) {
		k->type = SOCK_DGRAM;
		k->cred[SOCKETS_OTHER] = *maker;
	}
	pthread_mutex_unlock(&s->sockets->lock);
	return rc;
}
