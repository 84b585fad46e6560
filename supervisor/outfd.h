/*
 * Descriptors that are written to while others hold them too (stderr, an inherited pipe), without blocking
 * and without setting O_NONBLOCK for the others: that flag belongs to the open file description, which the
 * workload shares.
 *
 * A pipe or a terminal is opened again through /proc/self/fd, which gives a description of our own that may be
 * non-blocking; sockets have MSG_DONTWAIT; regular files do not block. Where opening again is refused, poll()
 * and writes of at most PIPE_BUF bytes come close: a race with another writer can block the calling thread
 * until the reader reads, so only threads whose blocking harms nobody may write.
 */
#ifndef CORDON_OUTFD_H
#define CORDON_OUTFD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct outfd {
	int fd;
	bool socket;
	bool poll_first; /* shared description that may block */
	bool regular;
};

/* For a descriptor that the caller opened with O_NONBLOCK and gives away. 0 or -errno. */
int outfd_adopt(struct outfd *o, int fd);
/* For a descriptor that stays the caller's. 0 or -errno (-EBADF also when it is not open for writing). */
int outfd_borrow(struct outfd *o, int fd);
void outfd_close(struct outfd *o);

/* Bytes written, or -errno; -EAGAIN when it would block. A short count is possible. */
ssize_t outfd_write(const struct outfd *o, const char *buf, size_t len);
/* Waits until it is writable (or broken), at most so long. NULL: so long. */
void outfd_wait(const struct outfd *o, int ms);

/* A thread with a small stack and all signals blocked, so that SIGPIPE and SIGXFSZ become errors of the write
 * and other signals reach the threads that wait for them. 0 or -errno. */
int outfd_thread_start(pthread_t *t, void *(*run)(void *), void *arg);

#endif
