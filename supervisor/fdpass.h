/*
 * A descriptor handed from process to process, with a message, on a SOCK_SEQPACKET socket.
 */
#ifndef CORDON_FDPASS_H
#define CORDON_FDPASS_H

#include <stddef.h>
#include <sys/types.h>

/* fd: -1 sends none. 0 or -errno. */
int fdpass_send(int sock, const void *data, size_t len, int fd);

/* Waits. The bytes received (0: the other end is closed) or -errno. *fd: the caller's to close, or -1. */
ssize_t fdpass_receive(int sock, void *data, size_t len, int *fd);

#endif
