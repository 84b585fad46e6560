/*
 * Entries of domain lists stand sorted by name, kind and port: each question is a few binary searches, one for the name
 * and one for each name above it, however many entries there are. Names come from strangers, and sorting has no bad case.
 */
#include "policy/net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/config.h"
#include "policy/net_private.h"
#include "policy/netset.h"
#include "policy/policy_private.h"

struct entry {
	const char *name; /* "*" for all */
	bool wildcard, deny;
	uint16_t port; /* 0: any */
	const struct rule *rule;
};

struct net {
	struct rule *rules; /* of the domains, then of the addresses, in the order written */
	size_t n_rules, n_domains;
	struct entry *entries; /* sorted */
	struct host_net *nets; /* of rules[n_domains] on */
	size_t n_nets;
	struct netset *set; /* of the nets */
	const struct config *cfg;
};

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* Without the rule: what is searched for. */
static int compare_key(const struct entry *a, const struct entry *b)
{
	int c = strcmp(a->name, b->name);

	if (c == 0)
		c = COMPARE(a->wildcard, b->wildcard);
	if (c == 0)
		c = COMPARE(a->deny, b->deny);
	return c ? c : COMPARE(a->port, b->port);
}

static int compare_entries(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;
	int c = compare_key(a, b);

	return c ? c : COMPARE(a->rule, b->rule);
}

static void add_domain(struct net *n, size_t i, const struct domain_rule *d)
{
	n->rules[i] = (struct rule){
		.kind = RULE_NETWORK,
		.key = d->deny ? "deny_domain" : "allow_domain",
		.text = d->text,
		.reason = d->reason,
		.origin = d->origin,
		.alias_of = i,
	};
	n->entries[i] = (struct entry){
		.name = d->any ? "*" : d->host,
		.wildcard = d->wildcard,
		.deny = d->deny,
		.port = d->port,
		.rule = &n->rules[i],
	};
}

static void add_net(struct net *n, size_t i, const struct ip_rule *ip)
{
	n->rules[n->n_domains + i] = (struct rule){
		.kind = RULE_NETWORK,
		.key = "allow_ip",
		.text = ip->text,
		.origin = ip->origin,
		.alias_of = n->n_domains + i,
	};
	n->nets[i] = (struct host_net){.prefix = ip->prefix, .port_lo = ip->port_lo, .port_hi = ip->port_hi};
	memcpy(n->nets[i].addr, ip->addr, 16);
}

struct net *net_new(const struct config *cfg)
{
	struct net *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->cfg = cfg;
	n->n_domains = cfg->n_domains;
	n->n_nets = cfg->n_ips;
	n->n_rules = n->n_domains + n->n_nets;
	n->rules = calloc(n->n_rules + 1, sizeof(*n->rules));
	n->entries = calloc(n->n_domains + 1, sizeof(*n->entries));
	n->nets = calloc(n->n_nets + 1, sizeof(*n->nets));
	if (!n->rules || !n->entries || !n->nets) {
		net_free(n);
		return NULL;
	}
	for (size_t i = 0; i < n->n_domains; i++)
		add_domain(n, i, &cfg->domains[i]);
	for (size_t i = 0; i < n->n_nets; i++)
		add_net(n, i, &cfg->ips[i]);
	qsort(n->entries, n->n_domains, sizeof(*n->entries), compare_entries);
	n->set = netset_new(n->nets, n->n_nets);
	if (n->set)
		return n;
	net_free(n);
	return NULL;
}

void net_free(struct net *n)
{
	if (!n)
		return;
	free(n->rules);
	free(n->entries);
	free(n->nets);
	netset_free(n->set);
	free(n);
}

size_t net_rule_number(const struct policy *p, const struct rule *rule)
{
	const struct net *n = p->net;

	return rule >= n->rules && rule < n->rules + n->n_rules ? (size_t)(rule - n->rules) : SIZE_MAX;
}

const struct rule *net_rule(const struct policy *p, size_t number)
{
	return number < p->net->n_rules ? &p->net->rules[number] : NULL;
}

/* The first entry that is not less than the key. */
static size_t lower_bound(const struct net *n, const struct entry *key)
{
	size_t lo = 0, hi = n->n_domains;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (compare_key(&n->entries[mid], key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static const struct rule *find(const struct net *n, struct entry key)
{
	size_t i = lower_bound(n, &key);

	return i < n->n_domains && compare_key(&n->entries[i], &key) == 0 ? n->entries[i].rule : NULL;
}

/* With that port, else without any. */
static const struct rule *find_port(const struct net *n, struct entry key, uint16_t port)
{
	const struct rule *r = NULL;

	key.port = port;
	if (port)
		r = find(n, key);
	key.port = 0;
	return r ? r : find(n, key);
}

/* The keys under which a name may stand, the most specific first. Begin with *at NULL; false at the end. */
static bool next_key(const struct host_name *name, bool deny, const char **at, struct entry *key)
{
	const char *dot;

	if (*at && strcmp(key->name, "*") == 0)
		return false;
	if (!*at) {
		*at = name->text;
		*key = (struct entry){.name = name->text, .deny = deny};
		return true;
	}
	dot = name->is_ip ? NULL : strchr(*at, '.');
	if (dot) {
		*at = dot + 1;
		*key = (struct entry){.name = *at, .wildcard = true, .deny = deny};
		return true;
	}
	*key = (struct entry){.name = "*", .deny = deny};
	return deny;
}

/* The deciding entry of one of the lists for that port; port 0: an entry without one. */
static const struct rule *find_listed(const struct net *n, const struct host_name *name, bool deny,
				      uint16_t port)
{
	const struct rule *r = NULL;
	const char *at = NULL;
	struct entry key;

	while (!r && next_key(name, deny, &at, &key))
		r = find_port(n, key, port);
	return r;
}

static void name_address(const uint8_t addr[16], struct host_name *name)
{
	char text[HOST_TEXT_SIZE];

	memset(name, 0, sizeof(*name));
	memcpy(name->addr, addr, 16);
	name->is_ip = true;
	snprintf(name->text, sizeof(name->text), "%s", host_format_addr(addr, false, text));
}

static const struct rule *find_denied_addr(const struct net *n, const uint8_t addr[16], uint16_t port)
{
	const struct rule *r;
	struct host_name name;
	uint8_t v4[16];

	name_address(addr, &name);
	r = find_listed(n, &name, true, port);
	if (r || !net_carries_v4(addr, v4))
		return r;
	name_address(v4, &name);
	return find_listed(n, &name, true, port);
}

static const struct rule *find_denied(const struct net *n, const struct host_name *name, uint16_t port)
{
	return name->is_ip ? find_denied_addr(n, name->addr, port) : find_listed(n, name, true, port);
}

/* An entry with some port at which nothing refuses the name. */
static const struct rule *find_some_port(const struct net *n, const struct host_name *name)
{
	const char *at = NULL;
	struct entry key;

	while (next_key(name, false, &at, &key))
		for (size_t i = lower_bound(n, &key); i < n->n_domains; i++) {
			const struct entry *e = &n->entries[i];

			key.port = e->port;
			if (compare_key(e, &key) != 0)
				break;
			if (e->port == 0 || !find_denied(n, name, e->port))
				return e->rule;
		}
	return NULL;
}

struct net_question {
	const struct net *n;
	const uint8_t *addr;
	uint16_t port;
	const struct rule *found;
};

/* One of the networks that hold the address. */
static bool is_allowing(size_t i, void *arg)
{
	struct net_question *q = arg;
	const struct host_net *net = &q->n->nets[i];

	if (!host_net_matches(net, q->addr, q->port ? q->port : net->port_lo))
		return false;
	/* Of a range some port is taken to be open. */
	if (!q->port && net->port_lo == net->port_hi && find_denied_addr(q->n, q->addr, net->port_lo))
		return false;
	q->found = &q->n->rules[q->n->n_domains + i];
	return true;
}

static const struct rule *find_net(const struct net *n, const uint8_t addr[16], uint16_t port)
{
	struct net_question q = {.n = n, .addr = addr, .port = port};

	netset_each(n->set, addr, is_allowing, &q);
	return q.found;
}

static struct net_verdict verdict(const struct rule *refusing, const struct rule *allowing)
{
	if (refusing || !allowing)
		return (struct net_verdict){.decision = VERDICT_DENY, .rule = refusing};
	return (struct net_verdict){.decision = VERDICT_ALLOW, .rule = allowing};
}

static const struct rule *find_allowed(const struct net *n, const struct host_name *name, uint16_t port)
{
	return port ? find_listed(n, name, false, port) : find_some_port(n, name);
}

struct net_verdict net_decide_name(const struct policy *p, const struct host_name *name, uint16_t port)
{
	const struct rule *allowing = find_allowed(p->net, name, port);

	if (!allowing && name->is_ip)
		allowing = find_net(p->net, name->addr, port);
	return verdict(find_denied(p->net, name, port), allowing);
}

struct net_verdict net_decide_addr(const struct policy *p, const uint8_t addr[16], uint16_t port)
{
	struct host_name name;

	name_address(addr, &name);
	return net_decide_name(p, &name, port);
}

bool net_denies_addr(const struct policy *p, const uint8_t addr[16], uint16_t port, const struct rule **rule)
{
	const struct rule *r = find_denied_addr(p->net, addr, port);

	if (rule)
		*rule = r;
	return r != NULL;
}

bool net_allows_dns(const struct policy *p, const uint8_t addr[16])
{
	const struct net *n = p->net;

	for (size_t i = 0; i < n->n_nets; i++)
		if (n->nets[i].port_lo == 53 && n->nets[i].port_hi == 53 &&
		    host_net_matches(&n->nets[i], addr, 53))
			return !find_denied_addr(n, addr, 53);
	return false;
}

bool net_is_open(const struct policy *p)
{
	const struct net *n = p->net;
	bool open = n->n_nets > 0;

	if (find(n, (struct entry){.name = "*", .deny = true}))
		return false;
	for (size_t i = 0; i < n->n_domains && !open; i++)
		open = !n->entries[i].deny;
	return open;
}

static bool is_of(const struct resolve_rule *r, const struct host_name *name, uint16_t port)
{
	return (port == 0 || r->port == port) && strcmp(r->host, name->text) == 0;
}

bool net_resolve(const struct policy *p, const struct host_name *name, uint16_t port, size_t i,
		 uint8_t addr[16], uint16_t *to_port)
{
	const struct config *c = p->net->cfg;

	for (size_t k = 0; k < c->n_resolves; k++)
		if (is_of(&c->resolves[k], name, port) && i-- == 0) {
			memcpy(addr, c->resolves[k].addr, 16);
			*to_port = c->resolves[k].to_port;
			return true;
		}
	return false;
}

/* The first rule that gives the name this address; NULL: there is none. */
static const struct resolve_rule *find_resolve(const struct policy *p, const struct host_name *name,
					       const uint8_t addr[16], uint16_t port)
{
	const struct config *c = p->net->cfg;

	for (size_t k = 0; k < c->n_resolves; k++)
		if (is_of(&c->resolves[k], name, port) && memcmp(c->resolves[k].addr, addr, 16) == 0)
			return &c->resolves[k];
	return NULL;
}

uint16_t net_resolved_port(const struct policy *p, const struct host_name *name, const uint8_t addr[16],
			   uint16_t port)
{
	const struct resolve_rule *r = find_resolve(p, name, addr, port);

	return r ? r->to_port : port;
}

bool net_may_lead_to(const struct policy *p, const struct host_name *name, const uint8_t addr[16],
		     uint16_t port, const uint8_t (*own)[16], size_t n, enum net_special *special)
{
	const struct resolve_rule *fixed = find_resolve(p, name, addr, port);

	*special = NET_ORDINARY;
	if (net_denies_addr(p, addr, port, NULL))
		return false;
	if (fixed)
		return !port || !net_denies_addr(p, addr, fixed->to_port, NULL);
	*special = net_special(addr, own, n);
	if (host_is_localhost(name)) {
		bool here = *special == NET_LOOPBACK;

		*special = here ? NET_ORDINARY : NET_NOT_LOOPBACK;
		return here;
	}
	if (*special != NET_ORDINARY && net_decide_addr(p, addr, port).decision == VERDICT_ALLOW)
		*special = NET_ORDINARY;
	return *special == NET_ORDINARY;
}
