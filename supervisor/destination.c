#include "supervisor/destination.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "policy/dns.h"
#include "policy/inet.h"
#include "policy/net.h"
#include "supervisor/binding.h"
#include "supervisor/gateway.h"
#include "supervisor/judge.h"
#include "supervisor/lockdown.h"
#include "supervisor/names.h"
#include "supervisor/proctcp.h"
#include "supervisor/sockheld.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(getsockname), OWN(getpeername),
	  OWN_IF(socket, ARG_IS(0, AF_INET), ARG_BITS(1, 0xf, SOCK_STREAM)),
	  OWN_IF(socket, ARG_IS(0, AF_INET6), ARG_BITS(1, 0xf, SOCK_STREAM)), OWN(bind), OWN(close));

/* --- By name --- */

/* A name that leads to the address, and may. */
struct by_name {
	const struct policy *policy;
	const uint8_t *addr;
	uint16_t port;
	bool local;
	/* The results. seen: the name that decides; else one that is allowed, but not to lead there (then why says so); else the
	 * latest of those that do. */
	struct host_name seen;
	bool has_seen;
	struct net_verdict verdict;
	uint16_t to_port;
	char why[96];
	const struct rule *denied; /* the deny_domain that names the second port of the name's `resolve` */
};

/* Why the name may not lead to the port that its `resolve` puts in place of the one asked for. */
static void note_denied(struct by_name *n, const struct host_name *name)
{
	uint16_t to = net_resolved_port(n->policy, name, n->addr, n->port);

	if (to != n->port)
		net_denies_addr(n->policy, n->addr, to, &n->denied);
}

static bool may_lead(struct by_name *n, const struct host_name *name)
{
	enum net_special special;

	if (net_may_lead_to(n->policy, name, n->addr, n->port, (const uint8_t(*)[16])n->addr, n->local,
			    &special))
		return true;
	snprintf(n->why, sizeof(n->why), "it leads to %s", net_special_name(special));
	n->seen = *name;
	note_denied(n, name);
	return false;
}

static bool try_name(const struct host_name *name, bool refused, void *arg)
{
	struct by_name *n = arg;
	struct net_verdict v = net_decide_name(n->policy, name, n->port);
	uint16_t to;

	if (!n->has_seen) {
		n->seen = *name;
		n->has_seen = true;
		n->verdict = v;
	}
	if (refused || v.decision != VERDICT_ALLOW || !may_lead(n, name))
		return false;
	to = net_resolved_port(n->policy, name, n->addr, n->port);
	if (net_denies_addr(n->policy, n->addr, n->port, NULL) ||
	    (to != n->port && net_denies_addr(n->policy, n->addr, to, NULL)))
		return false;
	n->seen = *name;
	n->verdict = v;
	n->to_port = to;
	return true;
}

/* --- By who listens --- */

static bool is_own(const struct inet_socket *socket, void *arg)
{
	return socket->inode && sockets_is_inet(arg, socket->inode, socket->cookie);
}

struct inet_own destination_own(struct session *s)
{
	return (struct inet_own){is_own, s};
}

enum inet_answer destination_listener(struct session *s, const struct destination *d)
{
	const struct inet_own own = destination_own(s);
	enum inet_answer a = inetdiag_listener(s->inetdiag, &d->end, &own);

	/* Of those that share a port another may be reached than the one that the kernel names. */
	if (a == INET_SOCKET && sockets_share_port(s) && !proctcp_all_own(&d->end, &own))
		return INET_UNKNOWN;
	return a;
}

/* A port of loopback that is taken and nobody listens at; made when it is needed first. It lives as long as the session. */
static int make_refusing(int family)
{
	struct sockaddr_in a4 = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	struct sockaddr_in6 a6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_storage got;
	socklen_t len = sizeof(got);

	if (fd < 0)
		return -1;
	if ((family == AF_INET ? bind(fd, (struct sockaddr *)&a4, sizeof(a4))
			       : bind(fd, (struct sockaddr *)&a6, sizeof(a6))) < 0 ||
	    getsockname(fd, (struct sockaddr *)&got, &len) < 0) {
		close(fd);
		return -1;
	}
	return ntohs(*inet_port(&got));
}

socklen_t destination_refuses(const struct destination *d, struct sockaddr_storage *to)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static int port[2] = {-1, -1};
	bool v4 = host_is_v4(d->end.addr);
	struct inet_addr a = {.v6 = !v4};
	int *p = &port[v4];

	pthread_mutex_lock(&lock);
	if (*p < 0)
		*p = make_refusing(v4 ? AF_INET : AF_INET6);
	a.port = (uint16_t)*p;
	pthread_mutex_unlock(&lock);
	memcpy(a.addr, v4 ? inet_loopback4 : inet_loopback6, 16);
	return a.port == (uint16_t)-1 ? 0 : inet_make(&a, d->family, to);
}

struct holder {
	uint64_t inode;
	bool found;
};

static bool note_held(struct session *s, uint64_t inode, void *arg)
{
	struct holder *h = arg;

	(void)s;
	h->found |= inode == h->inode;
	return false;
}

/* Does a process of the session have the socket? */
static bool is_held(struct session *s, uint64_t inode)
{
	static const struct sockheld told = {.held = note_held};
	struct holder h = {.inode = inode};

	return sockheld_each(s, &told, &h) && h.found;
}

static bool end_of(int fd, bool peer, struct inet_end *end)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	struct inet_addr a;

	if ((peer ? getpeername(fd, (struct sockaddr *)&ss, &len)
		  : getsockname(fd, (struct sockaddr *)&ss, &len)) < 0 ||
	    inet_parse(&ss, len, ss.ss_family, &a) != 0)
		return false;
	memcpy(end->addr, a.addr, 16);
	end->port = a.port;
	return true;
}

/*
 * Most often who listened before still does. One that took a single connection and was closed is told by that connection,
 * which a member has by now, or which is over.
 */
bool destination_holds(struct session *s, const struct destination *d, int fd)
{
	struct inet_end here, there;
	enum inet_answer listener, a;
	uint64_t inode;

	listener = destination_listener(s, d);
	if (listener == INET_SOCKET)
		return true;
	if (!end_of(fd, false, &here) || !end_of(fd, true, &there))
		return true; /* it is over */
	a = inetdiag_connected(s->inetdiag, &there, &here, &inode);
	if (a == INET_SOCKET && inode)
		return is_held(s, inode);
	return a == INET_NOBODY && listener == INET_NOBODY;
}

/* --- The decision --- */

/* The record of the call names the host, if one is known, and the address. */
static void fill_event(struct call *c, const struct inet_addr *a, const struct host_name *name)
{
	host_format_addr(a->addr, false, c->ip);
	c->event.op = "connect";
	c->event.syscall = c->sysc->name;
	c->event.ip = (struct bytes){c->ip, strlen(c->ip)};
	c->event.port = a->port;
	if (!name)
		return;
	snprintf(c->host, sizeof(c->host), "%s", name->text);
	c->event.host = (struct bytes){c->host, strlen(c->host)};
}

static int go_instead(struct destination *d, struct inet_addr *a, uint16_t port)
{
	d->instead |= port != a->port;
	a->port = port;
	d->len = inet_make(a, d->family, &d->to);
	return d->len ? 0 : EAFNOSUPPORT;
}

/* With --log-only it goes where it would go if it were allowed. */
static int refuse(struct call *c, struct destination *d, struct inet_addr *a, const struct by_name *n,
		  struct net_verdict v)
{
	const char *host;
	bool by_addr;
	int rc;

	fill_event(c, a, n->has_seen ? &n->seen : NULL);
	host = n->has_seen ? c->host : c->ip;
	if (n->has_seen && !v.rule)
		v = n->verdict;
	/* The name was allowed: the address was not. */
	if (v.decision == VERDICT_ALLOW)
		v = (struct net_verdict){.decision = VERDICT_DENY, .rule = n->denied};
	by_addr = !n->has_seen || n->why[0];
	v.why = n->why[0] ? n->why : NULL;
	net_explain(host, a->port, &v, c->message, sizeof(c->message));
	net_suggest(by_addr ? c->ip : host, by_addr, a->port, &v, c->suggestion, sizeof(c->suggestion));
	rc = judge_refuse(c, "connect", v.rule ? NULL : "default", EPERM, c->message);
	c->event.rule = v.rule;
	c->event.suggestion = c->suggestion[0] ? c->suggestion : NULL;
	if (rc == 0 && n->has_seen)
		return go_instead(d, a, net_resolved_port(c->s->policy, &n->seen, a->addr, a->port));
	return rc;
}

/* To another device than loopback: what is for this machine would leave it. */
static bool is_tied(const struct call *c, int device)
{
	return device && device != inetdiag_loopback(c->s->inetdiag);
}

/* Whether it stays on this machine by whatever device it goes. To a link-local address the scope is the device. */
static bool stays(const struct call *c, const struct destination *d, const struct inet_addr *a)
{
	int device = inet_is_link_local(a->addr) && a->scope ? (int)a->scope : d->device;

	return !is_tied(c, device) || inetdiag_is_local(c->s->inetdiag, a->addr, device);
}

/* The session's own listener, or nobody: then the kernel is to say so, wherever it asks. Else it is refused, and so
 * is a name that leads to a denied second port: that nobody listens at the first one would hide the rule. */
static int go_local(struct call *c, struct destination *d, struct inet_addr *a, const struct by_name *n,
		    struct net_verdict v, enum inet_answer listens)
{
	switch (listens) {
	case INET_SOCKET:
		d->own = true;
		break;
	case INET_NOBODY:
		if (n->denied)
			return refuse(c, d, a, n, v);
		d->len = is_tied(c, d->device) ? 0 : destination_refuses(d, &d->to);
		d->instead = true;
		if (!d->len)
			return ECONNREFUSED;
		break;
	case INET_UNKNOWN:
		return refuse(c, d, a, n, v);
	}
	fill_event(c, a, n->has_seen ? &n->seen : NULL);
	return 0;
}

static bool is_gateway(struct call *c, struct destination *d, struct inet_addr *a)
{
	uint16_t proxy = gateway_proxy_port(c->s);

	if (a->port == DNS_PORT && !net_allows_dns(c->s->policy, a->addr)) {
		d->len = gateway_dns_address(c->s, d->family, &d->to);
		d->dns = d->instead = d->len != 0;
		return d->dns;
	}
	return proxy && a->port == proxy && memcmp(a->addr, inet_loopback4, 16) == 0;
}

static bool find_name(struct call *c, const struct inet_addr *a, struct by_name *n)
{
	*n = (struct by_name){.policy = n->policy, .addr = a->addr, .port = a->port, .local = n->local};
	return names_each(c->s->hostnames, a->addr, try_name, n);
}

static int decide(struct call *c, struct destination *d, struct inet_addr *a)
{
	struct by_name n = {.policy = c->s->policy};
	enum inet_answer listens = INET_UNKNOWN;
	struct net_verdict v;
	bool named;

	memset(&v, 0, sizeof(v));
	memcpy(d->end.addr, a->addr, 16);
	d->end.port = a->port;
	if (is_gateway(c, d, a)) {
		if (is_tied(c, d->device))
			return refuse(c, d, a, &n, v);
		fill_event(c, a, NULL);
		return 0;
	}
	n.local = inetdiag_is_local(c->s->inetdiag, a->addr, 0);
	/* Rules take 0 for any port at all; as a port nobody listens at it, and no rule can name it. */
	if (a->port == 0)
		return n.local && stays(c, d, a) ? go_local(c, d, a, &n, v, INET_NOBODY)
						 : refuse(c, d, a, &n, v);
	v = net_decide_addr(c->s->policy, a->addr, a->port);
	if (v.decision == VERDICT_ALLOW) {
		fill_event(c, a, NULL);
		c->event.rule = v.rule;
		return 0;
	}
	named = find_name(c, a, &n);
	if (!named && n.local)
		listens = destination_listener(c->s, d);
	if (!named && listens != INET_SOCKET && names_look_again(c->s->hostnames))
		named = find_name(c, a, &n);
	if (named) {
		fill_event(c, a, &n.seen);
		c->event.rule = n.verdict.rule;
		return go_instead(d, a, n.to_port);
	}
	return n.local && stays(c, d, a) ? go_local(c, d, a, &n, v, listens) : refuse(c, d, a, &n, v);
}

int destination_find(struct sockcall *sc, struct destination *d)
{
	struct inet_addr a;
	int rc;

	memset(d, 0, sizeof(*d));
	d->family = sockets_family(sc->c->s, sc->inode);
	rc = inet_parse(&sc->addr, sc->len, d->family, &a);
	if (rc)
		return rc;
	/* No address at all is this machine; so that it is said in records. */
	if (inet_is_any(a.addr))
		memcpy(a.addr, host_is_v4(a.addr) ? inet_loopback4 : inet_loopback6, 16);
	d->len = inet_make(&a, d->family, &d->to);
	d->device = binding_device(sc->fd, d->family);
	return decide(sc->c, d, &a);
}
