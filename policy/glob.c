#include "policy/glob.h"
#include "policy/glob_ops.h"

#include <stdlib.h>
#include <string.h>

#include "policy/component.h"

static const char why_set[] = "[ without ]";
static const char why_backslash[] = "nothing follows the last backslash";
static const char why_stars[] = "** must stand alone between slashes";
static const char why_range[] = "a range runs backwards";
static const char why_class[] = "[:class:] is not known (for the bytes write \\[)";
static const char why_dots[] = ". or .. is never part of a path";
static const char why_components[] = "too many components";

/* One pattern component while it is read. */
struct reader {
	const char *s;
	size_t i, n;
	const char *why;
};

static bool reader_fail(struct reader *r, const char *why)
{
	r->why = why;
	return false;
}

/* A member of a set, or an end of a range in it. */
static bool read_member(struct reader *r, unsigned char *c)
{
	if (r->i < r->n && r->s[r->i] == '\\')
		r->i++;
	if (r->i >= r->n)
		return reader_fail(r, why_set);
	*c = r->s[r->i++];
	return true;
}

/* Refused because it would silently mean a set of the letters of its name. */
static bool at_class(const struct reader *r)
{
	return r->i + 1 < r->n && r->s[r->i] == '[' && strchr(":.=", r->s[r->i + 1]);
}

static void set_add(uint64_t set[4], unsigned char c)
{
	set[c / 64] |= UINT64_C(1) << c % 64;
}

static void set_close_case(uint64_t set[4])
{
	for (int c = 'a'; c <= 'z'; c++) {
		int upper = c - 'a' + 'A';

		if (glob_set_has(set, c) || glob_set_has(set, upper)) {
			set_add(set, c);
			set_add(set, upper);
		}
	}
}

static bool read_range(struct reader *r, uint64_t set[4])
{
	unsigned char lo, hi;

	if (at_class(r))
		return reader_fail(r, why_class);
	if (!read_member(r, &lo))
		return false;
	hi = lo;
	if (r->i + 1 < r->n && r->s[r->i] == '-' && r->s[r->i + 1] != ']') {
		r->i++;
		if (!read_member(r, &hi))
			return false;
		if (hi < lo)
			return reader_fail(r, why_range);
	}
	for (int c = lo; c <= hi; c++)
		set_add(set, c);
	return true;
}

/* Reads the set whose '[' was just passed. */
static bool read_set(struct glob *g, struct reader *r, uint16_t *op)
{
	uint64_t *set = g->sets[g->n_sets];
	bool negate = r->i < r->n && (r->s[r->i] == '!' || r->s[r->i] == '^');
	bool first = true;

	if (negate)
		r->i++;
	while (first || r->i >= r->n || r->s[r->i] != ']') {
		if (!read_range(r, set))
			return false;
		first = false;
	}
	r->i++;
	if (g->caseless)
		set_close_case(set);
	for (int w = 0; negate && w < 4; w++)
		set[w] = ~set[w];
	*op = OP_SET + g->n_sets++;
	return true;
}

static bool read_op(struct glob *g, struct reader *r, uint16_t *op)
{
	unsigned char c = r->s[r->i++];

	switch (c) {
	case '*':
		if (r->i < r->n && r->s[r->i] == '*')
			return reader_fail(r, why_stars);
		*op = OP_STAR;
		return true;
	case '?':
		*op = OP_ANY;
		return true;
	case '[':
		return read_set(g, r, op);
	case '\\':
		if (r->i >= r->n)
			return reader_fail(r, why_backslash);
		c = r->s[r->i++];
		break;
	default:
		break;
	}
	*op = g->caseless ? ascii_fold(c) : c;
	return true;
}

static void make_literal(struct glob *g, struct glob_component *c)
{
	char *text = g->text + g->text_len;

	for (size_t i = 0; i < c->n_ops; i++)
		text[i] = (char)c->ops[i];
	g->text_len += c->n_ops;
	c->kind = GLOB_LITERAL;
	c->text = text;
	c->len = c->n_ops;
}

/* Returns NULL, or why the component is malformed. */
static const char *add_component(struct glob *g, const char *s, size_t n)
{
	struct reader r = {.s = s, .n = n};
	struct glob_component *c = &g->component[g->n];
	bool literal = true;

	if (n == 2 && s[0] == '*' && s[1] == '*') {
		if (g->n && c[-1].kind == GLOB_ANY_DEPTH)
			return NULL;
		c->kind = GLOB_ANY_DEPTH;
		g->n++;
		return NULL;
	}
	c->kind = GLOB_PATTERN;
	c->ops = g->ops + g->n_ops;
	while (r.i < r.n) {
		uint16_t *op = &g->ops[g->n_ops];

		if (!read_op(g, &r, op))
			return r.why;
		literal = literal && *op < OP_STAR;
		g->n_ops++;
	}
	c->n_ops = g->ops + g->n_ops - c->ops;
	if (literal) {
		make_literal(g, c);
		if (component_is_dots(c->text, c->len))
			return why_dots;
	}
	g->n++;
	return NULL;
}

static const char *add_components(struct glob *g, const char *pattern)
{
	const char *s = pattern;

	while (*s) {
		size_t n = strcspn(s, "/");
		const char *why = NULL;

		if (g->n == GLOB_MAX_COMPONENTS)
			return why_components;
		if (n)
			why = add_component(g, s, n);
		if (why)
			return why;
		s += n + (s[n] == '/');
	}
	return NULL;
}

static struct glob *glob_alloc(const char *pattern, bool caseless)
{
	struct glob *g = calloc(1, sizeof(*g));
	size_t len = strlen(pattern), n = 1, n_sets = 0;

	if (!g)
		return NULL;
	for (size_t i = 0; i < len; i++) {
		n += pattern[i] == '/';
		n_sets += pattern[i] == '[';
	}
	g->caseless = caseless;
	g->component = calloc(n, sizeof(*g->component));
	g->text = malloc(len + 1);
	g->ops = calloc(len + 1, sizeof(*g->ops));
	g->sets = calloc(n_sets + 1, sizeof(*g->sets));
	if (!g->component || !g->text || !g->ops || !g->sets || n_sets > UINT16_MAX - OP_SET) {
		glob_free(g);
		return NULL;
	}
	return g;
}

struct glob *glob_new(const char *pattern, bool caseless, const char **why)
{
	struct glob *g = glob_alloc(pattern, caseless);

	*why = NULL;
	if (!g)
		return NULL;
	*why = add_components(g, pattern);
	if (!*why)
		return g;
	glob_free(g);
	return NULL;
}

void glob_free(struct glob *g)
{
	if (!g)
		return;
	free(g->component);
	free(g->text);
	free(g->ops);
	free(g->sets);
	free(g);
}
