/*
 * What is remembered of sockets beside their duplicates: names, who made and connected them, socket files.
 */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/idset.h"
#include "supervisor/lockdown.h"
#include "supervisor/procunix.h"
#include "supervisor/sockdiag.h"
#include "supervisor/sockets_table.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(getsockopt));

void sockets_set_name(struct session *s, uint64_t inode, enum sockets_name which, const void *a,
		      socklen_t len)
{
	struct sock *k;

	pthread_mutex_lock(&s->sockets->lock);
	k = sockets_find(s->sockets, inode);
	if (k && len <= sizeof(k->name[which])) {
		memcpy(&k->name[which], a, len);
		k->len[which] = len;
	}
	pthread_mutex_unlock(&s->sockets->lock);
}

bool sockets_name(struct session *s, uint64_t inode, enum sockets_name which, void *a, socklen_t *len)
{
	struct sock *k;
	bool has;

	pthread_mutex_lock(&s->sockets->lock);
	k = sockets_find(s->sockets, inode);
	has = k && k->len[which] > 0;
	if (has) {
		memcpy(a, &k->name[which], k->len[which]);
		*len = k->len[which];
	}
	pthread_mutex_unlock(&s->sockets->lock);
	return has;
}

enum mark { COLLECTABLE, BOUND, HELD_BACK };

static bool *mark_of(struct sock *k, enum mark which)
{
	switch (which) {
	case COLLECTABLE:
		return &k->collectable;
	case BOUND:
		return &k->bound;
	case HELD_BACK:
		break;
	}
	return &k->held_back;
}

/* Sets a mark. Returns what it was. */
static bool set_mark(struct session *s, uint64_t inode, enum mark which, bool on)
{
	struct sock *k;
	bool was;

	pthread_mutex_lock(&s->sockets->lock);
	k = sockets_find(s->sockets, inode);
	was = k && *mark_of(k, which);
	if (k)
		*mark_of(k, which) = on;
	pthread_mutex_unlock(&s->sockets->lock);
	return was;
}

void sockets_note_collectable(struct session *s, uint64_t inode)
{
	struct sock *k;

	pthread_mutex_lock(&s->sockets->lock);
	k = sockets_find(s->sockets, inode);
	if (k && k->fd >= 0)
		k->collectable = true;
	pthread_mutex_unlock(&s->sockets->lock);
}

bool sockets_collect(struct session *s, uint64_t inode)
{
	return set_mark(s, inode, COLLECTABLE, false);
}

void sockets_note_bound(struct session *s, uint64_t inode)
{
	set_mark(s, inode, BOUND, true);
}

bool sockets_keeps_bound(struct session *s)
{
	struct sock *k, *next;
	bool keeps = false;

	pthread_mutex_lock(&s->sockets->lock);
	HASH_ITER(hh, s->sockets->table, k, next)
	keeps |= k->bound && k->fd >= 0;
	pthread_mutex_unlock(&s->sockets->lock);
	return keeps;
}

void sockets_mark_listening(struct sockets *t, struct sock *k, int fd)
{
	socklen_t len = sizeof(k->cookie), size = sizeof(int);
	int shares = 0;

	k->listens = true;
	if (getsockopt(fd, SOL_SOCKET, SO_COOKIE, &k->cookie, &len) < 0)
		k->cookie = 0;
	if (getsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &shares, &size) == 0 && shares)
		t->shares = true;
}

void sockets_note_listening(struct session *s, uint64_t inode, int fd)
{
	struct sock *k;

	pthread_mutex_lock(&s->sockets->lock);
	k = sockets_find(s->sockets, inode);
	if (k)
		sockets_mark_listening(s->sockets, k, fd);
	pthread_mutex_unlock(&s->sockets->lock);
}

bool sockets_share_port(struct session *s)
{
	bool shares;

	pthread_mutex_lock(&s->sockets->lock);
	shares = s->sockets->shares;
	pthread_mutex_unlock(&s->sockets->lock);
	return shares;
}

bool sockets_is_inet(struct session *s, uint64_t inode, uint64_t cookie)
{
	struct sock *k;
	bool is;

	pthread_mutex_lock(&s->sockets->lock);
	k = sockets_find(s->sockets, inode);
	is = k && k->kind == SOCKETS_INET && (!cookie || !k->cookie || cookie == k->cookie);
	pthread_mutex_unlock(&s->sockets->lock);
	return is;
}

bool sockets_note_held_back(struct session *s, uint64_t inode, bool on)
{
	return set_mark(s, inode, HELD_BACK, on);
}

bool sockets_listens(struct session *s, uint64_t inode)
{
	struct sock *k;
	bool listens;

	pthread_mutex_lock(&s->sockets->lock);
	k = sockets_find(s->sockets, inode);
	listens = k && k->listens;
	pthread_mutex_unlock(&s->sockets->lock);
	return listens;
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
	k = sockets_find(s->sockets, inode);
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
	k = sockets_find(s->sockets, inode);
	type = k ? k->type : 0;
	pthread_mutex_unlock(&s->sockets->lock);
	return type;
}

void sockets_set_cred(struct session *s, uint64_t inode, enum sockets_who who, const struct ucred *cred)
{
	struct sock *k;

	pthread_mutex_lock(&s->sockets->lock);
	k = sockets_find(s->sockets, inode);
	if (k)
		k->cred[who] = *cred;
	pthread_mutex_unlock(&s->sockets->lock);
}

void sockets_connected(struct session *s, uint64_t inode, uint64_t listener)
{
	struct sock *k, *l;

	pthread_mutex_lock(&s->sockets->lock);
	k = sockets_find(s->sockets, inode);
	l = sockets_find(s->sockets, listener);
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
	k = sockets_find(s->sockets, inode);
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

/*
 * The kernel keeps each name once for each type of socket, so the session's own socket that lives is the only one. What the
 * list shows as the name is not compared: it shows different ones alike. Nothing in the session can put a line of its own
 * there, as bind() refuses line breaks.
 */
uint64_t sockets_abstract_owner(struct session *s, int fd, const struct sockaddr_un *a, socklen_t len)
{
	int type = sockets_type_of(fd);
	struct sock *k, *next;
	struct procunix live;
	uint64_t own = 0;

	procunix_read(&live);
	pthread_mutex_lock(&s->sockets->lock);
	HASH_ITER(hh, s->sockets->table, k, next)
	{
		if (k->type == type && k->len[SOCKETS_LOCAL] == len &&
		    memcmp(&k->name[SOCKETS_LOCAL], a, len) == 0 && procunix_has(&live, k->inode))
			own = k->inode;
	}
	pthread_mutex_unlock(&s->sockets->lock);
	procunix_free(&live);
	return own;
}
