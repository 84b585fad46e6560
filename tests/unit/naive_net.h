/* Verdicts on names and addresses in the plainest way: looks at every rule and keeps the most specific that matches. */
#ifndef CORDON_TESTS_NAIVE_NET_H
#define CORDON_TESTS_NAIVE_NET_H

#include <string.h>

#include "policy/config_priv.h"

static inline size_t weight(const struct host_entry *e)
{
	size_t n = e->any ? 0 : e->wildcard ? 1 + strlen(e->name.text) : 1000;

	return 2 * n + (e->port != 0);
}

static inline const struct domain_rule *naive_find(const struct config *c, const struct host_name *name,
						   uint16_t port, bool deny)
{
	const struct domain_rule *best = NULL;
	size_t most = 0;

	for (size_t i = 0; i < c->n_domains; i++) {
		struct host_entry e;

		config_domain_entry(&c->domains[i], &e);
		if (c->domains[i].deny != deny || !host_entry_matches(&e, name, port))
			continue;
		if (!best || weight(&e) > most) {
			best = &c->domains[i];
			most = weight(&e);
		}
	}
	return best;
}

static inline const struct ip_rule *naive_ip(const struct config *c, const struct host_name *name,
					     uint16_t port)
{
	const struct ip_rule *best = NULL;
	unsigned most = 0;

	for (size_t i = 0; name->is_ip && i < c->n_ips; i++) {
		const struct ip_rule *r = &c->ips[i];
		struct host_net net = {.prefix = r->prefix, .port_lo = r->port_lo, .port_hi = r->port_hi};
		unsigned specific = 2 * r->prefix + (r->port_lo != 0);

		memcpy(net.addr, r->addr, 16);
		if (!host_net_matches(&net, name->addr, port) || (best && specific <= most))
			continue;
		best = r;
		most = specific;
	}
	return best;
}

/* *text: the deciding rule's, NULL for the default. */
static inline bool naive_decide(const struct config *c, const struct host_name *name, uint16_t port,
				const char **text)
{
	const struct domain_rule *deny = naive_find(c, name, port, true),
				 *allow = naive_find(c, name, port, false);
	const struct ip_rule *ip = naive_ip(c, name, port);

	*text = deny ? deny->text : allow ? allow->text : ip ? ip->text : NULL;
	return !deny && (allow || ip);
}

#endif
