/*
 * Processes that run exec while it is not known yet whether what they start may be read. Between the kernel's loading of
 * a program and the end of its verification (or of its process, when it is one that may not run) its memory shows a
 * file that nobody judged; the process stands still, but others could look into it.
 *
 * The worker that lets an exec go on brackets it with execs_begin() and execs_end(). Who gets at another's memory for a
 * caller does it in this order:
 *
 *     execs_await()      none of that process is under way; gives a mark
 *     open, or read into memory of the supervisor
 *     execs_none_since() else what was got is thrown away, and it begins again
 *
 * Processes are known by their number, since it is by that one, and by no thread's, that a new program can be reached: the
 * thread that runs exec takes it before it gets new memory. They share counters, so one may be waited for in vain.
 *
 * Callable from any worker.
 */
#ifndef CORDON_EXECS_H
#define CORDON_EXECS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "supervisor/call.h"

struct execs;
struct object;

/* NULL: out of memory. */
struct execs *execs_new(void);

void execs_begin(struct execs *e, pid_t pid);
void execs_end(struct execs *e, pid_t pid);

/* How often to begin again, before the caller is told EAGAIN. */
#define EXECS_RETRIES 16

/* Waits, with another worker in this one's place. 0 with *mark; -EAGAIN when it takes too long; -ESRCH when the caller is
 * gone. */
int execs_await(struct call *c, pid_t pid, uint64_t *mark);
bool execs_none_since(struct execs *e, pid_t pid, uint64_t mark);

/* Opens o by open_as; a process's memory, which is that of the program which it runs at this moment, in the order above. The
 * descriptor, or -errno. */
int execs_open(struct call *c, const struct object *o, int flags,
	       int (*open_as)(struct call *c, const struct object *o, int flags));

/* Whether execs are verified so that content is kept from whoever may not read it. [exec] rules alone keep none. */
bool execs_matter(const struct session *s);

#endif
