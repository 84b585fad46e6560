/*
 * From an allowed name to the addresses that it may lead to: `resolve` rules, localhost, /etc/hosts, the servers; then judged
 * (net_may_lead_to()).
 */
#ifndef CORDON_GATEWAY_LOOKUP_H
#define CORDON_GATEWAY_LOOKUP_H

#include "policy/dns.h"
#include "supervisor/gateway/gateway.h"
#include "supervisor/gateway/sysfiles.h"
#include "supervisor/gateway/upstream.h"

/* Owned by whoever waits; all zero before lookup_start(). */
struct lookup {
	struct gateway *g;
	struct host_name name;
	uint16_t port; /* 0: any */
	uint16_t type; /* A or AAAA */
	bool own;      /* cordon's own need: the policy is not asked where it may lead */
	void (*done)(struct lookup *l);

	int status;		  /* 0, ETIMEDOUT, EIO */
	struct dns_answer answer; /* with 0 */
	bool blocked;		  /* some address was left out; the first of them: */
	uint8_t blocked_addr[16];
	enum net_special special;
	const struct rule *denied; /* the deny_domain that names it, or NULL */

	struct fresh fresh;
	struct asker asker;
};

/* g, name, port, type and done are set. done may be called before this returns; it may free l. */
void lookup_start(struct lookup *l);
/* done is not called any more. Also after it was. */
void lookup_cancel(struct lookup *l);

#endif
