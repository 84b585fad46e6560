/* Verdicts on names and addresses: tables. test_net_random.c compares with a naive model. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "policy/net.h"
#include "tests/unit/net_fixture.h"

/* "allow allow_domain:3" with the rule's line counted from the section's, or "deny default". */
static void expect(const struct world *w, const char *host, uint16_t port, const char *want)
{
	struct host_name n = name_of(host);
	struct net_verdict v = net_decide_name(w->p, &n, port);
	char got[128];

	snprintf(got, sizeof(got), "%s ", v.decision == VERDICT_ALLOW ? "allow" : "deny");
	if (v.rule)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s:%d", v.rule->key,
			 v.rule->origin.line - 1);
	else
		strcat(got, "default");
	if (strcmp(got, want) != 0)
		fail_msg("%s:%u: %s, not %s", host, port, got, want);
	if (n.is_ip) {
		struct net_verdict a = net_decide_addr(w->p, n.addr, port);

		assert_int_equal(a.decision, v.decision);
		assert_ptr_equal(a.rule, v.rule);
	}
}

static void test_names(void **state)
{
	struct world w = build("allow_domain = Example.org.\n"	     /* 1 */
			       "allow_domain = *.github.com:443\n"   /* 2 */
			       "deny_domain = gist.github.com\n"     /* 3 */
			       "allow_domain = a.test:80\n"	     /* 4 */
			       "allow_domain = a.test:81\n"	     /* 5 */
			       "deny_domain = a.test:80\n"	     /* 6 */
			       "deny_domain = *:22\n"		     /* 7 */
			       "allow_domain = gist.github.com\n"    /* 8 */
			       "deny_domain = *.evil.example.org\n"  /* 9 */
			       "allow_domain = *.example.org\n"	     /* 10 */
			       "allow_domain = *.deep.example.org\n" /* 11 */
			       "allow_domain = b.test:22\n"	     /* 12 */
			       "allow_domain = localhost\n" /* 13 */);

	expect(&w, "example.org", 80, "allow allow_domain:1");
	expect(&w, "EXAMPLE.org.", 0, "allow allow_domain:1");
	expect(&w, "example.org", 22, "deny deny_domain:7");
	expect(&w, "x.example.org", 1, "allow allow_domain:10");
	expect(&w, "x.deep.example.org", 1, "allow allow_domain:11");
	expect(&w, "deep.example.org", 1, "allow allow_domain:10");
	expect(&w, "evil.example.org", 1, "allow allow_domain:10");
	expect(&w, "x.evil.example.org", 1, "deny deny_domain:9");
	expect(&w, "notexample.org", 80, "deny default");
	expect(&w, "example.org.evil.com", 80, "deny default");
	expect(&w, "api.github.com", 443, "allow allow_domain:2");
	expect(&w, "a.b.github.com", 443, "allow allow_domain:2");
	expect(&w, "api.github.com", 80, "deny default");
	expect(&w, "api.github.com", 0, "allow allow_domain:2");
	expect(&w, "github.com", 443, "deny default");
	expect(&w, "malicious-github.com", 443, "deny default");
	expect(&w, "gist.github.com", 443, "deny deny_domain:3");
	expect(&w, "gist.github.com", 0, "deny deny_domain:3");
	expect(&w, "a.test", 80, "deny deny_domain:6");
	expect(&w, "a.test", 81, "allow allow_domain:5");
	expect(&w, "a.test", 0, "allow allow_domain:5");
	expect(&w, "b.test", 0, "deny default");
	expect(&w, "b.test", 22, "deny deny_domain:7");
	expect(&w, "localhost", 3000, "allow allow_domain:13");
	expect(&w, "10.0.0.1", 22, "deny deny_domain:7");
	expect(&w, "10.0.0.1", 23, "deny default");
	assert_true(net_is_open(w.p));
	drop(&w);
}

static void test_addresses(void **state)
{
	struct world w = build("allow_ip = 10.0.0.0/8:5432\n"	 /* 1 */
			       "allow_ip = 10.1.0.0/16\n"	 /* 2 */
			       "deny_domain = 10.1.2.3\n"	 /* 3 */
			       "deny_domain = 10.1.2.4:80\n"	 /* 4 */
			       "allow_domain = 127.1:8080\n"	 /* 5 */
			       "allow_domain = [2001:db8::1]\n"	 /* 6 */
			       "allow_ip = [64:ff9b::]/96\n"	 /* 7 */
			       "allow_ip = [2002::]/16:1-9\n"	 /* 8 */
			       "allow_ip = 192.0.2.53:53\n"	 /* 9 */
			       "allow_ip = 198.51.100.0/24:53\n" /* 10 */
			       "deny_domain = 198.51.100.9:53\n" /* 11 */
			       "allow_ip = 203.0.113.0/24:50-60\n");

	expect(&w, "10.9.9.9", 5432, "allow allow_ip:1");
	expect(&w, "10.9.9.9", 5433, "deny default");
	expect(&w, "10.1.9.9", 5433, "allow allow_ip:2");
	expect(&w, "10.1.2.3", 1, "deny deny_domain:3");
	expect(&w, "0xa010203", 1, "deny deny_domain:3");
	expect(&w, "[::ffff:10.1.2.3]", 1, "deny deny_domain:3");
	expect(&w, "10.1.2.4", 80, "deny deny_domain:4");
	expect(&w, "10.1.2.4", 81, "allow allow_ip:2");
	expect(&w, "10.1.2.4", 0, "allow allow_ip:2");
	expect(&w, "127.0.0.1", 8080, "allow allow_domain:5");
	expect(&w, "127.0.0.1", 0, "allow allow_domain:5");
	expect(&w, "127.0.0.1", 80, "deny default");
	expect(&w, "127.0.0.2", 8080, "deny default");
	expect(&w, "2001:db8:0::1", 1, "allow allow_domain:6");
	expect(&w, "2001:db8::2", 1, "deny default");
	/* What carries a refused address is refused with it. */
	expect(&w, "64:ff9b::10.1.2.5", 1, "allow allow_ip:7");
	expect(&w, "64:ff9b::10.1.2.3", 1, "deny deny_domain:3");
	expect(&w, "64:ff9b::10.1.2.4", 80, "deny deny_domain:4");
	expect(&w, "2002:a01:203::1", 5, "deny deny_domain:3");
	expect(&w, "2002:a01:205::1", 5, "allow allow_ip:8");
	expect(&w, "2002:a01:205::1", 10, "deny default");
	assert_true(net_allows_dns(w.p, name_of("192.0.2.53").addr));
	assert_true(net_allows_dns(w.p, name_of("198.51.100.1").addr));
	assert_false(net_allows_dns(w.p, name_of("198.51.100.9").addr));
	assert_false(net_allows_dns(w.p, name_of("10.1.9.9").addr));
	assert_false(net_allows_dns(w.p, name_of("203.0.113.1").addr));
	drop(&w);
}

static void test_deny_all(void **state)
{
	struct world w = build("allow_domain = a.test\nallow_ip = 10.0.0.0/8\ndeny_domain = *\n");

	expect(&w, "a.test", 80, "deny deny_domain:3");
	expect(&w, "a.test", 0, "deny deny_domain:3");
	expect(&w, "10.0.0.1", 80, "deny deny_domain:3");
	assert_false(net_is_open(w.p));
	drop(&w);
	w = build("deny_domain = a.test\nresolve = a.test:80:10.0.0.1\n");
	expect(&w, "a.test", 80, "deny deny_domain:1");
	assert_false(net_is_open(w.p));
	drop(&w);
	/* A fixed address is no permission. */
	w = build("resolve = a.test:80:10.0.0.1\n");
	expect(&w, "a.test", 80, "deny default");
	expect(&w, "10.0.0.1", 80, "deny default");
	drop(&w);
}

static void test_numbers(void **state)
{
	struct world w = build("allow_domain = a.test\nallow_ip = 10.0.0.0/8\ndeny_domain = b.test\n");
	struct rule stranger = {0};

	for (size_t i = 0; i < 3; i++)
		assert_int_equal(net_rule_number(w.p, net_rule(w.p, i)), i);
	assert_string_equal(net_rule(w.p, 2)->key, "allow_ip");
	assert_null(net_rule(w.p, 3));
	assert_null(net_rule(w.p, SIZE_MAX));
	assert_int_equal(net_rule_number(w.p, &stranger), SIZE_MAX);
	assert_int_equal(net_rule_number(w.p, NULL), SIZE_MAX);
	drop(&w);
}

static const struct {
	const char *addr;
	enum net_special special;
} specials[] = {
	{"0.0.0.0", NET_UNSPECIFIED},
	{"0.1.2.3", NET_UNSPECIFIED},
	{"::", NET_UNSPECIFIED},
	{"127.0.0.1", NET_LOOPBACK},
	{"127.255.0.1", NET_LOOPBACK},
	{"::1", NET_LOOPBACK},
	{"::ffff:127.0.0.1", NET_LOOPBACK},
	{"::127.0.0.1", NET_LOOPBACK},
	{"::ffff:0:127.0.0.1", NET_LOOPBACK},
	{"64:ff9b::127.0.0.1", NET_LOOPBACK},
	{"2002:7f00:1::", NET_LOOPBACK},
	{"2002:7f00:1:1:2:3:4:5", NET_LOOPBACK},
	{"::0.0.0.2", NET_UNSPECIFIED},
	{"169.254.1.1", NET_LINK_LOCAL},
	{"fe80::1", NET_LINK_LOCAL},
	{"febf::1", NET_LINK_LOCAL},
	{"fec0::1", NET_LINK_LOCAL},
	{"ff00::1", NET_MULTICAST},
	{"224.0.0.1", NET_MULTICAST},
	{"239.255.255.255", NET_MULTICAST},
	{"ff02::1", NET_MULTICAST},
	{"255.255.255.255", NET_BROADCAST},
	{"240.0.0.1", NET_RESERVED},
	{"255.255.255.254", NET_RESERVED},
	{"169.254.169.254", NET_METADATA},
	{"::ffff:169.254.169.254", NET_METADATA},
	{"64:ff9b::a9fe:a9fe", NET_METADATA},
	{"2002:a9fe:a9fe::1", NET_METADATA},
	{"100.100.100.200", NET_METADATA},
	{"168.63.129.16", NET_METADATA},
	{"192.0.0.192", NET_METADATA},
	{"fd00:ec2::254", NET_METADATA},
	{"fd00:ec3::254", NET_ORDINARY},
	{"fd20:ce::254", NET_METADATA},
	{"fd20:ce::253", NET_ORDINARY},
	{"192.0.2.7", NET_OWN},
	{"64:ff9b::192.0.2.7", NET_OWN},
	{"2001:db8::7", NET_OWN},
	{"192.0.2.8", NET_ORDINARY},
	{"10.0.0.1", NET_ORDINARY},
	{"192.168.1.1", NET_ORDINARY},
	{"8.8.8.8", NET_ORDINARY},
	{"2606:4700::1111", NET_ORDINARY},
	{"64:ff9b::8.8.8.8", NET_ORDINARY},
	{"64:ff9b:1::127.0.0.1", NET_LOOPBACK},
	{"64:ff9b:1:2:3::169.254.169.254", NET_METADATA},
	{"64:ff9b:1::8.8.8.8", NET_ORDINARY},
	{"64:ff9b:2::127.0.0.1", NET_ORDINARY},
	{"2001::127.0.0.1", NET_RESERVED},
	{"2001:4860:4860::8888", NET_ORDINARY},
};

static uint8_t own[2][16];

static void test_special(void **state)
{
	memcpy(own[0], name_of("192.0.2.7").addr, 16);
	memcpy(own[1], name_of("2001:db8::7").addr, 16);
	for (size_t i = 0; i < sizeof(specials) / sizeof(*specials); i++) {
		struct host_name n = name_of(specials[i].addr);
		enum net_special got = net_special(n.addr, own, 2);

		if (got != specials[i].special)
			fail_msg("%s is %s", specials[i].addr, net_special_name(got));
	}
}

static bool leads(const struct world *w, const char *name, const char *addr, uint16_t port,
		  enum net_special *why)
{
	struct host_name n = name_of(name);

	return net_may_lead_to(w->p, &n, name_of(addr).addr, port, own, 2, why);
}

static void test_may_lead_to(void **state)
{
	struct world w =
		build("allow_domain = *.a.test\nallow_ip = 127.0.0.1:8080\nallow_domain = 192.0.2.7\n"
		      "deny_domain = 10.6.6.6\ndeny_domain = 10.7.7.7:22\n"
		      "allow_ip = [64:ff9b::]/96\n"
		      "resolve = x.a.test:443:127.0.0.1:8443\nresolve = y.a.test:80:10.7.7.7:22\n");
	enum net_special why;

	assert_true(leads(&w, "n.a.test", "10.0.0.1", 80, &why));
	assert_true(leads(&w, "n.a.test", "2606::1", 0, &why));
	for (size_t i = 0; i < sizeof(specials) / sizeof(*specials); i++) {
		bool ok = leads(&w, "n.a.test", specials[i].addr, 443, &why);
		bool exempt = strncmp(specials[i].addr, "64:ff9b::", 9) == 0 ||
			      !strcmp(specials[i].addr, "192.0.2.7");

		assert_int_equal(ok, exempt || specials[i].special == NET_ORDINARY);
		assert_int_equal(why, ok ? NET_ORDINARY : specials[i].special);
	}
	/* Allowed itself, at that port. */
	assert_true(leads(&w, "n.a.test", "127.0.0.1", 8080, &why));
	assert_true(leads(&w, "n.a.test", "127.0.0.1", 0, &why));
	assert_false(leads(&w, "n.a.test", "127.0.0.1", 80, &why));
	assert_int_equal(why, NET_LOOPBACK);
	/* Refused itself. */
	assert_false(leads(&w, "n.a.test", "10.6.6.6", 80, &why));
	assert_int_equal(why, NET_ORDINARY);
	assert_false(leads(&w, "n.a.test", "64:ff9b::10.6.6.6", 80, &why));
	assert_false(leads(&w, "n.a.test", "10.7.7.7", 22, &why));
	assert_true(leads(&w, "n.a.test", "10.7.7.7", 0, &why));
	/* Fixed: for that name and port. */
	assert_true(leads(&w, "x.a.test", "127.0.0.1", 443, &why));
	assert_true(leads(&w, "x.a.test", "127.0.0.1", 0, &why));
	assert_false(leads(&w, "x.a.test", "127.0.0.1", 444, &why));
	assert_false(leads(&w, "n.a.test", "127.0.0.1", 443, &why));
	/* Where it goes on to is refused. */
	assert_false(leads(&w, "y.a.test", "10.7.7.7", 80, &why));
	drop(&w);
}

static void test_localhost(void **state)
{
	struct world w =
		build("allow_domain = localhost\nallow_domain = *.app.localhost\nallow_ip = 10.0.0.0/8\n"
		      "resolve = fixed.localhost:80:10.0.0.1\n");
	static const char *const names[] = {"localhost", "x.app.localhost"};
	enum net_special why;

	for (size_t i = 0; i < 2; i++) {
		assert_true(leads(&w, names[i], "127.0.0.1", 80, &why));
		assert_true(leads(&w, names[i], "::1", 80, &why));
		assert_false(leads(&w, names[i], "10.0.0.1", 80, &why));
		assert_int_equal(why, NET_NOT_LOOPBACK);
		assert_false(leads(&w, names[i], "169.254.169.254", 80, &why));
		assert_int_equal(why, NET_NOT_LOOPBACK);
	}
	assert_true(leads(&w, "fixed.localhost", "10.0.0.1", 80, &why));
	assert_false(leads(&w, "notlocalhost", "127.0.0.1", 80, &why));
	assert_int_equal(why, NET_LOOPBACK);
	drop(&w);
}

static void test_resolve(void **state)
{
	struct world w = build("resolve = a.test:443:127.0.0.1:8443\nresolve = a.test:443:[::1]\nresolve = "
			       "a.test:80:10.0.0.1\nresolve = b.test:443:127.0.0.2\n");
	struct host_name a = name_of("a.test"), b = name_of("b.test");
	uint8_t addr[16];
	uint16_t to;

	assert_true(net_resolve(w.p, &a, 443, 0, addr, &to));
	assert_memory_equal(addr, name_of("127.0.0.1").addr, 16);
	assert_int_equal(to, 8443);
	assert_true(net_resolve(w.p, &a, 443, 1, addr, &to));
	assert_memory_equal(addr, name_of("::1").addr, 16);
	assert_int_equal(to, 443);
	assert_false(net_resolve(w.p, &a, 443, 2, addr, &to));
	assert_true(net_resolve(w.p, &a, 0, 2, addr, &to));
	assert_int_equal(to, 80);
	assert_false(net_resolve(w.p, &a, 22, 0, addr, &to));
	assert_false(net_resolve(w.p, &b, 443, 1, addr, &to));
	assert_int_equal(net_resolved_port(w.p, &a, name_of("127.0.0.1").addr, 443), 8443);
	assert_int_equal(net_resolved_port(w.p, &a, name_of("127.0.0.1").addr, 80), 80);
	assert_int_equal(net_resolved_port(w.p, &b, name_of("127.0.0.1").addr, 443), 443);
	drop(&w);
}

static void test_contradictions(void **state)
{
	static const char *const bad = "[network]\nresolve = a.test:443:127.0.0.1:8443\n"
				       "resolve = b.test:443:127.0.0.1:9443\n";
	struct faults f;
	struct config *c = load(bad, &f);
	char all[4096];

	config_finish(c, &env, &f);
	assert_int_equal(faults_count(&f), 2);
	join_faults(&f, all, sizeof(all));
	assert_non_null(
		strstr(all, "f:3: resolve = b.test:443:127.0.0.1:9443: a.test leads to the same address"));
	faults_free(&f);
	config_free(c);
}

static void test_words(void **state)
{
	struct world w =
		build("allow_domain = a.test\ndeny_domain = *.b.test\ndeny_reason = *.b.test ask Ann\n");
	struct host_name n = name_of("x.b.test");
	struct net_verdict v = net_decide_name(w.p, &n, 443);
	char buf[512];

	assert_string_equal(net_explain("x.b.test", 443, &v, buf, sizeof(buf)),
			    "Connection blocked by network policy: x.b.test:443 (deny_domain = *.b.test, "
			    "f:3: ask Ann)");
	assert_string_equal(net_suggest("x.b.test", false, 443, &v, buf, sizeof(buf)), "");
	n = name_of("c.test");
	v = net_decide_name(w.p, &n, 443);
	assert_string_equal(net_explain("c.test", 443, &v, buf, sizeof(buf)),
			    "Connection blocked by network allowlist: c.test:443 (no allow_domain matches)");
	assert_string_equal(net_suggest("c.test", false, 443, &v, buf, sizeof(buf)),
			    "allow_domain = c.test:443");
	assert_string_equal(net_suggest("c.test", false, 443, &v, buf, 20), "");
	assert_string_equal(net_suggest("c.test", false, 0, &v, buf, sizeof(buf)),
			    "allow_domain = c.test:PORT");
	assert_string_equal(
		net_explain("169.254.169.254", 80, &v, buf, sizeof(buf)),
		"Connection blocked by network allowlist: 169.254.169.254:80 (no allow_ip or "
		"allow_domain matches; it is a cloud metadata address, where machines are told their "
		"secrets)");
	v.why = "it leads to a loopback address";
	assert_string_equal(
		net_explain("::1", 80, &v, buf, sizeof(buf)),
		"Connection blocked by network allowlist: [::1]:80 (it leads to a loopback address)");
	assert_string_equal(net_suggest("::1", true, 80, &v, buf, sizeof(buf)), "allow_ip = [::1]:80");
	n = name_of("a.test");
	v = net_decide_name(w.p, &n, 443);
	assert_string_equal(net_explain("a.test", 443, &v, buf, sizeof(buf)),
			    "connect a.test:443 allowed by allow_domain = a.test, f:2");
	assert_string_equal(net_explain("a.test", 0, &v, buf, 15), "connect a.test");
	drop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),	       cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_deny_all),       cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_special),	       cmocka_unit_test(test_may_lead_to),
		cmocka_unit_test(test_localhost),      cmocka_unit_test(test_resolve),
		cmocka_unit_test(test_contradictions), cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
