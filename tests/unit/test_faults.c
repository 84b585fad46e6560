/* The list of faults. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "policy/faults.h"

static void test_form(void **state)
{
	struct faults f = {0};

	faults_add(&f, "a.ini", 3, "unknown key '%s'", "x");
	faults_add(&f, "a.ini", 0, "empty");
	faults_add(&f, NULL, 0, "out of %s", "memory");
	assert_int_equal(faults_count(&f), 3);
	assert_int_equal(faults_kept(&f), 3);
	assert_string_equal(f.text[0], "a.ini:3: unknown key 'x'");
	assert_string_equal(f.text[1], "a.ini: empty");
	assert_string_equal(f.text[2], "out of memory");
	faults_free(&f);
	assert_int_equal(faults_count(&f), 0);
	assert_int_equal(faults_kept(&f), 0);
}

static void test_escapes(void **state)
{
	static const struct {
		const char *in, *out;
	} rows[] = {
		{"plain \\x41 text", "plain \\x41 text"},
		{"a\nb\tc\x1b[2J\x7f", "a\\x0ab\\x09c\\x1b[2J\\x7f"},
		{"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
		/* A C1 control in UTF-8 and as a byte; overlong, surrogate, cut off, beyond the end. */
		{"\xc2\x9b"
		 "1m",
		 "\\xc2\\x9b1m"},
		{"\x9b"
		 "1m",
		 "\\x9b1m"},
		{"\xc0\xaf", "\\xc0\\xaf"},
		{"\xe0\x80\xaf", "\\xe0\\x80\\xaf"},
		{"\xed\xa0\x80", "\\xed\\xa0\\x80"},
		{"\xe2\x82", "\\xe2\\x82"},
		{"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct faults f = {0};

		faults_add(&f, NULL, 0, "%s", rows[i].in);
		assert_string_equal(f.text[0], rows[i].out);
		faults_free(&f);
	}
}

static void test_escapes_file_name(void **state)
{
	struct faults f = {0};

	faults_add(&f, "x\n.ini", 1, "t");
	assert_string_equal(f.text[0], "x\\x0a.ini:1: t");
	faults_free(&f);
}

static void test_keeps_some_counts_all(void **state)
{
	struct faults f = {0};

	for (int i = 0; i < FAULTS_KEPT + 20; i++)
		faults_add(&f, "f", i + 1, "n");
	assert_int_equal(faults_count(&f), FAULTS_KEPT + 20);
	assert_int_equal(faults_kept(&f), FAULTS_KEPT);
	assert_string_equal(f.text[FAULTS_KEPT - 1], "f:100: n");
	faults_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_form),
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_escapes_file_name),
		cmocka_unit_test(test_keeps_some_counts_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
