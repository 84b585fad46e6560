#include "supervisor/change.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "supervisor/path.h"
#include "supervisor/tracee.h"

void change_make(struct call *c, int dirfd, int path, enum access a, change_entry_fn *act, void *arg)
{
	struct entry_verdict ev;
	struct entry e;
	int rc = resolve_entry_at(c, 0, dirfd, c->arg[path], &e);

	if (rc < 0) {
		path_copy_failed(c, rc);
		return;
	}
	if (e.special || e.exists) {
		call_error(c, EEXIST);
		entry_close(&e);
		return;
	}
	pthread_rwlock_rdlock(&c->s->names);
	rc = judge_entry(c, a, &e, &ev);
	if (rc == 0) {
		rc = act(c, &e, arg);
		if (rc >= 0)
			judge_note_created(c, &e, &ev);
		pthread_rwlock_unlock(&c->s->names);
		call_result(c, rc);
	} else {
		pthread_rwlock_unlock(&c->s->names);
		judge_answer(c, rc);
	}
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
		call_error(c, -rc);
		return;
	}
	rc = judge_object(c, ACCESS_METADATA, &o, O_RDWR);
	if (rc)
		judge_answer(c, rc);
	else
		call_result(c, act(c, &o, arg));
	object_close(&o);
}

static bool is_same(const struct statx *a, const struct statx *b)
{
	return a->stx_ino == b->stx_ino && a->stx_dev_major == b->stx_dev_major &&
	       a->stx_dev_minor == b->stx_dev_minor;
}

int change_lock(struct call *c, const struct entry *e, const struct entry_verdict *ev)
{
	char plain[NAME_MAX + 1];
	struct timespec t;
	struct statx st;

	if (!ev->in_own_area) {
		pthread_rwlock_rdlock(&c->s->names);
		return 0;
	}
	/* A call that hangs on a dead file system may hold it for reading. */
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += 2;
	if (pthread_rwlock_timedwrlock(&c->s->names, &t) != 0)
		return -EBUSY;
	memcpy(plain, e->leaf, e->leaf_len);
	plain[e->leaf_len] = '\0';
	if (statx(e->dir.fd, plain, AT_SYMLINK_NOFOLLOW, STATX_INO, &st) == 0 && is_same(&st, &e->st))
		return 0;
	pthread_rwlock_unlock(&c->s->names);
	return -ENOENT;
}
