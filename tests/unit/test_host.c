/* Canonical hosts, entries of domain lists, networks and fixed addresses. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "policy/host.h"

#define L63 "a23456789012345678901234567890123456789012345678901234567890123"

static const struct {
	const char *in, *out; /* out NULL: refused */
	bool is_ip;
} names[] = {
	{"example.com", "example.com", false},
	{"Example.COM.", "example.com", false},
	{"xn--mnchen-3ya.de", "xn--mnchen-3ya.de", false},
	{"_dmarc.a-b.c", "_dmarc.a-b.c", false},
	{"localhost", "localhost", false},
	{"1e100.net", "1e100.net", false},
	{"127.0.0.1", "127.0.0.1", true},
	{"127.0.0.1.", "127.0.0.1", true},
	{"127.1", "127.0.0.1", true},
	{"127.0.1", "127.0.0.1", true},
	{"2130706433", "127.0.0.1", true},
	{"0x7f000001", "127.0.0.1", true},
	{"0X7F.0x0.0.01", "127.0.0.1", true},
	{"0177.0.0.1", "127.0.0.1", true},
	{"017700000001", "127.0.0.1", true},
	{"10.0.258", "10.0.1.2", true},
	{"0", "0.0.0.0", true},
	{"255.255.255.255", "255.255.255.255", true},
	{"[::1]", "::1", true},
	{"::1", "::1", true},
	{"[0:0:0:0:0:0:0:1]", "::1", true},
	{"[2001:DB8::0:1]", "2001:db8::1", true},
	{"[::ffff:127.0.0.1]", "127.0.0.1", true},
	{"[::FFFF:7f00:1]", "127.0.0.1", true},
	{L63 ".a", L63 ".a", false},
	{"", NULL, false},
	{".", NULL, false},
	{"..", NULL, false},
	{"a..b", NULL, false},
	{".a", NULL, false},
	{"a..", NULL, false},
	{"a b", NULL, false},
	{"a\nb", NULL, false},
	{"a\tb.com", NULL, false},
	{"a%41.com", NULL, false},
	{"b\xc3\xbc.de", NULL, false},
	{"*.a.b", NULL, false},
	{"a/b", NULL, false},
	{"256.1.1.1", NULL, false},
	{"1.2.3.4.5", NULL, false},
	{"1.2.3.256", NULL, false},
	{"1.2.65536", NULL, false},
	{"4294967296", NULL, false},
	{"08.1", NULL, false},
	{"0x.1", NULL, false},
	{"a.1", NULL, false},
	{"a.0x1", NULL, false},
	{"1..2", NULL, false},
	{"[::1", NULL, false},
	{"[]", NULL, false},
	{"[127.0.0.1]", NULL, false},
	{"[fe80::1%eth0]", NULL, false},
	{"::1::", NULL, false},
	{L63 "4.a", NULL, false},
	{L63 "." L63 "." L63 "." L63, NULL, false},
};

static void test_names(void **state)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct host_name n;
		const char *why = host_canonicalise(names[i].in, strlen(names[i].in), &n);

		if (!!why != !names[i].out)
			fail_msg("%s: %s", names[i].in, why ? why : n.text);
		if (why)
			continue;
		assert_string_equal(n.text, names[i].out);
		assert_int_equal(n.is_ip, names[i].is_ip);
	}
}

static void test_name_with_nul(void **state)
{
	struct host_name n;

	assert_non_null(host_canonicalise("a\0b.com", 7, &n));
	assert_non_null(host_canonicalise("[::1\0]", 6, &n));
}

static const struct {
	const char *in;
	bool deny;
	const char *out;
} entries[] = {
	{"example.com", false, "example.com"},
	{"Example.com.:443", false, "example.com:443"},
	{"*.A.b", false, "*.a.b"},
	{"*.a.b.:8080", false, "*.a.b:8080"},
	{"localhost", false, "localhost"},
	{"db:5432", false, "db:5432"},
	{"127.1:80", false, "127.0.0.1:80"},
	{"[::1]", false, "[::1]"},
	{"[::1]:443", false, "[::1]:443"},
	{"[::ffff:1.2.3.4]:65535", false, "1.2.3.4:65535"},
	{"*", true, "*"},
	{"*:22", true, "*:22"},
	{"*", false, NULL},
	{"*:22", false, NULL},
	{"*.com", false, NULL},
	{"*.com", true, NULL},
	{"*.com.", false, NULL},
	{"*.", false, NULL},
	{"*.*.a.b", false, NULL},
	{"a.*.b", false, NULL},
	{"*a.b.c", false, NULL},
	{"**.a.b", true, NULL},
	{"*.127.0.0.1", false, NULL},
	{"*.0.1", false, NULL},
	{"*.[::1]", false, NULL},
	{"https://a.b", false, NULL},
	{"a.b/c", false, NULL},
	{"u@a.b", false, NULL},
	{"", false, NULL},
	{":443", false, NULL},
	{"::1", false, NULL},
	{"2001:db8::1", false, NULL},
	{"a.b:0", false, NULL},
	{"a.b:", false, NULL},
	{"a.b:65536", false, NULL},
	{"a.b:0443", false, NULL},
	{"a.b:+43", false, NULL},
	{"a.b:443x", false, NULL},
	{"a.b:99999999999", false, NULL},
	{"[::1]443", false, NULL},
	{"[::1]:", false, NULL},
	{"a.b\n", false, NULL},
	{"b\xc3\xbc.de", false, NULL},
};

static void test_entries(void **state)
{
	for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++) {
		struct host_entry e, again;
		char text[HOST_TEXT_SIZE];
		const char *why = host_parse_entry(entries[i].in, entries[i].deny, &e);

		if (!!why != !entries[i].out)
			fail_msg("%s: %s", entries[i].in, why ? why : "accepted");
		if (why)
			continue;
		assert_string_equal(host_format_entry(&e, text), entries[i].out);
		assert_null(host_parse_entry(text, entries[i].deny, &again));
		assert_true(host_entry_equal(&e, &again));
	}
}

static const struct {
	const char *entry, *host;
	uint16_t port;
	bool matches;
} matches[] = {
	{"a.b", "a.b", 80, true},
	{"a.b", "A.B.", 80, true},
	{"a.b", "x.a.b", 80, false},
	{"a.b:443", "a.b", 443, true},
	{"a.b:443", "a.b", 80, false},
	{"*.github.com", "api.github.com", 443, true},
	{"*.github.com", "a.b.github.com", 443, true},
	{"*.github.com", "github.com", 443, false},
	{"*.github.com", "malicious-github.com", 443, false},
	{"*.github.com", "raw.githubusercontent.com", 443, false},
	{"*.github.com", ".github.com", 443, false},
	{"127.0.0.1", "0x7f.1", 80, true},
	{"[::1]", "0:0::1", 80, true},
	{"[::ffff:127.0.0.1]", "127.1", 80, true},
	{"*", "127.0.0.1", 80, true},
	{"*:22", "a.b", 22, true},
	{"*:22", "a.b", 80, false},
};

static void test_matches(void **state)
{
	for (size_t i = 0; i < sizeof(matches) / sizeof(*matches); i++) {
		struct host_entry e;
		struct host_name n;

		assert_null(host_parse_entry(matches[i].entry, true, &e));
		if (host_canonicalise(matches[i].host, strlen(matches[i].host), &n))
			assert_false(matches[i].matches);
		else if (host_entry_matches(&e, &n, matches[i].port) != matches[i].matches)
			fail_msg("%s and %s:%u", matches[i].entry, matches[i].host, matches[i].port);
	}
}

static const struct {
	const char *in, *out;
} nets[] = {
	{"10.0.0.0/8", "10.0.0.0/8"},
	{"10.0.0.0/8:5432", "10.0.0.0/8:5432"},
	{"10.0.0.0/8:1000-2000", "10.0.0.0/8:1000-2000"},
	{"127.0.0.1", "127.0.0.1"},
	{"127.0.0.1/32", "127.0.0.1"},
	{"127.0.0.1:80", "127.0.0.1:80"},
	{"0.0.0.0/0", "0.0.0.0/0"},
	{"[::]/0", "[::]/0"},
	{"[fd00::]/8:443", "[fd00::]/8:443"},
	{"[::1]:1-65535", "[::1]:1-65535"},
	{"[::ffff:10.0.0.0]/104", "10.0.0.0/8"},
	{"10.0.0.1/8", NULL},
	{"[fd00::1]/8", NULL},
	{"[::ffff:0.0.0.0]/90", NULL},
	{"10.0.0.0/33", NULL},
	{"[::]/129", NULL},
	{"10.0.0.0/", NULL},
	{"10.0.0.0/08", NULL},
	{"10.0.0.0/8x", NULL},
	{"10.0.0.0/8:", NULL},
	{"10.0.0.0/8:0", NULL},
	{"10.0.0.0/8:5-4", NULL},
	{"10.0.0.0/8:5-", NULL},
	{"10.0.0.0/8:-5", NULL},
	{"10.0.0.0/8:1-2-3", NULL},
	{"10/8", NULL},
	{"010.0.0.0/8", NULL},
	{"0x7f000001", NULL},
	{"fd00::/8", NULL},
	{"[fd00::/8]", NULL},
	{"[fd00::", NULL},
	{"[::1]80", NULL},
	{"localhost", NULL},
	{"", NULL},
};

static void test_nets(void **state)
{
	for (size_t i = 0; i < sizeof(nets) / sizeof(*nets); i++) {
		struct host_net net, again;
		char text[HOST_TEXT_SIZE];
		const char *why = host_parse_net(nets[i].in, &net);

		if (!!why != !nets[i].out)
			fail_msg("%s: %s", nets[i].in, why ? why : "accepted");
		if (why)
			continue;
		assert_string_equal(host_format_net(&net, text), nets[i].out);
		assert_null(host_parse_net(text, &again));
		assert_memory_equal(&net, &again, sizeof(net));
	}
}

static const struct {
	const char *net, *addr;
	uint16_t port;
	bool matches;
} net_matches[] = {
	{"10.0.0.0/8", "10.255.1.2", 1, true},
	{"10.0.0.0/8", "11.0.0.0", 1, false},
	{"10.0.0.0/9", "10.128.0.0", 1, false},
	{"10.0.0.0/9", "10.127.255.255", 1, true},
	{"10.0.0.0/8:80-90", "10.0.0.1", 80, true},
	{"10.0.0.0/8:80-90", "10.0.0.1", 90, true},
	{"10.0.0.0/8:80-90", "10.0.0.1", 91, false},
	{"0.0.0.0/0", "1.2.3.4", 1, true},
	{"0.0.0.0/0", "[::1]", 1, false},
	{"[::]/0", "[2001:db8::1]", 1, true},
	/* The bytes would match; the families do not. */
	{"[::]/0", "1.2.3.4", 1, false},
	{"[::]/64", "1.2.3.4", 1, false},
	{"127.0.0.1", "127.0.0.1", 1, true},
	{"127.0.0.1", "127.0.0.2", 1, false},
};

static void test_net_matches(void **state)
{
	for (size_t i = 0; i < sizeof(net_matches) / sizeof(*net_matches); i++) {
		struct host_net net;
		uint8_t addr[16];
		uint16_t port;

		assert_null(host_parse_net(net_matches[i].net, &net));
		assert_null(host_parse_addr(net_matches[i].addr, addr, &port));
		if (host_net_matches(&net, addr, net_matches[i].port) != net_matches[i].matches)
			fail_msg("%s and %s", net_matches[i].net, net_matches[i].addr);
	}
}

static void test_resolve(void **state)
{
	static const struct {
		const char *in, *host, *addr;
		unsigned port, to_port;
	} rows[] = {
		{"api.test:443:127.0.0.1:8443", "api.test", "127.0.0.1", 443, 8443},
		{"API.test.:443:127.0.0.1", "api.test", "127.0.0.1", 443, 443},
		{"a.b:80:[::1]:81", "a.b", "::1", 80, 81},
		{"a.b:80:[::1]", "a.b", "::1", 80, 80},
		{"a.b:80:::1", NULL, NULL, 0, 0},
		{"a.b:80", NULL, NULL, 0, 0},
		{"a.b", NULL, NULL, 0, 0},
		{"a.b:0:127.0.0.1", NULL, NULL, 0, 0},
		{"a.b:80:127.0.0.1:", NULL, NULL, 0, 0},
		{"a.b:80:c.d", NULL, NULL, 0, 0},
		{"127.1:80:127.0.0.1", NULL, NULL, 0, 0},
		{"[::1]:80:127.0.0.1", NULL, NULL, 0, 0},
		{"*.a.b:80:127.0.0.1", NULL, NULL, 0, 0},
		{":80:127.0.0.1", NULL, NULL, 0, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct host_name host;
		uint16_t port, to_port;
		uint8_t addr[16];
		char text[HOST_TEXT_SIZE];
		const char *why = host_parse_resolve(rows[i].in, &host, &port, addr, &to_port);

		if (!!why != !rows[i].host)
			fail_msg("%s: %s", rows[i].in, why ? why : "accepted");
		if (why)
			continue;
		assert_string_equal(host.text, rows[i].host);
		assert_string_equal(host_format_addr(addr, false, text), rows[i].addr);
		assert_int_equal(port, rows[i].port);
		assert_int_equal(to_port, rows[i].to_port);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),	cmocka_unit_test(test_name_with_nul),
		cmocka_unit_test(test_entries), cmocka_unit_test(test_matches),
		cmocka_unit_test(test_nets),	cmocka_unit_test(test_net_matches),
		cmocka_unit_test(test_resolve),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
