/*
 * Compiled glob patterns for absolute paths.
 *
 *   *        any bytes but '/', also none, also a leading dot
 *   **       as a whole component: any number of components, also none
 *   ?        one byte but '/'
 *   [a-z]    one byte of the set; [!a-z] and [^a-z] one that is not in it
 *   \c       the byte c itself
 *
 * A pattern is a list of components that is run as an automaton over the components of a path: state i
 * says that components 0 .. i-1 have matched, state n accepts. Time is bounded by the product of the lengths
 * of pattern and path. Immutable after glob_new().
 */
#ifndef CORDON_GLOB_H
#define CORDON_GLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GLOB_MAX_COMPONENTS 1023
#define GLOB_SET_WORDS	    ((GLOB_MAX_COMPONENTS + 1) / 64)

enum glob_component_kind { GLOB_LITERAL, GLOB_PATTERN, GLOB_ANY_DEPTH };

struct glob_component {
	enum glob_component_kind kind;
	const char *text; /* GLOB_LITERAL: its bytes, escapes resolved */
	size_t len;
	const uint16_t *ops; /* GLOB_PATTERN */
	size_t n_ops;
};

struct glob {
	bool caseless;
	size_t n;
	struct glob_component *component;

	/* What the components point into. */
	char *text;
	size_t text_len;
	uint16_t *ops;
	size_t n_ops;
	uint64_t (*sets)[4];
	size_t n_sets;
};

/* Compiles; caseless: ASCII letters compare blind to case. NULL when the pattern is malformed, with *why set
 * to a static text, or with *why NULL when memory ran out. */
struct glob *glob_new(const char *pattern, bool caseless, const char **why);
void glob_free(struct glob *g);

struct glob_match {
	bool full;	/* the whole path matched */
	bool is_proper; /* some proper prefix of it did */
	size_t proper;	/* position of the longest one */
	size_t steps;	/* grows by the work done: a measure for tests */
};

/*
 * Runs components first .. n-1 over the path from position pos to position end. The caller
 * knows that the components before first match the path before pos. *m must be zeroed.
 */
void glob_match(const struct glob *g, size_t first, const char *path, size_t end, size_t pos,
		struct glob_match *m);

/* The states that are live after the whole path, state n left out: what decides about deeper names. */
void glob_get_states(const struct glob *g, const char *path, size_t end, uint64_t set[GLOB_SET_WORDS]);

#endif
