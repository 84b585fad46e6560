/*
 * The seccomp listener: the only place with SECCOMP_IOCTL_*. All return 0 (or a value) or -errno.
 * Thread-safe: they hold no state but the descriptor.
 */
#ifndef CORDON_NOTIFY_H
#define CORDON_NOTIFY_H

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>

/* Asks the kernel to wake the supervisor on the caller's CPU (Linux 6.6). False: too old, works without. */
bool notify_sync_wake_up(int listener);

/* Waits for a notification. -ENOENT: the caller died meanwhile; -EINTR: a signal. */
int notify_receive(int listener, struct seccomp_notif *n);

/* True when another notification waits (does not block). */
bool notify_pending(int listener);

/* True when no task is left that could make one. */
bool notify_is_over(int listener);

/* True while the caller still waits for the answer. */
bool notify_valid(int listener, uint64_t id);

/* Answers: err > 0 makes the call fail with it, else it returns val. -ENOENT: the caller is gone. */
int notify_answer(int listener, uint64_t id, int64_t val, int err);
int notify_continue(int listener, uint64_t id);

/* Gives a duplicate of fd to the caller and answers with its number, in one step. The kernel's errors are those
 * that the caller would have got (EMFILE); nothing is answered then. */
int notify_answer_fd(int listener, uint64_t id, int fd, bool cloexec);

/* The same at this number, whatever the caller had there. -EBADF: its limit is lower; nothing is answered then. */
int notify_answer_fd_at(int listener, uint64_t id, int fd, int number, bool cloexec);

/* Whether the kernel knows the flag behind it (Linux 5.14). For a listener that nobody waits on yet. */
bool notify_can_send_fd(int listener);

/* Gives a duplicate of fd without answering. Its number in the caller, or -errno. */
int notify_add_fd(int listener, uint64_t id, int fd, bool cloexec);

#endif
