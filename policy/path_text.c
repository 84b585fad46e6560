/*
 * Expansion of paths: see path_text.h.
 *
 * The text becomes a row of units, each a byte and whether it is literal whatever it looks like. On the units
 * the path is made absolute and normalised; only then are bytes made of them, with a "\" where a literal
 * unit would act as a pattern. So a current directory called "a[1]" cannot turn into a pattern, and no step
 * has to undo the quoting of another.
 */
#include "policy/path_text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/config.h"
#include "policy/glob.h"
#include "policy/path_form.h"

#define LIT 0x100

/* Before ".." is taken out a path may be longer than afterwards. */
#define UNITS_MAX (3 * PATH_TEXT_MAX)

struct units {
	uint16_t *u;
	size_t n;
	bool full;
};

struct expansion {
	const struct config_env *env;
	struct units units;
	char *why;
	size_t size;
};

static bool fail(struct expansion *x, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool fail(struct expansion *x, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(x->why, x->size, fmt, ap);
	va_end(ap);
	return false;
}

static void put(struct expansion *x, uint16_t unit)
{
	if (x->units.n < UNITS_MAX)
		x->units.u[x->units.n++] = unit;
	else
		x->units.full = true;
}

static void put_literal(struct expansion *x, const char *s)
{
	for (; *s; s++)
		put(x, (uint16_t)((unsigned char)*s | LIT));
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool take_escape(struct expansion *x, const char **s)
{
	const char *p = *s + 1;
	int hi, lo;

	if (!*p)
		return fail(x, "a backslash at the end");
	if (*p != 'x') {
		put(x, (uint16_t)((unsigned char)*p | LIT));
		*s = p + 1;
		return true;
	}
	hi = hex_digit(p[1]);
	lo = hi < 0 ? -1 : hex_digit(p[2]);
	if (lo < 0 || hi + lo == 0)
		return fail(x, "\\x needs two hexadecimal digits, not 00");
	put(x, (uint16_t)((hi << 4 | lo) | LIT));
	*s = p + 3;
	return true;
}

static size_t name_len(const char *s)
{
	static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";

	return *s && strchr(first, *s)
		       ? strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")
		       : 0;
}

static bool take_variable(struct expansion *x, const char **s)
{
	const char *p = *s + 1, *value;
	bool braces = *p == '{';
	char name[128];
	size_t n;

	if (*p == '$') {
		put(x, '$' | LIT);
		*s = p + 1;
		return true;
	}
	p += braces;
	n = name_len(p);
	if (n == 0 || (braces && p[n] != '}'))
		return fail(x, "'$' stands before NAME or {NAME}; write '$$' for the character");
	if (n >= sizeof(name))
		return fail(x, "the name of the variable is too long");
	memcpy(name, p, n);
	name[n] = '\0';
	value = x->env->getvar ? x->env->getvar(name, x->env->arg) : NULL;
	if (!value || !*value)
		return fail(x, "the variable %s is %s", name, value ? "empty" : "not set");
	put_literal(x, value);
	*s = p + n + braces;
	return true;
}

static bool take_home(struct expansion *x, const char **s)
{
	if ((*s)[1] && (*s)[1] != '/')
		return fail(x, "'~' stands before '/' only; write the home directory of another user out");
	if (!x->env->home || x->env->home[0] != '/')
		return fail(x, "the home directory is not known");
	put_literal(x, x->env->home);
	(*s)++;
	return true;
}

static bool take_text(struct expansion *x, const char *s)
{
	if (*s == '~' && !take_home(x, &s))
		return false;
	while (*s) {
		bool ok = true;

		if (*s == '\\')
			ok = take_escape(x, &s);
		else if (*s == '$')
			ok = take_variable(x, &s);
		else
			put(x, (unsigned char)*s++);
		if (!ok)
			return false;
	}
	return true;
}

/* Puts what a relative path is relative to in front. */
static bool make_absolute(struct expansion *x, bool *any_depth)
{
	struct units *t = &x->units;
	uint16_t *rest;
	size_t n = t->n;

	*any_depth = n >= 3 && t->u[0] == '*' && t->u[1] == '*' && (t->u[2] & 0xff) == '/';
	if ((t->u[0] & 0xff) == '/')
		return true;
	if (!*any_depth && (!x->env->cwd || x->env->cwd[0] != '/'))
		return fail(x, "the current directory is not known");
	rest = malloc(n * sizeof(*rest));
	if (!rest)
		return fail(x, "out of memory");
	memcpy(rest, t->u, n * sizeof(*rest));
	t->n = 0;
	if (!*any_depth)
		put_literal(x, x->env->cwd);
	put(x, '/');
	for (size_t i = 0; i < n; i++)
		put(x, rest[i]);
	free(rest);
	return true;
}

static bool is_magic(uint16_t u)
{
	return u == '*' || u == '?' || u == '[';
}

static bool has_magic(const uint16_t *u, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_magic(u[i]))
			return true;
	return false;
}

static bool is_name(const uint16_t *u, size_t n, const char *name)
{
	if (strlen(name) != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if ((u[i] & 0xff) != (unsigned char)name[i])
			return false;
	return true;
}

static bool is_star_star(const uint16_t *u, size_t n)
{
	return n == 2 && u[0] == '*' && u[1] == '*';
}

/* Index of the ']' that ends the set beginning at u[i], or n. */
static size_t set_end(const uint16_t *u, size_t n, size_t i)
{
	i++;
	if (i < n && (u[i] == '!' || u[i] == '^'))
		i++;
	/* A ']' in front is a member. */
	if (i < n && u[i] == ']')
		i++;
	while (i < n && u[i] != ']')
		i++;
	return i;
}

/* Adds "/component" to the n units already in place and gives the new n in *n. */
static bool add_component(struct expansion *x, size_t *n, const uint16_t *u, size_t len)
{
	uint16_t *out = x->units.u;
	size_t cut = *n;

	if (len == 0 || is_name(u, len, "."))
		return true;
	if (is_name(u, len, "..")) {
		while (cut > 0 && (out[cut - 1] & 0xff) != '/')
			cut--;
		if (has_magic(out + cut, *n - cut))
			return fail(x, "'..' after a pattern");
		*n = cut > 0 ? cut - 1 : 0;
		return true;
	}
	out[(*n)++] = '/';
	memmove(out + *n, u, len * sizeof(*u));
	*n += len;
	return true;
}

/* In place: what is written never overtakes what is read. */
static bool normalise(struct expansion *x)
{
	struct units *t = &x->units;
	size_t n = 0, i = 0;

	while (i < t->n) {
		size_t start;

		while (i < t->n && (t->u[i] & 0xff) == '/')
			i++;
		start = i;
		while (i < t->n && (t->u[i] & 0xff) != '/')
			i++;
		if (!add_component(x, &n, t->u + start, i - start))
			return false;
	}
	t->n = n;
	return true;
}

/* Takes trailing "**" components off. True if there were any. */
static bool cut_star_stars(struct units *t)
{
	size_t before = t->n;

	while (t->n >= 3 && (t->u[t->n - 3] & 0xff) == '/' && is_star_star(t->u + t->n - 2, 2))
		t->n -= 3;
	return t->n != before;
}

static char *make_literal(const struct units *t)
{
	char *out = malloc(t->n + 2);

	if (!out)
		return NULL;
	for (size_t i = 0; i < t->n; i++)
		out[i] = (char)(t->u[i] & 0xff);
	/* Nothing left is the root itself. */
	strcpy(out + t->n, t->n ? "" : "/");
	return out;
}

static char *make_pattern(const struct units *t)
{
	char *out = malloc(2 * t->n + 1), *w = out;
	size_t end = 0;

	if (!out)
		return NULL;
	for (size_t i = 0; i < t->n; i++) {
		char c = (char)(t->u[i] & 0xff);

		if (t->u[i] == '[' && i >= end)
			end = set_end(t->u, t->n, i);
		if ((t->u[i] & LIT) && strchr(i < end ? "]\\!^-[" : "*?[\\", c))
			*w++ = '\\';
		*w++ = c;
	}
	*w = '\0';
	return out;
}

/* What matches later also says what is malformed, so that the two cannot disagree. */
static bool check_result(struct expansion *x, const struct path_text *p)
{
	const char *why = NULL;
	struct glob *g;

	if (strlen(p->path) > PATH_TEXT_MAX)
		return fail(x, "longer than %d bytes", PATH_TEXT_MAX);
	if (p->literal)
		return true;
	g = glob_new(p->path, 0, &why);
	if (!g)
		return fail(x, "%s", why ? why : "out of memory");
	glob_free(g);
	return true;
}

static bool expand(struct expansion *x, const char *text, struct path_text *out)
{
	struct units *t = &x->units;
	bool any_depth, slash;

	if (!take_text(x, text))
		return false;
	if (t->n == 0)
		return fail(x, "empty");
	if (!make_absolute(x, &any_depth))
		return false;
	if (t->full)
		return fail(x, "longer than %d bytes", PATH_TEXT_MAX);
	slash = (t->u[t->n - 1] & 0xff) == '/';
	if (!normalise(x))
		return false;
	out->dir_only = cut_star_stars(t) || slash;
	if (t->n == 0 && any_depth)
		return fail(x, "names everything; write '/' if that is meant");
	out->literal = !has_magic(t->u, t->n);
	if (out->literal)
		out->dir_only = false;
	out->path = out->literal ? make_literal(t) : make_pattern(t);
	if (!out->path)
		return fail(x, "out of memory");
	if (check_result(x, out))
		return true;
	free(out->path);
	out->path = NULL;
	return false;
}

/* "/x" in quotes would be a relative name with quotes in it, which nobody means. */
static bool is_quoted(const char *text)
{
	size_t n = strlen(text);

	return n >= 2 && (text[0] == '"' || text[0] == '\'') && text[n - 1] == text[0];
}

bool path_text_expand(const struct config_env *env, const char *text, struct path_text *out, char *why,
		      size_t size)
{
	struct expansion x = {.env = env, .why = why, .size = size};
	bool ok;

	memset(out, 0, sizeof(*out));
	if (is_quoted(text))
		return fail(&x, "quotes are not needed; leave them out");
	x.units.u = malloc(UNITS_MAX * sizeof(*x.units.u));
	if (!x.units.u)
		return fail(&x, "out of memory");
	ok = expand(&x, text, out);
	free(x.units.u);
	return ok;
}

char *path_text_print(const char *path, bool literal, bool dir_only)
{
	char *out = malloc(4 * strlen(path) + 2), *w = out;
	char before = 0;

	if (!out)
		return NULL;
	for (const char *s = path; *s; before = *s++) {
		unsigned char c = (unsigned char)*s;
		bool blank_before = before == ' ';

		if (c < 0x20 || c == 0x7f || (c == ' ' && !s[1] && !dir_only)) {
			w += sprintf(w, "\\x%02x", c);
			continue;
		}
		if (!literal && c == '\\' && s[1]) {
			*w++ = '\\';
			*w++ = *++s;
			continue;
		}
		if (literal ? strchr("*?[\\", c) != NULL : false)
			*w++ = '\\';
		else if (c == '$')
			*w++ = '$';
		else if (path_form_separates(s, strlen(s)) || (blank_before && c == '#'))
			*w++ = '\\';
		*w++ = (char)c;
	}
	if (dir_only)
		*w++ = '/';
	*w = '\0';
	return out;
}
