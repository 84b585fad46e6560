#include "supervisor/explain_net.h"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/hosts.h"
#include "policy/inet.h"
#include "policy/net.h"
#include "supervisor/answer.h"
#include "supervisor/hostfile.h"
#include "supervisor/names.h"

#define OWN_MAX 256

struct question {
	const struct session *s;
	const struct policy *policy;
	const char *target;	      /* as given */
	char spelled[HOST_TEXT_SIZE]; /* canonical */
	struct host_name name;
	uint16_t port; /* 0: none was given */
	struct net_verdict v;
	struct hosts *hosts;
	uint8_t own[OWN_MAX][16];
	size_t n_own;
	bool by_addr; /* allowed by a rule about hosted, which /etc/hosts gives the name */
	uint8_t hosted[16];
	bool has_loopback; /* it has an address of loopback there */
	/* Of the addresses that the name is known to have. */
	size_t good, bad;
	enum net_special special; /* of a bad one */
	uint8_t bad_addr[16];
};

bool explain_is_unix(const char *target)
{
	return target[0] == '@' || (strchr(target, '/') && !strstr(target, "://"));
}

static void read_own(struct question *q)
{
	struct ifaddrs *list, *i;

	if (getifaddrs(&list) < 0)
		return;
	for (i = list; i && q->n_own < OWN_MAX; i = i->ifa_next) {
		struct inet_addr a;
		int family = i->ifa_addr ? i->ifa_addr->sa_family : AF_UNSPEC;
		size_t size = family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);

		if (inet_parse(i->ifa_addr, size, family, &a) == 0)
			memcpy(q->own[q->n_own++], a.addr, 16);
	}
	freeifaddrs(list);
}

static void read_hosts(struct question *q)
{
	struct hostfile *file = hostfile_new(NULL, NAMES_HOSTS);
	size_t len;
	char *text = file ? hostfile_text(file, &len) : NULL;

	q->hosts = text ? hosts_parse(text, len) : NULL;
	free(text);
	hostfile_free(file);
}

/* One more address that the name leads to. */
static bool count_addr(const uint8_t addr[16], void *arg)
{
	struct question *q = arg;
	enum net_special special;

	if (net_may_lead_to(q->policy, &q->name, addr, q->port, q->own, q->n_own, &special)) {
		q->good++;
		return false;
	}
	q->bad++;
	q->special = special;
	memcpy(q->bad_addr, addr, 16);
	return false;
}

static void count_addrs(struct question *q)
{
	uint8_t addr[16];
	uint16_t to;
	size_t i;

	for (i = 0; net_resolve(q->policy, &q->name, q->port, i, addr, &to); i++)
		count_addr(addr, q);
	if (i == 0)
		hosts_each_addr(q->hosts, &q->name, count_addr, q);
}

/* /etc/hosts gives the address a name that is allowed. */
static bool allows_addr(const struct host_name *name, void *arg)
{
	struct question *q = arg;
	struct net_verdict v = net_decide_name(q->policy, name, q->port);
	enum net_special special;

	if (v.decision != VERDICT_ALLOW ||
	    !net_may_lead_to(q->policy, name, q->name.addr, q->port, q->own, q->n_own, &special))
		return false;
	q->v = v;
	return true;
}

/* A program that finds the name in /etc/hosts connects to the address, whatever is said of the name. */
static bool allows_hosted(const uint8_t addr[16], void *arg)
{
	struct question *q = arg;
	struct net_verdict v = net_decide_addr(q->policy, addr, q->port);

	q->has_loopback |= inet_is_loopback(addr);
	if (v.decision != VERDICT_ALLOW)
		return false;
	q->v = v;
	q->by_addr = true;
	memcpy(q->hosted, addr, 16);
	return true;
}

/* The deny_domain of the address, be it at the second port of a `resolve`; or NULL. */
static const struct rule *find_denied(const struct question *q)
{
	uint16_t to = net_resolved_port(q->policy, &q->name, q->bad_addr, q->port);
	const struct rule *denied;

	if (!net_denies_addr(q->policy, q->bad_addr, q->port, &denied))
		net_denies_addr(q->policy, q->bad_addr, to, &denied);
	return denied;
}

static void print_rule(const struct question *q, bool refused)
{
	char addr[HOST_TEXT_SIZE];
	const struct rule *denied;

	if (q->v.rule && (!refused || q->v.decision == VERDICT_DENY)) {
		answer_rule(q->v.rule);
		return;
	}
	if (q->v.decision == VERDICT_DENY) {
		puts(q->name.is_ip ? "  rule: default (no allow_ip or allow_domain matches)"
				   : "  rule: default (no allow_domain matches)");
		return;
	}
	denied = find_denied(q);
	if (denied)
		answer_rule(denied);
	else
		printf("  rule: special addresses (built-in): the name leads to %s, %s\n",
		       host_format_addr(q->bad_addr, false, addr), net_special_name(q->special));
}

static void print_remedy(const struct question *q)
{
	const struct net_verdict none = {.decision = VERDICT_DENY};
	char addr[HOST_TEXT_SIZE], line[2 * HOST_TEXT_SIZE];
	bool special = q->v.decision == VERDICT_ALLOW;

	if (special && q->special != NET_ORDINARY && q->special != NET_NOT_LOOPBACK)
		net_suggest(host_format_addr(q->bad_addr, false, addr), true, q->port, &none, line,
			    sizeof(line));
	else if (special)
		*line = '\0';
	else
		net_suggest(q->name.text, q->name.is_ip, q->port, &q->v, line, sizeof(line));
	printf("  remedy: %s\n", *line ? line : "remove or narrow that rule");
	if (*line && (q->name.is_ip ? net_special(q->name.addr, NULL, 0) : q->special) == NET_METADATA)
		printf("  note: beware of %s\n", net_special_name(NET_METADATA));
}

static void note_resolve(const struct question *q)
{
	char addr[HOST_TEXT_SIZE];
	const struct config *c = q->s->config;

	for (size_t i = 0; i < c->n_resolves; i++) {
		const struct resolve_rule *r = &c->resolves[i];

		if (strcmp(r->host, q->name.text) == 0 && (!q->port || q->port == r->port))
			printf("  note: at port %u it is %s:%u (resolve)\n", r->port,
			       host_format_addr(r->addr, true, addr), r->to_port);
	}
}

static void note_hosted(const struct question *q)
{
	char addr[HOST_TEXT_SIZE];

	if (q->by_addr)
		printf("  note: /etc/hosts gives it the address %s\n",
		       host_format_addr(q->hosted, false, addr));
}

/* The rules that lead an allowed name to the address that is asked about. */
static void note_leading(const struct question *q)
{
	const struct config *c = q->s->config;

	for (size_t i = 0; q->name.is_ip && i < c->n_resolves; i++) {
		const struct resolve_rule *r = &c->resolves[i];
		struct host_name name;

		if (memcmp(r->addr, q->name.addr, 16) != 0 || (q->port && q->port != r->port) ||
		    host_canonicalise(r->host, strlen(r->host), &name) ||
		    net_decide_name(q->policy, &name, r->port).decision != VERDICT_ALLOW)
			continue;
		printf("  note: at port %u allowed once %s has been asked for, and leads to port %u "
		       "(resolve)\n",
		       r->port, r->host, r->to_port);
	}
}

/* Where servers of the session may be found. */
static bool is_local(const struct question *q)
{
	if (!q->name.is_ip)
		return q->has_loopback;
	return inet_is_loopback(q->name.addr) || inet_is_any(q->name.addr);
}

/* There is no such file yet. */
static bool ends_like_socket(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && (strcmp(dot, ".sock") == 0 || strcmp(dot, ".socket") == 0);
}

static void print_notes(const struct question *q, bool refused)
{
	if (strcmp(q->spelled, q->target) != 0)
		answer_asked(q->target);
	if (ends_like_socket(q->name.text))
		printf("  note: taken for a host; a Unix socket of that name is ./%s\n", q->target);
	note_resolve(q);
	if (!q->port)
		puts(refused ? "  note: at every port"
			     : "  note: at some port; give one to know of that one");
	if (q->bad && !refused && !q->by_addr)
		puts("  note: it has other addresses, which are refused");
	if (!refused && !q->name.is_ip && q->good == 0 && !q->by_addr)
		puts("  note: its addresses are judged when it is asked for: special ones are refused");
	note_hosted(q);
	note_leading(q);
	if (refused && is_local(q))
		puts("  note: servers that the session itself started there may be connected to");
	if (refused && q->name.is_ip && net_special(q->name.addr, q->own, q->n_own) == NET_ORDINARY)
		puts("  note: allowed once an allowed name has led there");
	if (q->name.is_ip && q->port == 53 && !net_allows_dns(q->policy, q->name.addr))
		puts("  note: questions to name servers are answered by cordon itself");
}

static bool is_refused(const struct question *q)
{
	return q->v.decision != VERDICT_ALLOW || (q->bad && !q->good && !q->by_addr);
}

static void judge(struct question *q)
{
	q->v = net_decide_name(q->policy, &q->name, q->port);
	if (q->v.decision == VERDICT_ALLOW && !q->name.is_ip)
		count_addrs(q);
	else if (q->v.decision == VERDICT_DENY && !q->v.rule && q->name.is_ip)
		hosts_each_name(q->hosts, q->name.addr, allows_addr, q);
	if (!q->name.is_ip && is_refused(q))
		hosts_each_addr(q->hosts, &q->name, allows_hosted, q);
}

enum explained explain_connect(const struct session *s, const char *target)
{
	static struct question q;
	struct host_entry e;
	const char *why = host_parse_entry(target, false, &e);
	bool refused;

	if (!why && e.wildcard)
		why = "one host belongs here";
	if (why) {
		answer_head("error", "connect", target, strlen(target));
		printf("  rule: none: %s\n", why);
		return EXPLAINED_FAILED;
	}
	q = (struct question){.s = s, .policy = s->policy, .target = target, .name = e.name, .port = e.port};
	host_format_entry(&e, q.spelled);
	read_own(&q);
	read_hosts(&q);
	judge(&q);
	refused = is_refused(&q);
	answer_head(refused ? "refused" : "allowed", "connect", q.spelled, strlen(q.spelled));
	print_rule(&q, refused);
	if (refused)
		print_remedy(&q);
	print_notes(&q, refused);
	hosts_free(q.hosts);
	return refused ? EXPLAINED_REFUSED : EXPLAINED_ALLOWED;
}
