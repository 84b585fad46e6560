#include "supervisor/change.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "supervisor/mounts.h"
#include "supervisor/path.h"
#include "supervisor/procname.h"
#include "supervisor/settle.h"
#include "supervisor/tracee.h"

/* By the clock that nobody sets; gcc 12's thread sanitizer does not know of such locks. */
#ifdef __SANITIZE_THREAD__
#define WAIT_CLOCK	      CLOCK_REALTIME
#define wrlock_until(lock, t) pthread_rwlock_timedwrlock(lock, t)
#else
#define WAIT_CLOCK	      CLOCK_MONOTONIC
#define wrlock_until(lock, t) pthread_rwlock_clockwrlock(lock, WAIT_CLOCK, t)
#endif

int change_lock(struct call *c, bool exclusive)
{
	struct timespec t;

	if (!exclusive) {
		pthread_rwlock_rdlock(&c->s->names);
		return 0;
	}
	clock_gettime(WAIT_CLOCK, &t);
	t.tv_sec += 2;
	return wrlock_until(&c->s->names, &t) == 0 ? 0 : EBUSY;
}

void change_unlock(struct call *c)
{
	pthread_rwlock_unlock(&c->s->names);
}

int change_check_absent(const struct entry *e, int arg)
{
	(void)arg;
	return e->exists ? EEXIST : 0;
}

int change_judge(struct call *c, enum access a, struct entry *e, struct entry_verdict *ev, bool exclusive,
		 int (*check)(const struct entry *e, int arg), int arg)
{
	bool creates = a == ACCESS_CREATE || a == ACCESS_MKDIR;

	for (;;) {
		int rc = change_lock(c, exclusive);

		if (rc)
			return rc;
		c->event.path = (struct bytes){NULL, 0};
		rc = -entry_reread(c, e);
		if (rc == 0)
			rc = check(e, arg);
		if (rc == 0)
			rc = judge_entry(c, a, e, ev);
		if (rc == 0 && (exclusive || creates || !ev->in_own_area))
			return 0;
		change_unlock(c);
		if (rc)
			return rc;
		exclusive = true;
	}
}

bool change_is_held(const struct call *c, const struct entry *e)
{
	char inner[PATH_MAX], *rest;
	pid_t pid;

	if (mounts_look(c->s->mounts, e->dir.st.stx_mnt_id, e->name, inner, sizeof(inner)) != MOUNT_PROC)
		return false;
	pid = (pid_t)strtol(inner + 1, &rest, 10);
	return procname_is_held(rest) && tracee_is_callers(c, pid);
}

void change_name_both(struct call *c, const struct bytes *from, const struct bytes *to, bool about_new)
{
	static const struct bytes none;

	c->event.op = c->sysc->op;
	c->event.path = about_new ? *to : *from;
	c->event.target = about_new ? none : *to;
	c->event.source = about_new ? *from : none;
}

void change_make(struct call *c, int dirfd, int path, mode_t type, change_entry_fn *act, void *arg)
{
	enum access a = S_ISDIR(type) ? ACCESS_MKDIR : ACCESS_CREATE;
	struct entry_verdict ev;
	struct entry e;
	int rc = resolve_entry_at(c, 0, dirfd, c->arg[path], &e);

	if (rc < 0) {
		path_copy_failed(c, rc);
		return;
	}
	e.becomes = type;
	rc = e.special ? EEXIST : change_judge(c, a, &e, &ev, false, change_check_absent, 0);
	if (rc == 0) {
		rc = -act(c, &e, arg);
		if (rc == 0)
			rc = settle_made(c, a, &e, &ev);
		if (rc == 0)
			judge_note_created(c, &e, &ev);
		change_unlock(c);
	}
	if (rc)
		judge_answer(c, rc);
	else
		call_return(c, 0);
	entry_close(&e);
}

void change_object(struct call *c, int dirfd, int path, int flags, change_object_fn *act, void *arg)
{
	struct object o;
	int rc = resolve_object_at(c, 0, dirfd, c->arg[path], flags, &o);

	if (rc < 0) {
		path_copy_failed(c, rc);
		return;
	}
	rc = judge_object(c, ACCESS_METADATA, &o, O_RDWR);
	if (rc)
		judge_answer(c, rc);
	else
		call_result(c, act(c, &o, arg));
	object_close(&o);
}

void change_descriptor(struct call *c, int fd, bool o_path, change_object_fn *act, void *arg)
{
	struct object o;
	int rc, flags = 0;

	if (!o_path)
		flags = tracee_fd_flags(c, fd);
	rc = flags < 0 ? flags : flags & O_PATH ? -EBADF : resolve_fd(c, 0, fd, &o);
	if (rc < 0) {
		path_copy_failed(c, rc);
		return;
	}
	rc = judge_object(c, ACCESS_METADATA, &o, O_RDWR);
	if (rc)
		judge_answer(c, rc);
	else
		call_result(c, act(c, &o, arg));
	object_close(&o);
}
