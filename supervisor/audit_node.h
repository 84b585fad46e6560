/*
 * An audit event or record as it waits in the queue: one allocation that holds copies of everything.
 *
 * Immutable once made, but for next, refs and queued, which belong to the lock of the queue.
 */
#ifndef CORDON_AUDIT_NODE_H
#define CORDON_AUDIT_NODE_H

#include "supervisor/audit.h"
#include "supervisor/jsonw.h"
#include "supervisor/siphash.h"

/* The first ones decide whether two denials are the same. */
enum node_field {
	NODE_EXE,
	NODE_PATH,
	NODE_TARGET,
	NODE_SOURCE,
	NODE_HOST,
	NODE_IP,
	NODE_RULE,   /* the value; its key is rule_key */
	NODE_ORIGIN, /* the file; its line is rule_line */
	NODE_COMPARED,
	NODE_COMM = NODE_COMPARED,
	NODE_CWD,
	NODE_SUGGESTION,
	NODE_KIND,    /* records only */
	NODE_MEMBERS, /* records only */
	NODE_FIELDS
};

#define NODE_ABSENT UINT32_MAX

struct audit_node {
	struct audit_node *next;
	unsigned int refs;
	bool queued;

	size_t size; /* of the allocation */
	uint64_t hash;
	struct timespec ts;
	const char *syscall, *op, *rule_key, *rule_name;
	int rule_line, port, err;
	pid_t pid, tid, ppid;
	bool record, denied;
	uint32_t len[NODE_FIELDS]; /* or NODE_ABSENT */
	char blob[];		   /* the fields one after another */
};

/* NULL when out of memory. refs is 1. The time is now. */
struct audit_node *audit_node_event(const struct event *e, const struct siphash_key *key);
struct audit_node *audit_node_record(const char *kind, const char *members);
/* One reference less; frees with the last. NULL is allowed. */
void audit_node_put(struct audit_node *n);

bool audit_node_is_same(const struct audit_node *a, const struct audit_node *b);

/* The head that all lines share: opens the object. */
void audit_node_head(struct jsonw *w, const struct timespec *ts, uint64_t seq, const char *session,
		     const char *kind);
/* The whole line with its newline. repeat 0: none. ts: NULL: the node's own. */
void audit_node_render(struct jsonw *w, const struct audit_node *n, const char *session, uint64_t seq,
		       uint64_t repeat, const struct timespec *ts);

#endif
