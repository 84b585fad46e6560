#include "supervisor/gateway/lookup.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "policy/inet.h"
#include "supervisor/gateway/ownaddr.h"

/* Of what does not come from a server. */
#define TTL 60

static bool is_of_type(const struct lookup *l, const uint8_t addr[16])
{
	return host_is_v4(addr) == (l->type == DNS_A);
}

static void add(struct lookup *l, const uint8_t addr[16])
{
	struct dns_answer *a = &l->answer;

	if (a->n < DNS_ADDRS_MAX && is_of_type(l, addr))
		memcpy(a->addr[a->n++], addr, sizeof(a->addr[0]));
}

/* True when a rule answers, be it that there is no address of this type. */
static bool by_rule(struct lookup *l)
{
	uint8_t addr[16];
	uint16_t to;
	size_t i = 0;

	for (; net_resolve(l->g->policy, &l->name, l->port, i, addr, &to); i++)
		add(l, addr);
	return i > 0;
}

/* As libc: a name that is there for the other type only is asked for. */
static bool by_file(struct lookup *l)
{
	uint8_t addr[DNS_ADDRS_MAX][16];
	size_t n = sysfiles_addrs(l->g->files, &l->name, addr, DNS_ADDRS_MAX);

	for (size_t i = 0; i < n; i++)
		add(l, addr[i]);
	return l->answer.n > 0;
}

/* RFC 6761: never asked of a server. */
static bool by_itself(struct lookup *l)
{
	if (!host_is_localhost(&l->name))
		return false;
	add(l, inet_loopback4);
	add(l, inet_loopback6);
	return true;
}

static void block(struct lookup *l, const uint8_t addr[16], enum net_special special)
{
	if (l->blocked)
		return;
	l->blocked = true;
	memcpy(l->blocked_addr, addr, sizeof(l->blocked_addr));
	l->special = special;
	l->denied = NULL;
	if (special == NET_ORDINARY)
		net_denies_addr(l->g->policy, addr, l->port, &l->denied);
}

/* Leaves out what the name may not lead to; with --log-only, notes it. */
static void judge(struct lookup *l)
{
	struct dns_answer *a = &l->answer;
	const uint8_t(*own)[16];
	size_t n_own = ownaddr_get(l->g->own, &own), kept = 0;

	if (l->own)
		return;
	for (size_t i = 0; i < a->n; i++) {
		enum net_special special;

		bool may = net_may_lead_to(l->g->policy, &l->name, a->addr[i], l->port, own, n_own, &special);

		if (!may)
			block(l, a->addr[i], special);
		if (may || l->g->log_only)
			memmove(a->addr[kept++], a->addr[i], sizeof(a->addr[0]));
	}
	a->n = kept;
}

static void on_answer(struct asker *asker, int status, const struct dns_answer *answer)
{
	struct lookup *l = container_of(asker, struct lookup, asker);

	l->status = status;
	if (status == 0) {
		l->answer = *answer;
		judge(l);
	}
	l->done(l);
}

static void on_fresh(struct fresh *w)
{
	struct lookup *l = container_of(w, struct lookup, fresh);

	l->status = 0;
	l->answer = (struct dns_answer){.ttl = TTL};
	if (by_rule(l) || by_file(l) || by_itself(l)) {
		judge(l);
		l->done(l);
		return;
	}
	upstream_ask(l->g->upstream, &l->name, l->type, &l->asker);
}

void lookup_start(struct lookup *l)
{
	l->blocked = false;
	l->fresh.ready = on_fresh;
	l->asker.done = on_answer;
	sysfiles_wait(l->g->files, &l->fresh);
}

void lookup_cancel(struct lookup *l)
{
	sysfiles_forget(&l->fresh);
	upstream_forget(&l->asker);
}

/* For the proxy: both types, then one answer. */
struct resolving {
	struct resolving *next, **link;
	struct lookup both[2];
	unsigned waiting;
	gw_done *done;
	void *arg;
};

static void end_resolving(struct resolving *r)
{
	for (int i = 0; i < 2; i++)
		lookup_cancel(&r->both[i]);
	*r->link = r->next;
	if (r->next)
		r->next->link = r->link;
	free(r);
}

static void merge(struct gw_answer *a, const struct lookup *l)
{
	const struct dns_answer *from = &l->answer;

	if (l->status) {
		if (!a->status)
			a->status = l->status;
		return;
	}
	if (from->n && from->ttl < a->ttl)
		a->ttl = from->ttl;
	for (size_t i = 0; i < from->n && a->n < GATEWAY_ADDRS_MAX; i++)
		memcpy(a->addr[a->n++], from->addr[i], sizeof(a->addr[0]));
	if (l->blocked && !a->blocked) {
		a->blocked = true;
		a->special = l->special;
		a->denied = l->denied;
		memcpy(a->blocked_addr, l->blocked_addr, sizeof(a->blocked_addr));
	}
}

static void on_both(struct resolving *r)
{
	struct gw_answer a = {.ttl = UINT32_MAX};
	gw_done *done = r->done;
	void *arg = r->arg;

	for (int i = 0; i < 2; i++)
		merge(&a, &r->both[i]);
	if (a.n)
		a.status = 0;
	else if (a.blocked)
		a.status = EPERM;
	else if (!a.status)
		a.status = ENOENT;
	end_resolving(r);
	done(&a, arg);
}

static void on_one(struct lookup *l)
{
	struct resolving *r = (struct resolving *)(l->type == DNS_A ? l : l - 1);

	r = container_of(r, struct resolving, both);
	if (--r->waiting == 0)
		on_both(r);
}

static void begin(struct gateway *g, const struct host_name *name, uint16_t port, bool own, gw_done *done,
		  void *arg)
{
	struct resolving *r = calloc(1, sizeof(*r));

	if (!r) {
		done(&(struct gw_answer){.status = EIO}, arg);
		return;
	}
	r->done = done;
	r->arg = arg;
	r->next = g->resolving;
	r->link = &g->resolving;
	if (r->next)
		r->next->link = &r->next;
	g->resolving = r;
	/* One more, so that it does not end while it begins. */
	r->waiting = 3;
	for (int i = 0; i < 2; i++) {
		r->both[i] = (struct lookup){.g = g,
					     .name = *name,
					     .port = port,
					     .type = i ? DNS_AAAA : DNS_A,
					     .own = own,
					     .done = on_one};
		lookup_start(&r->both[i]);
	}
	if (--r->waiting == 0)
		on_both(r);
}

void gw_resolve(struct gateway *g, const struct host_name *name, uint16_t port, gw_done *done, void *arg)
{
	begin(g, name, port, false, done, arg);
}

void gw_lookup(struct gateway *g, const struct host_name *name, uint16_t port, gw_done *done, void *arg)
{
	begin(g, name, port, true, done, arg);
}

void gw_resolve_cancel(struct gateway *g, void *arg)
{
	for (struct resolving *r = g->resolving, *next; r; r = next) {
		next = r->next;
		if (r->arg == arg)
			end_resolving(r);
	}
}
