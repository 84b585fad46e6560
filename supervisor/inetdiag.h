/*
 * The kernel's word on TCP sockets of which the supervisor has no duplicate, and on addresses of this machine: who would answer
 * a connect (NETLINK_SOCK_DIAG, else /proc/net/tcp and tcp6), and whether an address is local (NETLINK_ROUTE). Addresses are of
 * 16 bytes, IPv4 as v4-mapped; ports in host byte order. Thread-safe.
 */
#ifndef CORDON_INETDIAG_H
#define CORDON_INETDIAG_H

#include <stdbool.h>
#include <stdint.h>

struct inetdiag;

struct inet_end {
	uint8_t addr[16];
	uint16_t port;
};

/* Before the supervisor locks itself down. NULL when memory is short. */
struct inetdiag *inetdiag_new(void);
void inetdiag_free(struct inetdiag *d);

/* Whether the kernel answers by NETLINK_SOCK_DIAG. */
bool inetdiag_knows_tcp(struct inetdiag *d);

/* Whether packets to the address stay on this machine, also when their socket is tied to the device (0: to none). Where the kernel
 * cannot be asked: those to loopback, without a device. */
bool inetdiag_is_local(struct inetdiag *d, const uint8_t addr[16], int device);

/* The loopback device. */
int inetdiag_loopback(const struct inetdiag *d);

/* Numbers of inodes come again some day, cookies do not. cookie 0: not known. */
struct inet_socket {
	uint64_t inode, cookie;
};

/* Whether a socket is one of the session's. */
struct inet_own {
	bool (*is)(const struct inet_socket *socket, void *arg);
	void *arg;
};

enum inet_answer {
	INET_NOBODY,
	INET_SOCKET,
	INET_UNKNOWN, /* another, or the kernel does not tell */
};

/* Whether an own socket listens to a connect to this end from this machine. */
enum inet_answer inetdiag_listener(struct inetdiag *d, const struct inet_end *to, const struct inet_own *own);

/* The other end of a connection within this machine: the socket at `here` that is connected to `there`. *inode: its number; 0 when
 * no process has it. */
enum inet_answer inetdiag_connected(struct inetdiag *d, const struct inet_end *here,
				    const struct inet_end *there, uint64_t *inode);

#endif
