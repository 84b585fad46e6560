/*
 * The kernel's word on which two Unix sockets are connected (NETLINK_SOCK_DIAG). Needed for sockets that accept() gave, of
 * which the supervisor has no duplicate. Thread-safe.
 */
#ifndef CORDON_SOCKDIAG_H
#define CORDON_SOCKDIAG_H

#include <stdint.h>

struct sockdiag;

/* Before the supervisor locks itself down. NULL when memory is short; without CONFIG_UNIX_DIAG it knows nothing. */
struct sockdiag *sockdiag_new(void);

/* The inode of the socket that the one with this inode is connected to; 0: none, or not known. */
uint64_t sockdiag_other_end(struct sockdiag *d, uint64_t inode);

#endif
