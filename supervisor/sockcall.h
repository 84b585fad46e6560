/*
 * The calls that make sockets and give them an address: what the kinds of sockets share, and what each does in its own way.
 * sysc/socket.c has the rows and finds out the kind. Called by the worker that has the call.
 */
#ifndef CORDON_SOCKCALL_H
#define CORDON_SOCKCALL_H

#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "supervisor/call.h"
#include "supervisor/sockets.h"

/* A call on a socket that the supervisor made. */
struct sockcall {
	struct call *c;
	uint64_t inode;
	int fd; /* our duplicate, closed after the call; -EISCONN: it was given up, connected or listening */
	/* connect and bind: the address as the caller wrote it, of 0 to sizeof(addr) bytes. What is behind them is 0. */
	union {
		struct sockaddr sa;
		struct sockaddr_un un;
		struct sockaddr_storage any;
	} addr;
	socklen_t len;
};

/* Each answers the call. */
struct sockkind {
	void (*make)(struct call *c); /* socket(): most often sockcall_make() */
	void (*connect)(struct sockcall *sc);
	void (*bind)(struct sockcall *sc);
	void (*listen)(struct sockcall *sc);
};

extern const struct sockkind sockkind_unix, sockkind_inet, sockkind_netlink, sockkind_datagram;

/* Why the descriptor that the call names is no socket: -EBADF, -ENOTSOCK, or that it could not be looked at. */
int sockcall_no_socket(struct call *c);

/* Makes a socket with the arguments of the call, keeps a duplicate and answers with the socket. */
void sockcall_make(struct call *c, enum sockets_kind kind);

/* Of the type argument; the rest are flags. */
#define SOCKCALL_TYPE_MASK 0xf

/* What refuses kinds and uses of sockets, in records. */
#define SOCKCALL_RULE "sockets (built-in)"

/* Answers with such a refusal. message: for people, or NULL. */
void sockcall_refuse(struct call *c, const char *op, int err, const char *message);

/* The same for an Internet socket of what is neither TCP nor UDP. */
void sockcall_refuse_protocol(struct call *c, int err);

/* Closes our duplicates, that of sc too: before an answer after which a close by the program has to be the last one. */
void sockcall_release(struct sockcall *sc);

#endif
