/*
 * The workers. Each receives a notification, decides, acts and answers by itself: handing work to another thread
 * would cost more than the work. One worker at a time waits in the kernel (several would all be woken by each
 * notification); another is sent there when a second notification is already waiting, when the receiver is about
 * to do something that may block, or when the watcher finds that nobody has received for a while.
 *
 * A blocking operation (a FIFO, a device, a dead file system) is bracketed by crew_block_begin() and _end(). The
 * watcher interrupts it when its caller dies, and when its caller has a signal to handle, in which case the
 * operation fails with EINTR and crew_block_end() says so. A signal to the process may be meant for another of its threads:
 * it counts when nobody took it for a while; and that other threads are stopped is a signal to stop.
 */
#ifndef CORDON_CREW_H
#define CORDON_CREW_H

#include <stdbool.h>

#include "supervisor/call.h"

struct crew;

/* Starts the first workers; they wait. NULL when a thread cannot be made. */
struct crew *crew_start(struct session *s);
/* Sends one to receive, once s->listener is there. */
void crew_receive(struct crew *crew);

/* To be called by the main loop every CREW_TICK_MS while crew_is_busy(). */
#define CREW_TICK_MS 10
bool crew_is_busy(struct crew *crew);
void crew_tick(struct crew *crew);
/* A descriptor that becomes readable when the crew, idle before, got work. */
int crew_wake_fd(struct crew *crew);

/* Sends another to receive, because this worker will wait. False when none could take over (EAGAIN). */
bool crew_step_aside(struct call *c);

/* The same, and watched from now on: false when the operation must not be started (EAGAIN). */
bool crew_block_begin(struct call *c);
/* Watched as well, but what waits rarely (for a lease, a server): another is sent to receive only when it does. */
void crew_linger_begin(struct call *c);
enum crew_wake {
	CREW_DONE,   /* nothing interrupted it */
	CREW_SIGNAL, /* the caller has a signal to handle: answer with pending_restart() */
	CREW_GONE,   /* the caller died */
};
enum crew_wake crew_block_end(struct call *c);

/*
 * Within such an operation: rc = fn(arg) for one system call that the kernel would begin again after each signal. False
 * when it was given up; whether it was done just before that, the caller has to find out.
 */
bool crew_abandonable(int (*fn)(void *arg), void *arg, int *rc);

/*
 * A call that its worker put aside (call_put_aside()) is taken up again: a worker calls job with a copy of it, with the caller's
 * identity as in a handler. When that cannot be taken the call is answered already. False: no worker is free.
 */
typedef void crew_job(struct call *c, void *arg);
bool crew_take_up(const struct call *c, crew_job *job, void *arg);

#endif
