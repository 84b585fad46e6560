#include "supervisor/gateway/upstream.h"

#include <ares.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "policy/config.h"
#include "supervisor/ifindex.h"
#include "supervisor/lockdown.h"

/* c-ares' own. */
OWN_CALLS(OWN_GATEWAY, OWN_IF(socket, ARG_IS(0, AF_INET)), OWN_IF(socket, ARG_IS(0, AF_INET6)), OWN(connect),
	  OWN(setsockopt), OWN(getsockname), OWN(sendmsg), OWN(recvfrom), OWN(close));

/* Where resolv.conf says nothing: the first server that does not answer is left for the next after this; each further round
 * waits twice as long. */
#define TIMEOUT_MS   1500
#define TRIES	     3
#define SOCKETS_MAX  64
#define IN_FLIGHT    1024
#define EDNS_SIZE    1232
#define SERVERS_TEXT 1024

/* A question to the servers, and who waits for its answer. */
struct inquiry {
	struct inquiry *next, **link;
	struct upstream *u;
	struct host_name name;
	uint16_t type;
	bool again; /* the servers changed */
	struct asker *askers;
};

struct socket_watch {
	struct watch w;
	struct upstream *u;
	bool used;
};

struct upstream {
	struct gateway *g;
	ares_channel ares;
	struct timer timer;
	struct socket_watch socket[SOCKETS_MAX];
	struct inquiry *inquiries;
	size_t n;
	bool changing;
	char servers[SERVERS_TEXT]; /* as c-ares was told */
	struct resolvconf_server scoped[RESOLVCONF_SERVERS_MAX];
	size_t n_scoped;
};

static void set_timer(struct upstream *u)
{
	struct timeval tv, *t = ares_timeout(u->ares, NULL, &tv);

	loop_timer(u->g->loop, &u->timer, t ? (unsigned)(t->tv_sec * 1000 + t->tv_usec / 1000) + 1 : 0);
}

static void on_timer(struct timer *t)
{
	struct upstream *u = container_of(t, struct upstream, timer);

	ares_process_fd(u->ares, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
	set_timer(u);
}

static void on_socket(struct watch *w, uint32_t events)
{
	struct upstream *u = ((struct socket_watch *)w)->u;
	bool readable = events & (EPOLLIN | EPOLLERR | EPOLLHUP), writable = events & EPOLLOUT;

	ares_process_fd(u->ares, readable ? w->fd : ARES_SOCKET_BAD, writable ? w->fd : ARES_SOCKET_BAD);
	set_timer(u);
}

static struct socket_watch *watch_of(struct upstream *u, int fd)
{
	struct socket_watch *none = NULL;

	for (size_t i = 0; i < SOCKETS_MAX; i++) {
		if (u->socket[i].used && u->socket[i].w.fd == fd)
			return &u->socket[i];
		if (!u->socket[i].used && !none)
			none = &u->socket[i];
	}
	return none;
}

/* c-ares says what it waits for; before it closes a socket, that it waits no more. */
static void on_state(void *data, ares_socket_t fd, int readable, int writable)
{
	struct upstream *u = data;
	struct socket_watch *s = watch_of(u, fd);
	uint32_t events = (readable ? EPOLLIN : 0U) | (writable ? EPOLLOUT : 0U);

	if (!s)
		return; /* it will run into its timeout */
	if (!events) {
		if (s->used)
			loop_drop(u->g->loop, &s->w);
		s->used = false;
	} else if (s->used) {
		loop_change(u->g->loop, &s->w, events);
	} else {
		*s = (struct socket_watch){{fd, on_socket}, u, true};
		loop_add(u->g->loop, &s->w, events);
	}
}

/* c-ares knows addresses without interfaces. */
static int connect_scoped(ares_socket_t fd, const struct sockaddr *to, ares_socklen_t len, void *data)
{
	const struct upstream *u = data;
	struct sockaddr_in6 a;

	if (to->sa_family != AF_INET6 || len != sizeof(a))
		return connect(fd, to, len);
	memcpy(&a, to, sizeof(a));
	for (size_t i = 0; i < u->n_scoped && !a.sin6_scope_id; i++)
		if (memcmp(u->scoped[i].addr, &a.sin6_addr, sizeof(a.sin6_addr)) == 0)
			a.sin6_scope_id = ifindex_of(u->scoped[i].scope);
	return connect(fd, (struct sockaddr *)&a, sizeof(a));
}

/* It wants to have all of them; the others do what its own do. */
static ares_socket_t open_socket(int family, int type, int protocol, void *data)
{
	(void)data;
	return socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
}

static int close_socket(ares_socket_t fd, void *data)
{
	(void)data;
	return close(fd);
}

static ares_ssize_t receive(ares_socket_t fd, void *to, size_t size, int flags, struct sockaddr *from,
			    ares_socklen_t *len, void *data)
{
	(void)data;
	return recvfrom(fd, to, size, flags, from, len);
}

static ares_ssize_t send_vector(ares_socket_t fd, const struct iovec *iov, int n, void *data)
{
	const struct msghdr m = {.msg_iov = (struct iovec *)iov, .msg_iovlen = (size_t)n};

	(void)data;
	return sendmsg(fd, &m, MSG_NOSIGNAL);
}

struct upstream *upstream_new(struct gateway *g, const struct resolvconf *conf)
{
	static const struct ares_socket_functions functions = {open_socket, close_socket, connect_scoped,
							       receive, send_vector};
	struct upstream *u = calloc(1, sizeof(*u));
	/* All that c-ares would look for in files is given. */
	struct ares_options o = {
		.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES | ARES_FLAG_EDNS |
			 (conf->use_vc ? ARES_FLAG_USEVC : 0),
		.timeout = conf->timeout ? (int)conf->timeout * 1000 : TIMEOUT_MS,
		.tries = conf->attempts ? (int)conf->attempts : TRIES,
		.ndots = 1,
		.lookups = (char *)"b",
		.ednspsz = EDNS_SIZE,
		.sock_state_cb = on_state,
		.sock_state_cb_data = u,
	};

	if (!u)
		return NULL;
	u->g = g;
	u->timer.expired = on_timer;
	if (ares_init_options(&u->ares, &o,
			      ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_NDOTS |
				      ARES_OPT_SERVERS | ARES_OPT_DOMAINS | ARES_OPT_LOOKUPS |
				      ARES_OPT_SORTLIST | ARES_OPT_EDNSPSZ | ARES_OPT_SOCK_STATE_CB |
				      (conf->rotate ? ARES_OPT_ROTATE : ARES_OPT_NOROTATE)) != ARES_SUCCESS) {
		free(u);
		return NULL;
	}
	ares_set_socket_functions(u->ares, &functions, u);
	upstream_configure(u, conf);
	return u;
}

static void finish(struct inquiry *q, int status, const struct dns_answer *answer)
{
	struct asker *a;

	*q->link = q->next;
	if (q->next)
		q->next->link = q->link;
	q->u->n--;
	while ((a = q->askers)) {
		upstream_forget(a);
		a->done(a, status, answer);
	}
	free(q);
}

static void on_answer(void *arg, int status, int timeouts, unsigned char *msg, int len)
{
	struct inquiry *q = arg;
	struct dns_answer answer;

	(void)timeouts;
	if (q->u->changing) {
		q->again = true;
		return;
	}
	switch (status) {
	case ARES_SUCCESS:
	case ARES_ENODATA:
	case ARES_ENOTFOUND:
		if (msg && dns_parse_answer(msg, (size_t)len, &q->name, q->type, &answer) &&
		    (answer.rcode == DNS_NOERROR || answer.rcode == DNS_NXDOMAIN))
			finish(q, 0, &answer);
		else
			finish(q, EIO, NULL);
		return;
	case ARES_ETIMEOUT:
		finish(q, ETIMEDOUT, NULL);
		return;
	default:
		finish(q, EIO, NULL);
	}
}

static void send_inquiry(struct inquiry *q)
{
	struct upstream *u = q->u;

	ares_query(u->ares, q->name.text, 1, q->type, on_answer, q);
	set_timer(u);
}

static struct inquiry *find(struct upstream *u, const struct host_name *name, uint16_t type)
{
	struct inquiry *q = u->inquiries;

	while (q && (q->type != type || strcmp(q->name.text, name->text) != 0))
		q = q->next;
	return q;
}

static void join(struct inquiry *q, struct asker *a)
{
	a->next = q->askers;
	a->link = &q->askers;
	if (a->next)
		a->next->link = &a->next;
	q->askers = a;
}

void upstream_ask(struct upstream *u, const struct host_name *name, uint16_t type, struct asker *a)
{
	struct inquiry *q = find(u, name, type);

	a->link = NULL;
	if (q) {
		join(q, a);
		return;
	}
	q = u->n < IN_FLIGHT ? calloc(1, sizeof(*q)) : NULL;
	if (!q) {
		a->done(a, EIO, NULL);
		return;
	}
	q->u = u;
	q->name = *name;
	q->type = type;
	q->next = u->inquiries;
	q->link = &u->inquiries;
	if (q->next)
		q->next->link = &q->next;
	u->inquiries = q;
	u->n++;
	join(q, a);
	send_inquiry(q);
}

void upstream_forget(struct asker *a)
{
	if (!a->link)
		return;
	*a->link = a->next;
	if (a->next)
		a->next->link = a->link;
	a->link = NULL;
}

static void add_server(char *text, const uint8_t addr[16], uint16_t port)
{
	char buf[HOST_TEXT_SIZE];
	size_t n = strlen(text);

	host_format_addr(addr, true, buf);
	/* Whole ones only. */
	if (n + strlen(buf) + 8 < SERVERS_TEXT)
		snprintf(text + n, SERVERS_TEXT - n, "%s%s:%u", n ? "," : "", buf, port);
}

/* A question may be answered, and be gone, while it is asked: then the list is looked at from its beginning. */
static void ask_again(struct upstream *u)
{
	struct inquiry *q = u->inquiries;

	while (q) {
		bool again = q->again;

		q->again = false;
		if (again)
			send_inquiry(q);
		q = again ? u->inquiries : q->next;
	}
}

static void set_scoped(struct upstream *u, const struct resolvconf *conf)
{
	u->n_scoped = 0;
	for (size_t i = 0; i < conf->n_servers; i++)
		if (conf->server[i].scope[0])
			u->scoped[u->n_scoped++] = conf->server[i];
}

void upstream_configure(struct upstream *u, const struct resolvconf *conf)
{
	const struct config *c = u->g->config;
	char servers[SERVERS_TEXT] = "";

	for (size_t i = 0; i < c->n_dns_servers; i++)
		add_server(servers, c->dns_servers[i].addr, c->dns_servers[i].port);
	for (size_t i = 0; !c->n_dns_servers && i < conf->n_servers; i++)
		add_server(servers, conf->server[i].addr, DNS_PORT);
	set_scoped(u, conf);
	if (strcmp(servers, u->servers) == 0)
		return;
	memcpy(u->servers, servers, sizeof(servers));
	/* c-ares takes no other servers while it waits for one. */
	u->changing = true;
	ares_cancel(u->ares);
	u->changing = false;
	ares_set_servers_ports_csv(u->ares, servers);
	ask_again(u);
}
