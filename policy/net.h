/*
 * Verdicts on the network: may this name, may this address be connected to? Pure, no locks, no allocation after
 * policy_new().
 *
 * deny_domain beats allow_domain; what neither names is refused. An address is allowed by allow_ip, by an address in
 * allow_domain, or, which its caller must find out, because an allowed name led to it. An address in deny_domain refuses it
 * whatever led there, also in the IPv6 forms that carry an IPv4 address.
 *
 * A `resolve` rule is an answer to a question, not a permission: its name needs an allow_domain as any other. It
 * only lifts the strictness about special addresses.
 */
#ifndef CORDON_NET_H
#define CORDON_NET_H

#include <stdint.h>

#include "policy/host.h"
#include "policy/policy.h"

/* The deciding rule, as of paths: .rule->key is "allow_domain", "deny_domain" or "allow_ip"; NULL: the default. The most
 * specific is named: a name before a wildcard, the longer wildcard or prefix, with the port before without, the earlier
 * line. */
struct net_verdict {
	enum decision decision; /* VERDICT_DENY or VERDICT_ALLOW */
	const struct rule *rule;
	const char
		*why; /* set by the caller: said of a refusal instead of "no allow_domain matches"; or NULL */
};

/* The rules have numbers, for a message between processes that share the policy. SIZE_MAX, NULL: none such. */
size_t net_rule_number(const struct policy *p, const struct rule *rule);
const struct rule *net_rule(const struct policy *p, size_t number);

/* May a name or an address literal be connected to at this port? Port 0: at any port at all, for questions to the stub. */
struct net_verdict net_decide_name(const struct policy *p, const struct host_name *name, uint16_t port);

/* The same by the address alone: allow_ip, and addresses in allow_domain and deny_domain. */
struct net_verdict net_decide_addr(const struct policy *p, const uint8_t addr[16], uint16_t port);

/* True when a deny_domain names the address (at this port). */
bool net_denies_addr(const struct policy *p, const uint8_t addr[16], uint16_t port, const struct rule **rule);

/* True when an allow_ip names exactly port 53 and this address: such a server is asked directly, not through the stub. */
bool net_allows_dns(const struct policy *p, const uint8_t addr[16]);

/* True when some destination may be reached by name, or by address. */
bool net_is_open(const struct policy *p);

/* What an allowed name may not lead to unless a rule allows that address itself. */
enum net_special {
	NET_ORDINARY = 0,
	NET_UNSPECIFIED, /* 0.0.0.0/8, :: */
	NET_LOOPBACK,
	NET_LINK_LOCAL,
	NET_MULTICAST,
	NET_BROADCAST,
	NET_METADATA,	  /* of cloud providers */
	NET_OWN,	  /* an address of this machine's interfaces */
	NET_RESERVED,	  /* 240/4, where the stub puts refused names */
	NET_NOT_LOOPBACK, /* localhost leads elsewhere; never of net_special() */
};

/* Looks into v4-mapped, v4-compatible, translated, 6to4 and NAT64 forms (of 96 bits). own: n addresses of the machine. */
enum net_special net_special(const uint8_t addr[16], const uint8_t (*own)[16], size_t n);
/* "a loopback address", for messages. */
const char *net_special_name(enum net_special s);

/*
 * May the allowed name lead to this address for this port? localhost and *.localhost to loopback only; others to nothing
 * special, unless the address is allowed itself, or deny_domain denies it. *special says why not (NET_ORDINARY: a
 * deny_domain).
 */
bool net_may_lead_to(const struct policy *p, const struct host_name *name, const uint8_t addr[16],
		     uint16_t port, const uint8_t (*own)[16], size_t n, enum net_special *special);

/* The i-th `resolve` rule for the name and port (0: any); false when there are no more. */
bool net_resolve(const struct policy *p, const struct host_name *name, uint16_t port, size_t i,
		 uint8_t addr[16], uint16_t *to_port);
/*
 * When a connect to addr:port is what a `resolve` rule of this name with another port stands for: the port to connect to,
 * else port. With another port, net_denies_addr() is to be asked about that one, too.
 */
uint16_t net_resolved_port(const struct policy *p, const struct host_name *name, const uint8_t addr[16],
			   uint16_t port);

/*
 * "Connection blocked by network allowlist: example.com:443 (no allow_domain matches)" (of a deny_domain: "network policy", and
 * the rule) and the line that would allow it;
 * of what is allowed "connect example.com:443 allowed by allow_domain = ..." and "". host: the name or the address as
 * text. Without a port the line
 * has ":PORT", to be filled in. Both return buf, which is cut where it is short.
 */
char *net_explain(const char *host, uint16_t port, const struct net_verdict *v, char *buf, size_t size);
char *net_suggest(const char *host, bool is_ip, uint16_t port, const struct net_verdict *v, char *buf,
		  size_t size);

#endif
