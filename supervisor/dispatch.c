#include "supervisor/dispatch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/asker.h"
#include "supervisor/ident.h"
#include "supervisor/lockdown.h"
#include "supervisor/longname.h"
#include "supervisor/notify.h"
#include "supervisor/refusal.h"
#include "supervisor/tracee.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(close));

/* Writes the record. Who asked is looked up only now: most calls are never recorded. */
static void record(struct call *c)
{
	struct event *e = &c->event;
	struct asker who;

	if (!c->recorded && !audit_wants_allowed(c->s->audit))
		return;
	if (!e->op)
		return;
	asker_look(c->s, c->tid, &who, e);
	if (!e->syscall)
		e->syscall = c->sysc->name;
	refusal_word(c);
	audit_emit(c->s->audit, e);
}

void call_report(struct call *c)
{
	record(c);
}

/* Before the answer, so that the trail has the record when the program goes on. */
static bool begin_answer(struct call *c, int err)
{
	if (c->answered)
		return false;
	c->answered = true;
	if (!c->event.denied)
		c->event.err = err;
	if (err == EPERM || err == EACCES) /* what was let pass came no further */
		c->passed = false;
	record(c);
	return true;
}

void call_return(struct call *c, int64_t val)
{
	if (begin_answer(c, 0))
		notify_answer(c->s->listener, c->id, val, 0);
}

void call_error(struct call *c, int err)
{
	if (begin_answer(c, err))
		notify_answer(c->s->listener, c->id, 0, err > 0 ? err : EPERM);
}

void call_result(struct call *c, int rc)
{
	if (rc < 0)
		call_error(c, -rc);
	else
		call_return(c, rc);
}

int call_fd(struct call *c, int fd, bool cloexec)
{
	return call_fd_at(c, fd, -1, cloexec);
}

/* number: -1 for any. */
static int give(struct call *c, int fd, int number, bool cloexec)
{
	int listener = c->s->listener, rc = -ENOENT;

	if (begin_answer(c, 0)) {
		rc = number < 0 ? -EBADF : notify_answer_fd_at(listener, c->id, fd, number, cloexec);
		if (rc == -EBADF)
			rc = notify_answer_fd(listener, c->id, fd, cloexec);
		if (rc < 0 && rc != -ENOENT)
			notify_answer(listener, c->id, 0, -rc);
	}
	return rc;
}

int call_fd_at(struct call *c, int fd, int number, bool cloexec)
{
	int rc = give(c, fd, number, cloexec);

	close(fd);
	return rc;
}

int call_fd_kept(struct call *c, int fd, bool cloexec)
{
	return give(c, fd, -1, cloexec);
}

int call_fd_alone(struct call *c, int fd, bool cloexec)
{
	bool first = begin_answer(c, 0);
	int rc = first ? notify_add_fd(c->s->listener, c->id, fd, cloexec) : -ENOENT;

	close(fd);
	if (first && rc != -ENOENT)
		notify_answer(c->s->listener, c->id, rc, rc < 0 ? -rc : 0);
	return rc;
}

void call_continue(struct call *c)
{
	if (begin_answer(c, 0))
		notify_continue(c->s->listener, c->id);
}

void call_gone(struct call *c)
{
	c->answered = true;
}

void call_put_aside(struct call *c)
{
	c->answered = true;
}

void call_copy(struct call *to, const struct call *from)
{
	*to = *from;
	to->answered = false;
	to->event.path = to->event.target = to->event.source = (struct bytes){NULL, 0};
	if (from->event.host.bytes)
		to->event.host.bytes = to->host;
	if (from->event.ip.bytes)
		to->event.ip.bytes = to->ip;
	to->event.message = from->event.message ? to->message : NULL;
	to->event.suggestion = from->event.suggestion ? to->suggestion : NULL;
	memset(to->path, 0, sizeof(to->path));
	memset(to->name, 0, sizeof(to->name));
	memset(to->short_name, 0, sizeof(to->short_name));
}

/* A handler that forgot to answer has refused. */
static void finish(struct call *c)
{
	ident_drop(c);
	if (!c->answered)
		call_error(c, EPERM);
	longname_release(c);
}

void dispatch_again(struct call *c, void (*job)(struct call *c, void *arg), void *arg)
{
	int rc = ident_assume(c);

	if (rc < 0)
		call_error(c, -rc);
	job(c, arg);
	finish(c);
}

void dispatch(struct call *c)
{
	int rc;

	if (!c->sysc || !c->sysc->handle) {
		/* The filter sends only rows with a handler. */
		c->answered = true;
		notify_answer(c->s->listener, c->id, 0, ENOSYS);
		return;
	}
	rc = ident_assume(c);
	if (rc == 0)
		c->sysc->handle(c);
	else
		call_error(c, -rc);
	finish(c);
}
