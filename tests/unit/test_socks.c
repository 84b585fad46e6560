/* What clients of SOCKS 5 say. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "policy/socks.h"

#define BYTES(s) (const uint8_t *)(s), sizeof(s) - 1

static void test_greeting(void **state)
{
	bool password;

	assert_int_equal(socks_parse_greeting(BYTES("\5\1\2"), &password), 3);
	assert_true(password);
	assert_int_equal(socks_parse_greeting(BYTES("\5\3\0\1\2rest"), &password), 5);
	assert_true(password);
	assert_int_equal(socks_parse_greeting(BYTES("\5\2\0\1\2"), &password), 4);
	assert_false(password);
	assert_int_equal(socks_parse_greeting(BYTES("\5\0"), &password), 2);
	assert_false(password);
	assert_int_equal(socks_parse_greeting(BYTES(""), &password), 0);
	assert_int_equal(socks_parse_greeting(BYTES("\5"), &password), 0);
	assert_int_equal(socks_parse_greeting(BYTES("\5\2\2"), &password), 0);
	assert_int_equal(socks_parse_greeting(BYTES("\4\1"), &password), -1);
	assert_int_equal(socks_parse_greeting(BYTES("\4"), &password), -1);
}

static void test_login(void **state)
{
	uint8_t longest[SOCKS_MESSAGE_MAX] = {1, 255, [257] = 255, [258] = 'p'};
	struct socks_login l;

	assert_int_equal(socks_parse_login(BYTES("\1\1u\2pwx"), &l), 6);
	assert_int_equal(l.len, 2);
	assert_memory_equal(l.password, "pw", 2);
	assert_int_equal(socks_parse_login(BYTES("\1\0\0"), &l), 3);
	assert_int_equal(l.len, 0);
	for (size_t n = 0; n < 6; n++)
		assert_int_equal(socks_parse_login((const uint8_t *)"\1\1u\2pw", n, &l), 0);
	assert_int_equal(socks_parse_login(BYTES("\5\1u\2pw"), &l), -1);
	for (size_t n = 0; n < sizeof(longest); n++)
		assert_int_equal(socks_parse_login(longest, n, &l), 0);
	assert_int_equal(socks_parse_login(longest, sizeof(longest), &l), sizeof(longest));
	assert_int_equal(l.len, 255);
}

static const struct {
	const char *bytes;
	size_t len;
	int taken;
	enum socks_reply reply;
	const char *host;
	uint16_t port;
} requests[] = {
#define REQUEST(s) s, sizeof(s) - 1
	{REQUEST("\5\1\0\1\177\0\0\1\1\273"), 10, SOCKS_DONE, "127.0.0.1", 443},
	{REQUEST("\5\1\0\3\3a.B\0\120xx"), 10, SOCKS_DONE, "a.b", 80},
	{REQUEST("\5\1\0\3\005127.1\0\120"), 12, SOCKS_DONE, "127.0.0.1", 80},
	{REQUEST("\5\1\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\120"), 22, SOCKS_DONE, "::1", 80},
	{REQUEST("\5\1\0\4\0\0\0\0\0\0\0\0\0\0\377\377\177\0\0\1\0\120"), 22, SOCKS_DONE, "127.0.0.1", 80},
	{REQUEST("\5\1\0\3\0\0\120"), 7, SOCKS_FAILED, NULL, 0},
	{REQUEST("\5\1\0\3\3a\0b\0\120"), 10, SOCKS_FAILED, NULL, 0},
	{REQUEST("\5\1\0\3\3a\nb\0\120"), 10, SOCKS_FAILED, NULL, 0},
	{REQUEST("\5\1\0\3\3a.b\0\0"), 10, SOCKS_FAILED, NULL, 0},
	{REQUEST("\5\2\0\3\3a.b\0\120"), 10, SOCKS_NO_SUCH_COMMAND, NULL, 0},
	{REQUEST("\5\3\0\1\1\1\1\1\0\120"), 10, SOCKS_NO_SUCH_COMMAND, NULL, 0},
	{REQUEST("\5\1\0\2\1\1\1\1\0\120"), 10, SOCKS_NO_SUCH_ADDRESS, NULL, 0},
	{REQUEST("\5\1\0\3\4a.b\0\120"), 0, SOCKS_DONE, NULL, 0},
	{REQUEST("\5\1\0\3"), 0, SOCKS_DONE, NULL, 0},
	{REQUEST(""), 0, SOCKS_DONE, NULL, 0},
	{REQUEST("\4"), -1, SOCKS_DONE, NULL, 0},
	{REQUEST("\5\1\1"), -1, SOCKS_DONE, NULL, 0},
};

static void test_request(void **state)
{
	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
		const uint8_t *bytes = (const uint8_t *)requests[i].bytes;
		struct socks_request r = {0};

		assert_int_equal(socks_parse_request(bytes, requests[i].len, &r), requests[i].taken);
		if (requests[i].taken <= 0)
			continue;
		assert_int_equal(r.reply, requests[i].reply);
		if (requests[i].host) {
			assert_string_equal(r.host.text, requests[i].host);
			assert_int_equal(r.port, requests[i].port);
		}
		if (r.reply != SOCKS_NO_SUCH_ADDRESS)
			for (size_t n = 0; n < (size_t)requests[i].taken; n++)
				assert_int_equal(socks_parse_request(bytes, n, &r), 0);
	}
}

static void test_reply(void **state)
{
	uint8_t out[SOCKS_REPLY_LEN];

	socks_make_reply(SOCKS_REFUSED, out);
	assert_memory_equal(out, "\5\2\0\1\0\0\0\0\0\0", sizeof(out));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_greeting),
		cmocka_unit_test(test_login),
		cmocka_unit_test(test_request),
		cmocka_unit_test(test_reply),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
