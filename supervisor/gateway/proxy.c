#include "supervisor/gateway/proxy.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "supervisor/gateway/client.h"
#include "supervisor/lockdown.h"

OWN_CALLS(OWN_GATEWAY, OWN_OLD(accept4, accept4), OWN(recvfrom), OWN(sendto), OWN(shutdown), OWN(setsockopt),
	  OWN(close));

#define HEAD_MS	 10000
#define LEAVE_MS 2000
#define PAUSE_MS 200
/* Those that have not said what they want, among them all that do not know the token; more push out the oldest. */
#define READING_MAX 256
/* Two descriptors each. */
#define CLIENTS_MAX  2048
#define DESCRIPTORS  (2 * CLIENTS_MAX + 512)
#define ACCEPTS_TURN 32

struct proxy {
	struct gateway *g;
	struct watch listener;
	struct timer pause;
	bool paused;
	size_t n, max, n_reading;
	struct client *first, *last; /* those that read, by age */
};

static void pause_accepting(struct proxy *p, unsigned ms)
{
	if (!p->paused)
		loop_drop(p->g->loop, &p->listener);
	p->paused = true;
	loop_timer(p->g->loop, &p->pause, ms);
}

static void resume_accepting(struct proxy *p)
{
	loop_timer(p->g->loop, &p->pause, 0);
	if (p->paused && loop_add(p->g->loop, &p->listener, EPOLLIN) == 0)
		p->paused = false;
}

static void pause_over(struct timer *t)
{
	resume_accepting(container_of(t, struct proxy, pause));
}

static void list_add(struct proxy *p, struct client *c)
{
	c->prev = p->last;
	*(p->last ? &p->last->next : &p->first) = c;
	p->last = c;
	p->n_reading++;
}

/* From the list of those that read. */
static void list_remove(struct proxy *p, struct client *c)
{
	if (c->state != CLIENT_READS)
		return;
	*(c->prev ? &c->prev->next : &p->first) = c->next;
	*(c->next ? &c->next->prev : &p->last) = c->prev;
	p->n_reading--;
}

void client_close(struct client *c)
{
	struct proxy *p = c->g->proxy;

	list_remove(p, c);
	client_unreach(c);
	if (c->state != CLIENT_RELAYS)
		loop_drop(c->g->loop, &c->watch);
	loop_timer(c->g->loop, &c->timer, 0);
	close(c->watch.fd);
	free(c->in);
	free(c);
	p->n--;
	if (p->paused)
		resume_accepting(p);
}

void client_wait(struct client *c)
{
	list_remove(c->g->proxy, c);
	c->state = CLIENT_WAITS;
	loop_timer(c->g->loop, &c->timer, 0);
	loop_change(c->g->loop, &c->watch, 0);
}

void client_leave(struct client *c, const char *answer, size_t len)
{
	bool watched = c->state != CLIENT_RELAYS;
	int rc;

	list_remove(c->g->proxy, c);
	client_unreach(c);
	/* It is short, and nothing or little is before it: a program that does not take it in one gets less. */
	if (len)
		send(c->watch.fd, answer, len, MSG_NOSIGNAL | MSG_DONTWAIT);
	shutdown(c->watch.fd, SHUT_WR);
	c->state = CLIENT_LEAVES;
	/* To close what has bytes to read makes a reset, at which the program may lose the answer. */
	rc = watched ? loop_change(c->g->loop, &c->watch, EPOLLIN) : loop_add(c->g->loop, &c->watch, EPOLLIN);
	loop_timer(c->g->loop, &c->timer, LEAVE_MS);
	if (rc < 0)
		client_close(c);
}

bool client_knows_token(const struct client *c, const char *password, size_t len)
{
	const char *token = c->g->proxy_token;
	unsigned char differs = 0;

	if (len != strlen(token))
		return false;
	for (size_t i = 0; i < len; i++)
		differs |= (unsigned char)(password[i] ^ token[i]);
	return differs == 0;
}

static void drop_bytes(struct client *c)
{
	char bytes[4096];
	ssize_t n = recv(c->watch.fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		client_close(c);
}

static void read_request(struct client *c)
{
	ssize_t n = recv(c->watch.fd, c->in + c->n_in, HTTP_HEAD_MAX - c->n_in, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		client_close(c);
		return;
	}
	c->n_in += (size_t)n;
	/* Version 4 is refused there. */
	if (c->in[0] == SOCKS_VERSION || c->in[0] == SOCKS_VERSION - 1 || c->socks)
		socks_client_read(c);
	else
		http_client_read(c);
}

static void client_ready(struct watch *w, uint32_t events)
{
	struct client *c = container_of(w, struct client, watch);

	if (c->state == CLIENT_READS)
		read_request(c);
	else if (c->state == CLIENT_LEAVES)
		drop_bytes(c);
	else if (events & (EPOLLHUP | EPOLLERR))
		client_close(c);
}

static void client_expired(struct timer *t)
{
	client_close(container_of(t, struct client, timer));
}

/* Takes over fd. */
static void add_client(struct proxy *p, int fd)
{
	struct client *c = calloc(1, sizeof(*c));
	int on = 1;

	if (c)
		c->in = malloc(HTTP_HEAD_MAX);
	if (!c || !c->in) {
		free(c);
		close(fd);
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	c->g = p->g;
	c->watch = (struct watch){.fd = fd, .ready = client_ready};
	c->timer = (struct timer){.expired = client_expired};
	c->server.fd = -1;
	list_add(p, c);
	p->n++;
	loop_timer(p->g->loop, &c->timer, HEAD_MS);
	if (loop_add(p->g->loop, &c->watch, EPOLLIN) < 0)
		client_close(c);
}

/* False: there is none until one of those that are served ends. */
static bool make_room(struct proxy *p)
{
	if (p->n_reading >= READING_MAX || (p->n >= p->max && p->first))
		client_close(p->first);
	return p->n < p->max;
}

static void accept_some(struct watch *w, uint32_t events)
{
	struct proxy *p = container_of(w, struct proxy, listener);

	for (int i = 0; i < ACCEPTS_TURN; i++) {
		int fd;

		if (!make_room(p)) {
			pause_accepting(p, 0);
			return;
		}
		fd = accept4(w->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0) {
			add_client(p, fd);
			continue;
		}
		if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			pause_accepting(p, PAUSE_MS);
		return;
	}
}

/* The user's limit is for the user's programs. */
static size_t raise_limit(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) < 0)
		return 64;
	if (lim.rlim_cur < DESCRIPTORS) {
		lim.rlim_cur = lim.rlim_max < DESCRIPTORS ? lim.rlim_max : DESCRIPTORS;
		setrlimit(RLIMIT_NOFILE, &lim);
	}
	return lim.rlim_cur;
}

struct proxy *proxy_new(struct gateway *g)
{
	size_t descriptors = raise_limit();
	struct proxy *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return NULL;
	p->g = g;
	/* Some are for names and their servers. */
	p->max = descriptors >= DESCRIPTORS ? CLIENTS_MAX : descriptors / 4 + 1;
	p->listener = (struct watch){.fd = g->proxy_listener, .ready = accept_some};
	p->pause = (struct timer){.expired = pause_over};
	rc = loop_add(g->loop, &p->listener, EPOLLIN);
	if (rc < 0) {
		free(p);
		errno = -rc;
		return NULL;
	}
	return p;
}
