#include "policy/glob.h"
#include "policy/glob_ops.h"

#include <string.h>

#include "policy/component.h"

static bool op_matches(const struct glob *g, uint16_t op, unsigned char c)
{
	if (op >= OP_SET)
		return glob_set_has(g->sets[op - OP_SET], c);
	if (op == OP_ANY)
		return true;
	return op == (g->caseless ? ascii_fold(c) : c);
}

/* Only the last star is ever tried again: what stands before it has already matched as early as it can. */
static bool match_ops(const struct glob *g, const struct glob_component *c, const char *name, size_t len,
		      size_t *steps)
{
	size_t op = 0, i = 0, star = SIZE_MAX, retry = 0;

	while (i < len) {
		++*steps;
		if (op < c->n_ops && c->ops[op] == OP_STAR) {
			star = op++;
			retry = i;
		} else if (op < c->n_ops && op_matches(g, c->ops[op], name[i])) {
			op++;
			i++;
		} else if (star != SIZE_MAX) {
			op = star + 1;
			i = ++retry;
		} else {
			return false;
		}
	}
	while (op < c->n_ops && c->ops[op] == OP_STAR)
		op++;
	return op == c->n_ops;
}

static bool match_component(const struct glob *g, const struct glob_component *c, const char *name,
			    size_t len, size_t *steps)
{
	if (c->kind == GLOB_PATTERN)
		return match_ops(g, c, name, len, steps);
	++*steps;
	return c->len == len && component_equal(c->text, name, len, g->caseless);
}

static bool set_has(const uint64_t *set, size_t i)
{
	return set[i / 64] >> i % 64 & 1;
}

static void set_add(uint64_t *set, size_t i)
{
	set[i / 64] |= UINT64_C(1) << i % 64;
}

/* A "**" may match nothing, so the state behind it is reached with it. */
static void add_state(const struct glob *g, uint64_t *set, size_t i)
{
	set_add(set, i);
	if (i < g->n && g->component[i].kind == GLOB_ANY_DEPTH)
		set_add(set, i + 1);
}

/* Replaces the states by those after one more component. False when none is left. */
static bool step(const struct glob *g, uint64_t *set, const char *name, size_t len, size_t *steps)
{
	uint64_t next[GLOB_SET_WORDS];
	size_t words = g->n / 64 + 1;
	uint64_t any = 0;

	memset(next, 0, words * sizeof(*next));
	for (size_t w = 0; w < words; w++) {
		for (uint64_t left = set[w]; left; left &= left - 1) {
			size_t i = w * 64 + __builtin_ctzll(left);

			if (i == g->n)
				continue;
			if (g->component[i].kind == GLOB_ANY_DEPTH)
				add_state(g, next, i);
			else if (match_component(g, &g->component[i], name, len, steps))
				add_state(g, next, i + 1);
		}
	}
	for (size_t w = 0; w < words; w++) {
		set[w] = next[w];
		any |= next[w];
	}
	return any != 0;
}

void glob_match(const struct glob *g, size_t first, const char *path, size_t end, size_t pos,
		struct glob_match *m)
{
	uint64_t set[GLOB_SET_WORDS];
	const char *name;
	size_t len;

	memset(set, 0, (g->n / 64 + 1) * sizeof(*set));
	add_state(g, set, first);
	for (;;) {
		if (set_has(set, g->n) && pos == end)
			m->full = true;
		if (set_has(set, g->n) && pos < end) {
			m->is_proper = true;
			m->proper = pos;
		}
		if (!component_next(path, end, &pos, &name, &len) || !step(g, set, name, len, &m->steps))
			return;
	}
}

void glob_get_states(const struct glob *g, const char *path, size_t end, uint64_t set[GLOB_SET_WORDS])
{
	const char *name;
	size_t len, steps = 0, pos = 0;

	memset(set, 0, GLOB_SET_WORDS * sizeof(*set));
	add_state(g, set, 0);
	while (component_next(path, end, &pos, &name, &len) && step(g, set, name, len, &steps))
		continue;
	set[g->n / 64] &= ~(UINT64_C(1) << g->n % 64);
}
