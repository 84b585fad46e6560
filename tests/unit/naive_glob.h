/*
 * Glob matching as the documentation reads, by plain backtracking over the text of the pattern: slow, short
 * and sharing nothing with policy/glob.c, to compare that with. Expects well-formed patterns.
 */
#ifndef CORDON_NAIVE_GLOB_H
#define CORDON_NAIVE_GLOB_H

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Backtracking can take for ever: what it may cost. 0 left: the answer means nothing. */
static long naive_budget;

static bool naive_in_set(const char **p, const char *end, unsigned char c)
{
	bool negate = false, in = false;
	const char *s = *p + 1, *first;

	if (*s == '!' || *s == '^') {
		negate = true;
		s++;
	}
	for (first = s; s < end && (*s != ']' || s == first);) {
		unsigned char lo, hi;

		lo = *s == '\\' ? *++s : *s;
		s++;
		hi = lo;
		if (s[0] == '-' && s[1] != ']') {
			s++;
			hi = *s == '\\' ? *++s : *s;
			s++;
		}
		in = in || (c >= lo && c <= hi);
	}
	*p = s + 1;
	return in != negate;
}

static bool naive_byte(const char **p, const char *end, unsigned char c, bool fold)
{
	const char *q = *p;
	unsigned char lit;
	bool neg, up, low;

	switch (**p) {
	case '?':
		++*p;
		return true;
	case '[':
		neg = q[1] == '!' || q[1] == '^';
		if (!fold || c >= 0x80)
			return naive_in_set(p, end, c);
		up = naive_in_set(&q, end, toupper(c));
		low = naive_in_set(p, end, tolower(c));
		/* Blind to case: in the set if either form is; out of it if either is in it. */
		return neg ? up && low : up || low;
	case '\\':
		++*p;
		break;
	default:
		break;
	}
	lit = *(*p)++;
	if (fold && lit < 0x80 && c < 0x80)
		return tolower(lit) == tolower(c);
	return lit == c;
}

static bool naive_name(const char *p, const char *pend, const char *s, const char *send, bool fold)
{
	if (naive_budget <= 0 || --naive_budget == 0)
		return false;
	if (p == pend)
		return s == send;
	if (*p == '*')
		return naive_name(p + 1, pend, s, send, fold) ||
		       (s < send && naive_name(p, pend, s + 1, send, fold));
	if (s == send || !naive_byte(&p, pend, *s, fold))
		return false;
	return naive_name(p, pend, s + 1, send, fold);
}

static const char *naive_end(const char *s, const char *end)
{
	while (s < end && *s != '/')
		s++;
	return s;
}

/* p and s stand at the '/' before a component, or at the end. */
static bool naive_path(const char *p, const char *pend, const char *s, const char *send, bool fold)
{
	const char *pe, *se;

	if (naive_budget <= 0 || --naive_budget == 0)
		return false;
	if (p == pend)
		return s == send;
	pe = naive_end(p + 1, pend);
	se = s < send ? naive_end(s + 1, send) : s;
	if (pe - p == 3 && p[1] == '*' && p[2] == '*')
		return naive_path(pe, pend, s, send, fold) ||
		       (s < send && naive_path(p, pend, se, send, fold));
	return s < send && naive_name(p + 1, pe, s + 1, se, fold) && naive_path(pe, pend, se, send, fold);
}

/* Whether the absolute pattern matches the whole path. */
static bool naive_match(const char *pattern, const char *path, size_t len, bool fold)
{
	size_t n = strlen(pattern);

	return naive_path(pattern, pattern + (n == 1 ? 0 : n), path, path + (len == 1 ? 0 : len), fold);
}

#endif
