/* Paths as written to absolute patterns and back. */
#include "tests/unit/config_fixture.h"
#include "policy/path_text.h"

/* Text, cwd "/w", home "/home/u" -> path; kind: l literal, p pattern, d pattern of directories; or the fault. */
static const struct {
	const char *text;
	char kind;
	const char *want;
} paths[] = {
	{"/a/b", 'l', "/a/b"},
	{"/", 'l', "/"},
	{"//", 'l', "/"},
	{".", 'l', "/w"},
	{"..", 'l', "/"},
	{"../../..", 'l', "/"},
	{"a", 'l', "/w/a"},
	{"./a//b/./c/../d", 'l', "/w/a/b/d"},
	{"/a/", 'l', "/a"},
	{"/a/**", 'l', "/a"},
	{"/a/**/", 'l', "/a"},
	{"/a/**/**", 'l', "/a"},
	{"**", 'l', "/w"},
	{"/**", 'l', "/"},
	{"~", 'l', "/home/u"},
	{"~/", 'l', "/home/u"},
	{"~/.ssh", 'l', "/home/u/.ssh"},
	{"\\~", 'l', "/w/~"},
	{"a~", 'l', "/w/a~"},
	{"$ABS/x", 'l', "/abs/x"},
	{"${ABS}x", 'l', "/absx"},
	{"$REL/x", 'l', "/w/sub/dir/x"},
	{"x$$y", 'l', "/w/x$y"},
	{"x\\$ABS", 'l', "/w/x$ABS"},
	{"/$STAR", 'l', "/a*b"},
	{"/$STAR/*", 'p', "/a\\*b/*"},
	{"/x[$STAR]", 'p', "/x[a*b]"},
	{"/a\\*b", 'l', "/a*b"},
	{"/a\\\\b", 'l', "/a\\b"},
	{"/a\\qb", 'l', "/aqb"},
	{"/a\\x20", 'l', "/a "},
	{"/a\\x0Ab", 'l', "/a\nb"},
	{"/a\\x2a", 'l', "/a*"},
	{"/a\\x2a/*", 'p', "/a\\*/*"},
	{"/a]b", 'l', "/a]b"},
	{"/a{b,c}", 'l', "/a{b,c}"},
	{"*.log", 'p', "/w/*.log"},
	{"/a/?", 'p', "/a/?"},
	{"/a/[a-z]x", 'p', "/a/[a-z]x"},
	{"/a/[]x]", 'p', "/a/[]x]"},
	{"/a/[!\\]]", 'p', "/a/[!\\]]"},
	{"/a/[a\\-z]", 'p', "/a/[a\\-z]"},
	{"**/.env", 'p', "/**/.env"},
	{"./**/.env", 'p', "/w/**/.env"},
	{"/**/*.pem", 'p', "/**/*.pem"},
	{"**/build/**", 'd', "/**/build"},
	{"**/build/", 'd', "/**/build"},
	{"x/*/", 'd', "/w/x/*"},
	{"a/**/b", 'p', "/w/a/**/b"},
	{"/\\**", 'p', "/\\**"},
	{"/a/x/../*", 'p', "/a/*"},
	{"~bob/x", 'f', "'~' stands before '/' only; write the home directory of another user out"},
	{"$NONE", 'f', "the variable NONE is not set"},
	{"/x/${NONE}", 'f', "the variable NONE is not set"},
	{"$EMPTY/x", 'f', "the variable EMPTY is empty"},
	{"$", 'f', "'$' stands before NAME or {NAME}; write '$$' for the character"},
	{"$1", 'f', "'$' stands before NAME or {NAME}; write '$$' for the character"},
	{"${ABS", 'f', "'$' stands before NAME or {NAME}; write '$$' for the character"},
	{"${ABS:-x}", 'f', "'$' stands before NAME or {NAME}; write '$$' for the character"},
	{"/a\\", 'f', "a backslash at the end"},
	{"/a\\x4", 'f', "\\x needs two hexadecimal digits, not 00"},
	{"/a\\x00", 'f', "\\x needs two hexadecimal digits, not 00"},
	{"/a/*/..", 'f', "'..' after a pattern"},
	{"/a/**/../b", 'f', "'..' after a pattern"},
	{"**/..", 'f', "'..' after a pattern"},
	{"**/", 'f', "names everything; write '/' if that is meant"},
	{"**/**", 'f', "names everything; write '/' if that is meant"},
	{"\"/a b\"", 'f', "quotes are not needed; leave them out"},
	/* Malformed patterns: the texts are the matcher's own. */
	{"/a/[b", 'f', NULL},
	{"/a/[b/c]", 'f', NULL},
	{"/a/[]", 'f', NULL},
	{"/a/[!]", 'f', NULL},
	{"/a/[z-a]", 'f', NULL},
	{"/a/[[:alpha:]]", 'f', NULL},
	{"/a**", 'f', NULL},
	{"/**a", 'f', NULL},
	{"/***", 'f', NULL},
	{"/a/***/b", 'f', NULL},
};

static void test_paths(void **state)
{
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct path_text p;
		char why[256] = "";
		bool ok = path_text_expand(&env, paths[i].text, &p, why, sizeof(why));
		char kind = !ok ? 'f' : p.literal ? 'l' : p.dir_only ? 'd' : 'p';

		if (kind != paths[i].kind || (paths[i].want && strcmp(ok ? p.path : why, paths[i].want) != 0))
			fail_msg("%s: %c %s", paths[i].text, kind, ok ? p.path : why);
		free(p.path);
	}
}

/* Any path in any form comes back from its own text. */
static void test_paths_back(void **state)
{
	static const char *const more[] = {
		"/ ",	      "/a ;b #c", "/a\t#\x01\x7f\xff", "/x*?[y]\\$z", "/~", "/'q'", "/a, b",
		"/a:/b:c:.d", "/{a,b}",	  "/dev/pci-0000:00",  "/a b /c"};

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct path_text p, again;
		char why[256], *text;

		if (!path_text_expand(&env, paths[i].text, &p, why, sizeof(why)))
			continue;
		text = path_text_print(p.path, p.literal, p.dir_only);
		assert_true(path_text_expand(&env, text, &again, why, sizeof(why)));
		assert_string_equal(p.path, again.path);
		assert_int_equal(p.literal, again.literal);
		assert_int_equal(p.dir_only, again.dir_only);
		free(text);
		free(p.path);
		free(again.path);
	}
	for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++) {
		char *text = path_text_print(more[i], true, false), *ini;
		struct config *c;

		assert_true(asprintf(&ini, "[filesystem]\nallow_write = %s\n", text) > 0);
		c = load_good(ini);
		assert_string_equal(c->rules[0].path, more[i]);
		config_free(c);
		free(ini);
		free(text);
	}
}

static void test_path_places(void **state)
{
	static const struct config_env odd = {.cwd = "/w/a[1]*", .home = "/h?"}, none = {0};
	static const struct {
		const struct config_env *env;
		const char *text, *want;
	} rows[] = {
		{&odd, ".", "/w/a[1]*"},  {&odd, "*.c", "/w/a\\[1]\\*/*.c"},
		{&odd, "~/*", "/h\\?/*"}, {&odd, "$ABS", NULL},
		{&none, "x", NULL},	  {&none, "~/x", NULL},
		{&none, "/x", "/x"},	  {&none, "**/x", "/**/x"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct path_text p;
		char why[256];
		bool ok = path_text_expand(rows[i].env, rows[i].text, &p, why, sizeof(why));

		assert_int_equal(ok, rows[i].want != NULL);
		if (ok)
			assert_string_equal(p.path, rows[i].want);
		free(p.path);
	}
}

static void test_path_lengths(void **state)
{
	static char text[5 * PATH_TEXT_MAX];
	struct path_text p;
	char why[256];

	memset(text, 'a', sizeof(text));
	text[0] = '/';
	text[PATH_TEXT_MAX] = '\0';
	assert_true(path_text_expand(&env, text, &p, why, sizeof(why)));
	free(p.path);
	text[PATH_TEXT_MAX] = 'a';
	text[PATH_TEXT_MAX + 1] = '\0';
	assert_false(path_text_expand(&env, text, &p, why, sizeof(why)));
	assert_string_equal(why, "longer than 4095 bytes");
	/* Longer than a line of inih by far, in a file. */
	snprintf(text, sizeof(text), "[filesystem]\nallow_write = /%0*d\n", PATH_TEXT_MAX - 1, 0);
	config_free(load_good(text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_paths_back),
		cmocka_unit_test(test_path_places),
		cmocka_unit_test(test_path_lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
