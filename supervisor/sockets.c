#include "supervisor/sockets.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/idset.h"
#include "supervisor/lockdown.h"
#include "supervisor/member.h"
#include "supervisor/session.h"
#include "supervisor/sockdiag.h"
#include "supervisor/hash.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(openat), OWN(close), OWN(read), OWN(fstat), OWN_READDIR, OWN(readlinkat),
	  OWN(getsockopt), OWN_IF(fcntl, ARG_IS(1, F_DUPFD_CLOEXEC)));

#define FIRST_SWEEP 64
#define MAX_SOCKETS 65536

struct sock {
	uint64_t inode;
	int fd; /* the kept duplicate, or -1 */
	int type;
	bool lost;
	bool held;	/* seen in a process, or not to be swept this time */
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
	size_t count, sweep_at;
	bool unsure; /* a sweep could not look at some process */
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

static void drop(struct sockets *t, struct sock *k)
{
	HASH_DEL(t->table, k);
	t->count--;
	if (k->fd >= 0)
		close(k->fd);
	free(k);
}

static int type_of(int fd)
{
	socklen_t len = sizeof(int);
	int type = 0;

	getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len);
	return type;
}

static int add_locked(struct sockets *t, uint64_t inode, int fd)
{
	struct sock *k = find(t, inode);

	if (k) /* a number used again */
		drop(t, k);
	if (t->count >= MAX_SOCKETS)
		return -ENFILE;
	k = calloc(1, sizeof(*k));
	if (!k)
		return -ENOMEM;
	k->inode = inode;
	k->held = true;
	k->fd = fd;
	k->type = type_of(fd);
	HASH_ADD(hh, t->table, inode, sizeof(k->inode), k);
	if (k->lost) {
		free(k);
		return -ENOMEM;
	}
	t->count++;
	return 0;
}

int sockets_add(struct session *s, int fd)
{
	struct sockets *t = s->sockets;
	struct stat st;
	bool sweep;
	int rc;

	if (fstat(fd, &st) < 0)
		return -errno;
	pthread_mutex_lock(&t->lock);
	sweep = t->count >= t->sweep_at;
	pthread_mutex_unlock(&t->lock);
	if (sweep)
		sockets_sweep(s);
	pthread_mutex_lock(&t->lock);
	rc = add_locked(t, st.st_ino, fd);
	if (sweep)
		t->sweep_at = t->count * 2 > FIRST_SWEEP ? t->count * 2 : FIRST_SWEEP;
	pthread_mutex_unlock(&t->lock);
	return rc;
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
	if (k && k->fd >= 0) {
		close(k->fd);
		k->fd = -1;
	}
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

int sockets_add_pair(struct session *s, int fd, const struct ucred *maker)
{
	struct stat st;
	struct sock *k;
	int rc;

	if (fstat(fd, &st) < 0)
		return -errno;
	pthread_mutex_lock(&s->sockets->lock);
	rc = add_locked(s->sockets, st.st_ino, -1);
	k = rc == 0 ? find(s->sockets, st.st_ino) : NULL;
	if (k) {
		k->type = SOCK_DGRAM;
		k->cred[SOCKETS_OTHER] = *maker;
	}
	pthread_mutex_unlock(&s->sockets->lock);
	return rc;
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

bool sockets_abstract_is_there(const struct sockaddr_un *a, socklen_t len)
{
	FILE *f = fopen("/proc/net/unix", "re");
	char shown[sizeof(a->sun_path) + 1], path[sizeof(shown)];
	size_t n = len - offsetof(struct sockaddr_un, sun_path), size = 0;
	char *line = NULL;
	bool there = !f;

	for (size_t i = 0; i < n; i++)
		shown[i] = a->sun_path[i] ? a->sun_path[i] : '@';
	shown[n] = '\0';
	while (f && !there && getline(&line, &size, f) > 0)
		there = sscanf(line, "%*s %*s %*s %*s %*s %*s %*u %108[^\n]", path) == 1 &&
			strcmp(path, shown) == 0;
	free(line);
	if (f)
		fclose(f);
	return there;
}

bool sockets_is_own_listener(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && peer.pid == getpid();
}

/* Marks the sockets that the process holds. */
static bool mark_held(pid_t pid, void *arg)
{
	struct session *s = arg;
	char name[32], link[64];
	struct dirent *e;
	DIR *d;
	int fd;

	snprintf(name, sizeof(name), "%d/fd", pid);
	fd = openat(s->proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d = fd >= 0 ? fdopendir(fd) : NULL;
	while (d && (e = readdir(d))) {
		ssize_t n = readlinkat(dirfd(d), e->d_name, link, sizeof(link) - 1);
		struct sock *k;

		if (n < 9 || strncmp(link, "socket:[", 8) != 0)
			continue;
		link[n] = '\0';
		pthread_mutex_lock(&s->sockets->lock);
		k = find(s->sockets, strtoull(link + 8, NULL, 10));
		if (k)
			k->held = true;
		pthread_mutex_unlock(&s->sockets->lock);
	}
	if (d) {
		closedir(d);
		return true;
	}
	/* It ended, which is no matter, or may not be looked at: then it may hold any of them. */
	s->sockets->unsure |= fd >= 0 || (errno != ENOENT && errno != ESRCH);
	if (fd >= 0)
		close(fd);
	return true;
}

void sockets_sweep(struct session *s)
{
	struct sockets *t = s->sockets;
	struct sock *k, *next;

	/* One at a time: two would take each other's marks away. */
	pthread_mutex_lock(&t->sweeping);
	pthread_mutex_lock(&t->lock);
	t->unsure = false;
	HASH_ITER(hh, t->table, k, next)
	k->held = !k->delivered;
	pthread_mutex_unlock(&t->lock);
	member_each(s, mark_held, s);
	pthread_mutex_lock(&t->lock);
	HASH_ITER(hh, t->table, k, next)
	if (!k->held && !t->unsure)
		drop(t, k);
	pthread_mutex_unlock(&t->lock);
	pthread_mutex_unlock(&t->sweeping);
}
