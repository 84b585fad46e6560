/* The addresses of proxies, as people write them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "policy/proxy_url.h"

static const struct {
	const char *in, *host;
	uint16_t port;
	const char *auth;
} good[] = {
	{"http://proxy.corp:3128", "proxy.corp", 3128, ""},
	{"HTTP://Proxy.Corp:3128/", "proxy.corp", 3128, ""},
	{"proxy.corp:3128", "proxy.corp", 3128, ""},
	{"http://proxy.corp", "proxy.corp", 80, ""},
	{"http://u:p@10.0.0.1:8080", "10.0.0.1", 8080, "u:p"},
	{"http://u:p%40%25@[fd00::1]:8080/", "fd00::1", 8080, "u:p@%"},
	{"http://u:p@ss@h:1", "h", 1, "u:p@ss"},
	{"http://u@h:1", "h", 1, "u"},
	{"http://@h:1", "h", 1, ""},
};

static const char *const bad[] = {
	"",
	"http://",
	"https://h:1",
	"socks5://h:1",
	"http://h:0",
	"http://h:x",
	"http://h:1/path",
	"http://h:1?q",
	"http://*.a.b:1",
	"http://a b:1",
	"http://:1",
	"http://u:%zz@h:1",
	"http://u:%4@h",
	"http://u:%0a@h",
	"http://u:\n@h",
	"http://h:1#",
	"http://u:p@",
	"ht://h",
	"://h",
	"http://::1:80",
};

static void test_good(void **state)
{
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		struct proxy_url u;
		const char *why = proxy_url_parse(good[i].in, &u);

		if (why)
			fail_msg("%s: %s", good[i].in, why);
		assert_string_equal(u.host.text, good[i].host);
		assert_int_equal(u.port, good[i].port);
		assert_string_equal(u.auth, good[i].auth);
	}
}

static void test_bad(void **state)
{
	char text[600] = "http://";
	struct proxy_url u;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (!proxy_url_parse(bad[i], &u))
			fail_msg("%s is taken", bad[i]);
	memset(text + 7, 'x', 256);
	strcpy(text + 7 + 256, "@h:1");
	assert_non_null(proxy_url_parse(text, &u));
	memmove(text + 7, text + 8, strlen(text + 8) + 1);
	assert_null(proxy_url_parse(text, &u));
	assert_int_equal(strlen(u.auth), PROXY_URL_AUTH_MAX);
	memset(text + 7, 'x', 500);
	text[507] = '\0';
	assert_non_null(proxy_url_parse(text, &u));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
