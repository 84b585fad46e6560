#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <jansson.h>

#include "supervisor/jsonw.h"

#define STR(s) (s), sizeof(s) - 1

/* The JSON string that the bytes become, then through a JSON reader and back to the bytes. */
static void check_round_trip(const char *bytes, size_t len, const char *expected)
{
	struct jsonw w;
	char *back = malloc(len * 4 + 1);

	jsonw_init(&w, 1 << 20);
	jsonw_array_begin(&w);
	jsonw_bytes(&w, bytes, len);
	jsonw_array_end(&w);
	assert_true(jsonw_ok(&w));
	const char *text = jsonw_text(&w);
	if (expected)
		assert_string_equal(text, expected);
	for (const char *p = text; *p; p++)
		assert_true((unsigned char)*p >= 0x20 && *p != 0x7f);
	json_error_t e;
	json_t *j = json_loads(text, 0, &e);
	assert_non_null(j);
	json_t *v = json_array_get(j, 0);
	ssize_t n = jsonw_unescape(json_string_value(v), json_string_length(v), back);
	assert_int_equal(n, len);
	assert_memory_equal(back, bytes, len);
	json_decref(j);
	jsonw_free(&w);
	free(back);
}

static void test_escapes(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *json;
	} row[] = {
		{STR(""), "[\"\"]"},
		{STR("/etc/passwd"), "[\"/etc/passwd\"]"},
		{STR("a\"b"), "[\"a\\\"b\"]"},
		{STR("a\\b"), "[\"a\\\\\\\\b\"]"},
		{STR("\\x0a"), "[\"\\\\\\\\x0a\"]"},
		{STR("\n"), "[\"\\\\x0a\"]"},
		{STR("a\0b"), "[\"a\\\\x00b\"]"},
		{STR("\033[31m"), "[\"\\\\x1b[31m\"]"},
		{STR("\177"), "[\"\\\\x7f\"]"},
		{STR("\xc2\x85"), "[\"\\\\xc2\\\\x85\"]"}, /* NEL, C1 */
		{STR("\xc2\x9b"), "[\"\\\\xc2\\\\x9b\"]"}, /* CSI, C1 */
		{STR("\xc2\xa0"), "[\"\xc2\xa0\"]"},	   /* first after C1 */
		{STR("\xff"), "[\"\\\\xff\"]"},
		{STR("\x80"), "[\"\\\\x80\"]"},
		{STR("\xc0\xaf"), "[\"\\\\xc0\\\\xaf\"]"}, /* overlong '/' */
		{STR("\xe0\x80\xaf"), "[\"\\\\xe0\\\\x80\\\\xaf\"]"},
		{STR("\xed\xa0\x80"), "[\"\\\\xed\\\\xa0\\\\x80\"]"}, /* surrogate */
		{STR("\xf4\x90\x80\x80"), "[\"\\\\xf4\\\\x90\\\\x80\\\\x80\"]"},
		{STR("\xe2\x82"), "[\"\\\\xe2\\\\x82\"]"}, /* cut short */
		{STR("\xe2\x82\""), "[\"\\\\xe2\\\\x82\\\"\"]"},
		{STR("\xe2\x80\xa8"), "[\"\\\\xe2\\\\x80\\\\xa8\"]"}, /* U+2028 */
		{STR("\xe2\x80\xa9"), "[\"\\\\xe2\\\\x80\\\\xa9\"]"}, /* U+2029 */
		{STR("\xe2\x80\xae"), "[\"\\\\xe2\\\\x80\\\\xae\"]"}, /* U+202E */
		{STR("\xe2\x80\x8f"), "[\"\\\\xe2\\\\x80\\\\x8f\"]"}, /* U+200F */
		{STR("\xd8\x9c"), "[\"\\\\xd8\\\\x9c\"]"},	      /* U+061C */
		{STR("\xe2\x81\xa6"), "[\"\\\\xe2\\\\x81\\\\xa6\"]"}, /* U+2066 */
		{STR("\xe2\x81\xa9"), "[\"\\\\xe2\\\\x81\\\\xa9\"]"}, /* U+2069 */
		{STR("\xe2\x82\xac"), "[\"\xe2\x82\xac\"]"},	      /* euro sign */
		{STR("\xf0\x9f\x98\x80"), "[\"\xf0\x9f\x98\x80\"]"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		check_round_trip(row[i].bytes, row[i].len, row[i].json);
}

static void test_random_bytes_come_back(void **state)
{
	static const char *const piece[] = {"\\", "\\\\",     "\\x",  "x41",  "\"",
					    "\n", "\xe2\x80", "\xa8", "\xc2", "\x9b"};
	char buf[64];

	srand(1);
	for (int round = 0; round < 5000; round++) {
		size_t len = 0;
		while (len < 40 && rand() % 12) {
			const char *p = piece[rand() % 10];
			if (rand() % 2)
				buf[len++] = (char)rand();
			else
				len = (size_t)(stpcpy(buf + len, p) - buf);
		}
		check_round_trip(buf, len, NULL);
	}
}

static void test_unescape_refuses_other_texts(void **state)
{
	static const char *const bad[] = {"\\",	   "a\\",   "\\n",   "\\x",    "\\x4",
					  "\\xG0", "\\x4G", "\\xAB", "\\u0041"};
	char out[16];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(jsonw_unescape(bad[i], strlen(bad[i]), out), -1);
	assert_int_equal(jsonw_unescape(STR("\\x4"), out), -1);
	assert_int_equal(jsonw_unescape(STR("\\\\x41\\x41"), out), 5);
	assert_memory_equal(out, "\\x41A", 5);
}

static void test_structure(void **state)
{
	struct jsonw w;

	jsonw_init(&w, 4096);
	jsonw_object_begin(&w);
	jsonw_member_str(&w, "a", "x");
	jsonw_member_str(&w, "absent", NULL);
	jsonw_member_uint(&w, "n", UINT64_MAX);
	jsonw_key(&w, "list");
	jsonw_array_begin(&w);
	jsonw_int(&w, -5);
	jsonw_bool(&w, true);
	jsonw_object_begin(&w);
	jsonw_object_end(&w);
	jsonw_array_end(&w);
	jsonw_key(&w, "parts");
	jsonw_string_begin(&w);
	jsonw_string_add(&w, STR("k"));
	jsonw_string_add(&w, STR(" = \n"));
	jsonw_string_end(&w);
	jsonw_members(&w, STR("\"m\":1,\n\"k\":2"));
	jsonw_members(&w, STR(""));
	jsonw_member_bytes(&w, "e", STR(""));
	jsonw_object_end(&w);
	assert_string_equal(jsonw_text(&w), "{\"a\":\"x\",\"n\":18446744073709551615,\"list\":[-5,true,{}],"
					    "\"parts\":\"k = \\\\x0a\",\"m\":1, \"k\":2,\"e\":\"\"}");
	jsonw_reset(&w);
	jsonw_member_uint(&w, "bare", 1);
	jsonw_member_uint(&w, "members", 2);
	assert_string_equal(jsonw_text(&w), "\"bare\":1,\"members\":2");
	jsonw_free(&w);
}

static void test_limit_is_sticky_until_reset(void **state)
{
	struct jsonw w;

	jsonw_init(&w, 16);
	jsonw_bytes(&w, STR("0123456789abcdef"));
	assert_false(jsonw_ok(&w));
	jsonw_uint(&w, 1);
	assert_null(jsonw_text(&w));
	jsonw_reset(&w);
	jsonw_bytes(&w, STR("0123456789abc")); /* 15 with the quotes, and the NUL */
	assert_true(jsonw_ok(&w));
	assert_string_equal(jsonw_text(&w), "\"0123456789abc\"");
	jsonw_free(&w);
}

static void test_time(void **state)
{
	static const struct {
		struct timespec ts;
		const char *text;
	} row[] = {
		{{0, 0}, "\"1970-01-01T00:00:00.000000Z\""},
		{{951782399, 999999999}, "\"2000-02-28T23:59:59.999999Z\""},
		{{951782400, 0}, "\"2000-02-29T00:00:00.000000Z\""},
		{{1709251199, 1000}, "\"2024-02-29T23:59:59.000001Z\""},
		{{1709251200, 0}, "\"2024-03-01T00:00:00.000000Z\""},
		{{4107542400, 0}, "\"2100-03-01T00:00:00.000000Z\""},
		{{1798761599, 5000000}, "\"2026-12-31T23:59:59.005000Z\""},
	};
	struct jsonw w;

	jsonw_init(&w, 4096);
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		jsonw_reset(&w);
		jsonw_time(&w, &row[i].ts);
		assert_string_equal(jsonw_text(&w), row[i].text);
	}
	for (time_t t = 0; t < 5000000000; t += 86400 * 13 + 3601) {
		struct tm tm;
		char expected[64];
		gmtime_r(&t, &tm);
		strftime(expected, sizeof(expected), "\"%Y-%m-%dT%H:%M:%S.000000Z\"", &tm);
		jsonw_reset(&w);
		jsonw_time(&w, &(struct timespec){t, 0});
		assert_string_equal(jsonw_text(&w), expected);
	}
	jsonw_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_random_bytes_come_back),
		cmocka_unit_test(test_unescape_refuses_other_texts),
		cmocka_unit_test(test_structure),
		cmocka_unit_test(test_limit_is_sticky_until_reset),
		cmocka_unit_test(test_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
