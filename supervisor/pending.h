/*
 * Signals that a caller should see although its call waits for an answer: in that wait only death wakes it. And the way
 * to let it see them.
 */
#ifndef CORDON_PENDING_H
#define CORDON_PENDING_H

#include <stdbool.h>

#include "supervisor/call.h"

/* How often it was looked, for one call. */
struct pending_polls {
	unsigned all, shared;
};

/*
 * Should the call be interrupted for a signal? One sent to the thread counts at once. One sent to the process may be
 * another thread's: it counts when it is still there at the second look. When other threads of the process are stopped,
 * this one has to stop with them; they are looked at now and then.
 */
bool pending_wakes(struct session *s, pid_t tid, struct pending_polls *polls);

/*
 * Makes the kernel look for signals, and restart or interrupt the call as it would have done by itself; answers the
 * call. The worker must have stepped aside.
 */
void pending_restart(struct call *c);

#endif
