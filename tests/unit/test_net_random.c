/* Verdicts on names and addresses: random rules against a naive model, and many rules. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/unit/naive_net.h"
#include "tests/unit/net_fixture.h"
#include "tests/unit/random.h"

static const char *random_host(char *buf, size_t size, bool rule)
{
	static const char *const labels[] = {"a", "b", "com", "xa"};
	static const char *const addrs[] = {"10.0.0.1",	 "10.0.0.2",  "10.1.0.1",
					    "[fd00::1]", "[fd00::2]", "127.0.0.1"};
	size_t n = random_below(4) + 1;

	if (random_below(4) == 0)
		return addrs[random_below(6)];
	*buf = '\0';
	if (rule && random_below(3) == 0) {
		strcpy(buf, "*.");
		n = n < 2 ? 2 : n;
	}
	for (size_t i = 0; i < n; i++)
		snprintf(buf + strlen(buf), size - strlen(buf), "%s%s", i ? "." : "",
			 labels[random_below(4)]);
	return buf;
}

static void random_rules(FILE *out)
{
	static const char *const nets[] = {"10.0.0.0/16", "10.0.0.0/8", "[fd00::]/64",
					   "0.0.0.0/0",	  "[::]/0",	"10.0.0.2"};
	size_t n = random_below(12);

	for (size_t i = 0; i < n; i++) {
		char host[128], port[16] = "";
		size_t what = random_below(5);

		if (random_below(2))
			snprintf(port, sizeof(port), ":%zu", random_below(3) + 1);
		if (what == 0)
			fprintf(out, "allow_ip = %s%s\n", nets[random_below(6)], port);
		else if (what == 1 && random_below(6) == 0)
			fprintf(out, "deny_domain = *%s\n", port);
		else
			fprintf(out, "%s_domain = %s%s\n", what < 3 ? "deny" : "allow",
				random_host(host, sizeof(host), true), port);
	}
}

static void ask_both(const struct world *w, const char *rules)
{
	char buf[128];
	struct host_name n = name_of(random_host(buf, sizeof(buf), false));
	bool some = false;

	for (uint16_t port = 1; port <= 4; port++) {
		struct net_verdict v = net_decide_name(w->p, &n, port);
		const char *text;
		bool allowed = naive_decide(w->c, &n, port, &text);

		some = some || allowed;
		if ((v.decision == VERDICT_ALLOW) != allowed || (v.rule ? v.rule->text : NULL) != text)
			fail_msg("%s:%u: %s by %s, not %s, with\n%s", n.text, port,
				 allowed ? "allowed" : "refused", text ? text : "default",
				 v.rule ? v.rule->text : "default", rules);
	}
	/* Port 4 stands for all that no rule names. */
	if ((net_decide_name(w->p, &n, 0).decision == VERDICT_ALLOW) != some)
		fail_msg("%s at any port: %s, with\n%s", n.text, some ? "allowed" : "refused", rules);
}

static void test_random(void **state)
{
	random_init();
	for (int i = 0; i < 3000; i++) {
		char *rules = NULL;
		size_t len;
		FILE *out = open_memstream(&rules, &len);
		struct world w;

		random_rules(out);
		fclose(out);
		w = build(rules);
		for (int k = 0; k < 40; k++)
			ask_both(&w, rules);
		drop(&w);
		free(rules);
	}
}

/* With every entry looked at in turn this would take a minute. */
static void test_many(void **state)
{
	char *rules = NULL, host[64];
	size_t len, allowed = 0, addrs = 0;
	FILE *out = open_memstream(&rules, &len);
	struct world w;

	for (int i = 0; i < 10000; i++)
		fprintf(out, "allow_ip = 10.%d.%d.0/24\n", i / 256, i % 256);
	for (int i = 0; i < 20000; i++)
		fprintf(out, "%s_domain = %sh%d.example.org\n", i % 3 ? "allow" : "deny", i % 2 ? "*." : "",
			i);
	fclose(out);
	w = build(rules);
	for (int i = 0; i < 200000; i++) {
		struct host_name n;

		snprintf(host, sizeof(host), "x.y.h%d.example.org", i % 20000);
		n = name_of(host);
		allowed += net_decide_name(w.p, &n, 443).decision == VERDICT_ALLOW;
		snprintf(host, sizeof(host), "10.%d.%d.9", i / 256 % 256, i % 256);
		n = name_of(host);
		addrs += net_decide_addr(w.p, n.addr, 443).decision == VERDICT_ALLOW;
	}
	assert_int_equal(addrs, 3 * 10000 + (200000 - 3 * 65536));
	/* The wildcards are those with odd numbers, and every third is refused. */
	assert_int_equal(allowed, 10 * (10000 - 3333));
	drop(&w);
	free(rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
