/*
 * Keeping strangers' answers from a connect in flight. The session's own listeners send with the greatest "time to live"; a
 * socket that is held back takes nothing that began with less. Ordinary systems begin with 64 or 128, and resets do always, so
 * that of one who is gone the kernel says nothing. To be called by the supervisor on its duplicates. Thread-safe.
 */
#ifndef CORDON_HELDBACK_H
#define CORDON_HELDBACK_H

#include <stdbool.h>

/* A socket that is to listen: marks its packets, and those of what it accepts. 0 or -errno. */
int heldback_mark(int fd, int family);

/* From now on only marked packets are let in, until heldback_end(). False: it cannot be, and all are. Programs cannot undo it
 * (sysc/sockname.c). */
bool heldback_begin(int fd, int family);
void heldback_end(int fd, int family);

#endif
