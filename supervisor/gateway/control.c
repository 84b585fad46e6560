#include "supervisor/gateway/control.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "supervisor/fdpass.h"
#include "supervisor/gateway/stub.h"
#include "supervisor/gateway/sysfiles.h"
#include "supervisor/lockdown.h"

OWN_CALLS(OWN_GATEWAY, OWN(sendto), OWN(close));

/* A report that waits: to be sent, or for its answer. */
struct pending {
	struct pending *next;
	control_done *done; /* NULL: none is awaited */
	void *arg;
	struct report r;
};

struct queue {
	struct pending *first, **last;
};

struct control {
	struct watch watch;
	struct gateway *g;
	struct queue unsent, unanswered;
	uint32_t id;
};

static void put(struct queue *q, struct pending *p)
{
	p->next = NULL;
	*q->last = p;
	q->last = &p->next;
}

static struct pending *take(struct queue *q)
{
	struct pending *p = q->first;

	q->first = p->next;
	if (!q->first)
		q->last = &q->first;
	return p;
}

/* Returns false when the socket takes no more. */
static bool send_first(struct control *l)
{
	struct pending *p = l->unsent.first;

	if (send(l->watch.fd, &p->r, sizeof(p->r), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno == EAGAIN)
		return false;
	take(&l->unsent);
	if (p->done)
		put(&l->unanswered, p);
	else
		free(p);
	return true;
}

static void send_all(struct control *l)
{
	while (l->unsent.first)
		if (!send_first(l))
			break;
	loop_change(l->g->loop, &l->watch, l->unsent.first ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

static bool enqueue(struct control *l, const struct report *r, control_done *done, void *arg)
{
	struct pending *p = malloc(sizeof(*p));

	if (!p)
		return false;
	p->r = *r;
	p->done = done;
	p->arg = arg;
	put(&l->unsent, p);
	if (l->unsent.first == p)
		send_all(l);
	return true;
}

void control_report(struct control *l, const struct report *r)
{
	enqueue(l, r, NULL, NULL);
}

bool control_ask(struct control *l, struct report *r, control_done *done, void *arg)
{
	r->id = ++l->id;
	return enqueue(l, r, done, arg);
}

static void forgotten(void *arg)
{
	(void)arg;
}

void control_forget(struct control *l, const void *arg)
{
	for (struct pending *p = l->unsent.first; p; p = p->next)
		if (p->done && p->arg == arg)
			p->done = forgotten;
	for (struct pending *p = l->unanswered.first; p; p = p->next)
		if (p->arg == arg)
			p->done = forgotten;
}

/* Answers come in the order of the reports. */
static bool on_done(struct control *l, uint32_t id)
{
	struct pending *p;

	if (!l->unanswered.first || l->unanswered.first->r.id != id)
		return false;
	p = take(&l->unanswered);
	p->done(p->arg);
	free(p);
	return true;
}

/* Takes over fd. */
static bool on_order(struct control *l, const struct order *o, int fd)
{
	switch ((enum order_kind)o->kind) {
	case ORDER_CHANNEL:
		stub_channel(l->g->stub, fd, o->value);
		return true;
	case ORDER_EXPECT:
		stub_expect(l->g->stub, (uint16_t)o->value);
		break;
	case ORDER_RESOLV:
		sysfiles_resolv(l->g->files, fd);
		break;
	case ORDER_HOSTS:
		sysfiles_hosts(l->g->files, fd);
		break;
	case ORDER_DONE:
		return on_done(l, o->value);
	case ORDER_NONE:
	default:
		return false;
	}
	if (fd >= 0)
		close(fd);
	return true;
}

static void on_control(struct watch *w, uint32_t events)
{
	struct control *l = (struct control *)w;
	struct order o;
	ssize_t n;
	int fd;

	if (events & EPOLLOUT)
		send_all(l);
	if (!(events & ~(uint32_t)EPOLLOUT))
		return;
	n = fdpass_receive(w->fd, &o, sizeof(o), &fd);
	if (n == -EINTR || n == -EAGAIN)
		return;
	if (n != sizeof(o) || !on_order(l, &o, fd))
		loop_end(l->g->loop);
}

struct control *control_new(struct gateway *g)
{
	struct control *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->g = g;
	l->watch = (struct watch){.fd = g->socket, .ready = on_control};
	l->unsent.last = &l->unsent.first;
	l->unanswered.last = &l->unanswered.first;
	if (loop_add(g->loop, &l->watch, EPOLLIN) < 0) {
		free(l);
		return NULL;
	}
	return l;
}

void gw_tell(struct gateway *g, const struct gw_event *e)
{
	struct report r = {.kind = REPORT_EVENT};
	struct report_event *to = &r.event;

	to->op = strcmp(e->op, "resolve") == 0 ? REPORT_OP_RESOLVE : REPORT_OP_CONNECT;
	to->denied = e->denied;
	to->port = e->port;
	to->rule = e->rule ? net_rule_number(g->policy, e->rule) : SIZE_MAX;
	snprintf(to->host, sizeof(to->host), "%s", e->host ? e->host : "");
	snprintf(to->why, sizeof(to->why), "%s", e->why ? e->why : "");
	if (e->addr) {
		to->has_addr = 1;
		memcpy(to->addr, e->addr, sizeof(to->addr));
	}
	control_report(g->control, &r);
}
