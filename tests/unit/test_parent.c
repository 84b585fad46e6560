/* Other proxies, and the hosts that are kept from them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "policy/parent.h"

static const struct {
	const char *text, *host; /* NULL: refused */
	uint16_t port;
	const char *authorization;
} parents[] = {
	{"http://proxy.example:3128", "proxy.example", 3128, ""},
	{"HTTP://Proxy.Example.:3128/", "proxy.example", 3128, ""},
	{"http://proxy.example", "proxy.example", 80, ""},
	{"proxy.example:3128", "proxy.example", 3128, ""},
	{"10.0.0.1:8", "10.0.0.1", 8, ""},
	{"http://[::1]:8", "::1", 8, ""},
	{"http://[::1]", "::1", 80, ""},
	{"http://x:y@a:8", "a", 8, "Basic eDp5"},
	{"http://x%3a:y%40@a:8", "a", 8, "Basic eDo6eUA="},
	{"http://x@a:8", "a", 8, "Basic eDo="},
	{"http://x:y@z@a:8", "a", 8, "Basic eDp5QHo="},
	{"https://a:8", NULL},
	{"socks5://a:8", NULL},
	{"SOCKS5h://a:8", NULL},
	{"ftp://a:8", NULL},
	{"http://a:8/x", NULL},
	{"http://a:0", NULL},
	{"http://a:", NULL},
	{"http://", NULL},
	{"", NULL},
	{"http://a b:8", NULL},
	{"http://x%0ay:z@a:8", NULL},
	{"http://x%4:z@a:8", NULL},
	{"http://x%zz:z@a:8", NULL},
	{"http://::1:8", NULL},
};

static void test_parse(void **state)
{
	for (size_t i = 0; i < sizeof(parents) / sizeof(*parents); i++) {
		struct parent p;
		const char *why = parent_parse(parents[i].text, &p);

		if (!why != !!parents[i].host)
			fail_msg("%s: %s", parents[i].text, why ? why : "taken");
		if (why)
			continue;
		assert_string_equal(p.host.text, parents[i].host);
		assert_int_equal(p.port, parents[i].port);
		assert_string_equal(p.authorization, parents[i].authorization);
	}
}

static void test_long_login(void **state)
{
	char text[400] = "http://";
	struct parent p;

	memset(text + 7, 'u', PARENT_LOGIN_MAX - 2);
	strcat(text, "@a");
	assert_null(parent_parse(text, &p));
	memset(text + 7, 'u', PARENT_LOGIN_MAX);
	strcpy(text + 7 + PARENT_LOGIN_MAX, "@a");
	assert_non_null(parent_parse(text, &p));
}

static const struct {
	const char *no_proxy, *host;
	uint16_t port;
	bool skipped;
} skips[] = {
	{"", "a.b", 80, false},
	{"*", "a.b", 80, true},
	{"b", "a.b", 80, true},
	{"b", "b", 80, true},
	{"b", "ab", 80, false},
	{".b", "a.b", 80, true},
	{".B", "b", 80, true},
	{"*.b", "a.b", 80, true},
	{"x, a.b:81", "a.b", 81, true},
	{"x, a.b:81", "a.b", 80, false},
	{"x y,a.b", "a.b", 80, true},
	{"10.0.0.0/8", "10.1.2.3", 80, true},
	{"10.0.0.0/8", "11.1.2.3", 80, false},
	{"10.0.0.0/8", "a.b", 80, false},
	{"127.0.0.1", "127.0.0.1", 80, true},
	{"127.0.0.1", "127.0.0.2", 80, false},
	{"::1", "::1", 80, true},
	{"[::1]:80", "::1", 80, true},
	{"fd00::/8", "fd00::1", 80, true},
	{"0.0.1", "127.0.0.1", 80, false},
	{",,, ,", "a", 80, false},
	{"bad entry?/,a", "a", 80, true},
};

static void test_skips(void **state)
{
	for (size_t i = 0; i < sizeof(skips) / sizeof(*skips); i++) {
		struct host_name n;

		assert_null(host_canonicalise(skips[i].host, strlen(skips[i].host), &n));
		if (parent_is_skipped(skips[i].no_proxy, &n, skips[i].port) != skips[i].skipped)
			fail_msg("%s and %s", skips[i].no_proxy, skips[i].host);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_long_login),
		cmocka_unit_test(test_skips),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
