/*
 * A system call that waits for its answer, and the answers. One struct call belongs to one worker and lives for
 * one notification; handlers (supervisor/sysc/) get it, copy what they need from the caller once, decide on
 * the copy, act on the copy and answer exactly once.
 */
#ifndef CORDON_CALL_H
#define CORDON_CALL_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/host.h"
#include "supervisor/audit.h"
#include "supervisor/session.h"
#include "supervisor/sysc.h"

struct worker;

#define CALL_PATHS 2

struct call {
	struct session *s;
	struct worker *worker;
	const struct sysc *sysc;
	uint64_t id;
	pid_t tid;
	uint64_t arg[6];

	bool answered;
	bool recorded;	 /* .event is to be written when the call is answered */
	bool passed;	 /* .event is a refusal that --log-only lets pass */
	bool unreadable; /* something of the caller's was asked for that nobody here may look at */
	bool held;	 /* answered, and stands still under ptrace: it is certainly there */
	struct event event;
	char message[1024]; /* behind event.message */
	char suggestion[PATH_MAX + 64];
	char host[HOST_TEXT_SIZE], ip[HOST_TEXT_SIZE]; /* behind those of event */

	/* Room for what is copied and resolved: one per path argument. Owned by the worker. */
	char *path[CALL_PATHS]; /* PATH_MAX bytes each */
	char *name[CALL_PATHS]; /* CALL_NAME_MAX bytes each */
	/* What name[] was before a longer one needed room of its own (longname.h), else NULL. */
	char *short_name[CALL_PATHS];
};

/* A canonical name: a directory's name (up to PATH_MAX) plus '/' plus a last component. */
#define CALL_NAME_MAX (PATH_MAX + NAME_MAX + 3)

/* Each of these answers the call; exactly one per call. */
void call_return(struct call *c, int64_t val);
void call_error(struct call *c, int err); /* err > 0 */
/* For "0 or -errno" results. */
void call_result(struct call *c, int rc);
/* Gives the caller a duplicate of fd; closes fd. Answers with the kernel's errno when that cannot be. Returns the number
 * that the caller got, or -errno. */
int call_fd(struct call *c, int fd, bool cloexec);
/* The same, and fd stays open: it must not be closed by others meanwhile. */
int call_fd_kept(struct call *c, int fd, bool cloexec);
/* The same at that number, which the caller has free; at any when it is -1 or the caller may not have it. */
int call_fd_at(struct call *c, int fd, int number, bool cloexec);
/*
 * The same in two steps, 3 us slower: our own is closed before the caller goes on, so that a close by it is the last. Else
 * what it wrote could not be executed at once (ETXTBSY), and events and ends of file would come late.
 */
int call_fd_alone(struct call *c, int fd, bool cloexec);
/*
 * Lets the kernel perform the call with the caller's own registers. Only where registers decide, or where the call's
 * effect is judged again at every use.
 */
void call_continue(struct call *c);
/* The caller is gone (its notification is no longer valid): nothing to answer. */
void call_gone(struct call *c);

/* Its worker answers it no more; who has a copy does. */
void call_put_aside(struct call *c);
/* What outlives the worker: no paths. */
void call_copy(struct call *to, const struct call *from);

/* Low 32 bits of an argument as the kernel takes int arguments. */
static inline int call_int(const struct call *c, int i)
{
	return (int)(uint32_t)c->arg[i];
}

#endif
