/* /etc/resolv.conf: servers and suffixes, and names that a search list made. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "policy/resolvconf.h"

static struct resolvconf parse(const char *text, const char *host)
{
	struct resolvconf c;

	resolvconf_parse(text, strlen(text), host, &c);
	return c;
}

static void test_servers(void **state)
{
	struct resolvconf c = parse("# nameserver 9.9.9.9\n"
				    "nameserver 10.0.0.1\n"
				    "nameserver\t::1  # not a comment, but no part of it\n"
				    "nameserver fe80::1%eth0\n"
				    "nameserver nonsense\n"
				    "nameserverx 10.0.0.2\n"
				    "nameserver",
				    NULL);
	char text[HOST_TEXT_SIZE];

	(void)state;
	assert_int_equal(c.n_servers, 2);
	assert_string_equal(host_format_addr(c.server[0], false, text), "10.0.0.1");
	assert_string_equal(host_format_addr(c.server[1], false, text), "::1");
	c = parse("", NULL);
	assert_int_equal(c.n_servers, 1);
	assert_string_equal(host_format_addr(c.server[0], false, text), "127.0.0.1");
	c = parse("nameserver 10.0.0.1\nnameserver 10.0.0.1\nnameserver 10.0.0.1\nnameserver 10.0.0.1\n"
		  "nameserver 10.0.0.1\nnameserver 10.0.0.1\nnameserver 10.0.0.1\nnameserver 10.0.0.1\n"
		  "nameserver 10.0.0.1\n",
		  NULL);
	assert_int_equal(c.n_servers, RESOLVCONF_SERVERS_MAX);
}

static void test_search(void **state)
{
	struct resolvconf c = parse("search a.example\ndomain b.example c.example\n", "host.d.example");

	(void)state;
	assert_int_equal(c.n_search, 1);
	assert_string_equal(c.search[0].text, "b.example");
	c = parse("domain x\nsearch Default.svc.cluster.local svc.cluster.local. .corp.example . 10.0.0.1\n",
		  "h");
	assert_int_equal(c.n_search, 3);
	assert_string_equal(c.search[0].text, "default.svc.cluster.local");
	assert_string_equal(c.search[1].text, "svc.cluster.local");
	assert_string_equal(c.search[2].text, "corp.example");
	c = parse("", "host.d.example");
	assert_int_equal(c.n_search, 1);
	assert_string_equal(c.search[0].text, "d.example");
	c = parse("search", "host.d.example");
	assert_int_equal(c.n_search, 0);
}

/* '-': none, 's': of one label and a suffix, 'w': a whole name and a suffix. */
static char kind(const struct resolvconf *c, const char *text)
{
	struct host_name n;
	bool whole;

	assert_null(host_canonicalise(text, strlen(text), &n));
	if (!resolvconf_is_search(c, &n, &whole))
		return '-';
	return whole ? 'w' : 's';
}

static void test_is_search(void **state)
{
	struct resolvconf c =
		parse("search default.svc.cluster.local svc.cluster.local corp.example\n", NULL);

	(void)state;
	assert_int_equal(kind(&c, "db.default.svc.cluster.local"), 's');
	assert_int_equal(kind(&c, "db.other.svc.cluster.local"), 'w');
	assert_int_equal(kind(&c, "registry.example.org.corp.example"), 'w');
	assert_int_equal(kind(&c, "db.corp.example"), 's');
	assert_int_equal(kind(&c, "corp.example"), '-');
	assert_int_equal(kind(&c, "xcorp.example"), '-');
	assert_int_equal(kind(&c, "x.example"), '-');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_servers),
		cmocka_unit_test(test_search),
		cmocka_unit_test(test_is_search),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
