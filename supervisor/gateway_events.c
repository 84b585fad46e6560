#include "supervisor/gateway_events.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "policy/dns.h"
#include "policy/inet.h"
#include "policy/net.h"
#include "supervisor/asker.h"
#include "supervisor/audit.h"
#include "supervisor/member.h"
#include "supervisor/names.h"
#include "supervisor/sockets.h"
#include "supervisor/standin.h"

/* Of one record. */
struct words {
	char ip[HOST_TEXT_SIZE], why[REPORT_WHY_MAX];
	char message[512], suggestion[HOST_TEXT_SIZE + 32];
	struct asker asker;
};

static bool is_text(const char *text, size_t size)
{
	return memchr(text, '\0', size) != NULL;
}

/* Only what is canonical is a name or an address of ours. */
static bool read_host(const char *text, size_t size, struct host_name *out)
{
	return is_text(text, size) && !host_canonicalise(text, strlen(text), out) &&
	       strcmp(out->text, text) == 0;
}

static struct bytes bytes_of(const char *text)
{
	return (struct bytes){text, strlen(text)};
}

/* port: one that is known, else 0. */
static void suggest(struct event *e, struct words *w, const char *host, bool is_ip, uint16_t port,
		    const struct net_verdict *v)
{
	net_suggest(host, is_ip, port, v, w->suggestion, sizeof(w->suggestion));
	e->suggestion = w->suggestion[0] ? w->suggestion : NULL;
}

/* The one port at which the rule allows its name; 0: all. */
static uint16_t port_of_rule(const struct rule *rule)
{
	struct host_entry e;

	return rule && rule->text && !host_parse_entry(rule->text, false, &e) ? e.port : 0;
}

static void refused(struct event *e, struct words *w, const char *host, bool is_ip,
		    const struct net_verdict *v)
{
	e->denied = true;
	e->err = EPERM;
	e->message = net_explain(host, (uint16_t)e->port, v, w->message, sizeof(w->message));
	suggest(e, w, host, is_ip, (uint16_t)e->port, v);
}

/* The process that made the socket is taken for the one that asks, if it is still there. */
static void emit_as_it_is(struct session *s, uint32_t channel, struct event *e, struct words *w)
{
	pid_t maker = channel ? sockets_maker(s, channel) : 0;

	if (maker && member_is(s, maker))
		asker_look(s, maker, &w->asker, e);
	audit_emit(s->audit, e);
}

static void emit(struct session *s, uint32_t channel, struct event *e, struct words *w)
{
	char text[sizeof(w->message)];

	if (s->log_only && e->message) {
		policy_say_would(e->message, text, sizeof(text));
		memcpy(w->message, text, sizeof(text));
		e->message = w->message;
	}
	emit_as_it_is(s, channel, e, w);
}

static void tell_refused(struct session *s, uint32_t channel, const struct host_name *name, bool silent)
{
	struct net_verdict v = net_decide_name(s->policy, name, 0);
	struct event e = {.syscall = "dns", .op = "resolve", .host = bytes_of(name->text), .rule = v.rule};
	struct words w;

	refused(&e, &w, name->text, false, &v);
	if (silent)
		e.message = NULL;
	emit(s, channel, &e, &w);
}

static void tell_blocked(struct session *s, uint32_t channel, const struct host_name *name,
			 const struct report_bind *b)
{
	struct net_verdict v = {.decision = VERDICT_DENY};
	struct event e = {.syscall = "dns", .op = "resolve", .host = bytes_of(name->text)};
	struct words w;

	net_denies_addr(s->policy, b->blocked_addr, 0, &v.rule);
	snprintf(w.why, sizeof(w.why), "resolved to %s", net_special_name(b->special));
	v.why = w.why;
	e.rule = v.rule;
	e.ip = bytes_of(host_format_addr(b->blocked_addr, false, w.ip));
	refused(&e, &w, name->text, false, &v);
	/* The name is allowed already; what is missing is the address. */
	suggest(&e, &w, w.ip, true, port_of_rule(net_decide_name(s->policy, name, 0).rule), &v);
	emit(s, channel, &e, &w);
}

static void tell_allowed(struct session *s, uint32_t channel, const struct host_name *name,
			 const uint8_t addr[16])
{
	struct words w;
	struct event e = {.syscall = "dns",
			  .op = "resolve",
			  .host = bytes_of(name->text),
			  .ip = bytes_of(host_format_addr(addr, false, w.ip)),
			  .rule = net_decide_name(s->policy, name, 0).rule};

	emit(s, channel, &e, &w);
}

bool gateway_events_bind(struct session *s, uint32_t channel, const struct report_bind *b)
{
	struct host_name name;

	if (b->n > REPORT_ADDRS_MAX || b->special > NET_NOT_LOOPBACK ||
	    !read_host(b->host, sizeof(b->host), &name) || name.is_ip)
		return false;
	for (uint32_t i = 0; i < b->n; i++)
		names_bind(s->hostnames, &name, b->addr[i], b->refused != 0);
	if (b->refused)
		tell_refused(s, channel, &name, b->silent != 0);
	if (b->blocked)
		tell_blocked(s, channel, &name, b);
	for (uint32_t i = 0; !b->refused && i < b->n && audit_wants_allowed(s->audit); i++)
		tell_allowed(s, channel, &name, b->addr[i]);
	return true;
}

void gateway_events_stray(struct session *s, uint32_t channel)
{
	struct event e = {.syscall = "write", .op = "send", .denied = true, .rule_name = STANDIN_RULE};
	struct standin st;
	struct inet_addr to;
	struct words w;

	/* To a name server it is a question that is malformed, and to nowhere it was sent in ways that are not seen. */
	if (!standin_look(s, channel, &st) || inet_parse(&st.peer.a, st.peer.len, st.family, &to) != 0 ||
	    to.port == DNS_PORT)
		return;
	e.ip = bytes_of(host_format_addr(to.addr, false, w.ip));
	e.port = to.port;
	e.message = standin_say_refused(&to, w.message, sizeof(w.message));
	emit_as_it_is(s, channel, &e, &w);
}

bool gateway_events_tell(struct session *s, const struct report_event *r)
{
	struct net_verdict v = {.rule = net_rule(s->policy, r->rule), .why = r->why[0] ? r->why : NULL};
	struct event e = {.syscall = "proxy",
			  .op = r->op == REPORT_OP_RESOLVE ? "resolve" : "connect",
			  .port = (int)r->port,
			  .rule = v.rule};
	struct host_name host = {.is_ip = true};
	struct words w;

	if (r->op > REPORT_OP_CONNECT || r->port > UINT16_MAX || !is_text(r->why, sizeof(r->why)) ||
	    (r->host[0] && !read_host(r->host, sizeof(r->host), &host)))
		return false;
	w.ip[0] = '\0';
	if (r->has_addr)
		e.ip = bytes_of(host_format_addr(r->addr, false, w.ip));
	if (r->host[0])
		e.host = bytes_of(host.text);
	if (r->denied)
		refused(&e, &w, r->host[0] ? host.text : w.ip, host.is_ip, &v);
	if (r->denied || audit_wants_allowed(s->audit))
		emit(s, 0, &e, &w);
	return true;
}
