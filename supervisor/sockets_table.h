/*
 * Inside of sockets.h: the table and what its parts share.
 */
#ifndef CORDON_SOCKETS_TABLE_H
#define CORDON_SOCKETS_TABLE_H

#include <pthread.h>
#include <stddef.h>

#include "supervisor/session.h"
#include "supervisor/sockets.h"

#include "supervisor/hash.h"

/*
 * A sweep looks at all processes of the machine. Duplicates are worth one early; of a socket without one only the record is
 * left when its program closes it, and a program that connects again and again leaves one each time.
 */
#define SOCKETS_FIRST_SWEEP	 4096
#define SOCKETS_FIRST_SWEEP_KEPT 64
#define SOCKETS_MAX		 65536

struct sock {
	uint64_t inode;
	int fd; /* the kept duplicate, or -1 */
	enum sockets_kind kind;
	int family, type;
	bool lost;
	bool collectable; /* connected, and connect() did not say so yet */
	bool bound, listens, held_back;
	uint64_t cookie;			/* of TCP that listens, SO_COOKIE; 0: not known */
	pid_t maker;				/* the thread, which most often is its process's first */
	bool held;				/* seen in a process, or not to be swept this time */
	bool listed;				/* the kernel lists it as listening */
	bool doubtful;				/* not seen, but it may be alive */
	bool hidden;				/* made by a process that this sweep could not look at */
	unsigned char misses;			/* how often it was not seen and not doubtful */
	bool delivered;				/* its program has it: before that nobody could hold it */
	struct sockaddr_un name[SOCKETS_NAMES]; /* or an Internet address */
	socklen_t len[SOCKETS_NAMES];
	struct ucred cred[SOCKETS_WHO]; /* pid 0: not known */
	uint64_t file_dev, file_ino;	/* where it was bound; 0: nowhere */
	struct standin *standin;	/* of SOCKETS_STANDIN; owned */
	UT_hash_handle hh;
};

struct sockets {
	pthread_mutex_t lock, sweeping;
	struct sock *table;
	size_t count, kept; /* kept: of the count, those with a duplicate */
	size_t sweep_at, sweep_at_kept;
	size_t standins; /* of the count */
	bool shares;	 /* a listener has SO_REUSEPORT */
	struct idset *files;
	struct sockdiag *diag;
};

/* Both under t->lock. */
struct sock *sockets_find(struct sockets *t, uint64_t inode);
void sockets_drop(struct sockets *t, struct sock *k);

/* SOCK_STREAM, ... */
int sockets_type_of(int fd);

/* Under t->lock. fd: it, or a duplicate. */
void sockets_mark_listening(struct sockets *t, struct sock *k, int fd);

/* How many stand-ins there may be: each is also a descriptor of the gateway's. */
size_t sockets_room_for_standins(void);

/* How many duplicates there may be. The rest of the supervisor needs descriptors too. */
size_t sockets_room(void);
/* Under t->lock: there are that many. The limit is looked up only when it may matter. */
bool sockets_is_full(const struct sockets *t);

/* Before one more is made: drops those that nobody has, where there are many. Not under the lock. */
void sockets_sweep_when_due(struct session *s);

#endif
