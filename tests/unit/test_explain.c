#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/policy_fixture.h"
#include "policy/path_text.h"
#include "policy/text.h"
#include "tests/unit/random.h"

struct row {
	const char *request, *explained, *suggested;
};

#define CHECK(x, ...) check_rows(__LINE__, x, (const struct row[]){__VA_ARGS__, {NULL, NULL, NULL}})

/* What is said of each request, and the line suggested. Rules stand in t.ini at the line of their number. */
static void check_rows(int line, struct fixture *x, const struct row *row)
{
	char got[512];

	if (!x->p)
		fail_msg("line %d: %s", line, x->faults.text[0]);
	for (; row->request; row++) {
		struct request q = request_parse(row->request);
		struct verdict v = policy_decide(x->p, &q);

		policy_explain(&q, &v, "/home/u", got, sizeof(got));
		if (strcmp(got, row->explained) != 0)
			fail_msg("line %d: %s: '%s', expected '%s'", line, row->request, got, row->explained);
		policy_suggest(x->p, &q, &v, got, sizeof(got));
		if (strcmp(got, row->suggested) != 0)
			fail_msg("line %d: %s: '%s', expected '%s'", line, row->request, got, row->suggested);
	}
	fixture_free(x);
}

static void refused_by_rules(void **state)
{
	struct fixture *x =
		fixture_new("protect /**/.bashrc; deny_read /home/u/.ssh; deny_write /home/u/w/x; "
			    "allow_write /home/u; allow_own /tmp; deny /usr/bin/docker; "
			    "protect_git /**/.git/hooks");

	(void)state;
	x->rule[0].origin = (struct origin){.file = "built-in"};
	free(x->rule[1].text);
	x->rule[1].text = strdup("~/.ssh");
	x->rule[2].origin = (struct origin){.file = "command line"};
	x->rule[2].reason = "ask ops";
	CHECK(x,
	      {"write f /home/u/.bashrc", "write ~/.bashrc refused by protect (built-in)",
	       "allow_protected = /home/u/.bashrc"},
	      {"read f /home/u/.ssh/id_rsa", "read ~/.ssh/id_rsa refused by deny_read = ~/.ssh (t.ini:2)",
	       "allow_read = /home/u/.ssh/id_rsa"},
	      {"read d /home/u/.ssh", "read ~/.ssh refused by deny_read = ~/.ssh (t.ini:2)", ""},
	      {"create - /home/u/w/x",
	       "create ~/w/x refused by deny_write = /home/u/w/x (command line): ask ops", ""},
	      {"delete d /home/u", "delete ~ refused: the root of allow_write = /home/u (t.ini:4)", ""},
	      {"metadata f /tmp/x",
	       "metadata /tmp/x refused by allow_own = /tmp (t.ini:5): not made by this session",
	       "allow_write = /tmp/x"},
	      {"delete f /tmp/x",
	       "delete /tmp/x refused by allow_own = /tmp (t.ini:5): not made by this session",
	       "allow_write = /tmp"},
	      {"exec f /usr/bin/docker", "exec /usr/bin/docker refused by deny = /usr/bin/docker (t.ini:6)",
	       ""},
	      {"create - /home/u/.git/hooks/x",
	       "create ~/.git/hooks/x refused by protect_git = /**/.git/hooks (t.ini:7)",
	       "allow_protected = /home/u/.git/hooks/x"},
	      {"write f /home/u/.ssh/x", "write ~/.ssh/x refused by deny_read = ~/.ssh (t.ini:2)",
	       "allow_write = /home/u/.ssh/x"});
}

/* A name that will be another the next time. */
static void passing_names(void **state)
{
	struct fixture *x = fixture_new("allow /usr; allow_write /srv/f");

	(void)state;
	CHECK(x,
	      {"create - /etc/sedpeC1yV", "create /etc/sedpeC1yV refused: no allow_write covers it",
	       "allow_write = /etc"},
	      {"create - /r/index.lock", "create /r/index.lock refused: no allow_write covers it",
	       "allow_write = /r"},
	      {"create - /c/1f6d5d3e-0000-4a3c-8f6e-7d2f1f6d5d3e",
	       "create /c/1f6d5d3e-0000-4a3c-8f6e-7d2f1f6d5d3e refused: no allow_write covers it",
	       "allow_write = /c"},
	      {"create - /c/package.json", "create /c/package.json refused: no allow_write covers it",
	       "allow_write = /c/package.json"},
	      {"create - /c/Makefile", "create /c/Makefile refused: no allow_write covers it",
	       "allow_write = /c/Makefile"},
	      {"create - /sedpeC1yV", "create /sedpeC1yV refused: no allow_write covers it",
	       "allow_write = /sedpeC1yV"});
}

static void refused_by_default(void **state)
{
	struct fixture *x = fixture_new("allow /usr; allow_write /srv/f");

	(void)state;
	CHECK(x, {"write f /etc/x", "write /etc/x refused: no allow_write covers it", "allow_write = /etc/x"},
	      {"create - /etc/x/y", "create /etc/x/y refused: no allow_write covers it",
	       "allow_write = /etc/x/y"},
	      {"mkdir - /etc/x", "create /etc/x refused: no allow_write covers it", "allow_write = /etc/x"},
	      {"rename f /etc/x/y", "rename /etc/x/y refused: no allow_write covers it",
	       "allow_write = /etc/x"},
	      {"delete f /x", "delete /x refused: no allow_write covers it", ""},
	      {"create - /x", "create /x refused: no allow_write covers it", "allow_write = /x"},
	      {"rename f /srv/f", "rename /srv/f refused: the root of allow_write = /srv/f (t.ini:2)",
	       "allow_write = /srv"},
	      {"link f /x", "link /x refused: no allow_write covers it", "allow_write = /x"},
	      {"exec f /bin/sh", "exec /bin/sh refused: no [exec] allow covers it", "allow = /bin/sh"},
	      {"device f /dev/kvm", "device /dev/kvm refused: no allow_device covers it",
	       "allow_device = /dev/kvm"},
	      {"connect f /run/d.sock", "connect /run/d.sock refused: no allow_unix_socket covers it",
	       "allow_unix_socket = /run/d.sock"},
	      {"connect - @bus", "connect @bus refused: no allow_unix_socket covers it",
	       "allow_unix_socket = @bus"},
	      {"connect - @b s", "connect @b s refused: no allow_unix_socket covers it", ""},
	      {"write f @bus", "write @bus refused: no allow_write covers it", ""},
	      {"read f /a/../b", "read /a/../b refused: not a canonical path", ""},
	      {"write f /home/user/x", "write /home/user/x refused: no allow_write covers it",
	       "allow_write = /home/user/x"});
}

static void done_all_the_same(void **state)
{
	char buf[64];

	(void)state;
	assert_string_equal(policy_say_would("write /x refused: no rule", buf, sizeof(buf)),
			    "write /x would be refused: no rule");
	assert_string_equal(policy_say_would("a signal was refused", buf, sizeof(buf)),
			    "a signal would be refused");
	assert_string_equal(policy_say_would("Connection blocked by network policy: x", buf, sizeof(buf)),
			    "Connection would be blocked by network policy: x");
	assert_string_equal(policy_say_would("x", buf, sizeof(buf)), "x");
	policy_say_would("write /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa refused: no rule at all covers it",
			 buf, sizeof(buf));
	assert_true(strlen(buf) < sizeof(buf));
}

static void two_lines(void **state)
{
	struct fixture *x = fixture_new("protect /**/p; deny_read /r; allow_unix_socket /s; deny_read /s/n");

	(void)state;
	CHECK(x,
	      {"write f /w/p", "write /w/p refused by protect = /**/p (t.ini:1)",
	       "allow_write = /w/p and allow_protected = /w/p"},
	      {"connect f /r/s", "connect /r/s refused: no allow_unix_socket covers it", ""},
	      {"connect f /s/n/x", "connect /s/n/x refused by deny_read = /s/n (t.ini:4)",
	       "allow_read = /s/n/x"});
}

static void allowed(void **state)
{
	struct fixture *x = fixture_new("allow_write /w; deny_read /h; allow_read /h/a");

	(void)state;
	CHECK(x, {"write f /w/x", "write /w/x allowed by allow_write = /w (t.ini:1)", ""},
	      {"read f /x", "read /x allowed: no deny_read covers it", ""},
	      {"read f /h/a/x", "read /h/a/x allowed by allow_read = /h/a (t.ini:3)", ""},
	      {"exec f /x", "exec /x allowed: no [exec] deny covers it", ""});
}

static void odd_bytes(void **state)
{
	struct fixture *x = fixture_new("");

	(void)state;
	CHECK(x,
	      {"write f /a\n\x1b[1m\x7f", "write /a\\x0a\\x1b[1m\\x7f refused: no allow_write covers it",
	       "allow_write = /a\\x0a\\x1b\\[1m\\x7f"},
	      {"write f /\xc3\xa4\xff\xc2\x9b\xe2\x80\xae",
	       "write /\xc3\xa4\\xff\\xc2\\x9b\\xe2\\x80\\xae refused: no allow_write covers it",
	       "allow_write = /\xc3\xa4\\xff\\xc2\\x9b\\xe2\\x80\\xae"},
	      {"write f /\xed\xa0\x80\xc0\xaf\xf4\x90\x80\x80\xe2\x82",
	       "write /\\xed\\xa0\\x80\\xc0\\xaf\\xf4\\x90\\x80\\x80\\xe2\\x82 refused: no allow_write "
	       "covers it",
	       "allow_write = /\\xed\\xa0\\x80\\xc0\\xaf\\xf4\\x90\\x80\\x80\\xe2\\x82"},
	      {"write f /$a*?[b\\ #c ;d ", "write /$a*?[b\\ #c ;d  refused: no allow_write covers it",
	       "allow_write = /$$a\\*\\?\\[b\\\\\\ \\#c\\ \\;d\\x20"});
}

static void short_buffers(void **state)
{
	struct fixture *x = fixture_new("deny_read /r");
	static char path[4000];
	char buf[200];
	struct request q = {.access = ACCESS_READ, .type = OBJ_OTHER, .path = path};
	struct verdict v;

	(void)state;
	memset(path, 'a', sizeof(path) - 1);
	memcpy(path, "/r/", 3);
	q.len = strlen(path);
	v = policy_decide(x->p, &q);
	policy_explain(&q, &v, NULL, buf, sizeof(buf));
	assert_non_null(strstr(buf, "aaa... refused by deny_read = /r (t.ini:1)"));
	/* Half a path would allow something else. */
	assert_string_equal(policy_suggest(x->p, &q, &v, buf, sizeof(buf)), "");
	for (size_t size = 1; size < sizeof(buf); size++) {
		memset(buf, '#', sizeof(buf));
		policy_explain(&q, &v, "/r", buf, size);
		assert_true(strlen(buf) < size);
		assert_int_equal(buf[size], '#');
	}
	fixture_free(x);
}

static void text_is_cut_between_characters(void **state)
{
	char buf[64];
	struct text t;

	(void)state;
	text_init(&t, buf, sizeof(buf));
	text_add_shown(&t, "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", 8, 8);
	assert_string_equal(buf, "\xc3\xa4\xc3\xa4...");
	text_init(&t, buf, 6);
	text_add_shown(&t, "abcd\xc3\xa4", 6, 100);
	assert_string_equal(buf, "abcd");
	assert_true(t.cut);
	text_add(&t, "e");
	assert_string_equal(buf, "abcd");
}

/* What is suggested has to name the same path when a policy holds it. */
static void quoted_paths_load_again(void **state)
{
	static const char odd[] = "*?[]\\$~;# -!^a\"'";
	struct config_env env = {.cwd = "/cwd", .home = "/home/u"};

	(void)state;
	for (int i = 0; i < 20000; i++) {
		char path[16] = "/a", line[128], why[128];
		struct path_text p;
		struct text t;

		for (size_t k = 2, n = 2 + random_below(13); k < n; k++)
			path[k] = random_below(3) ? odd[random_below(sizeof(odd) - 1)]
						  : (char)(1 + random_below(255));
		for (char *s = path + 2; *s; s++)
			if (*s == '/')
				*s = '_';
		text_init(&t, line, sizeof(line));
		text_add_quoted(&t, path, strlen(path));
		if (!path_text_expand(&env, line, &p, why, sizeof(why)))
			fail_msg("%s: %s", line, why);
		assert_true(p.literal);
		assert_string_equal(p.path, path);
		free(p.path);
	}
}

static void names_of_accesses(void **state)
{
	static const char *const names[ACCESS_COUNT] = {"read",	  "write",  "create", "create",
							"delete", "rename", "link",   "metadata",
							"exec",	  "device", "connect"};

	(void)state;
	for (int a = 0; a < ACCESS_COUNT; a++)
		assert_string_equal(access_name(a), names[a]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused_by_rules),
		cmocka_unit_test(passing_names),
		cmocka_unit_test(refused_by_default),
		cmocka_unit_test(two_lines),
		cmocka_unit_test(done_all_the_same),
		cmocka_unit_test(allowed),
		cmocka_unit_test(odd_bytes),
		cmocka_unit_test(short_buffers),
		cmocka_unit_test(names_of_accesses),
		cmocka_unit_test(quoted_paths_load_again),
		cmocka_unit_test(text_is_cut_between_characters),
	};

	random_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
