/* The shell around inih: every way in which inih reads a line in another way than its writer, once. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/ini_load.h"

/* What the sink got, as "LINE SECTION|KEY|VALUE" rows. */
struct heard {
	char text[65536];
	size_t n;
};

static bool hear_section(void *arg, int line, const char *section)
{
	return strcmp(section, "unknown") != 0;
}

static void hear_setting(void *arg, int line, const char *section, const char *key, const char *value)
{
	struct heard *h = arg;

	h->n += (size_t)snprintf(h->text + h->n, sizeof(h->text) - h->n, "%d %s|%s|%s\n", line, section, key,
				 value);
}

static const struct ini_sink sink = {.section = hear_section, .setting = hear_setting};

static void load(const char *bytes, size_t len, struct heard *h, struct faults *f)
{
	memset(h, 0, sizeof(*h));
	memset(f, 0, sizeof(*f));
	ini_load("f", bytes, len, &sink, h, f);
}

/* Both texts in full: what is heard and, joined by newlines, what is at fault. */
struct row {
	const char *name, *in, *heard, *faults;
};

static void check_row(const struct row *row)
{
	static struct heard h;
	struct faults f;
	char all[4096] = "";

	load(row->in, strlen(row->in), &h, &f);
	for (size_t i = 0; i < faults_kept(&f); i++)
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s\n", f.text[i]);
	if (strcmp(h.text, row->heard) != 0 || strcmp(all, row->faults) != 0)
		fail_msg("%s: heard <%s> faults <%s>", row->name, h.text, all);
	faults_free(&f);
}

static void check_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check_row(&rows[i]);
}

#define CHECK(rows) check_rows(rows, sizeof(rows) / sizeof(*(rows)))

static void test_good(void **state)
{
	static const struct row rows[] = {
		{"empty", "", "", ""},
		{"plain", "[a]\nk = v\n", "2 a|k|v\n", ""},
		{"no newline at the end", "[a]\nk=v", "2 a|k|v\n", ""},
		{"blanks around", "[a]  \nk\t = \t v w \t\n", "2 a|k|v w\n", ""},
		{"comments", "# c\n; c\n[a]\n  # c\n\t; c\nk = v\n#k = w\n", "6 a|k|v\n", ""},
		{"CRLF", "[a]\r\nk = v\r\n\r\n", "2 a|k|v\n", ""},
		{"keys repeat", "[a]\nk = 1\nk = 2\n", "2 a|k|1\n3 a|k|2\n", ""},
		{"sections repeat", "[a]\nk=1\n[b]\nk=2\n[a]\nk=3\n", "2 a|k|1\n4 b|k|2\n6 a|k|3\n", ""},
		{"separators in a value", "[a]\nk = x=y:z\n", "2 a|k|x=y:z\n", ""},
		{"';' and '#' within words", "[a]\nk = a;b#c #1\n", "2 a|k|a;b#c #1\n", ""},
		{"no blank before ';'", "[a]\nk = x\\ \\; y\n", "2 a|k|x\\ \\; y\n", ""},
		{"brackets in a value", "[a]\nk = [x] y\n", "2 a|k|[x] y\n", ""},
		{"not UTF-8", "[a]\nk = \xff\xa0\n", "2 a|k|\xff\xa0\n", ""},
		{"section the sink refuses", "[unknown]\nk = v\n[a]\nk = w\n", "4 a|k|w\n", ""},
	};

	CHECK(rows);
}

static void test_traps(void **state)
{
	static const struct row rows[] = {
		{"inline ;", "[a]\nk = v ; c\n", "",
		 "f:2: k: a comment must stand on a line of its own (in a path write \\; or \\# for the "
		 "character)\n"},
		{"inline #", "[a]\nk = v # c\n", "",
		 "f:2: k: a comment must stand on a line of its own (in a path write \\; or \\# for the "
		 "character)\n"},
		{"inline ; after a tab", "[a]\nk = v\t;\n", "",
		 "f:2: k: a comment must stand on a line of its own (in a path write \\; or \\# for the "
		 "character)\n"},
		{"comment for a value", "[a]\nk = ; c\nk = #c\n", "",
		 "f:2: k: a value cannot begin with ';' or '#'\nf:3: k: a value cannot begin with ';' or "
		 "'#'\n"},
		{"continuation", "[a]\nk = v\n  w\n", "2 a|k|v\n",
		 "f:3: an indented line; settings and sections begin in the first column\n"},
		{"indented setting", "[a]\n k = v\n", "",
		 "f:2: an indented line; settings and sections begin in the first column\n"},
		{"indented section", "[a]\nk = v\n [b]\n", "2 a|k|v\n",
		 "f:3: an indented line; settings and sections begin in the first column\n"},
		{"colon", "[a]\nk : v\nk:v=w\n", "",
		 "f:2: ':' after a key; write 'key = value'\nf:3: ':' after a key; write 'key = value'\n"},
		{"text after ]", "[a] k = v\nx = y\n", "", "f:1: text after the ']' of a section header\n"},
		{"comment after ]", "[a] # c\n", "", "f:1: text after the ']' of a section header\n"},
		{"no ]", "[a\nk = v\n", "", "f:1: a section header without ']'\n"},
		{"no section name", "[]\n", "", "f:1: a section header without a name\n"},
		{"no =", "[a]\nk\n", "", "f:2: a line without '='\n"},
		{"no key", "[a]\n= v\n", "", "f:2: the key is missing before '='\n"},
		{"no value", "[a]\nk =\nk = \t\n", "",
		 "f:2: k: the value is missing\nf:3: k: the value is missing\n"},
		{"no section", "k = v\n", "", "f:1: 'k' stands before any [section]\n"},
		{"byte order mark", "\xef\xbb\xbf[a]\nk = v\n", "",
		 "f:1: a byte order mark; save the file as UTF-8 without it\n"
		 "f:2: 'k' stands before any [section]\n"},
		{"carriage return inside", "[a]\nk = v\rw\n", "",
		 "f:2: k: a control byte; in a path write it as \\xNN\n"},
		{"escape sequence", "[a]\nk = \x1b[1A\n", "",
		 "f:2: k: a control byte; in a path write it as \\xNN\n"},
		{"control byte in a section", "[a\x01]\n", "",
		 "f:1: a control byte; in a path write it as \\xNN\n"},
		{"all at once, good lines still heard", "x\n[a]\nk = v\n:\n[b\nk = w\n[c]\nk = x\n",
		 "3 a|k|v\n8 c|k|x\n",
		 "f:1: a line without '='\nf:4: ':' after a key; write 'key = value'\nf:5: a section header "
		 "without ']'\n"},
	};

	CHECK(rows);
}

static void test_nul(void **state)
{
	static const char in[] = "[a]\nk = v\0w\nk = x\n";
	static struct heard h;
	struct faults f;

	load(in, sizeof(in) - 1, &h, &f);
	assert_string_equal(h.text, "3 a|k|x\n");
	assert_int_equal(faults_count(&f), 1);
	assert_string_equal(f.text[0], "f:2: a NUL byte");
	faults_free(&f);
}

/* Around the length at which inih splits lines, and where the rest would be a comment or another setting. */
static void test_long_values(void **state)
{
	static const char *const tails[] = {"", " =b", ";b", "[b]", "#b"};
	static struct heard h;
	static char in[INI_LINE_MAX + 64], want[INI_LINE_MAX + 64];

	for (size_t len = 170; len < 5000; len += len < 230 ? 1 : 601) {
		for (size_t t = 0; t < sizeof(tails) / sizeof(*tails); t++) {
			struct faults f;

			snprintf(in, sizeof(in), "[a]\nk = %0*d%s\nz = 1\n", (int)len, 0, tails[t]);
			snprintf(want, sizeof(want), "2 a|k|%0*d%s\n3 a|z|1\n", (int)len, 0, tails[t]);
			load(in, strlen(in), &h, &f);
			assert_int_equal(faults_count(&f), 0);
			assert_string_equal(h.text, want);
		}
	}
}

static void test_limits(void **state)
{
	static struct heard h;
	static char in[INI_TEXT_MAX + 2];
	struct faults f;

	snprintf(in, sizeof(in), "[a]\nk = %0*d\nz = 1\n", INI_LINE_MAX - 4, 0);
	load(in, strlen(in), &h, &f);
	assert_int_equal(faults_count(&f), 0);

	snprintf(in, sizeof(in), "[a]\nk = %0*d\nz = 1\n", INI_LINE_MAX - 3, 0);
	load(in, strlen(in), &h, &f);
	assert_string_equal(h.text, "3 a|z|1\n");
	assert_string_equal(f.text[0], "f:2: the line is longer than 20000 bytes");
	faults_free(&f);

	memset(in, '\n', sizeof(in));
	load(in, INI_TEXT_MAX, &h, &f);
	assert_int_equal(faults_count(&f), 0);
	load(in, INI_TEXT_MAX + 1, &h, &f);
	assert_string_equal(f.text[0], "f: larger than 1048576 bytes");
	faults_free(&f);
}

static void test_long_names(void **state)
{
	static const struct row rows[] = {
		{"49 fit",
		 "[1234567890123456789012345678901234567890123456789]"
		 "\n1234567890123456789012345678901234567890123456789 = v\n",
		 "2 "
		 "1234567890123456789012345678901234567890123456789|"
		 "1234567890123456789012345678901234567890123456789|v\n",
		 ""},
		{"section of 50", "[12345678901234567890123456789012345678901234567890]\nk = v\n", "",
		 "f:1: the name of the section is longer than 49 bytes\n"},
		{"key of 50", "[a]\n12345678901234567890123456789012345678901234567890 = v\n", "",
		 "f:2: the key is longer than 49 bytes\n"},
	};

	CHECK(rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),   cmocka_unit_test(test_traps),
		cmocka_unit_test(test_nul),    cmocka_unit_test(test_long_values),
		cmocka_unit_test(test_limits), cmocka_unit_test(test_long_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
