/* Random policies and paths, judged by the policy and by the naive reading of the documentation. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/naive_policy.h"
#include "tests/unit/policy_fixture.h"
#include "tests/unit/random.h"

#define PATHS_MAX 256

static const char *const names[] = {"w",    "W",     "a",      "b",	 "ab",	 ".git",
				    ".GIT", "hooks", "Config", "config", ".env", "s"};
static const char *const wild[] = {"*", "**", "**", "?", "[a-s]", "[!w]", "a*", "*s", ".*", "\\a"};

static const char *pick_name(void)
{
	/* Few names, so that rules and paths meet. */
	return names[random_below(sizeof(names) / sizeof(*names))];
}

static void random_path(char *out, size_t max_depth)
{
	size_t n = random_below(max_depth + 1);

	strcpy(out, n ? "" : "/");
	for (size_t i = 0; i < n; i++) {
		strcat(out, "/");
		strcat(out, pick_name());
	}
}

static void random_rule(struct fixture *x)
{
	enum rule_kind kind = random_below(RULE_KINDS);
	char pattern[PATHS_MAX] = "";
	size_t n = 1 + random_below(4), shape = random_below(4);

	/* Those that take part in most decisions. */
	if (random_below(2))
		kind = random_below(RULE_ALLOW_DEVICE);
	if (kind == RULE_PROTECT_GIT && random_below(2)) {
		fixture_add(x, kind, random_below(2) ? "/**/.git/hooks" : "/**/.git/s/**/config");
		return;
	}
	if (shape == 0)
		strcat(pattern, "/**");
	for (size_t i = 0; i < n; i++) {
		bool is_wild = shape == 1 && random_below(2);
		const char *w = wild[random_below(sizeof(wild) / sizeof(*wild))];

		strcat(pattern, "/");
		strcat(pattern, is_wild ? w : pick_name());
	}
	if (random_below(4) == 0)
		strcat(pattern, "/");
	if (random_below(60) == 0)
		strcpy(pattern, "/");
	fixture_add(x, kind, pattern);
}

static struct fixture *random_fixture(void)
{
	struct fixture *x = calloc(1, sizeof(*x));
	size_t n = 1 + random_below(random_below(3) ? 8 : 24);

	for (size_t i = 0; i < n; i++)
		random_rule(x);
	x->p = policy_new(&x->cfg, &x->faults);
	if (!x->p)
		fail_msg("%s", x->faults.text[0]);
	return x;
}

static void show_rules(const struct fixture *x)
{
	for (size_t i = 0; i < x->cfg.n_rules; i++) {
		const struct rule *r = &x->cfg.rules[i];

		fprintf(stderr, "  %s = %s%s%s\n", r->key, r->path, r->dir_only ? "/" : "",
			r->literal ? "" : " (glob)");
	}
}

static void check_against_naive(const struct fixture *x, const struct request *q)
{
	struct verdict got = policy_decide(x->p, q);
	struct verdict want = naive_decide(x->cfg.rules, x->cfg.n_rules, q);

	if (got.decision == want.decision && got.if_git == want.if_git && got.git_len == want.git_len)
		return;
	show_rules(x);
	fail_msg("%s of %s, type %d: %d %d %zu, expected %d %d %zu", access_keys[q->access], q->path, q->type,
		 got.decision, got.if_git, got.git_len, want.decision, want.if_git, want.git_len);
}

static void each_access(const struct fixture *x, const char *path,
			void (*check)(const struct fixture *x, const struct request *q))
{
	struct request q = {.path = path, .len = strlen(path)};

	for (q.access = 0; q.access < ACCESS_COUNT; q.access++)
		for (q.type = OBJ_ABSENT; q.type <= OBJ_OTHER; q.type++)
			check(x, &q);
}

static void agrees_with_naive(void **state)
{
	char path[PATHS_MAX];

	(void)state;
	for (int i = 0; i < 1500; i++) {
		struct fixture *x = random_fixture();

		for (int k = 0; k < 12; k++) {
			random_path(path, 5);
			each_access(x, path, check_against_naive);
		}
		for (size_t k = 0; k < x->cfg.n_rules; k++)
			if (x->rule[k].literal)
				each_access(x, x->rule[k].path, check_against_naive);
		fixture_free(x);
	}
}

/* The deciding rule has to match what it is said to match. */
static void check_anchor(const struct fixture *x, const struct request *q)
{
	struct verdict v = policy_decide(x->p, q);
	struct naive o = {.rules = x->cfg.rules, .n = x->cfg.n_rules, .q = q};

	naive_budget = 1000000;
	o.is_dir = q->type == OBJ_DIR || (q->access == ACCESS_MKDIR && q->type == OBJ_ABSENT);
	if (v.anchor && naive_anchor(&o, v.rule) != v.anchor)
		fail_msg("%s of %s: %s does not match %zu bytes", access_keys[q->access], q->path,
			 v.rule->path, v.anchor);
	if (!v.anchor && v.rule && v.rule->kind != RULE_ALLOW_WRITE)
		fail_msg("%s of %s: no anchor with %s", access_keys[q->access], q->path, v.rule->path);
}

static void anchors_are_matches(void **state)
{
	char path[PATHS_MAX];

	(void)state;
	for (int i = 0; i < 600; i++) {
		struct fixture *x = random_fixture();

		for (int k = 0; k < 10; k++) {
			random_path(path, 5);
			each_access(x, path, check_anchor);
		}
		fixture_free(x);
	}
}

static struct fixture *shuffled(const struct fixture *x)
{
	struct fixture *y = calloc(1, sizeof(*y));

	for (size_t i = 0; i < x->cfg.n_rules; i++) {
		y->rule[i] = x->rule[i];
		y->rule[i].text = strdup(x->rule[i].text);
		y->rule[i].path = strdup(x->rule[i].path);
	}
	for (size_t i = x->cfg.n_rules; i > 1; i--) {
		size_t k = random_below(i);
		struct rule r = y->rule[i - 1];

		y->rule[i - 1] = y->rule[k];
		y->rule[k] = r;
	}
	y->cfg.rules = y->rule;
	y->cfg.n_rules = x->cfg.n_rules;
	y->p = policy_new(&y->cfg, &y->faults);
	assert_non_null(y->p);
	return y;
}

static bool same_rule(const struct rule *a, const struct rule *b)
{
	if (!a || !b)
		return a == b;
	return a->kind == b->kind && a->literal == b->literal && a->dir_only == b->dir_only &&
	       strcmp(a->path, b->path) == 0;
}

static void order_of_rules_is_nothing(void **state)
{
	char path[PATHS_MAX];

	(void)state;
	for (int i = 0; i < 600; i++) {
		struct fixture *x = random_fixture(), *y = shuffled(x);

		for (int k = 0; k < 60; k++) {
			struct request q = {.access = random_below(ACCESS_COUNT), .type = random_below(3)};
			struct verdict v, w;

			random_path(path, 5);
			q.path = path;
			q.len = strlen(path);
			v = policy_decide(x->p, &q);
			w = policy_decide(y->p, &q);
			if (v.decision != w.decision || v.if_git != w.if_git || v.git_len != w.git_len ||
			    v.anchor != w.anchor || !same_rule(v.rule, w.rule)) {
				show_rules(x);
				fail_msg("%s of %s", access_keys[q.access], path);
			}
		}
		fixture_free(x);
		fixture_free(y);
	}
}

/* Nobody may be kept from what can be read by a directory on the way that looks absent. */
static void nothing_is_seen_in_what_is_hidden(void **state)
{
	char path[PATHS_MAX];
	size_t hidden = 0;

	(void)state;
	for (int i = 0; i < 1500; i++) {
		struct fixture *x = random_fixture();

		for (int k = 0; k < 40; k++) {
			struct request q = {.access = ACCESS_READ, .type = random_below(3), .path = path};
			struct verdict v;

			random_path(path, 6);
			q.len = strlen(path);
			hidden += policy_hides(x->p, &q, &v);
			if (policy_decide(x->p, &q).decision != VERDICT_ALLOW)
				continue;
			q.type = OBJ_DIR;
			for (q.len--; q.len > 0; q.len--) {
				if (path[q.len] == '/' && policy_hides(x->p, &q, &v)) {
					show_rules(x);
					fail_msg("%.*s is hidden, on the way to %s", (int)q.len, path, path);
				}
			}
		}
		fixture_free(x);
	}
	assert_true(hidden > 500);
}

static bool same_verdict(const struct fixture *x, struct request *q, const char *a, const char *b)
{
	struct verdict v, w;

	q->path = a;
	q->len = strlen(a);
	v = naive_decide(x->cfg.rules, x->cfg.n_rules, q);
	q->path = b;
	q->len = strlen(b);
	w = naive_decide(x->cfg.rules, x->cfg.n_rules, q);
	return v.decision == w.decision && v.if_git == w.if_git &&
	       (!v.git_len || v.git_len + strlen(b) == w.git_len + strlen(a));
}

static void check_beneath(const struct fixture *x, const char *a, const char *b)
{
	char rel[PATHS_MAX], pa[2 * PATHS_MAX], pb[2 * PATHS_MAX];

	for (int i = 0; i < 15; i++) {
		struct request q = {.type = random_below(3)};

		do
			random_path(rel, 4);
		while (strcmp(rel, "/") == 0);
		snprintf(pa, sizeof(pa), "%s%s", strcmp(a, "/") ? a : "", rel);
		snprintf(pb, sizeof(pb), "%s%s", strcmp(b, "/") ? b : "", rel);
		for (q.access = 0; q.access < ACCESS_COUNT; q.access++) {
			if (same_verdict(x, &q, pa, pb))
				continue;
			show_rules(x);
			fail_msg("%s and %s differ in %s of %s", a, b, access_keys[q.access], rel);
		}
	}
}

static void same_beneath_is_true(void **state)
{
	char a[PATHS_MAX], b[PATHS_MAX];
	size_t same = 0, asked = 0;

	(void)state;
	for (int i = 0; i < 1500; i++) {
		struct fixture *x = random_fixture();

		for (int k = 0; k < 12; k++) {
			random_path(a, 3);
			random_path(b, 3);
			if (strcmp(a, b) == 0)
				continue;
			asked++;
			assert_int_equal(policy_same_beneath(x->p, a, strlen(a), b, strlen(b)),
					 policy_same_beneath(x->p, b, strlen(b), a, strlen(a)));
			if (!policy_same_beneath(x->p, a, strlen(a), b, strlen(b)))
				continue;
			same++;
			check_beneath(x, a, b);
		}
		fixture_free(x);
	}
	printf("same beneath: %zu of %zu\n", same, asked);
	assert_true(same > asked / 20);
}

static void add_line(struct fixture *x, const char *line)
{
	char rule[PATHS_MAX];

	snprintf(rule, sizeof(rule), "%.*s %s", (int)(strchr(line, ' ') - line), line, strchr(line, '=') + 2);
	fixture_parse(x, rule);
}

/* A suggestion, once added, has to work. */
static void check_suggestion(const struct fixture *x, const struct request *q)
{
	struct verdict v = policy_decide(x->p, q), w;
	char line[PATHS_MAX], *and;
	struct fixture *y;

	policy_suggest(x->p, q, &v, line, sizeof(line));
	if (!*line)
		return;
	assert_int_not_equal(v.decision, VERDICT_ALLOW);
	y = shuffled(x);
	policy_free(y->p);
	and = strstr(line, " and ");
	if (and)
		add_line(y, and+5);
	if (and)
		*and = '\0';
	add_line(y, line);
	y->p = policy_new(&y->cfg, &y->faults);
	w = policy_decide(y->p, q);
	if (w.decision != VERDICT_ALLOW) {
		show_rules(y);
		fail_msg("%s of %s: \"%s\" does not help", access_keys[q->access], q->path, line);
	}
	fixture_free(y);
}

static void suggestions_help(void **state)
{
	char path[PATHS_MAX];

	(void)state;
	for (int i = 0; i < 300; i++) {
		struct fixture *x = random_fixture();

		for (int k = 0; k < 4; k++) {
			random_path(path, 4);
			each_access(x, path, check_suggestion);
		}
		fixture_free(x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_naive),
		cmocka_unit_test(anchors_are_matches),
		cmocka_unit_test(order_of_rules_is_nothing),
		cmocka_unit_test(nothing_is_seen_in_what_is_hidden),
		cmocka_unit_test(nothing_is_seen_in_what_is_hidden),
		cmocka_unit_test(same_beneath_is_true),
		cmocka_unit_test(suggestions_help),
	};

	random_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
