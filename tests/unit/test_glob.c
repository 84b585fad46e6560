#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/component.h"
#include "policy/glob.h"
#include "tests/unit/naive_glob.h"
#include "tests/unit/random.h"

static bool full_match(const char *pattern, const char *path, bool caseless)
{
	struct glob_match m = {0};
	const char *why;
	struct glob *g = glob_new(pattern, caseless, &why);

	if (!g)
		fail_msg("%s: %s", pattern, why);
	glob_match(g, 0, path, path_end(strlen(path)), 0, &m);
	glob_free(g);
	return m.full;
}

static const struct {
	const char *pattern, *path;
	bool match;
} matches[] = {
	{"/a", "/a", true},
	{"/a", "/b", false},
	{"/a", "/a/b", false},
	{"/*", "/a", true},
	{"/*", "/.a", true},
	{"/*", "/", false},
	{"/*", "/a/b", false},
	{"/a*", "/a", true},
	{"/*a", "/ba", true},
	{"/*a*", "/bab", true},
	{"/*a", "/ab", false},
	{"/a*b*c", "/axxbyyc", true},
	{"/a*b*c", "/axxbyycd", false},
	{"/?", "/a", true},
	{"/?", "/ab", false},
	{"/a?b", "/a/b", false},
	{"/[a-c]x", "/bx", true},
	{"/[a-c]x", "/dx", false},
	{"/[!a-c]x", "/dx", true},
	{"/[^a-c]x", "/bx", false},
	{"/[!a]", "/.", true},
	{"/[]a]", "/]", true},
	{"/[!]a]", "/]", false},
	{"/[a-]", "/-", true},
	{"/[-a]", "/-", true},
	{"/[a\\]b]", "/]", true},
	{"/[\\!a]", "/!", true},
	{"/[a\\-c]", "/b", false},
	{"/[a\\-c]", "/-", true},
	{"/[[]", "/[", true},
	{"/\\*", "/*", true},
	{"/\\*", "/a", false},
	{"/\\[a]", "/[a]", true},
	{"/\\a", "/a", true},
	{"/a\\\\", "/a\\", true},
	{"/\\**", "/*x", true},
	{"/**", "/", true},
	{"/**", "/a/b/c", true},
	{"/**/a", "/a", true},
	{"/**/a", "/b/c/a", true},
	{"/**/a", "/b/a/c", false},
	{"/**/a", "/ba", false},
	{"/a/**", "/a", true},
	{"/a/**", "/a/b/c", true},
	{"/a/**/b", "/a/b", true},
	{"/a/**/b", "/a/x/y/b", true},
	{"/a/**/b", "/a/x/y/bb", false},
	{"/a/**/**/b", "/a/b", true},
	{"/**/a/**/b/*", "/x/a/a/y/b/b/z", true},
	{"/**/*", "/", false},
	{"/**/*", "/x/y", true},
	{"/*/x", "/w/x", true},
	{"/*/x", "/w/v/x", false},
	{"/{a,b}", "/a", false},
	{"/{a,b}", "/{a,b}", true},
	{"/**/build/**", "/w/build-cache", false},
	{"/\xff?", "/\xff\xfe", true},
	{"/[\x80-\xff]", "/\xe9", true},
	{"/", "/", true},
	{"/", "/a", false},
	{"**/.env", "/w/.env", true},
};

static void match_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(matches) / sizeof(*matches); i++)
		if (full_match(matches[i].pattern, matches[i].path, false) != matches[i].match)
			fail_msg("%s on %s: expected %d", matches[i].pattern, matches[i].path,
				 matches[i].match);
}

static void caseless_table(void **state)
{
	static const struct {
		const char *pattern, *path;
		bool match;
	} t[] = {
		{"/**/.Git/hooks", "/w/.gIT/HOOKS", true},
		{"/[a-c]", "/B", true},
		{"/[!a-c]", "/B", false},
		{"/[A-C]*", "/bX", true},
		{"/[!B]", "/b", false},
		{"/*.ENV", "/x.env", true},
		{"/\xc4", "/\xe4", false},
		{"/[Z-a]", "/z", true},
		{"/\\A", "/a", true},
		{"/@", "/`", false},
		{"/[[]", "/{", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++)
		if (full_match(t[i].pattern, t[i].path, true) != t[i].match)
			fail_msg("%s on %s: expected %d", t[i].pattern, t[i].path, t[i].match);
}

static void malformed(void **state)
{
	static const char *const t[] = {
		"/[",		"/[]",	"/[a",	   "/a/[b/c]", "/a\\",	 "/a\\/b",   "/[a\\",
		"/[a-",		"/[!]", "/a**",	   "/**a",     "/a/***", "/x**y/z",  "/[z-a]",
		"/[[:alpha:]]", "/.",	"/a/../b", "/a/\\.",   "/[^",	 "/[[=a=]]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		const char *why = NULL;
		struct glob *g = glob_new(t[i], false, &why);

		if (g || !why)
			fail_msg("%s was taken", t[i]);
	}
}

static void too_many_components(void **state)
{
	char pattern[2 * (GLOB_MAX_COMPONENTS + 1) + 1], *p = pattern;
	const char *why;
	struct glob *g;

	(void)state;
	for (int i = 0; i <= GLOB_MAX_COMPONENTS; i++) {
		*p++ = '/';
		*p++ = i % 2 ? '?' : 'a';
	}
	*p = '\0';
	assert_null(glob_new(pattern, false, &why));
	assert_non_null(why);
	p[-2] = '\0';
	g = glob_new(pattern, false, &why);
	assert_non_null(g);
	assert_int_equal(g->n, GLOB_MAX_COMPONENTS);
	glob_free(g);
	assert_true(full_match(pattern, pattern, false));
}

static void reports_longest_proper_prefix(void **state)
{
	struct glob_match m = {0};
	const char *why, *path = "/a1/b/a2/a3";
	struct glob *g = glob_new("/**/a*", false, &why);

	(void)state;
	glob_match(g, 0, path, strlen(path), 0, &m);
	assert_true(m.full);
	assert_true(m.is_proper);
	assert_int_equal(m.proper, 8);
	glob_free(g);
}

/* Patterns that backtracking matchers choke on. */
static void linear_time(void **state)
{
	static const char *const patterns[] = {
		"/*a*a*a*a*a*a*a*a*a*a*a*b",
		"/**/a/**/a/**/a/**/a/**/a/**/a/**/b",
		"/**/*a*/**/*a*/**/*a*/**/*a*/**/b",
	};
	static char path[65536];

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		for (size_t i = 0; i < sizeof(path) - 1; i++)
			path[i] = i == 0 || (k && i % 2 == 0) ? '/' : 'a';
		path[sizeof(path) - 1] = '\0';
		for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
			struct glob_match m = {0};
			const char *why;
			struct glob *g = glob_new(patterns[i], false, &why);

			glob_match(g, 0, path, sizeof(path) - 1, 0, &m);
			assert_false(m.full);
			assert_true(m.steps <= 2 * sizeof(path) * strlen(patterns[i]));
			glob_free(g);
		}
	}
}

static void random_pattern(char *out, size_t n, const char *alphabet)
{
	size_t len = 1 + random_below(n - 2);

	out[0] = '/';
	for (size_t i = 1; i <= len; i++)
		out[i] = alphabet[random_below(strlen(alphabet))];
	out[len + 1] = '\0';
}

static void agrees_with_fnmatch(void **state)
{
	char pattern[12], path[10];
	size_t compared = 0;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		const char *why;
		struct glob *g;
		struct glob_match m = {0};
		bool fold = i % 2;
		int flags = FNM_PATHNAME | (fold ? FNM_CASEFOLD : 0);

		random_pattern(pattern, sizeof(pattern), "aabB*?[]-!^\\.");
		random_pattern(path, sizeof(path), "aabBc.-][!*\\");
		/* It takes malformed patterns as names. */
		g = glob_new(pattern, fold, &why);
		if (!g)
			continue;
		glob_match(g, 0, path, strlen(path), 0, &m);
		glob_free(g);
		/* It does not fold the ends of ranges as we do. */
		if (fold && strchr(pattern, '['))
			continue;
		compared++;
		if (m.full != (fnmatch(pattern, path, flags) == 0))
			fail_msg("%s on %s: %d", pattern, path, m.full);
	}
	assert_true(compared > 10000);
}

static void agrees_with_naive(void **state)
{
	char pattern[16], path[14];
	size_t compared = 0;

	(void)state;
	for (int i = 0; i < 300000; i++) {
		const char *why;
		struct glob *g;
		struct glob_match m = {0};
		bool fold = i % 2, expected;
		size_t len;

		random_pattern(pattern, sizeof(pattern), i % 3 ? "aB**//?" : "aabB**//?[]-!\\");
		random_pattern(path, sizeof(path), "aabB//c-");
		len = strlen(path);
		g = strstr(pattern, "//") || pattern[strlen(pattern) - 1] == '/'
			    ? NULL
			    : glob_new(pattern, fold, &why);
		if (!g)
			continue;
		if (!strstr(path, "//") && path[len - 1] != '/') {
			naive_budget = 10000000;
			expected = naive_match(pattern, path, len, fold);
			glob_match(g, 0, path, len, 0, &m);
			compared++;
			if (m.full != expected)
				fail_msg("%s on %s: %d", pattern, path, m.full);
		}
		glob_free(g);
	}
	assert_true(compared > 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(match_table),
		cmocka_unit_test(caseless_table),
		cmocka_unit_test(malformed),
		cmocka_unit_test(too_many_components),
		cmocka_unit_test(reports_longest_proper_prefix),
		cmocka_unit_test(linear_time),
		cmocka_unit_test(agrees_with_fnmatch),
		cmocka_unit_test(agrees_with_naive),
	};

	random_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
