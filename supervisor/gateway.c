#include "supervisor/gateway.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "policy/inet.h"
#include "supervisor/audit.h"
#include "supervisor/fdpass.h"
#include "supervisor/front.h"
#include "supervisor/gateway/orders.h"
#include "supervisor/gateway/gateway.h"
#include "supervisor/gateway_events.h"
#include "supervisor/hostfile.h"
#include "supervisor/landlock.h"
#include "supervisor/lockdown.h"
#include "supervisor/message.h"
#include "supervisor/proxyenv.h"
#include "supervisor/session.h"
#include "supervisor/sysc.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(recvfrom), OWN(shutdown), OWN(close), OWN(kill), OWN(wait4));

#define TOKEN_BYTES 16
/* Reports that are read at a time, so that the main loop has time for others. */
#define TURN 32

/* The supervisor's side. */
struct gateway_link {
	int control; /* -1: the gateway is gone */
	struct sockaddr_storage dns[2];
	socklen_t dns_len[2]; /* 0: no listener */
	uint16_t proxy_port;
	char token[2 * TOKEN_BYTES + 1];
	struct gateway process; /* as it begins */
	unsigned resolv, hosts; /* the texts of these files that it knows */
};

/* A listener on loopback at a port that the kernel chooses. -1: this machine has no such loopback. */
static int listen_on(int family, struct sockaddr_storage *address, socklen_t *len)
{
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	*len = 0;
	if (fd < 0)
		return -1;
	if (bind(fd, family == AF_INET ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6,
		 family == AF_INET ? sizeof(v4) : sizeof(v6)) < 0 ||
	    listen(fd, SOMAXCONN) < 0) {
		close(fd);
		return -1;
	}
	*len = sizeof(*address);
	getsockname(fd, (struct sockaddr *)address, len);
	return fd;
}

static bool make_token(char *text)
{
	unsigned char r[TOKEN_BYTES];

	if (getrandom(r, sizeof(r), 0) != sizeof(r))
		return false;
	for (size_t i = 0; i < sizeof(r); i++)
		snprintf(text + 2 * i, 3, "%02x", r[i]);
	return true;
}

static int listen_for_proxy(struct gateway_link *l)
{
	struct sockaddr_storage address;
	socklen_t len;

	l->process.proxy_listener = listen_on(AF_INET, &address, &len);
	if (l->process.proxy_listener < 0)
		return -EADDRNOTAVAIL;
	l->proxy_port = ntohs(*inet_port(&address));
	l->process.proxy_token = l->token;
	return make_token(l->token) ? 0 : -EAGAIN;
}

static void close_if(int fd)
{
	if (fd >= 0)
		close(fd);
}

static int fork_gateway(struct session *s, struct gateway_link *l)
{
	struct gateway *g = &l->process;
	/* A gateway that does not read ends the wait of whoever tells it something. */
	const struct timeval patience = {.tv_sec = 1};
	pid_t self = getpid(), pid;
	int abi = landlock_abi(), pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	l->control = pair[0];
	g->socket = pair[1];
	setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	fcntl(pair[1], F_SETFL, O_NONBLOCK);
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		gateway_main(g, self, abi);
	close(pair[1]);
	s->gateway_pid = pid > 0 ? pid : 0;
	return pid < 0 ? -errno : 0;
}

int gateway_listen(struct session *s)
{
	struct gateway_link *l = calloc(1, sizeof(*l));
	struct gateway *g;

	if (!l)
		return -ENOMEM;
	s->gateway = l;
	l->control = -1;
	g = &l->process;
	*g = (struct gateway){.config = s->config,
			      .policy = s->policy,
			      .log_only = s->log_only,
			      .proxyenv = s->proxyenv,
			      .proxy_listener = -1,
			      .resolv = s->resolv,
			      .hosts = s->hosts};
	l->resolv = hostfile_look(s->resolv);
	l->hosts = hostfile_look(s->hosts);
	g->dns_listener[0] = listen_on(AF_INET, &l->dns[0], &l->dns_len[0]);
	g->dns_listener[1] = listen_on(AF_INET6, &l->dns[1], &l->dns_len[1]);
	return s->proxyenv->on ? listen_for_proxy(l) : 0;
}

int gateway_start(struct session *s)
{
	struct gateway_link *l = s->gateway;
	int rc = fork_gateway(s, l);

	close_if(l->process.dns_listener[0]);
	close_if(l->process.dns_listener[1]);
	close_if(l->process.proxy_listener);
	return rc;
}

int gateway_fd(const struct session *s)
{
	return s->gateway ? s->gateway->control : -1;
}

/* Its end, or a word that it should not have said. */
static bool lost(struct session *s, const char *fmt, const char *what, const char *why)
{
	struct gateway_link *l = s->gateway;
	char text[256];

	snprintf(text, sizeof(text), fmt, what, why);
	message_warn(audit_messages(s->audit),
		     "the gateway %s: names are not resolved any more, and there is no proxy", text);
	/* Threads may be sending. */
	shutdown(l->control, SHUT_RDWR);
	if (s->gateway_pid)
		kill(s->gateway_pid, SIGKILL);
	return false;
}

static bool tell_done(struct session *s, uint32_t id)
{
	const struct order o = {ORDER_DONE, id};

	return fdpass_send(s->gateway->control, &o, sizeof(o), -1) == 0;
}

/* The gateway reads it; it cannot open anything. */
static void send_if_changed(struct session *s, struct hostfile *f, unsigned *number, enum order_kind kind)
{
	const struct order o = {kind, 0};
	int fd;

	if (!hostfile_pass(f, number, &fd))
		return;
	fdpass_send(s->gateway->control, &o, sizeof(o), fd);
	close_if(fd);
}

static bool on_check(struct session *s, const struct report *r)
{
	send_if_changed(s, s->resolv, &s->gateway->resolv, ORDER_RESOLV);
	send_if_changed(s, s->hosts, &s->gateway->hosts, ORDER_HOSTS);
	return tell_done(s, r->id);
}

static bool on_report(struct session *s, const struct report *r)
{
	switch ((enum report_kind)r->kind) {
	case REPORT_READY:
		return true;
	case REPORT_CHECK:
		return on_check(s, r) || lost(s, "does not listen", "", "");
	case REPORT_BIND:
		return (gateway_events_bind(s, r->channel, &r->bind) && tell_done(s, r->id)) ||
		       lost(s, "spoke out of turn", "", "");
	case REPORT_STRAY:
		gateway_events_stray(s, r->channel);
		return true;
	case REPORT_EVENT:
		return gateway_events_tell(s, &r->event) || lost(s, "spoke out of turn", "", "");
	case REPORT_FAILED:
		return lost(s, "could not be set up (%.31s: %s)", r->what, strerror(r->err));
	case REPORT_NONE:
	default:
		return lost(s, "spoke out of turn", "", "");
	}
}

static bool on_end(struct session *s, const struct front_message *m, ssize_t n)
{
	const struct sysc *call;
	char number[16];

	if (n != sizeof(*m) || m->kind != FRONT_FORBIDDEN)
		return lost(s, n == 0 ? "has ended" : "spoke out of turn", "", "");
	call = sysc_by_nr(m->value);
	snprintf(number, sizeof(number), "%d", m->value);
	return lost(s, "was about to make a system call that is not its own (%s, %s) and ended",
		    call ? call->name : "unknown", number);
}

bool gateway_hear(struct session *s)
{
	union {
		struct report report;
		struct front_message forbidden;
	} m;

	for (int i = 0; i < TURN; i++) {
		ssize_t n = recv(s->gateway->control, &m, sizeof(m), MSG_DONTWAIT | MSG_TRUNC);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return true;
		if (n != sizeof(m.report))
			return on_end(s, &m.forbidden, n);
		if (!on_report(s, &m.report))
			return false;
	}
	return true;
}

int gateway_give_channel(struct session *s, int fd, uint64_t inode)
{
	const struct order o = {ORDER_CHANNEL, (uint32_t)inode}; /* the kernel numbers sockets by 32 bits */
	int rc = fdpass_send(s->gateway->control, &o, sizeof(o), fd);

	close(fd);
	return rc;
}

socklen_t gateway_dns_address(const struct session *s, int family, struct sockaddr_storage *to)
{
	const struct gateway_link *l = s->gateway;
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)&l->dns[0];
	struct sockaddr_in6 mapped = {.sin6_family = AF_INET6, .sin6_port = v4->sin_port};

	if (family == AF_INET || l->dns_len[1]) {
		*to = l->dns[family != AF_INET];
		return l->dns_len[family != AF_INET];
	}
	if (!l->dns_len[0])
		return 0;
	memcpy(&mapped.sin6_addr, inet_loopback4, 16);
	memcpy(to, &mapped, sizeof(mapped));
	return sizeof(mapped);
}

void gateway_expect(struct session *s, uint16_t port)
{
	const struct order o = {ORDER_EXPECT, port};

	fdpass_send(s->gateway->control, &o, sizeof(o), -1);
}

uint16_t gateway_proxy_port(const struct session *s)
{
	return s->gateway->proxy_port;
}

const char *gateway_proxy_token(const struct session *s)
{
	return s->gateway->token;
}

void gateway_stop(struct session *s)
{
	pid_t pid = s->gateway_pid;

	if (!pid)
		return;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	s->gateway_pid = 0;
}
