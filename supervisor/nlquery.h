/*
 * A question to the kernel over a netlink socket. Callers share such a socket under a lock of theirs.
 */
#ifndef CORDON_NLQUERY_H
#define CORDON_NLQUERY_H

#include <linux/netlink.h>
#include <stddef.h>
#include <sys/types.h>

/* Sends the question, which gets a number, and reads its answer; what is left of an earlier one is dropped. The kernel has answered
 * when the question is sent. The length of the first message; -1: no answer. */
ssize_t nlquery(int fd, struct nlmsghdr *question, void *answer, size_t size);

#endif
