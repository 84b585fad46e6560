/*
 * Running programs. An exec cannot be performed for another process: it is judged, continued, and what the kernel then
 * started is looked at before it runs, because it read the path again. What is not what was allowed is killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/crew.h"
#include "supervisor/dispatch.h"
#include "supervisor/execs.h"
#include "supervisor/judge.h"
#include "supervisor/mapped.h"
#include "supervisor/path.h"
#include "supervisor/pending.h"
#include "supervisor/pins.h"
#include "supervisor/program.h"
#include "supervisor/tracee.h"
#include "supervisor/tracer.h"

#ifndef AT_EXECVE_CHECK
#define AT_EXECVE_CHECK 0x10000 /* Linux 6.14 */
#endif

/* [exec] rules hold for every exec. To keep programs that may not be read from running, what can be verified is. */
static bool is_strict(const struct session *s)
{
	return policy_restricts_exec(s->policy) && !s->log_only;
}

static bool is_verified(const struct session *s)
{
	return policy_restricts_programs(s->policy) && !s->log_only;
}

static bool same_file(const struct object *a, const struct object *b)
{
	return a->fd >= 0 && b->fd >= 0 && object_is_same(&a->st, &b->st);
}

static void refuse_unverified(struct call *c, const char *why)
{
	snprintf(c->message, sizeof(c->message), "exec %.*s refused: %s", (int)c->event.path.len,
		 c->event.path.bytes, why);
	judge_answer(c, judge_refuse(c, "exec", "[exec] (built-in)", EACCES, c->message));
}

/* What runs is neither what was judged nor something else that is allowed. */
static bool refuse_started(struct call *c, int rc)
{
	if (rc != 0 && !c->event.denied)
		judge_refuse(c, "exec", "[exec] (built-in)", EACCES,
			     "a program was ended: what was started could not be verified");
	return rc == 0;
}

/* A script's name as the kernel took it: it may be another than the one that was judged. */
static bool script_holds(struct call *c, const struct program *p)
{
	struct object o;
	int rc = tracee_execfn(c, c->path[1]);

	if (rc >= 0)
		rc = resolve_object(c, 1, AT_FDCWD, 0, 0, &o);
	if (rc < 0)
		return refuse_started(c, EACCES);
	rc = same_file(&o, &p->script) ? 0 : program_judge_one(c, &o);
	object_close(&o);
	return refuse_started(c, rc);
}

/*
 * Memory that the kernel closed is closed to the session as well: nobody reads from it what the file would not show. It
 * closes that of who may not read the program, or acts as another than he is; all else is none that was judged.
 */
static bool is_closed(struct call *c, const struct program *p, int rc)
{
	struct tracee_status st;

	if ((rc != -EACCES && rc != -EPERM) || is_strict(c->s))
		return false;
	if (p->unreadable)
		return true;
	return tracee_status(c->s, c->tid, &st) == 0 && (st.uid[0] != st.uid[1] || st.gid[0] != st.gid[1]);
}

/* What started is not what was judged: an interpreter of a kind that only the kernel knows, or a race. */
static bool other_holds(struct call *c, const struct program *p)
{
	int fd = tracee_exe(c), rc;
	struct object o;

	if (is_closed(c, p, fd))
		return true;
	rc = fd < 0 ? fd : object_from_pin(c, 1, fd, &o);
	if (rc < 0)
		return refuse_started(c, EACCES);
	o.by_magic = true; /* it may have been removed by now */
	rc = program_judge_one(c, &o);
	object_close(&o);
	return refuse_started(c, rc);
}

/* A file that was loaded and is neither the program nor the loader that were judged: only a race does that. */
static bool named_holds(struct call *c, const struct mapped *m)
{
	size_t len = strlen(m->name);
	struct object o;
	int rc;

	if (m->name[0] != '/' || len >= PATH_MAX)
		return refuse_started(c, EACCES);
	memcpy(c->path[1], m->name, len + 1);
	if (resolve_object(c, 1, AT_FDCWD, RESOLVE_NOFOLLOW, 0, &o) < 0)
		return refuse_started(c, EACCES);
	rc = mapped_is(c, m, &o) ? program_judge_loader(c, &o) : EACCES;
	object_close(&o);
	return refuse_started(c, rc);
}

static bool one_holds(struct call *c, const struct mapped *m, void *arg)
{
	const struct program *p = arg;

	return mapped_is(c, m, &p->end) || mapped_is(c, m, &p->loader) || named_holds(c, m);
}

/* The kernel loads the program and its loader, and starts the latter. */
static bool loaded_holds(struct call *c, struct program *p)
{
	int rc = mapped_each(c, one_holds, p);

	if (is_closed(c, p, rc))
		return true;
	return rc < 0 ? refuse_started(c, EACCES) : rc == 0;
}

/* Looks at the new program, which stands still before its first instruction. */
static bool holds(struct call *c, struct program *p)
{
	bool same = p->end.fd >= 0 && tracee_runs(c, &p->end.st);

	if ((!same && !other_holds(c, p)) || !loaded_holds(c, p))
		return false;
	return !is_strict(c->s) || (same && p->script.fd < 0) || script_holds(c, p);
}

/* After the exec: true lets the program run. */
static bool verify(struct call *c, struct tracer_hold *h, struct program *p)
{
	bool ok;

	c->tid = h->pid;
	pins_drop(c->s->pins, h->pid);
	c->held = true;
	memset(&c->event, 0, sizeof(c->event));
	ok = holds(c, p);
	/* Of one that was killed meanwhile nothing is known, and nothing runs. */
	if (!ok && tracer_stands(h))
		call_report(c);
	c->held = false;
	return ok;
}

/* Lets the kernel exec, and looks at what came of it. */
static void start(struct call *c, struct program *p)
{
	struct tracer_hold h;
	int rc;

	if (!crew_step_aside(c)) {
		call_error(c, EAGAIN);
		return;
	}
	rc = tracer_hold(c, &h, true);
	if (rc == -ESRCH) {
		call_gone(c);
	} else if (rc == -EINTR) { /* as the kernel's own exec, which waits for the same */
		pending_restart(c);
	} else if (rc == -EAGAIN) {
		call_error(c, EAGAIN);
	} else if (rc < 0 && is_strict(c->s)) {
		refuse_unverified(c, "a process that is traced, or whose memory is closed, starts no program "
				     "under [exec] rules");
	} else if (rc < 0) {
		/* A debugger's child. Its tracer could change its memory anyway. */
		call_continue(c);
	} else {
		execs_begin(c->s->execs, h.tgid);
		call_continue(c);
		if (tracer_wait(&h) == TRACER_EXEC && !verify(c, &h, p))
			tracer_kill(&h);
		else
			tracer_release(&h);
		execs_end(c->s->execs, h.tgid);
	}
}

static void judge_and_start(struct call *c, struct object *o)
{
	struct program p;
	int rc;

	rc = program_judge(c, o, &p);
	if (rc != 0)
		judge_answer(c, rc);
	else if (!is_verified(c->s))
		call_continue(c);
	else if (p.unreadable && is_strict(c->s))
		refuse_unverified(
			c, "a program that may be run but not read cannot be verified, as [exec] rules need");
	else if (p.unreadable && program_may_be_own(c, &p.end))
		refuse_unverified(
			c,
			"a program that may be run but not read, and that the command can write, could start "
			"what may not be read");
	else
		start(c, &p);
	program_close(&p);
}

/* Errors that the kernel finds as well. */
static bool is_callers_own(int err)
{
	return err == ENOENT || err == ENOTDIR || err == EACCES || err == ELOOP || err == ENAMETOOLONG ||
	       err == EFAULT || err == EBADF || err == EINVAL;
}

static void exec_failed(struct call *c, int rc)
{
	if (!is_callers_own(-rc) && !c->event.denied)
		path_copy_failed(c, rc);
	else if (c->event.denied || is_verified(c->s)) /* continued, it could find something after all */
		call_error(c, -rc);
	else
		call_continue(c);
}

static void do_exec(struct call *c, int dirfd, int path, int flags)
{
	struct object o;
	int rc = tracee_path(c, c->arg[path], c->path[0]);

	if (rc == -EPERM && !is_strict(c->s)) {
		/* A process that became another user and has not run exec since, as su has not at this point: nobody may read
		 * its memory where root has no SYS_PTRACE. What it starts can be read again. */
		call_continue(c);
		return;
	}
	if (rc >= 0)
		rc = resolve_object(c, 0, dirfd, path_flags(flags), 0, &o);
	if (rc < 0) {
		exec_failed(c, rc);
		return;
	}
	if (S_ISREG(o.st.stx_mode)) {
		judge_and_start(c, &o);
		return;
	}
	object_close(&o);
	call_error(c, S_ISLNK(o.st.stx_mode) ? ELOOP : EACCES);
}

/* Only asks whether it could: nothing starts. */
static void do_check(struct call *c, int flags)
{
	struct program p;
	struct object o;
	int rc = tracee_path(c, c->arg[1], c->path[0]);

	if (rc >= 0)
		rc = resolve_object(c, 0, call_int(c, 0), path_flags(flags), 0, &o);
	if (rc < 0) {
		call_continue(c);
		return;
	}
	rc = program_judge(c, &o, &p);
	program_close(&p);
	if (rc != 0)
		judge_answer(c, rc);
	else
		call_continue(c);
}

static void handle_execve(struct call *c)
{
	do_exec(c, AT_FDCWD, 0, 0);
}

static void handle_execveat(struct call *c)
{
	int flags = call_int(c, 4);

	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | AT_EXECVE_CHECK))
		call_error(c, EINVAL);
	else if (flags & AT_EXECVE_CHECK)
		do_check(c, flags & ~AT_EXECVE_CHECK);
	else
		do_exec(c, call_int(c, 0), 1, flags);
}

#define DOC_EXEC                                                                                             \
	"Left to the kernel unless programs are recorded or refused. Then judged, continued, and what was "  \
	"started is looked at before it runs; what is not allowed is killed."
const struct sysc sysc_execve = {
	.name = "execve",
	.op = "exec",
	.action = SYSC_NOTIFY,
	.needs = FEATURE_EXEC,
	.handle = handle_execve,
	.doc = DOC_EXEC,
};
const struct sysc sysc_execveat = {
	.name = "execveat",
	.op = "exec",
	.action = SYSC_NOTIFY,
	.needs = FEATURE_EXEC,
	.handle = handle_execveat,
	.doc = DOC_EXEC,
};
