/* The rules of precedence one by one. "srt N" is the number of a behaviour that users of srt rely on. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/policy_fixture.h"

struct row {
	const char *request, *verdict;
};

#define CHECK(rules, ...) check_rows(__LINE__, rules, (const struct row[]){__VA_ARGS__, {NULL, NULL}})

static void check_rows(int line, const char *rules, const struct row *row)
{
	struct fixture *x = fixture_new(rules);
	char got[64];

	if (!x->p)
		fail_msg("line %d: %s", line, x->faults.text[0]);
	for (; row->request; row++) {
		struct request q = request_parse(row->request);
		struct verdict v = policy_decide(x->p, &q);

		if (strcmp(verdict_print(&v, got, sizeof(got)), row->verdict) != 0)
			fail_msg("line %d: %s: %s, expected %s", line, row->request, got, row->verdict);
	}
	fixture_free(x);
}

static void no_rules(void **state)
{
	(void)state;
	CHECK("", {"read f /etc/passwd", "allow"}, {"read d /", "allow"}, {"exec f /bin/sh", "allow"},
	      {"write f /x", "deny default"}, {"create - /x", "deny default"}, {"mkdir - /x", "deny default"},
	      {"delete f /x", "deny default"}, {"rename f /x", "deny default"}, {"link f /x", "deny default"},
	      {"metadata f /x", "deny default"}, {"device f /dev/fuse", "deny default"},
	      {"connect f /run/x", "deny default"}, {"connect - @x", "deny default"});
}

static void zero_is_deny(void **state)
{
	struct verdict v = {0};
	struct fixture *x = fixture_new("allow_write /");
	struct request q = {.access = ACCESS_COUNT, .path = "/x", .len = 2};

	(void)state;
	assert_int_equal(v.decision, VERDICT_DENY);
	assert_int_equal(policy_decide(x->p, &q).decision, VERDICT_DENY);
	fixture_free(x);
}

static void not_canonical_is_refused(void **state)
{
	(void)state;
	CHECK("allow_write /; allow_own /; allow_device /; allow_unix_socket /", {"read f x", "deny default"},
	      {"read f /a/../b", "deny default"}, {"write f /a/", "deny default"},
	      {"mkdir - //a", "deny default"}, {"connect f x", "deny default"},
	      {"write f @x", "deny default"});
}

static void read_rules(void **state)
{
	(void)state;
	CHECK("deny_read /h; allow_read /h/pub; deny_read /h/pub/key", {"read d /h", "deny deny_read:1"},
	      {"read f /h/x", "deny deny_read:1"}, {"read d /h/pub", "allow"}, {"read f /h/pub/x", "allow"},
	      {"read f /h/pub/key", "deny deny_read:3"}, {"read f /h/pub/key/x", "deny deny_read:3"},
	      {"read f /hh", "allow"}, {"read f /H/x", "deny deny_read:1"},
	      {"read f /h/PUB/x", "deny deny_read:1"});
	/* A tie denies. */
	CHECK("deny_read /h; allow_read /h", {"read d /h", "deny deny_read:1"},
	      {"read f /h/x", "deny deny_read:1"});
	/* A deny that names the file yields only to an allow that does. */
	CHECK("deny_read /p/key; allow_read /p", {"read f /p/key", "deny deny_read:1"},
	      {"read f /p/x", "allow"});
	CHECK("deny_read /p/key; allow_read /p/key", {"read f /p/key", "allow"},
	      {"read d /p/key", "deny deny_read:1"});
	CHECK("deny_read /**/.env; allow_read /p", {"read f /p/.env", "deny deny_read:1"},
	      {"read - /p/.env", "deny deny_read:1"}, {"read d /p/.env", "deny deny_read:1"});
	CHECK("deny_read /**/.env; allow_read /p/**/.env", {"read f /p/a/.env", "allow"},
	      {"read f /q/.env", "deny deny_read:1"}, {"read f /p/a/.ENV", "deny deny_read:1"});
	CHECK("deny_read /**/.env; allow_write /p/.env", {"read f /p/.env", "allow"});
	/* The longest match of a glob counts, on both sides. */
	CHECK("deny_read /**/a; allow_read /**/b", {"read f /a/b/x", "allow"},
	      {"read f /b/a/x", "deny deny_read:1"}, {"read f /a/b/a/x", "deny deny_read:1"},
	      {"read f /b/a/b/x", "allow"});
	/* A deny of the file and another of its directory: lifting the one is not lifting the other. */
	CHECK("deny_read /h; deny_read /h/a/key; allow_read /h/a", {"read f /h/a/key", "deny deny_read:2"},
	      {"read f /h/a/x", "allow"});
	/* allow_own re-opens nothing. */
	CHECK("deny_read /h; allow_own /h/t", {"read f /h/t/x", "deny deny_read:1"},
	      {"create - /h/t/x", "deny deny_read:1"});
}

static bool hides(const struct fixture *x, const char *request)
{
	struct request q = request_parse(request);
	struct verdict v;

	return policy_hides(x->p, &q, &v);
}

static void what_looks_absent(void **state)
{
	struct fixture *x =
		fixture_new("deny_read /h; allow_read /h/a/pub; deny_read /g/; deny_read /**/.env; "
			    "deny_read /k; allow_write /k/w; deny_read /p; allow_read /p/**/*.pub; "
			    "deny_read /o; allow_own /o/t");
	static const char *const hidden[] = {
		"f /h/x", "d /h/b", "d /h/a/c", "f /h/a", "d /g", "f /g/x", "f /x/.env", "d /.env",
		"f /k/x", "f /p/x", "f /p/a/x", "d /o/t", "d /o", "f /H/a", "d /H/a",	 "f /h/a/pubx"};
	static const char *const seen[] = {"d /",	 "d /h",       "d /h/a", "d /h/a/pub", "f /h/a/pub/x",
					   "f /g",	 "d /k",       "d /k/w", "f /k/w/x",   "d /p",
					   "d /p/a/b/c", "f /p/a.pub", "f /x"};
	char request[64];

	(void)state;
	for (size_t i = 0; i < sizeof(hidden) / sizeof(*hidden); i++) {
		snprintf(request, sizeof(request), "read %s", hidden[i]);
		if (!hides(x, request))
			fail_msg("%s is seen", request);
	}
	for (size_t i = 0; i < sizeof(seen) / sizeof(*seen); i++) {
		snprintf(request, sizeof(request), "read %s", seen[i]);
		if (hides(x, request))
			fail_msg("%s is hidden", request);
	}
	fixture_free(x);
	/* A rule that re-opens nothing more. */
	x = fixture_new("deny_read /; allow_read /w");
	assert_true(hides(x, "read d /etc") && hides(x, "read f /x") && !hides(x, "read d /"));
	fixture_free(x);
}

static void write_rules(void **state)
{
	(void)state;
	CHECK("allow_write /w; deny_write /w/prod", {"write f /w/a", "allow"}, {"create - /w/a", "allow"},
	      {"mkdir - /w/a", "allow"}, {"delete d /w/a", "allow"}, {"rename f /w/a", "allow"},
	      {"link f /w/a", "allow"}, {"metadata f /w/a", "allow"},
	      {"write f /w/prod", "deny deny_write:2"}, {"create - /w/PROD/x", "deny deny_write:2"},
	      {"write f /v", "deny default"}, {"write f /W/a", "deny default"});
	/* deny_write wins at any anchor, above and below. */
	CHECK("deny_write /w; allow_write /w/a", {"write f /w/a/x", "deny deny_write:1"});
	CHECK("deny_write /w/a; allow_write /w/a", {"write f /w/a", "deny deny_write:1"});
	/* What may not be read may not be written, unless a more specific allow_write says so. */
	CHECK("allow_write /w; deny_read /w/key", {"write f /w/key", "deny deny_read:2"},
	      {"rename f /w/key", "deny deny_read:2"}, {"link f /w/key", "deny deny_read:2"},
	      {"create - /w/key", "deny deny_read:2"}, {"delete f /w/key", "deny deny_read:2"});
	CHECK("deny_read /h; allow_write /h/w", {"write f /h/w/x", "allow"}, {"read f /h/w/x", "allow"},
	      {"write f /h/x", "deny deny_read:1"}, {"read f /h/x", "deny deny_read:1"});
	/* A read re-opened by allow_read does not make anything writable. */
	CHECK("deny_read /h; allow_read /h/r", {"write f /h/r/x", "deny default"});
}

static void own_rules(void **state)
{
	(void)state;
	CHECK("allow_own /tmp; allow_write /tmp/w; deny_write /tmp/no", {"create - /tmp/x", "allow"},
	      {"mkdir - /tmp/x", "allow"}, {"create - /tmp/x/y", "allow"},
	      {"write f /tmp/x", "own allow_own:1"}, {"delete d /tmp/x", "own allow_own:1"},
	      {"rename f /tmp/x", "own allow_own:1"}, {"metadata f /tmp/x", "own allow_own:1"},
	      {"link f /tmp/x", "own allow_own:1"}, {"write f /tmp/w/x", "allow"},
	      {"create - /tmp/no", "deny deny_write:3"}, {"write f /tmp/no/x", "deny deny_write:3"});
	/* The root itself. */
	CHECK("allow_own /tmp", {"metadata d /tmp", "deny allow_own:1"},
	      {"delete d /tmp", "deny allow_own:1"}, {"rename d /tmp", "deny allow_own:1"},
	      {"mkdir - /tmp", "deny allow_own:1"}, {"create - /tmp", "deny allow_own:1"},
	      {"write f /tmp", "deny allow_own:1"});
	CHECK("allow_own /w/o; allow_write /w", {"rename d /w/o", "allow"}, {"metadata d /w/o", "allow"});
	CHECK("allow_own /tmp/s*", {"mkdir - /tmp/s1", "allow"}, {"delete d /tmp/s1", "own allow_own:1"},
	      {"mkdir - /tmp/t1", "deny default"});
}

static void roots(void **state)
{
	(void)state;
	CHECK("allow_write /w", {"delete d /w", "deny allow_write:1"}, {"rename d /w", "deny allow_write:1"},
	      {"metadata d /w", "allow"}, {"mkdir - /w", "allow"}, {"create - /w", "allow"},
	      {"write f /w", "allow"}, {"delete f /w/x", "allow"});
	CHECK("allow_write /w/f", {"write f /w/f", "allow"}, {"rename f /w/f", "deny allow_write:1"},
	      {"create - /w/f.tmp", "deny default"});
	/* Strictly inside another it is an entry like others. */
	CHECK("allow_write /w/a; allow_write /w", {"delete d /w/a", "allow"},
	      {"delete d /w", "deny allow_write:2"});
	CHECK("allow_write /w/a/b; allow_write /w/*", {"rename d /w/a/b", "allow"},
	      {"rename d /w/a", "allow"}, {"rename d /w", "deny default"});
	CHECK("allow_write /", {"delete d /", "deny allow_write:1"}, {"delete f /x", "allow"});
	/* What only directories match is no root for a file. */
	CHECK("allow_write /w/", {"write f /w", "deny default"}, {"metadata d /w", "allow"},
	      {"mkdir - /w", "allow"}, {"write f /w/x", "allow"});
}

static void missing_ancestors(void **state)
{
	(void)state;
	CHECK("allow_write /a/b/c", {"mkdir - /a", "allow"}, {"mkdir - /a/b", "allow"},
	      {"mkdir - /a/x", "deny default"}, {"create - /a/b", "deny default"},
	      {"metadata d /a/b", "deny default"}, {"delete d /a/b", "deny default"},
	      {"mkdir - /A", "deny default"});
	CHECK("allow_write /a/b/c; deny_write /a/b; deny_read /r; allow_write /r/x/w; protect /**/p; "
	      "allow_write /p/w",
	      {"mkdir - /a", "allow"}, {"mkdir - /a/b", "deny deny_write:2"},
	      {"mkdir - /r/x", "deny deny_read:3"}, {"mkdir - /p", "deny protect:5"});
	CHECK("allow_write /a/*/c; allow_own /o/p/q", {"mkdir - /a", "deny default"},
	      {"mkdir - /o/p", "deny default"});
	CHECK("allow_own /t; allow_write /t/a/w", {"mkdir - /t", "allow"}, {"mkdir - /t/a", "allow"},
	      {"metadata d /t/a", "own allow_own:1"});
}

static void protected_names(void **state)
{
	(void)state;
	CHECK("allow_write /w; protect /**/.bashrc; protect /**/.vscode; allow_protected /w/ok/.vscode",
	      {"write f /w/.bashrc", "deny protect:2"}, {"create - /w/a/.BashRC", "deny protect:2"},
	      {"delete f /w/.bashrc", "deny protect:2"}, {"mkdir - /w/.vscode", "deny protect:3"},
	      {"create - /w/.vscode/x", "deny protect:3"}, {"read f /w/.bashrc", "allow"},
	      {"write f /w/ok/.vscode/x", "allow"}, {"write f /w/ok/.VSCODE/x", "deny protect:3"},
	      {"write f /w/ok/.vscode/a/.vscode/x", "deny protect:3"},
	      {"write f /w/ok/.vscode/.bashrc", "deny protect:2"}, {"write f /w/bashrc", "allow"});
	/* Lifted from the match on, not from above it. */
	CHECK("allow_write /w; protect /**/p; allow_protected /w", {"write f /w/p", "deny protect:2"});
	CHECK("allow_write /w; protect /**/p; allow_protected /w/p/x", {"write f /w/p/x", "allow"},
	      {"write f /w/p/y", "deny protect:2"}, {"mkdir - /w/p", "deny protect:2"});
	CHECK("allow_write /w; protect /**/p; allow_protected /**/p; deny_write /w/p",
	      {"write f /w/p", "deny deny_write:4"});
	/* Order: protected, deny_write, deny_read, allowed. */
	CHECK("protect /w/x; deny_write /w/x; deny_read /w/x", {"write f /w/x", "deny protect:1"});
	CHECK("deny_write /w/x; deny_read /w/x", {"write f /w/x", "deny deny_write:1"});
	CHECK("allow_own /t; protect /**/p; allow_protected /t/p", {"create - /t/p", "allow"},
	      {"write f /t/p", "own allow_own:1"}, {"create - /t/a/p", "deny protect:2"});
}

static void git_names(void **state)
{
	(void)state;
	CHECK("allow_write /w; allow_own /t; protect_git /**/.git/hooks; protect_git /**/.git/config; "
	      "allow_protected /w/p/.git/config; protect /**/.vscode; deny_write /w/d",
	      {"write f /w/.git/config", "git 7 allow"}, {"create - /w/a/.GIT/Hooks/x", "git 9 allow"},
	      {"create - /t/.git/config", "git 7 allow"}, {"write f /t/.git/config", "git 7 own"},
	      {"write f /w/.git/index", "allow"}, {"mkdir - /w/.git", "allow"}, {"rename d /w/.git", "allow"},
	      {"write f /w/p/.git/config", "allow"}, {"write f /w/p/.git/hooks/x", "git 9 allow"},
	      {"create - /w/.git/hooks/.vscode", "deny protect:6"},
	      {"write f /v/.git/config", "deny default"}, {"write f /w/d/.git/config", "deny deny_write:7"},
	      {"read f /w/.git/config", "allow"},
	      /* The innermost is the hardest to own. */
	      {"write f /w/.git/hooks/a/.git/hooks/x", "git 20 allow"},
	      {"write f /w/.git/hooks/a/.git/index", "git 7 allow"});
	CHECK("allow_write /w; protect_git /**/.git/modules/**/hooks",
	      {"write f /w/.git/modules/a/b/hooks/x", "git 7 allow"},
	      {"write f /w/.git/modules/a/b", "allow"});
	/* An open .git is open with all in it, and what is named in one with all in that. */
	CHECK("allow_write /w; protect_git /**/.git/hooks; protect_git /**/.git/modules/**/config; protect "
	      "/**/.vscode; "
	      "allow_protected /w/a/.git; allow_protected /w/b/.git/modules/m",
	      {"delete f /w/a/.git/hooks/x", "allow"}, {"write f /w/a/.git/x/.git/hooks/x", "allow"},
	      {"write f /w/a/.git/.vscode", "deny protect:4"}, {"write f /w/b/.git/hooks/x", "git 9 allow"},
	      {"write f /w/b/.git/modules/m/n/config", "allow"},
	      {"write f /w/b/.git/modules/o/config", "git 9 allow"},
	      {"write f /w/.git/hooks/x", "git 7 allow"});
	/* Without a .git there is nothing to own. */
	CHECK("allow_write /w; protect_git /**/hooks", {"write f /w/hooks", "deny protect_git:2"});
	CHECK("allow_write /w; protect_git /**/.git", {"write f /w/.git", "git 7 allow"});
}

static void exec_rules(void **state)
{
	(void)state;
	CHECK("deny /usr/bin/docker; deny_read /h", {"exec f /usr/bin/docker", "deny deny:1"},
	      {"exec f /usr/bin/DOCKER", "deny deny:1"}, {"exec f /bin/sh", "allow"},
	      {"exec f /h/x", "deny deny_read:2"});
	CHECK("allow /usr; deny /usr/local; allow /usr/local/bin; deny_read /usr/secret",
	      {"exec f /usr/bin/x", "allow"}, {"exec f /usr/local/x", "deny deny:2"},
	      {"exec f /usr/local/bin/x", "allow"}, {"exec f /bin/x", "deny default"},
	      {"exec f /usr/secret/x", "deny deny_read:4"});
	CHECK("allow /usr; deny /usr", {"exec f /usr/x", "deny deny:2"});
	CHECK("allow /usr/", {"exec f /usr/bin/x", "allow"}, {"exec f /usr", "deny default"});
}

static void devices_and_sockets(void **state)
{
	(void)state;
	CHECK("allow_device /dev/fuse; allow_unix_socket /run/*.sock; allow_unix_socket =@bus; deny_read "
	      "/run/no.sock",
	      {"device f /dev/fuse", "allow"}, {"device f /dev/sda", "deny default"},
	      {"connect f /run/a.sock", "allow"}, {"connect f /run/a", "deny default"},
	      {"connect f /run/no.sock", "deny deny_read:4"}, {"connect - @bus", "allow"},
	      {"connect - @bus2", "deny default"}, {"connect - @bus/x", "deny default"},
	      {"connect f /@bus", "deny default"});
}

static void srt_write(void **state)
{
	(void)state;
	/* srt 14, 15 */
	CHECK("allow_write /w", {"write f /w/x", "allow"}, {"write f /o/x", "deny default"},
	      {"write f /etc/x", "deny default"}, {"create - /w/x", "allow"}, {"mkdir - /w/x", "allow"},
	      {"rename f /w/x", "allow"}, {"delete f /w/x", "allow"}, {"metadata f /w/x", "allow"});
	/* srt 16 */
	CHECK("allow_write /w; deny_write /w/x", {"write f /w/x", "deny deny_write:2"},
	      {"delete f /w/x", "deny deny_write:2"}, {"rename f /w/x", "deny deny_write:2"},
	      {"create - /w/x", "deny deny_write:2"}, {"write f /w/y", "allow"});
	/* srt 17 */
	CHECK("allow_write /w; deny_write /", {"write f /w/x", "deny deny_write:2"});
	/* srt 18: absent, with an absent directory in between */
	CHECK("allow_write /w; deny_write /w/no/x", {"create - /w/no/x", "deny deny_write:2"},
	      {"mkdir - /w/no", "allow"});
	/* srt 21: the moved directory is for the caller to look into; the name itself stays denied */
	CHECK("allow_write /w; deny_write /w/a/secret", {"create - /w/a/secret", "deny deny_write:2"},
	      {"mkdir - /w/a", "allow"});
	/* srt 23 */
	CHECK("allow_write /w", {"link f /o/x", "deny default"}, {"create - /w/fifo", "allow"});
	/* srt 24 */
	CHECK("deny_read /h; allow_write /h/w; deny_write /h/w/leaf; deny_read /h/w/key; allow_write "
	      "/h/w/key/open",
	      {"write f /h/w/x", "allow"}, {"read f /h/w/x", "allow"},
	      {"write f /h/w/leaf", "deny deny_write:3"}, {"read f /h/w/key/x", "deny deny_read:4"},
	      {"write f /h/w/key/x", "deny deny_read:4"}, {"write f /h/w/key/open/x", "allow"},
	      {"read f /h/other", "deny deny_read:1"});
}

static void srt_read(void **state)
{
	(void)state;
	/* srt 28, 29 */
	CHECK("allow_write /w", {"read f /etc/shadow", "allow"});
	CHECK("deny_read /d; deny_read /f", {"read d /d", "deny deny_read:1"},
	      {"read f /d/x", "deny deny_read:1"}, {"read f /f", "deny deny_read:2"});
	/* srt 30 */
	CHECK("deny_read /d; allow_read /d/pub; deny_read /d/pub/secret", {"read f /d/pub/x", "allow"},
	      {"read f /d/sib", "deny deny_read:1"}, {"read f /d/pub/secret", "deny deny_read:3"});
	/* srt 31 */
	CHECK("deny_read /; allow_read /w; allow_read /usr", {"read f /w/x", "allow"},
	      {"read f /usr/bin/x", "allow"}, {"read f /home/x", "deny deny_read:1"},
	      {"read d /", "deny deny_read:1"});
	/* srt 32 */
	CHECK("allow_write /w; deny_read /w/d", {"write f /w/x", "allow"},
	      {"read f /w/d/x", "deny deny_read:2"});
	/* srt 33 */
	CHECK("deny_read /d/key; allow_read /d; allow_read /lnk", {"read f /d/key", "deny deny_read:1"});
	/* srt 35 */
	CHECK("deny_read /w/**/build/; allow_read /w/a/build/ok; deny_read /w/a/build/ok/[a-c]?",
	      {"read d /w/build", "deny deny_read:1"}, {"read f /w/a/build/x", "deny deny_read:1"},
	      {"read f /w/build", "allow"}, {"read f /w/build-cache/x", "allow"},
	      {"read f /w/a/build/ok/x", "allow"}, {"read f /w/a/build/ok/b1", "deny deny_read:3"},
	      {"read f /w/a/build/ok/d1", "allow"});
	/* srt 36 */
	CHECK("deny_read =/w/[id]*; deny_read /w/{a,b}; deny_read =/w/x/**",
	      {"read f /w/[id]*", "deny deny_read:1"}, {"read f /w/i", "allow"}, {"read f /w/a", "allow"},
	      {"read f /w/{a,b}", "deny deny_read:2"}, {"read f /w/x/y", "allow"},
	      {"read f /w/x/**", "deny deny_read:3"});
}

static void srt_protected(void **state)
{
	static const char rules[] = "allow_write /w; protect /**/.gitconfig; protect /**/.gitmodules; "
				    "protect /**/.bashrc; protect /**/.mcp.json; "
				    "protect /**/.vscode; protect /**/.claude/commands; protect_git "
				    "/**/.git/hooks; protect_git /**/.git/config; "
				    "protect /**/.claude/settings*.json";

	(void)state;
	/* srt 38, 41, 43 */
	CHECK(rules, {"write f /w/.mcp.json", "deny protect:5"},
	      {"create - /w/.gitmodules", "deny protect:3"}, {"delete f /w/.bashrc", "deny protect:4"},
	      {"read f /w/.bashrc", "allow"}, {"write f /w/a/b/.bashrc", "deny protect:4"},
	      {"mkdir - /w/.claude/commands", "deny protect:7"},
	      {"create - /w/.vscode/tasks.json", "deny protect:6"},
	      {"create - /w/.claude/settings.local.json", "deny protect:10"},
	      {"create - /w/.claude/notes", "allow"}, {"create - /w/bashrc", "allow"},
	      {"mkdir - /w/.claude", "allow"});
	/* srt 39, 41 */
	CHECK(rules, {"create - /w/.git/hooks/pre-commit", "git 7 allow"},
	      {"write f /w/.git/config", "git 7 allow"}, {"create - /w/a/.git/hooks/x", "git 9 allow"},
	      {"create - /w/.git/objects/ab/cd", "allow"}, {"write f /w/.git/index", "allow"},
	      {"rename f /w/.git/HEAD", "allow"}, {"write f /w/.git/refs/heads/m", "allow"});
	/* srt 40 */
	CHECK("allow_write /w; protect_git /**/.git/hooks; protect_git /**/.git/config; allow_protected "
	      "/**/.git/config",
	      {"write f /w/.git/config", "allow"}, {"create - /w/.git/hooks/x", "git 7 allow"});
	/* srt 42: a .git that is a file is protected by a literal rule */
	CHECK("allow_write /w; protect /w/.git", {"read f /w/.git", "allow"},
	      {"write f /w/.git", "deny protect:2"}, {"rename f /w/.git", "deny protect:2"},
	      {"delete f /w/.git", "deny protect:2"});
}

static void same_beneath(void **state)
{
	static const struct {
		const char *rules, *a, *b;
		bool same;
	} t[] = {
		{"deny_read /**/.env", "/w/a", "/w/b", true},
		{"deny_read /**/.env", "/w/a", "/w/.env", false},
		{"allow_write /w; protect_git /**/.git/hooks", "/w/g", "/w/.git", false},
		{"allow_write /w; protect_git /**/.git/hooks", "/w/g", "/w/.GIT", false},
		{"allow_write /w; protect_git /**/.git/hooks", "/w/g", "/w/h/i", true},
		{"allow_write /w; protect_git /**/.git/hooks", "/w/.git", "/w/.git", true},
		{"allow_write /w; protect_git /**/.git/hooks", "/w/.git/refs/a", "/w/.git/refs/b", true},
		{"allow_write /w; protect_git /**/.git/hooks", "/w/.git/hooks/a", "/w/.git/hooks/b", false},
		{"allow_write /w; protect_git /**/.git/modules/**/hooks", "/w/.git/modules/a",
		 "/w/.git/modules/b", false},
		{"deny_read /w/secret/x", "/w/secret", "/w/s2", false},
		{"deny_read /w/secret/x", "/w/s1", "/w/s2", true},
		{"deny_read /w/secret/x", "/w/SECRET", "/w/s2", false},
		{"allow_read /w/secret/x", "/w/SECRET", "/w/s2", true},
		{"deny_read /w/*/secret", "/w/a", "/w/s/a", false},
		{"deny_read /w/*/secret", "/w/a", "/w/b", true},
		{"deny_read /w/*/secret", "/w/s/a", "/w/s/b", true},
		{"deny_read /**/a/b/c", "/w/a/b", "/w/x/b", false},
		{"deny_read /**/a/b/c", "/w/a/x", "/w/x/b", true},
		{"allow_write /w", "/w/a", "/v/a", false},
		{"allow_write /w/a/b", "/w", "/v", false},
		{"allow_write /w/a/b", "/w/a", "/w/c", false},
		{"deny_read /h; allow_read /h/a", "/h/a/x", "/v", true},
		{"deny_read /h; allow_read /h/a", "/h/a/x", "/h/b", false},
		{"protect /**/p; allow_protected /w/p", "/w/p/a", "/w/a", true},
		{"protect /**/p; allow_protected /w/p", "/w/p/a", "/w/q/p", false},
		{"deny_write /w/a; allow_write /w", "/w/a/x", "/w/b", false},
		{"allow /usr; deny /usr/x", "/usr/x/a", "/usr/b", false},
		{"allow_own /tmp", "/tmp/a", "/w", false},
		{"", "/a", "/", true},
		{"", "/a", "/b/../c", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		struct fixture *x = fixture_new(t[i].rules);
		const char *a = t[i].a, *b = t[i].b;

		if (policy_same_beneath(x->p, a, strlen(a), b, strlen(b)) != t[i].same ||
		    policy_same_beneath(x->p, b, strlen(b), a, strlen(a)) != t[i].same)
			fail_msg("%s: %s and %s, expected %d", t[i].rules, a, b, t[i].same);
		fixture_free(x);
	}
}

static void what_is_restricted(void **state)
{
	struct fixture *x = fixture_new("allow_read /a; deny /b"),
		       *y = fixture_new("deny_read /a; allow_unix_socket =@x");

	(void)state;
	assert_false(policy_restricts_reads(x->p));
	assert_true(policy_restricts_exec(x->p));
	assert_true(policy_has(x->p, RULE_ALLOW_READ));
	assert_false(policy_has(x->p, RULE_ALLOW_EXEC));
	assert_true(policy_restricts_reads(y->p));
	assert_false(policy_restricts_exec(y->p));
	assert_true(policy_has(y->p, RULE_UNIX_SOCKET));
	fixture_free(x);
	fixture_free(y);
}

/* The config's own faults must not make a policy of it fail twice, nor a failed policy pass. */
static void faults_are_added(void **state)
{
	struct fixture *x = fixture_new("deny_read /a; deny_read /w/[x");

	(void)state;
	assert_null(x->p);
	assert_int_equal(faults_count(&x->faults), 1);
	assert_string_equal(x->faults.text[0], "t.ini:2: deny_read = /w/[x: [ without ]");
	fixture_free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_rules),
		cmocka_unit_test(zero_is_deny),
		cmocka_unit_test(not_canonical_is_refused),
		cmocka_unit_test(read_rules),
		cmocka_unit_test(what_looks_absent),
		cmocka_unit_test(write_rules),
		cmocka_unit_test(own_rules),
		cmocka_unit_test(roots),
		cmocka_unit_test(missing_ancestors),
		cmocka_unit_test(protected_names),
		cmocka_unit_test(git_names),
		cmocka_unit_test(exec_rules),
		cmocka_unit_test(devices_and_sockets),
		cmocka_unit_test(srt_write),
		cmocka_unit_test(srt_read),
		cmocka_unit_test(srt_protected),
		cmocka_unit_test(same_beneath),
		cmocka_unit_test(what_is_restricted),
		cmocka_unit_test(faults_are_added),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
