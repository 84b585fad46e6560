/*
 * Input: a byte of flags, a pattern, a newline, a path. The pattern is compiled alone and as the one rule
 * of a policy; both have to say what plain backtracking says, within the work that is promised.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/component.h"
#include "policy/glob.h"
#include "policy/pathset.h"
#include "tests/unit/naive_glob.h"

#define CHECK(condition)                                                                                     \
	do {                                                                                                 \
		if (!(condition)) {                                                                          \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                      \
			abort();                                                                             \
		}                                                                                            \
	} while (0)

/* Longer ones are for time and memory only: the naive way would not come back. */
#define NAIVE_MAX 200

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_canonical(const char *path)
{
	size_t end = path_end(strlen(path)), pos = 0, len;
	const char *name;

	if (path[0] != '/')
		return false;
	while (component_next(path, end, &pos, &name, &len))
		if (!len || component_is_dots(name, len))
			return false;
	return true;
}

static void check_rule(const char *pattern, const char *path, bool caseless, bool is_dir, size_t want,
		       bool valid)
{
	struct rule rule = {.kind = caseless ? RULE_DENY_READ : RULE_ALLOW_READ, .key = "k"};
	struct faults f = {0};
	struct pathset_hits hits;
	struct pathset *s;

	rule.path = (char *)pattern;
	rule.dir_only = !is_dir;
	rule.origin.file = "fuzz";
	s = pathset_new(&rule, 1, &f);
	CHECK(!s == (faults_count(&f) > 0));
	CHECK(!s == !valid);
	faults_free(&f);
	if (!s)
		return;
	CHECK(pathset_match(s, path, strlen(path), is_dir, &hits));
	CHECK(want == SIZE_MAX || hits.best[rule.kind].anchor == want);
	CHECK(pathset_same_states(s, path, strlen(path), path, strlen(path)));
	pathset_free(s);
}

static size_t naive_anchor(const char *pattern, const char *path, size_t max, bool caseless)
{
	size_t n = strlen(path);

	for (size_t len = max; len >= 1; len--)
		if ((len == 1 || len == n || path[len] == '/') && naive_match(pattern, path, len, caseless))
			return len;
	return 0;
}

static void check_glob(const struct glob *g, const char *pattern, const char *path, bool caseless,
		       bool is_dir)
{
	size_t n = strlen(path), plen = strlen(pattern), want = SIZE_MAX;
	struct glob_match m = {0};

	glob_match(g, 0, path, path_end(n), 0, &m);
	CHECK(m.steps <= 4 * (n + 1) * (plen + 1));
	naive_budget = 200000;
	if (n <= NAIVE_MAX && plen <= NAIVE_MAX) {
		bool full = naive_match(pattern, path, n, caseless);
		size_t proper = n > 1 ? naive_anchor(pattern, path, n - 1, caseless) : 0;

		if (naive_budget > 0) {
			CHECK(full == m.full);
			CHECK(proper == (m.is_proper ? path_anchor(m.proper) : 0));
			want = full && is_dir ? n : proper;
		}
	}
	check_rule(pattern, path, caseless, is_dir, want, true);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text, *path;
	const char *why;
	struct glob *g;
	bool caseless, is_dir;

	if (size < 4 || size > 8192 || memchr(data, '\0', size))
		return 0;
	text = strndup((const char *)data + 1, size - 1);
	if (!text)
		return 0;
	caseless = data[0] & 1;
	is_dir = data[0] & 2;
	path = strchr(text, '\n');
	if (path)
		*path++ = '\0';
	if (path && text[0] == '/' && is_canonical(path) && !strstr(text, "//") &&
	    (strlen(text) == 1 || text[strlen(text) - 1] != '/')) {
		g = glob_new(text, caseless, &why);
		CHECK(g || why);
		if (g)
			check_glob(g, text, path, caseless, is_dir);
		else
			check_rule(text, path, caseless, is_dir, SIZE_MAX, false);
		glob_free(g);
	}
	free(text);
	return 0;
}
