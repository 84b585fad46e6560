#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "policy/pathset.h"
#include "tests/unit/policy_fixture.h"

static struct pathset *make(struct fixture *x)
{
	struct pathset *s = pathset_new(x->cfg.rules, x->cfg.n_rules, &x->faults);

	assert_non_null(s);
	return s;
}

/* The length of what the only rule matched of the path: its anchor. */
static size_t anchor(const char *rule, const char *path, bool is_dir)
{
	struct fixture *x = fixture_new(rule);
	struct pathset *s = make(x);
	struct pathset_hits h;
	size_t n;

	assert_true(pathset_match(s, path, strlen(path), is_dir, &h));
	n = h.best[x->rule[0].kind].anchor;
	pathset_free(s);
	fixture_free(x);
	return n;
}

static void anchors(void **state)
{
	static const struct {
		const char *rule, *path;
		bool is_dir;
		size_t anchor;
	} t[] = {
		{"deny_read /w", "/w", false, 2},
		{"deny_read /w", "/w/a/b", false, 2},
		{"deny_read /w", "/wa", false, 0},
		{"deny_read /w/a", "/w", true, 0},
		{"deny_read /W", "/w/a", false, 2},
		{"allow_read /W", "/w/a", false, 0},
		{"deny_read /", "/", true, 1},
		{"deny_read /", "/x", true, 1},
		{"deny_read =/w/a*", "/w/a*/x", true, 5},
		{"deny_read =/w/a*", "/w/ab", true, 0},
		{"deny_read /w/", "/w", false, 0},
		{"deny_read /w/", "/w", true, 2},
		{"deny_read /w/", "/w/a", false, 2},
		{"deny_read /w\\*", "/w*/a", false, 3},
		{"deny_read /**/.env", "/w/.env", false, 7},
		{"deny_read /**/.env", "/w/.ENV/x/.env/y", false, 14},
		{"allow_read /**/.env", "/w/.ENV", false, 0},
		{"deny_read /**/.env", "/w/x.env", false, 0},
		{"deny_read /**/.git/hooks", "/.git/hooks/x", false, 11},
		{"deny_read /**/.git/hooks", "/w/git/hooks/x", false, 0},
		{"deny_read /w/**/.git/hooks", "/w/.git/hooks", false, 13},
		{"deny_read /w/**/.git/hooks", "/w/v/.git/hooks", false, 15},
		{"deny_read /w/**/.git/hooks", "/v/w/.git/hooks", false, 0},
		{"deny_read /w/.git/**/hooks", "/w/.git/hooks", false, 13},
		{"deny_read /w/x/**/x/b", "/w/x/b", false, 0},
		{"deny_read /w/x/**/x/b", "/w/x/x/b/c", false, 8},
		{"deny_read /w/*/secret", "/w/a/secret/x", false, 11},
		{"deny_read /w/*/secret", "/w/secret", false, 0},
		{"deny_read /*/*", "/a/b/c", false, 4},
		{"deny_read /**/*.pem", "/a/b.pem/c", false, 8},
		{"deny_read /**/build/", "/w/build", false, 0},
		{"deny_read /**/build/", "/w/build", true, 8},
		{"deny_read /**/build/", "/w/build/x/build", false, 8},
		{"deny_read /**/build/", "/w/build-cache/x", false, 0},
		{"deny_read /**/a*/", "/a1/a2", false, 3},
		{"deny_read /**/a*/", "/a1/a2", true, 6},
		{"deny_read /w/**", "/w", true, 2},
		{"deny_read /w/**", "/w/a/b", false, 6},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		size_t n = anchor(t[i].rule, t[i].path, t[i].is_dir);

		if (n != t[i].anchor)
			fail_msg("%s on %s: %zu, expected %zu", t[i].rule, t[i].path, n, t[i].anchor);
	}
}

static void refuses_other_paths(void **state)
{
	static const char *const t[] = {"", "a", "//", "/a/", "/a//b", "/.", "/a/..", "/../a", "/a/./b"};
	struct fixture *x = fixture_new("deny_read /w");
	struct pathset *s = make(x);
	struct pathset_hits h;

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++)
		if (pathset_match(s, t[i], strlen(t[i]), true, &h))
			fail_msg("'%s' was taken", t[i]);
	assert_true(pathset_match(s, "/...", 4, true, &h));
	pathset_free(s);
	fixture_free(x);
}

static void faults_name_the_line(void **state)
{
	struct fixture *x = fixture_new(
		"deny_read /ok; deny_read /a[; allow_write /b**; deny_write rel; protect =/a/../b");

	(void)state;
	assert_null(x->p);
	assert_int_equal(faults_count(&x->faults), 4);
	for (size_t i = 0; i < 4; i++)
		assert_non_null(strstr(x->faults.text[i], "t.ini:"));
	fixture_free(x);
}

static void empty_set(void **state)
{
	struct faults f = {0};
	struct pathset *s = pathset_new(NULL, 0, &f);
	struct pathset_hits h;

	(void)state;
	assert_non_null(s);
	assert_true(pathset_match(s, "/a", 2, true, &h));
	for (int k = 0; k < RULE_KINDS; k++)
		assert_null(h.best[k].rule);
	pathset_free(s);
}

/* n rules, literal or of a suffix after any depth, that share no name with the path of count_work(). */
static struct pathset *make_many(struct rule *rules, size_t n, const char *format)
{
	struct faults f = {0};
	struct pathset *s;

	for (size_t i = 0; i < n; i++) {
		rules[i] = (struct rule){.kind = i % 2 ? RULE_DENY_READ : RULE_ALLOW_WRITE, .key = "k"};
		rules[i].literal = !strchr(format, '*');
		rules[i].origin.file = "t.ini";
		assert_true(asprintf(&rules[i].path, format, i) > 0);
	}
	s = pathset_new(rules, n, &f);
	assert_non_null(s);
	return s;
}

static struct pathset_hits count_work(size_t n, const char *format)
{
	struct rule *rules = calloc(n, sizeof(*rules));
	struct pathset *s = make_many(rules, n, format);
	struct pathset_hits h;
	const char *path = "/home/u/p/4/src/deep/er/file.c";

	assert_true(pathset_match(s, path, strlen(path), false, &h));
	pathset_free(s);
	for (size_t i = 0; i < n; i++)
		free(rules[i].path);
	free(rules);
	return h;
}

static void work_does_not_grow(void **state)
{
	static const char *const formats[] = {"/home/u/p/%zu", "/home/u/p/%zu/x", "/**/n%zu",
					      "/p/**/n%zu/config"};

	(void)state;
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		struct pathset_hits few = count_work(10, formats[i]), many = count_work(10000, formats[i]);

		assert_int_equal(few.n_lookups, many.n_lookups);
		assert_int_equal(few.n_globs, 0);
		assert_int_equal(many.n_globs, 0);
		assert_true(many.n_lookups <= 16);
	}
}

static void globs_run_only_where_they_may_match(void **state)
{
	static const struct {
		const char *path;
		size_t runs;
	} t[] = {
		{"/x/y", 0},	 {"/w/y", 1}, /* the first */
		{"/w/a/key", 2},	      /* the first two */
		{"/v/key/x", 1},	      /* the third */
		{"/key", 0},
	};
	struct fixture *x = fixture_new("deny_read /w/*.pem; deny_read /w/*/key; deny_read /v/**/key/*/x");
	struct pathset *s = make(x);

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		struct pathset_hits h;

		assert_true(pathset_match(s, t[i].path, strlen(t[i].path), false, &h));
		if (h.n_globs != t[i].runs)
			fail_msg("%s: %zu globs run", t[i].path, h.n_globs);
	}
	pathset_free(s);
	fixture_free(x);
}

static void very_long_path(void **state)
{
	static char path[65537];
	struct fixture *x = fixture_new(
		"deny_read /**/key; deny_read /a/**/a/*/k?y; allow_read /a/a/a; deny_write /**/z");
	struct pathset *s = make(x);
	struct pathset_hits h;

	(void)state;
	for (size_t i = 0; i + 1 < sizeof(path); i++)
		path[i] = i % 2 ? 'a' : '/';
	memcpy(path + sizeof(path) - 5, "/key", 5);
	assert_true(pathset_match(s, path, strlen(path), false, &h));
	assert_int_equal(h.best[RULE_DENY_READ].anchor, strlen(path));
	assert_int_equal(h.best[RULE_ALLOW_READ].anchor, 6);
	assert_null(h.best[RULE_DENY_WRITE].rule);
	pathset_free(s);
	fixture_free(x);
}

static void roots_and_what_is_above(void **state)
{
	struct fixture *x = fixture_new("allow_write /w/a/b; allow_write /w/*; allow_own /w/a");
	struct pathset *s = make(x);
	struct pathset_hits h;

	(void)state;
	assert_true(pathset_match(s, "/w/a/b", 6, true, &h));
	assert_ptr_equal(h.root[RULE_ALLOW_WRITE], &x->rule[0]);
	assert_null(h.root[RULE_ALLOW_OWN]);
	assert_true(h.inside[RULE_ALLOW_WRITE]);
	assert_null(h.beneath);
	assert_true(pathset_match(s, "/w/a", 4, true, &h));
	assert_null(h.root[RULE_ALLOW_WRITE]);
	assert_ptr_equal(h.root[RULE_ALLOW_OWN], &x->rule[2]);
	assert_false(h.inside[RULE_ALLOW_WRITE]);
	assert_ptr_equal(h.beneath, &x->rule[0]);
	assert_true(pathset_match(s, "/", 1, true, &h));
	assert_ptr_equal(h.beneath, &x->rule[0]);
	assert_true(pathset_match(s, "/v", 2, true, &h));
	assert_null(h.beneath);
	pathset_free(s);
	fixture_free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(anchors),
		cmocka_unit_test(refuses_other_paths),
		cmocka_unit_test(faults_name_the_line),
		cmocka_unit_test(empty_set),
		cmocka_unit_test(work_does_not_grow),
		cmocka_unit_test(globs_run_only_where_they_may_match),
		cmocka_unit_test(very_long_path),
		cmocka_unit_test(roots_and_what_is_above),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
