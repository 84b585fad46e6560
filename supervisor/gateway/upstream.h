/*
 * The servers of the outside, asked by c-ares: several with failover and timeouts, over UDP, over TCP where an answer does not
 * fit. Questions that are the same as one in flight wait for its answer. c-ares carries the messages; what they say is read
 * by policy/dns.h.
 */
#ifndef CORDON_GATEWAY_UPSTREAM_H
#define CORDON_GATEWAY_UPSTREAM_H

#include "policy/dns.h"
#include "policy/resolvconf.h"
#include "supervisor/gateway/gateway.h"

/* Before the lockdown: c-ares reads its random key from a file, and takes options but then. The servers as below. NULL: out
 * of memory. */
struct upstream *upstream_new(struct gateway *g, const struct resolvconf *conf);
/* The servers of the file, unless the policy names some (dns_server). Questions in flight are asked anew when they change. */
void upstream_configure(struct upstream *u, const struct resolvconf *conf);

/* Owned by whoever waits. */
struct asker {
	/* status: 0, ETIMEDOUT, EIO; with 0 the answer, which is gone afterwards. */
	void (*done)(struct asker *a, int status, const struct dns_answer *answer);
	struct asker *next, **link;
};
/* type: A or AAAA. done may be called before this returns. */
void upstream_ask(struct upstream *u, const struct host_name *name, uint16_t type, struct asker *a);
/* Does not wait any more; also for one that does not. */
void upstream_forget(struct asker *a);

#endif
