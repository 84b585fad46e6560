/*
 * From a request to its host: the verdict on the name and port, the addresses that it may lead to, a connection to one of
 * them, or to another proxy, and then the relay. What was checked is what is connected to: a name is resolved once.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "policy/dns.h"
#include "policy/inet.h"
#include "policy/parent.h"
#include "policy/text.h"
#include "supervisor/gateway/client.h"
#include "supervisor/gateway/orders.h"
#include "supervisor/lockdown.h"

OWN_CALLS(OWN_GATEWAY, OWN(recvfrom), OWN(sendto), OWN(close));

#define PARENT_MS 60000
#define TEXT_MAX  1024

static void refuse(struct client *c, const struct refusal *r)
{
	if (c->socks)
		socks_client_refuse(c, r);
	else
		http_client_refuse(c, r);
}

void client_unreach(struct client *c)
{
	if (c->resolving)
		gw_resolve_cancel(c->g, c);
	c->resolving = false;
	dial_cancel(&c->dial);
	if (c->state == CLIENT_RELAYS)
		relay_cancel(&c->relay);
	if (c->state == CLIENT_ASKS)
		loop_drop(c->g->loop, &c->server);
	if (c->server.fd >= 0)
		close(c->server.fd);
	c->server.fd = -1;
	free(c->answer);
	c->answer = NULL;
}

static void tell(struct client *c, const uint8_t *addr, const struct net_verdict *v)
{
	const struct gw_event e = {.op = "connect",
				   .host = c->host.is_ip ? NULL : c->host.text,
				   .addr = c->host.is_ip ? c->host.addr : addr,
				   .port = c->port,
				   .denied = v->decision != VERDICT_ALLOW,
				   .rule = v->rule,
				   .why = v->why};

	gw_tell(c->g, &e);
}

static void refuse_by_verdict(struct client *c, const struct net_verdict *v)
{
	const char *reason = v->rule ? v->rule->reason : NULL;
	char text[TEXT_MAX];

	tell(c, NULL, v);
	net_explain(c->host.text, c->port, v, text, sizeof(text));
	refuse(c, &(struct refusal){.status = 403,
				    .reply = SOCKS_REFUSED,
				    .phrase = reason	  ? reason
					      : c->tunnel ? "Connection blocked by network allowlist"
							  : NULL,
				    .error = "blocked-by-allowlist",
				    .text = text});
}

/* The name is allowed, but not where it leads. text: the words of it. */
static void tell_address(struct client *c, const uint8_t *addr, const struct rule *denied,
			 enum net_special special, char *text, size_t size)
{
	char why[REPORT_WHY_MAX];
	const struct net_verdict v = {.decision = VERDICT_DENY, .rule = denied, .why = why};

	snprintf(why, sizeof(why), "resolved to %s",
		 denied ? "an address in deny_domain" : net_special_name(special));
	tell(c, addr, &v);
	net_explain(c->host.text, c->port, &v, text, size);
}

static void refuse_address(struct client *c, const uint8_t *addr, const struct rule *denied,
			   enum net_special special)
{
	char text[TEXT_MAX];

	tell_address(c, addr, denied, special, text, sizeof(text));
	refuse(c, &(struct refusal){.status = 403,
				    .reply = SOCKS_REFUSED,
				    .phrase = denied ? denied->reason : NULL,
				    .error = "blocked-by-sandbox-runtime",
				    .text = text});
}

/* Questions to DNS are answered by the stub, whatever server they are for: the proxy is no way past it. */
static bool is_for_stub(const struct client *c, const uint8_t addr[16])
{
	return c->port == DNS_PORT && !net_allows_dns(c->g->policy, addr);
}

static void refuse_for_stub(struct client *c, const uint8_t *addr)
{
	const struct net_verdict v = {.decision = VERDICT_DENY,
				      .why = "questions to DNS are answered by cordon unless an allow_ip "
					     "names the address with port 53"};
	char text[TEXT_MAX];

	tell(c, addr, &v);
	net_explain(c->host.text, c->port, &v, text, sizeof(text));
	refuse(c,
	       &(struct refusal){
		       .status = 403, .reply = SOCKS_REFUSED, .error = "blocked-by-allowlist", .text = text});
}

static enum socks_reply reply_for(int err)
{
	switch (err) {
	case ECONNREFUSED:
		return SOCKS_CONNECTION_REFUSED;
	case ENETUNREACH:
		return SOCKS_NET_UNREACHABLE;
	case EHOSTUNREACH:
	case ENOENT:
		return SOCKS_HOST_UNREACHABLE;
	case ETIMEDOUT:
		return SOCKS_TIMED_OUT;
	default:
		return SOCKS_FAILED;
	}
}

static void refuse_failed(struct client *c, const char *what, int err)
{
	char text[TEXT_MAX];

	snprintf(text, sizeof(text), "%s:%u: %s: %s", c->host.text, c->port, what,
		 err == ENOENT ? "no such name" : strerror(err));
	refuse(c, &(struct refusal){
			  .status = err == ETIMEDOUT ? 504 : 502, .reply = reply_for(err), .text = text});
}

/* --- Connected --- */

static void relay_done(struct relay *r, bool reset)
{
	struct client *c = container_of(r, struct client, relay);

	if (reset || c->tunnel)
		client_close(c);
	else
		client_leave(c, NULL, 0);
}

/* The request as its host, or another proxy, is to have it. */
static bool put_request(struct client *c)
{
	static char head[2 * HTTP_HEAD_MAX];
	/* Who sends before it is answered does not speak WebSocket, and another proxy might take it for a request. */
	struct http_forward how = {.proxy = c->parent != NULL, .upgrade = !c->parent && c->n_in == c->head};
	size_t n;

	if (c->parent && c->parent->authorization[0])
		how.authorization = c->parent->authorization;
	n = http_write(&c->request, &how, head, sizeof(head));
	c->relay.from[RELAY_PROGRAM] =
		(struct relay_flow){.limit = how.upgrade && c->request.upgrade	    ? RELAY_WAITS
					     : c->request.body == HTTP_BODY_CHUNKED ? RELAY_CHUNKED
					     : c->request.length		    ? RELAY_LENGTH
										    : RELAY_NOTHING,
				    .left = c->request.length};
	return n && relay_put(&c->relay, RELAY_PROGRAM, head, n, false);
}

/* A tunnel is told to be there. */
static bool put_established(struct client *c)
{
	static const char http[] = "HTTP/1.1 200 Connection established\r\n\r\n";
	uint8_t reply[SOCKS_REPLY_LEN];

	if (!c->socks)
		return relay_put(&c->relay, RELAY_SERVER, http, strlen(http), false);
	socks_make_reply(SOCKS_DONE, reply);
	return relay_put(&c->relay, RELAY_SERVER, (const char *)reply, sizeof(reply), false);
}

/* From here on the connection belongs to program and server. first: what another proxy sent after its answer. */
static void begin_relay(struct client *c, const char *first, size_t n)
{
	bool ok;

	c->relay =
		(struct relay){.loop = c->g->loop,
			       .done = relay_done,
			       .from = {[RELAY_PROGRAM].limit = RELAY_ALL, [RELAY_SERVER].limit = RELAY_ALL}};
	loop_drop(c->g->loop, &c->watch);
	c->state = CLIENT_RELAYS;
	ok = (c->tunnel ? put_established(c) : put_request(c)) &&
	     relay_put(&c->relay, RELAY_SERVER, first, n, false) &&
	     relay_put(&c->relay, RELAY_PROGRAM, c->in + c->head, c->n_in - c->head, true);
	free(c->in);
	free(c->answer);
	c->in = c->answer = NULL;
	if (ok)
		relay_begin(&c->relay, c->watch.fd, c->server.fd);
	else
		client_close(c);
}

/* --- Through another proxy --- */

static void parent_refuses(struct client *c, int status)
{
	char text[TEXT_MAX], said[128];
	struct http_text phrase = http_phrase(c->answer, c->n_answer);
	struct text t;

	text_init(&t, said, sizeof(said));
	text_add_shown(&t, phrase.at, phrase.len, sizeof(said) - 1);
	snprintf(text, sizeof(text), "%s:%u: the parent proxy %s:%u answered %d %s", c->host.text, c->port,
		 c->parent->host.text, c->parent->port, status, said);
	refuse(c, &(struct refusal){.status = 502, .reply = SOCKS_FAILED, .text = text});
}

static void parent_ready(struct watch *w, uint32_t events)
{
	struct client *c = container_of(w, struct client, server);
	ssize_t n = recv(w->fd, c->answer + c->n_answer, HTTP_HEAD_MAX - c->n_answer, MSG_DONTWAIT);
	struct http_scan scan = {0};
	int end, status;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	c->n_answer += n > 0 ? (size_t)n : 0;
	end = http_scan(&scan, c->answer, c->n_answer);
	if (end == 0 && n > 0)
		return;
	status = end > 0 ? http_status(c->answer, (size_t)end) : 0;
	if (n <= 0 || !status) {
		refuse_failed(c, "the parent proxy does not answer as one", n < 0 ? errno : EPROTO);
	} else if (status / 100 != 2) {
		parent_refuses(c, status);
	} else {
		loop_drop(c->g->loop, w);
		loop_timer(c->g->loop, &c->timer, 0);
		begin_relay(c, c->answer + end, c->n_answer - (size_t)end);
	}
}

/* The timer of a client ends it; what it waits for here is to be told. */
static void parent_is_late(struct timer *t)
{
	refuse_failed(container_of(t, struct client, timer), "the parent proxy does not answer", ETIMEDOUT);
}

static void ask_parent(struct client *c)
{
	char host[HOST_TEXT_SIZE], head[2 * HOST_TEXT_SIZE + sizeof(c->parent->authorization) + 128];
	bool login = c->parent->authorization[0];
	int n;

	if (c->host.is_ip)
		host_format_addr(c->host.addr, true, host);
	else
		snprintf(host, sizeof(host), "%s", c->host.text);
	n = snprintf(head, sizeof(head), "CONNECT %s:%u HTTP/1.1\r\nHost: %s:%u\r\n%s%s%s\r\n", host, c->port,
		     host, c->port, login ? "Proxy-Authorization: " : "", c->parent->authorization,
		     login ? "\r\n" : "");
	c->answer = malloc(HTTP_HEAD_MAX);
	c->server.ready = parent_ready;
	if (!c->answer || send(c->server.fd, head, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT) != n ||
	    loop_add(c->g->loop, &c->server, EPOLLIN) < 0) {
		refuse_failed(c, "the parent proxy cannot be asked", ENOMEM);
		return;
	}
	c->state = CLIENT_ASKS;
	c->timer.expired = parent_is_late;
	loop_timer(c->g->loop, &c->timer, PARENT_MS);
}

/* --- On the way --- */

static void on_dialled(struct dial *d, int fd)
{
	struct client *c = container_of(d, struct client, dial);

	if (fd < 0) {
		refuse_failed(c, c->parent ? "the parent proxy cannot be reached" : "the connection failed",
			      -fd);
		return;
	}
	c->server.fd = fd;
	if (c->parent && c->tunnel)
		ask_parent(c);
	else
		begin_relay(c, "", 0);
}

/* May close the client, as all that follows it. */
static void dial(struct client *c)
{
	c->dial.loop = c->g->loop;
	c->dial.done = on_dialled;
	dial_begin(&c->dial);
}

static void add_address(struct client *c, const uint8_t addr[16], uint16_t port)
{
	struct dial_to *to = &c->dial.to[c->dial.n];

	if (c->dial.n == GATEWAY_ADDRS_MAX)
		return;
	memcpy(to->addr, addr, sizeof(to->addr));
	to->port = port;
	c->dial.n++;
}

/* False: it did not come out, and the program was told. */
static bool is_resolved(struct client *c, const struct gw_answer *a, const char *failure)
{
	c->resolving = false;
	if (a->status == EPERM)
		refuse_address(c, a->blocked_addr, a->denied, a->special);
	else if (a->status || !a->n)
		refuse_failed(c, failure, a->status ? a->status : ENOENT);
	return !a->status && a->n;
}

static void on_resolved(const struct gw_answer *a, void *arg)
{
	struct client *c = arg;
	char text[TEXT_MAX];

	if (!is_resolved(c, a, "the name was not resolved"))
		return;
	for (size_t i = 0; i < a->n; i++)
		if (!is_for_stub(c, a->addr[i]))
			add_address(c, a->addr[i],
				    net_resolved_port(c->g->policy, &c->host, a->addr[i], c->port));
	if (c->dial.n == 0) {
		refuse_for_stub(c, a->addr[0]);
		return;
	}
	if (a->blocked && c->g->log_only && c->verdict.decision == VERDICT_ALLOW)
		tell_address(c, a->blocked_addr, a->denied, a->special, text, sizeof(text));
	else
		tell(c, a->addr[0], &c->verdict);
	dial(c);
}

static void on_parent_resolved(const struct gw_answer *a, void *arg)
{
	struct client *c = arg;

	if (!is_resolved(c, a, "the parent proxy's name was not resolved"))
		return;
	for (size_t i = 0; i < a->n; i++)
		add_address(c, a->addr[i],
			    net_resolved_port(c->g->policy, &c->parent->host, a->addr[i], c->parent->port));
	dial(c);
}

static bool has_fixed_address(const struct client *c)
{
	uint8_t addr[16];
	uint16_t port;

	return !c->host.is_ip && net_resolve(c->g->policy, &c->host, c->port, 0, addr, &port);
}

/* What another proxy cannot mean, and what is fixed here, is reached directly. */
static const struct parent *choose_parent(const struct client *c)
{
	const struct proxyenv *p = c->g->proxyenv;
	const struct parent *parent = c->tunnel ? &p->tunnel : &p->plain;

	if (!parent->port || has_fixed_address(c) || parent_is_skipped(p->no_proxy, &c->host, c->port) ||
	    (c->host.is_ip ? inet_is_loopback(c->host.addr) : host_is_localhost(&c->host)))
		return NULL;
	return parent;
}

static void reach_parent(struct client *c)
{
	const struct host_name *host = &c->parent->host;

	if (host->is_ip) {
		add_address(c, host->addr, c->parent->port);
		dial(c);
		return;
	}
	c->resolving = true;
	gw_lookup(c->g, host, c->parent->port, on_parent_resolved, c);
}

void client_reach(struct client *c)
{
	c->verdict = net_decide_name(c->g->policy, &c->host, c->port);
	client_wait(c);
	if (c->verdict.decision != VERDICT_ALLOW && !c->g->log_only) {
		refuse_by_verdict(c, &c->verdict);
		return;
	}
	c->parent = choose_parent(c);
	/* Where another proxy's name leads is not known. */
	if (c->host.is_ip ? is_for_stub(c, c->host.addr) : c->parent && c->port == DNS_PORT) {
		refuse_for_stub(c, NULL);
		return;
	}
	if (!c->parent && !c->host.is_ip) {
		c->resolving = true;
		gw_resolve(c->g, &c->host, c->port, on_resolved, c);
		return;
	}
	tell(c, NULL, &c->verdict);
	if (c->parent) {
		reach_parent(c);
	} else {
		add_address(c, c->host.addr, c->port);
		dial(c);
	}
}
