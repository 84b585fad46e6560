/*
 * One answer of "cordon explain" on standard output: a line with verdict, operation and path, then indented lines of
 * detail, "name: text" each.
 */
#ifndef CORDON_ANSWER_H
#define CORDON_ANSWER_H

#include <stdbool.h>
#include <sys/stat.h>

#include "policy/policy.h"
#include "supervisor/call.h"

struct answer {
	const char *op, *asked; /* as on the command line */
	const char *found;	/* where PATH has that program; NULL: it is a path */
	enum access access;	/* what it comes to */
	bool exists;
	bool entry;	  /* judged as a directory entry */
	const char *name; /* canonical; len 0: the object has none */
	size_t len;
	int fd;		 /* of the object, or for an entry of its directory; -1: none */
	struct statx st; /* of the object, or for a missing entry of its directory */
	bool refused;	 /* the result */
};

/* After judge_object() or judge_entry(): sets an->refused and prints. */
void answer_judged(struct call *c, struct answer *an);

/* Judges by the policy alone a name whose first n bytes stand in c->name[0] and that goes on with rest, and prints.
 * 0 or -errno. */
int answer_by_name(struct call *c, struct answer *an, size_t n, const char *rest);

/* Judges the name an->name by the policy alone, and prints. */
void answer_name(struct call *c, struct answer *an);

/* Pieces of an answer: its first line, and "rule", "reason" and "asked". */
void answer_head(const char *verdict, const char *op, const char *path, size_t len);
void answer_rule(const struct rule *r);
void answer_asked(const char *asked);

/* The path could not be resolved. */
void answer_failed(const struct answer *an, int err);

#endif
