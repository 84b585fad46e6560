/*
 * Stand-ins for the datagram sockets of the internet. No socket inside may name its destination, so a program that asks for
 * one gets one end of a seqpacket pair, whose other end is the gateway's: it carries questions to DNS and nothing else.
 * What the program asks of its socket besides (addresses, options) is answered from what is noted here.
 *
 * Resolvers look at whom an answer came from. That is for recvfrom, recvmsg and recvmmsg to tell, of which the latter two are
 * too frequent to be asked about for every descriptor. So stand-ins get numbers in a window, for which alone the filter asks
 * (supervisor/sysc/recv.c). Outside of it, a stand-in loses the address of the sender with these two. The first that gets a
 * number outside, as the window is full or the limit on descriptors below it, is told on stderr.
 *
 * Each is one of the session's sockets (sockets.h), of which the program's end is kept. Thread-safe.
 */
#ifndef CORDON_STANDIN_H
#define CORDON_STANDIN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "policy/inet.h"
#include "supervisor/call.h"

/* 64 numbers that end where a limit of 1,024 descriptors, and select(), do. */
#define STANDIN_WINDOW	    960
#define STANDIN_WINDOW_MASK 63U
/* In a row: argument a is such a number. */
#define STANDIN_IN_WINDOW(a) ARG_BITS(a, ~STANDIN_WINDOW_MASK, STANDIN_WINDOW)

/* What refuses all else, in records. */
#define STANDIN_RULE "datagrams carry questions to DNS only (built-in)"

/* How many may live at a time. */
#define STANDINS_MAX 1024

#define STANDIN_OPTIONS_MAX 32

/* Of a datagram to another than a name server, for people. Returns buf. */
char *standin_say_refused(const struct inet_addr *to, char *buf, size_t size);

/* An address; its len is 0 when there is none. */
struct standin_addr {
	struct sockaddr_storage a;
	socklen_t len;
};

/* What its program was told of it. */
struct standin {
	int family;
	struct standin_addr bound; /* as bind() was asked for it */
	struct standin_addr local, peer;
	int option[STANDIN_OPTIONS_MAX]; /* by their row in datagram.c */
	uint32_t options_set;		 /* a bit for each that was set */
};

/* Takes over fd, made for the thread maker: sockets_add() for a stand-in. 0 or -errno: ENFILE when there are too many. */
int standin_add(struct session *s, int fd, int family, pid_t maker);

/* False: no stand-in. */
bool standin_look(struct session *s, uint64_t inode, struct standin *st);
/* Of two threads of a program that change it at once, one wins. */
void standin_change(struct session *s, uint64_t inode, const struct standin *st);
/* Answers socket() with fd, in the window where that can be; closes fd. */
void standin_give(struct call *c, int fd, bool cloexec);

/* The address of a socket that has none: 0.0.0.0 or ::. */
void standin_no_address(int family, struct standin_addr *a);

#endif
