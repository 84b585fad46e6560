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

static void assert_server(const struct resolvconf *c, size_t i, const char *addr, const char *scope)
{
	char text[HOST_TEXT_SIZE];

	assert_true(i < c->n_servers);
	assert_string_equal(host_format_addr(c->server[i].addr, false, text), addr);
	assert_string_equal(c->server[i].scope, scope);
}

static void test_servers(void **state)
{
	struct resolvconf c = parse("# nameserver 9.9.9.9\n"
				    "nameserver 10.0.0.1\n"
				    "nameserver\t::1  # not a comment, but no part of it\n"
				    "nameserver nonsense\n"
				    "nameserverx 10.0.0.2\n"
				    "nameserver",
				    NULL);

	(void)state;
	assert_int_equal(c.n_servers, 2);
	assert_server(&c, 0, "10.0.0.1", "");
	assert_server(&c, 1, "::1", "");
	c = parse("", NULL);
	assert_int_equal(c.n_servers, 1);
	assert_server(&c, 0, "127.0.0.1", "");
	c = parse("nameserver 10.0.0.1\nnameserver 10.0.0.1\nnameserver 10.0.0.1\nnameserver 10.0.0.1\n"
		  "nameserver 10.0.0.1\nnameserver 10.0.0.1\nnameserver 10.0.0.1\nnameserver 10.0.0.1\n"
		  "nameserver 10.0.0.1\n",
		  NULL);
	assert_int_equal(c.n_servers, RESOLVCONF_SERVERS_MAX);
}

static void test_scopes(void **state)
{
	struct resolvconf c =
		parse("nameserver fe80::1%eth0\nnameserver fe80::2%3\n"
		      "nameserver fe80::3%\nnameserver 10.0.0.1%eth0\nnameserver %eth0\n"
		      "nameserver fe80::4%sixteencharacter\nnameserver fe80::5%fifteencharacte\n",
		      NULL);

	(void)state;
	assert_int_equal(c.n_servers, 3);
	assert_server(&c, 0, "fe80::1", "eth0");
	assert_server(&c, 1, "fe80::2", "3");
	assert_server(&c, 2, "fe80::5", "fifteencharacte");
}

static void test_options(void **state)
{
	struct resolvconf c = parse("nameserver 10.0.0.1\n", NULL);

	(void)state;
	assert_int_equal(c.timeout, 0);
	assert_int_equal(c.attempts, 0);
	assert_false(c.rotate || c.use_vc);
	c = parse("options ndots:5 timeout:3 rotate\noptions\tattempts:4 use-vc edns0 no-aaaa\n", NULL);
	assert_int_equal(c.timeout, 3);
	assert_int_equal(c.attempts, 4);
	assert_true(c.rotate && c.use_vc);
	c = parse("options timeout:99999999999 attempts:31 rotated use-vcx\noption rotate\n", NULL);
	assert_int_equal(c.timeout, RESOLVCONF_TIMEOUT_MAX);
	assert_int_equal(c.attempts, RESOLVCONF_ATTEMPTS_MAX);
	assert_false(c.rotate || c.use_vc);
	c = parse("options timeout:x attempts:-1 timeout:\n", NULL);
	assert_int_equal(c.timeout, 0);
	assert_int_equal(c.attempts, 0);
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
		cmocka_unit_test(test_servers),	  cmocka_unit_test(test_scopes),
		cmocka_unit_test(test_options),	  cmocka_unit_test(test_search),
		cmocka_unit_test(test_is_search),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
