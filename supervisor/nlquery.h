/*
 * A question to the kernel over a netlink socket. Callers share such a socket under a lock of theirs.
 */
#ifndef CORDON_NLQUERY_H
#define CORDON_NLQUERY_H

#include <stddef.h>
#include <sys/types.h>

/* Sends the question and reads one message into answer; what is left of an earlier one is dropped. The kernel has answered when
 * the question is sent. Its length; -1: no answer. */
ssize_t nlquery(int fd, const void *question, size_t len, void *answer, size_t size);

#endif
