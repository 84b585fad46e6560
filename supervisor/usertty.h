/*
 * The terminal that cordon was started on. The supervisor is in a session of its own, because in the user's one it would
 * be what keeps the user's process group from being orphaned, and what the command then does could make the kernel send
 * SIGHUP to others in that group. So /dev/tty means nothing to it, and the front, which is in the user's session, opens
 * it.
 */
#ifndef CORDON_USERTTY_H
#define CORDON_USERTTY_H

#include "supervisor/session.h"

/* Makes s->usertty and returns the front's end of it, or -errno. Before the supervisor is started. */
int usertty_init(struct session *s);

/* Any worker: /dev/tty as a process of the user's session opens it. Waits for the front, which may be stopped; -EINTR when
 * interrupted. A descriptor or -errno. */
int usertty_open(const struct session *s, int flags);

/* The front: answers one request. Never waits. */
void usertty_serve(int sock);

#endif
