#include "supervisor/gateway/query.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/gateway/control.h"
#include "supervisor/gateway/fakes.h"
#include "supervisor/gateway/lookup.h"

/* How long a refusal lasts: the policy does not change, but the address is lent. */
#define REFUSED_TTL 60

struct query {
	struct query *next, **link;
	struct peer *peer;
	struct dns_question q;
	struct host_name host;
	bool refused; /* and looked up nevertheless */
	struct fresh fresh;
	struct lookup lookup;
	struct dns_answer answer; /* while the supervisor is told */
};

static size_t in_flight;

static void answer(struct peer *p, const struct dns_question *q, const struct dns_answer *a)
{
	uint8_t msg[DNS_MESSAGE_MAX];
	size_t size = p->whole || q->size > sizeof(msg) ? sizeof(msg) : q->size;

	p->answer(p, msg, dns_write_answer(q, a, msg, size));
}

static void answer_code(struct peer *p, const struct dns_question *q, enum dns_rcode rcode)
{
	const struct dns_answer a = {.rcode = rcode, .ttl = REFUSED_TTL};

	answer(p, q, &a);
}

static void drop(struct query *query)
{
	sysfiles_forget(&query->fresh);
	lookup_cancel(&query->lookup);
	control_forget(query->peer->g->control, query);
	*query->link = query->next;
	if (query->next)
		query->next->link = query->link;
	query->peer->n--;
	in_flight--;
	free(query);
}

static void finish(struct query *query, const struct dns_answer *a)
{
	struct peer *p = query->peer;
	struct dns_question q = query->q;
	struct dns_answer copy = *a;

	drop(query);
	answer(p, &q, &copy);
}

static void fail(struct query *query)
{
	finish(query, &(struct dns_answer){.rcode = DNS_SERVFAIL});
}

static void on_told(void *arg)
{
	struct query *query = arg;

	finish(query, &query->answer);
}

/* The answer goes out when the supervisor knows of it. */
static void tell(struct query *query, struct report *r)
{
	r->kind = REPORT_BIND;
	r->channel = query->peer->channel;
	memcpy(r->bind.host, query->host.text, sizeof(r->bind.host));
	r->bind.n = (uint32_t)query->answer.n;
	memcpy(r->bind.addr, query->answer.addr, query->answer.n * sizeof(query->answer.addr[0]));
	if (!control_ask(query->peer->g->control, r, on_told, query))
		fail(query);
}

/* A search list goes on with its next suffix when there is no such name; an address would end the search. */
static void refuse(struct query *query)
{
	struct gateway *g = query->peer->g;
	struct dns_answer *a = &query->answer;
	struct report r = {.bind.refused = 1};
	bool whole, suffixed = resolvconf_is_search(sysfiles_conf(g->files), &query->host, &whole);

	*a = (struct dns_answer){.ttl = REFUSED_TTL};
	if (suffixed || !strchr(query->host.text, '.')) {
		a->rcode = DNS_NXDOMAIN;
		/* What comes of names that are complete is no news. */
		r.bind.silent = suffixed && whole;
	} else {
		/* The connect says it. */
		r.bind.silent = 1;
		if (query->q.type != DNS_AAAA && fakes_addr(g->fakes, &query->host, a->addr[0]))
			a->n = 1;
	}
	tell(query, &r);
}

static void on_found(struct lookup *l)
{
	struct query *query = container_of(l, struct query, lookup);
	/* Of what has an address the connect says it. */
	struct report r = {.bind = {.blocked = l->blocked && !query->refused,
				    .refused = query->refused,
				    .silent = l->answer.n > 0}};

	query->answer = l->status ? (struct dns_answer){.rcode = DNS_SERVFAIL} : l->answer;
	if (query->answer.n == 0 && !r.bind.blocked && !query->refused) {
		finish(query, &query->answer);
		return;
	}
	/* The aliases of what is left out say nothing. */
	if (l->answer.n == 0)
		query->answer.n_aliases = 0;
	if (r.bind.blocked) {
		r.bind.special = l->special;
		memcpy(r.bind.blocked_addr, l->blocked_addr, sizeof(r.bind.blocked_addr));
	}
	tell(query, &r);
}

static void on_fresh(struct fresh *w)
{
	struct query *query = container_of(w, struct query, fresh);
	struct gateway *g = query->peer->g;

	query->refused = net_decide_name(g->policy, &query->host, 0).decision != VERDICT_ALLOW;
	if (query->refused && !g->log_only) {
		refuse(query);
		return;
	}
	query->lookup.g = g;
	query->lookup.name = query->host;
	query->lookup.type = query->q.type == DNS_AAAA ? DNS_AAAA : DNS_A;
	query->lookup.done = on_found;
	lookup_start(&query->lookup);
}

static struct query *new_query(struct peer *p, const struct dns_question *q)
{
	struct query *query = in_flight < QUERIES_MAX ? calloc(1, sizeof(*query)) : NULL;

	if (!query)
		return NULL;
	query->peer = p;
	query->q = *q;
	query->fresh.ready = on_fresh;
	query->next = p->queries;
	query->link = &p->queries;
	if (query->next)
		query->next->link = &query->next;
	p->queries = query;
	p->n++;
	in_flight++;
	return query;
}

bool query_ask(struct peer *p, const uint8_t *msg, size_t len)
{
	struct dns_question q;
	struct host_name host;
	struct query *query;
	int rc = dns_parse_question(msg, len, &q);

	if (rc < 0)
		return false;
	if (rc > 0) {
		answer_code(p, &q, (enum dns_rcode)rc);
	} else if (q.type != DNS_A && q.type != DNS_AAAA && q.type != DNS_ANY) {
		/* Nothing but addresses is told, and nothing else is asked for outside. */
		answer_code(p, &q, DNS_NOERROR);
	} else if (!dns_host(&q.name, &host)) {
		answer_code(p, &q, DNS_NXDOMAIN);
	} else if (!(query = new_query(p, &q))) {
		answer_code(p, &q, DNS_SERVFAIL);
	} else {
		query->host = host;
		sysfiles_wait(p->g->files, &query->fresh);
	}
	return true;
}

void query_forget(struct peer *p)
{
	while (p->queries)
		drop(p->queries);
}
