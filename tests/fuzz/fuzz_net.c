/*
 * [network] lines of any bytes, a NUL, then a name: verdicts and explanations against a naive model. Addresses that carry
 * another one are beyond that model, and only must not be allowed where that one is refused.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/net.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/naive_net.h"

static const char *getvar(const char *name, void *arg)
{
	return NULL;
}

static bool carries(const struct host_name *n)
{
	return n->is_ip && !host_is_v4(n->addr) &&
	       (n->addr[0] == 0x20 || n->addr[1] == 0x64 || n->addr[0] == 0);
}

static void check_words(const struct host_name *n, uint16_t port, const struct net_verdict *v)
{
	char buf[256];

	for (size_t size = 0; size < sizeof(buf); size += 17) {
		net_explain(n->text, port, v, buf, size);
		require(!size || memchr(buf, '\0', size), "an explanation without an end");
		net_suggest(n->text, n->is_ip, port, v, buf, size);
		require(!size || memchr(buf, '\0', size), "a suggestion without an end");
	}
}

static void check(const struct config *c, const struct policy *p, const struct host_name *n)
{
	static const uint16_t ports[] = {1, 22, 80, 443, 65535};
	enum net_special special;
	bool some = false;

	for (size_t i = 0; i < sizeof(ports) / sizeof(*ports); i++) {
		struct net_verdict v = net_decide_name(p, n, ports[i]);
		bool allowed = v.decision == VERDICT_ALLOW;
		const char *text;

		some = some || allowed;
		check_words(n, ports[i], &v);
		if (naive_decide(c, n, ports[i], &text) != allowed)
			require(carries(n) && !allowed, "not the naive verdict");
		else if (!carries(n))
			require((v.rule ? v.rule->text : NULL) == text, "another rule than the naive one");
		require(!v.rule || net_rule(p, net_rule_number(p, v.rule)) == v.rule,
			"a rule without its number");
		require(!n->is_ip || net_decide_addr(p, n->addr, ports[i]).rule == v.rule,
			"an address and its name differ");
		require(!n->is_ip || !allowed || !net_denies_addr(p, n->addr, ports[i], NULL),
			"an address is refused and allowed");
	}
	require(!some || net_decide_name(p, n, 0).decision == VERDICT_ALLOW,
		"refused at any port, allowed at one");
	require(!some || net_is_open(p), "a closed network that is not");
	if (n->is_ip)
		net_may_lead_to(p, n, n->addr, 0, NULL, 0, &special);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct config_env env = {.cwd = "/w", .home = "/h", .getvar = getvar};
	const uint8_t *nul = size ? memchr(data, '\0', size) : NULL;
	size_t len = nul ? (size_t)(nul - data) : size;
	struct config *c = config_new();
	struct faults f = {0};
	struct host_name n;
	struct policy *p;
	char *text;

	if (!c || asprintf(&text, "[network]\n%.*s", (int)len, (const char *)data) < 0)
		abort();
	config_load_ini(c, &env, "f", text, strlen(text), &f);
	config_finish(c, &env, &f);
	if (faults_count(&f) == 0 && nul && !host_canonicalise((const char *)nul + 1, size - len - 1, &n)) {
		p = policy_new(c, &f);
		require(p != NULL || faults_count(&f), "no policy and no fault");
		if (p)
			check(c, p, &n);
		policy_free(p);
	}
	faults_free(&f);
	config_free(c);
	free(text);
	return 0;
}
