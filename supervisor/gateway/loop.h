/*
 * The gateway's event loop: descriptors and timers of one thread. Nothing here blocks.
 */
#ifndef CORDON_GATEWAY_LOOP_H
#define CORDON_GATEWAY_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a watch, timer or the like is a member of. */
#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

struct loop;

/* Owned by whoever waits; stays where it is while it is added. */
struct watch {
	int fd;
	void (*ready)(struct watch *w, uint32_t events); /* EPOLLIN, ... */
};

struct timer {
	void (*expired)(struct timer *t);
	uint64_t at; /* CLOCK_MONOTONIC, ms; 0: not set */
	struct timer *next, *prev;
};

struct loop *loop_new(void);
void loop_free(struct loop *l);
/* 0 or -errno. loop_drop() may be called from within ready(), also for other watches, whose memory is then not looked at
 * any more; it does not close. */
int loop_add(struct loop *l, struct watch *w, uint32_t events);
int loop_change(struct loop *l, struct watch *w, uint32_t events);
void loop_drop(struct loop *l, struct watch *w);
/* Sets or moves it. ms 0: takes it away. */
void loop_timer(struct loop *l, struct timer *t, unsigned ms);
/* Until loop_end(). */
void loop_run(struct loop *l);
void loop_end(struct loop *l);

#endif
