/*
 * All path rules of a policy, arranged so that one walk over a path finds what every kind of rule says.
 *
 *   - literal rules stand in a tree by component: a step per component of the path, however many rules;
 *   - globs of literals around one "**" (like "**" "/.git/hooks") are found by the hash of their last component;
 *   - the others hang in the tree where their leading literals end and are run when the path passes
 *     there and holds every literal component that they need.
 *
 * Caseless kinds have a tree and a table of their own. Pure and immutable; borrows the rules.
 */
#ifndef CORDON_PATHSET_H
#define CORDON_PATHSET_H

#include "policy/faults.h"
#include "policy/rule.h"

#include <stdint.h>

struct pathset;

/* The longest prefix that any rule of a kind matched. */
struct pathset_hit {
	const struct rule *rule; /* NULL: none did */
	size_t anchor;
	uint32_t rank; /* decides between rules with the same anchor, whatever order they were given in */
};

struct pathset_hits {
	struct pathset_hit best[RULE_KINDS];
	bool inside[RULE_KINDS];	     /* some rule matched a proper prefix */
	const struct rule *root[RULE_KINDS]; /* the literal rule that names exactly this path */
	const struct rule *beneath;	     /* a literal allow_write rule strictly beneath this path */
	size_t n_lookups, n_globs;	     /* work done: tree steps, automata run */
};

/* NULL with faults added for malformed patterns or no memory. */
struct pathset *pathset_new(const struct rule *rules, size_t n, struct faults *f);
void pathset_free(struct pathset *s);

/* False when the path is not canonical; then *hits says nothing. Does not allocate. */
bool pathset_match(const struct pathset *s, const char *path, size_t len, bool is_dir,
		   struct pathset_hits *hits);

/* True when an allow_read or allow_write can match a name strictly beneath the directory. */
bool pathset_opens_beneath(const struct pathset *s, const char *dir, size_t len);

/*
 * True when below both directories the same rules can still match at the same relative names. What
 * already matched a or b themselves is not compared. May be false without need.
 */
bool pathset_same_states(const struct pathset *s, const char *a, size_t alen, const char *b, size_t blen);

#endif
