/*
 * The sockets that the supervisor made for the session, known by their inode.
 *
 * A program's socket cannot be taken from it in a container (pidfd_getfd is refused there), so the supervisor makes each
 * one itself, gives a duplicate to the program and keeps one until the socket is connected or listens; connect, bind and
 * listen act on the kept one. A kept duplicate would keep a socket alive that its program closed: sockets_sweep() drops
 * those that no process of the session holds any more.
 *
 * Thread-safe.
 */
#ifndef CORDON_SOCKETS_H
#define CORDON_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

struct session;
struct sockets;
struct statx;

struct sockets *sockets_new(void);

/* What a socket is to its program: which calls on it do what is for sysc/socket.c. */
enum sockets_kind {
	SOCKETS_NONE, /* not one of ours */
	SOCKETS_UNIX,
	SOCKETS_INET,	 /* TCP */
	SOCKETS_NETLINK, /* of routes and interfaces */
	SOCKETS_STANDIN, /* stands for an Internet datagram socket */
	SOCKETS_KINDS
};

/* One that was made. */
struct sockets_made {
	enum sockets_kind kind;
	int family; /* AF_INET, ... */
	int fd;	    /* to keep */
	uint64_t inode;
	pid_t maker; /* the thread that it is for */
};

/* Takes over m->fd, when it succeeds. 0 or -errno: ENFILE when there are too many. */
int sockets_add(struct session *s, const struct sockets_made *m);

enum sockets_kind sockets_kind(struct session *s, uint64_t inode);

/* The thread that it was made for; 0: not one of ours. */
pid_t sockets_maker(struct session *s, uint64_t inode);

/* A duplicate (CLOEXEC) of the kept socket; the caller closes it. -ENOENT: not one of ours. -EISCONN: it was given up,
 * connected or listening. */
int sockets_get(struct session *s, uint64_t inode);

/* AF_INET, ...; 0: not known. */
int sockets_family(struct session *s, uint64_t inode);

/* A socket that was connected while its program went on (EINPROGRESS): the next connect() says so once. Before the duplicate is
 * given up; afterwards a connect() has said so already. */
void sockets_note_collectable(struct session *s, uint64_t inode);
bool sockets_collect(struct session *s, uint64_t inode);

/* It is bound. Whether there are such of which a duplicate is kept. */
void sockets_note_bound(struct session *s, uint64_t inode);
bool sockets_keeps_bound(struct session *s);

/* It listens, so that a second listen() is none. fd: a duplicate. */
void sockets_note_listening(struct session *s, uint64_t inode, int fd);
/* Some that listens shares its port (SO_REUSEPORT), so others of the user may have joined it. */
bool sockets_share_port(struct session *s);
bool sockets_listens(struct session *s, uint64_t inode);

/* Whether it is TCP of the session. cookie: the kernel's, by which it is known while it listens even if the number were used
 * again. 0: not known. */
bool sockets_is_inet(struct session *s, uint64_t inode, uint64_t cookie);

/* Its connect is held back (heldback.h). Set and taken away; returns what it was. */
bool sockets_note_held_back(struct session *s, uint64_t inode, bool on);

/* Those that the command is started with (--keep-fd): who listens counts as the session's own. They are borrowed. */
void sockets_add_kept(struct session *s, const int *fds, size_t n);

/* Its program has it now: from here on it may be swept. */
void sockets_delivered(struct session *s, uint64_t inode);

/* Gives all up, at the end of a session, but what a worker is about to deliver. */
void sockets_drop_all(struct session *s);

/* Closes the kept duplicate; the socket stays known while a process has it. */
void sockets_release(struct session *s, uint64_t inode);

/*
 * The address that the program bound, and the one that its peer bound or it connected to, as they wrote them: what the
 * kernel has is the supervisor's own way there. Of any family; a has room for a sockaddr_un. False when there is none to
 * give. With len 0 it is forgotten.
 */
enum sockets_name { SOCKETS_LOCAL, SOCKETS_PEER, SOCKETS_NAMES };
void sockets_set_name(struct session *s, uint64_t inode, enum sockets_name which, const void *a,
		      socklen_t len);
bool sockets_name(struct session *s, uint64_t inode, enum sockets_name which, void *a, socklen_t *len);

/* A datagram pair, which is of another type inside: one of its two, for sockets_type(). 0: not known. */
int sockets_add_pair(struct session *s, int fd, const struct ucred *maker);
int sockets_type(struct session *s, uint64_t inode);

/*
 * Who connected or listened (SOCKETS_SELF), and whom a socket is connected to: the kernel has the supervisor for both.
 * False when that is not known. sockets_connected() also notes the listener's name.
 */
enum sockets_who { SOCKETS_SELF, SOCKETS_OTHER, SOCKETS_WHO };
void sockets_set_cred(struct session *s, uint64_t inode, enum sockets_who who, const struct ucred *cred);
void sockets_connected(struct session *s, uint64_t inode, uint64_t listener);
bool sockets_cred(struct session *s, uint64_t inode, enum sockets_who who, struct ucred *cred);

/* The socket at the other end of one that accept() gave, whose number programs never see otherwise. 0: not known, or the
 * kernel does not tell (CONFIG_UNIX_DIAG). */
uint64_t sockets_other_end(struct session *s, uint64_t inode);

/* Socket files that this session bound. sockets_file_owner(): the socket that was bound there, 0 when that is gone. */
void sockets_note_file(struct session *s, uint64_t inode, const struct statx *st);
bool sockets_is_own_file(struct session *s, const struct statx *st);
uint64_t sockets_file_owner(struct session *s, const struct statx *st);

/* The socket of this session to which the abstract name (first byte of sun_path NUL) belongs now, of the type of fd. 0:
 * none. */
uint64_t sockets_abstract_owner(struct session *s, int fd, const struct sockaddr_un *a, socklen_t len);

/*
 * Drops the duplicates of sockets that no member holds. What a member holds that nobody may look at is not known: then those
 * that were seen with nobody stay, up to half of what there may be.
 */
void sockets_sweep(struct session *s);

#endif
