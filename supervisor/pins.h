/*
 * Descriptors of /proc/PID/mem that were opened while the kernel still allowed it.
 *
 * A process that changes its user, and has not run exec since, is shut to everybody without SYS_PTRACE, its supervisor
 * included. A descriptor from before the change goes on reading: it holds the memory, not a right to look. So one is
 * taken whenever a change of identity is asked for, and used when nothing else reads.
 *
 * It belongs to one process, known by number and start time: a forked child has other memory, which this descriptor
 * would not show. After exec, and after the end, it reads nothing any more.
 *
 * Bounded: what finds no room is not pinned, and its process cannot be read. All functions may be called by any worker.
 */
#ifndef CORDON_PINS_H
#define CORDON_PINS_H

#include <stdbool.h>
#include <sys/types.h>

struct pins;

struct pins *pins_new(void);
void pins_free(struct pins *p);

struct pin_owner {
	pid_t tgid;
	unsigned long long start;
	bool forked; /* has not run exec since it was forked: a child of vfork leaves living memory behind by exec */
	unsigned long long
		stack; /* where its program's first one is, which exec chooses anew; 0: not shown */
};

/* The same process and, as far as is shown, program. */
bool pins_is_same(const struct pin_owner *a, const struct pin_owner *b);

/* Keeps mem for the process, in the place of an earlier one. Takes over mem. */
void pins_put(struct pins *p, const struct pin_owner *o, int mem);
/* A duplicate of the process's descriptor, for the caller to close, or -ENOENT. */
int pins_get(struct pins *p, const struct pin_owner *o);
/* The process runs another program now, which may show nothing by which it could be told. */
void pins_drop(struct pins *p, pid_t tgid);
/* How many there are. */
size_t pins_count(struct pins *p);

/* Memory that is gone gives the end of the file, everything else data or an error. */
bool pins_memory_is_gone(int mem);

#endif
