/* Verdicts on the network in words: see net.h. */
#include "policy/net.h"

#include <stdio.h>
#include <string.h>

#include "policy/text.h"

/* HOST:PORT, an IPv6 address in brackets. */
static void add_target(struct text *t, const char *host, uint16_t port)
{
	bool v6 = strchr(host, ':') && *host != '[';

	text_add(t, v6 ? "[" : "");
	text_add_shown(t, host, strlen(host), HOST_TEXT_SIZE);
	text_add(t, v6 ? "]" : "");
	if (port) {
		text_add(t, ":");
		text_add_number(t, port);
	}
}

static void add_rule(struct text *t, const struct rule *r)
{
	text_add(t, r->key);
	text_add(t, " = ");
	text_add_shown(t, r->text, strlen(r->text), HOST_TEXT_SIZE);
	text_add(t, ", ");
	text_add_shown(t, r->origin.file, strlen(r->origin.file), t->size / 6);
	if (r->origin.line) {
		text_add(t, ":");
		text_add_number(t, r->origin.line);
	}
}

/* No rule refused it, but none allowed it either. An address is not taken for harmless because a line for it is offered. */
static void add_default(struct text *t, const char *host, const struct net_verdict *v)
{
	struct host_name name;
	bool is_ip = !host_canonicalise(host, strlen(host), &name) && name.is_ip;

	text_add(t, v->why  ? v->why
		    : is_ip ? "no allow_ip or allow_domain matches"
			    : "no allow_domain matches");
	if (is_ip && net_special(name.addr, NULL, 0) == NET_METADATA) {
		text_add(t, "; it is ");
		text_add(t, net_special_name(NET_METADATA));
	}
}

char *net_explain(const char *host, uint16_t port, const struct net_verdict *v, char *buf, size_t size)
{
	bool allowed = v->decision == VERDICT_ALLOW;
	struct text t;

	if (!size)
		return buf;
	text_init(&t, buf, size);
	text_add(&t, allowed   ? "connect "
		     : v->rule ? "Connection blocked by network policy: "
			       : "Connection blocked by network allowlist: ");
	add_target(&t, host, port);
	text_add(&t, allowed ? " allowed by " : " (");
	if (v->rule)
		add_rule(&t, v->rule);
	else
		add_default(&t, host, v);
	if (!allowed && v->rule && v->rule->reason) {
		text_add(&t, ": ");
		text_add_shown(&t, v->rule->reason, strlen(v->rule->reason), t.size / 3);
	}
	text_add(&t, allowed ? "" : ")");
	return buf;
}

char *net_suggest(const char *host, bool is_ip, uint16_t port, const struct net_verdict *v, char *buf,
		  size_t size)
{
	struct text t;

	if (!size)
		return buf;
	text_init(&t, buf, size);
	/* Nothing is stronger than a deny_domain. */
	if (v->decision == VERDICT_ALLOW || v->rule)
		return buf;
	text_add(&t, is_ip ? "allow_ip = " : "allow_domain = ");
	add_target(&t, host, port);
	/* Not all of them for want of knowing one: that is for whoever takes the line to say. */
	if (!port)
		text_add(&t, ":PORT");
	/* Half a line would name something else. */
	if (t.cut)
		text_init(&t, buf, size);
	return buf;
}
