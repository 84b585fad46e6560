/*
 * The kernel's word on Unix sockets of which the supervisor has no duplicate. Which two are connected (NETLINK_SOCK_DIAG): needed
 * for sockets that accept() gave. Which abstract names are taken, by strangers too. Thread-safe.
 */
#ifndef CORDON_SOCKDIAG_H
#define CORDON_SOCKDIAG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

struct sockdiag;

/* Before the supervisor locks itself down. NULL when memory is short; without CONFIG_UNIX_DIAG it knows nothing. */
struct sockdiag *sockdiag_new(void);

/* The inode of the socket that the one with this inode is connected to; 0: none, or not known. */
uint64_t sockdiag_other_end(struct sockdiag *d, uint64_t inode);

/* Whether anybody has the abstract name, or one that is shown like it. */
bool sockdiag_has_abstract(const struct sockaddr_un *a, socklen_t len);

#endif
