/*
 * Holding a caller by ptrace while its call is answered: to see what an exec really started, to make the kernel look
 * for signals, to run one more system call in it.
 *
 * Only the thread that attached may act on a tracee, so the worker that has the call does all of this. But a wait for
 * any child, by any thread, takes the stops of tracees that are direct children as well. So one thread waits: the main
 * loop calls tracer_reap() and hands each stop to the worker whose caller it is. It never blocks, and the dead are
 * reaped at once; an exec of several threads waits in the kernel for that.
 *
 * A caller is held in this order, by one worker:
 *
 *     tracer_hold()      attached; it will stop before it runs another instruction of its own
 *     call_continue() or another answer
 *     tracer_wait()      it stopped: at the end of its call, or as a new program
 *     tracer_inject()    any number of times; only after TRACER_STOPPED
 *     tracer_release() or tracer_kill(), always
 *
 * Before tracer_hold() the worker must have stepped aside (crew_step_aside()), since it may wait long.
 *
 * A stop for job control survives all of it. Signals are not lost.
 */
#ifndef CORDON_TRACER_H
#define CORDON_TRACER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "supervisor/call.h"

struct tracer;

/* NULL: out of memory. */
struct tracer *tracer_new(void);

/*
 * Main thread only: as waitpid(-1, status, WNOHANG | WUNTRACED) for what is nobody's tracee; stops of callers that are
 * held go to their workers. t may be NULL: nobody is held.
 */
pid_t tracer_reap(struct tracer *t, int *status);

/* One held caller; lives on its worker's stack. */
struct tracer_hold {
	struct session *s;
	pid_t tid;	   /* as it called */
	pid_t pid;	   /* its number now: a thread that runs exec takes that of its process */
	pid_t tgid;	   /* of its process */
	bool attached;	   /* this thread may act on it */
	bool stopped;	   /* it stands still until it is released */
	uint64_t withheld; /* signals that came in between, to be given back: bit N - 1 is signal N */
	int deliver;	   /* the signal at whose delivery it stands, or 0 */
	/* Under the tracer's lock: news from the main loop. */
	struct tracer_hold *next;
	pthread_cond_t news;
	int status;
	bool has_status, over;
};

/*
 * Attaches. fatal: should the supervisor die, so does the caller. 0, or -errno: EPERM when somebody else traces it, or
 * the kernel lets nobody in; ESRCH when it is gone; EAGAIN when no worker can take over. While another thread of the
 * process runs exec it waits, and that may be for a program of the session: EINTR when the caller has a signal to handle
 * meanwhile. On failure there is nothing to release. Not with a lock held.
 */
int tracer_hold(struct call *c, struct tracer_hold *h, bool fatal);

enum tracer_stop {
	TRACER_GONE,	/* it died, or became another thread's past */
	TRACER_STOPPED, /* its call is over, or is about to be restarted; it is not yet back in its code */
	TRACER_EXEC,	/* it is a new program, of which nothing ran; h->pid is its number */
};
enum tracer_stop tracer_wait(struct tracer_hold *h);
/* Afterwards: whether it still does; only death changes that. */
bool tracer_stands(const struct tracer_hold *h);

/*
 * Runs a system call in the caller, which must stand as TRACER_STOPPED, and puts all back as it was. The call passes the
 * filter like any other of the session. 0 with *result as the kernel gave it; -EAGAIN when the caller's own call will be
 * restarted, so that this is no time for it; -EPERM when a filter of the caller's own answers with a signal; -ENOSYS on an architecture that this was not written for; -ESRCH when
 * the caller is gone. A caller that cannot be brought back to where it was is killed (-ESRCH).
 */
int tracer_inject(struct tracer_hold *h, long nr, const uint64_t arg[6], long *result);

/* Lets it go on. */
void tracer_release(struct tracer_hold *h);
/* Ends it without running another of its instructions, and waits for its end: then its memory is gone. */
void tracer_kill(struct tracer_hold *h);

#endif
