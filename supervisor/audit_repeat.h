/*
 * Identical denials of the last second: which ones were written, and how often they came again since.
 *
 * A table of fixed size over nodes it holds references to. When it is full, or holds too many bytes, a denial
 * is simply not tracked, so that it and its likes are written one by one: nothing is ever evicted with
 * a count. The caller's lock guards it.
 */
#ifndef CORDON_AUDIT_REPEAT_H
#define CORDON_AUDIT_REPEAT_H

#include "supervisor/audit_node.h"

#define REPEAT_WINDOW_MS   1000
#define REPEAT_SLOTS	   128
#define REPEAT_BYTES_LIMIT (256 * 1024)

struct repeat_slot {
	struct audit_node *node; /* NULL: free */
	uint64_t until;		 /* monotonic ms */
	uint64_t count;		 /* after the first */
	struct timespec last;
};

struct repeat_table {
	struct repeat_slot slot[REPEAT_SLOTS];
	unsigned int used;
	size_t bytes;
};

/* True when n is a repetition and was counted; n stays the caller's. */
bool repeat_count(struct repeat_table *t, const struct audit_node *n, uint64_t now);
/* Starts a window for a denial that is written. */
void repeat_track(struct repeat_table *t, struct audit_node *n, uint64_t now);
/* Takes one finished window that has a count (all: also unfinished ones), with its reference to the node, and
 * drops those without. A node whose first record is still queued stays. False when there is none. */
bool repeat_take(struct repeat_table *t, uint64_t now, bool all, struct repeat_slot *out);
/* When the earliest window ends; 0: the table is empty. */
uint64_t repeat_due(const struct repeat_table *t);

#endif
