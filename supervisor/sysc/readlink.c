/*
 * readlink, readlinkat: what a symbolic link says is its content. While reading is restricted the supervisor reads the
 * pinned link and writes the text into the caller's memory; a call that was continued could be given another path.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "supervisor/hide.h"
#include "supervisor/judge.h"
#include "supervisor/lockdown.h"
#include "supervisor/mounts.h"
#include "supervisor/path.h"
#include "supervisor/tracee.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(readlinkat));

/* /proc/self and /proc/thread-self say something else to each reader. */
static bool is_self(struct call *c, const struct object *o, char *inner, size_t size)
{
	if (mounts_look(c->s->mounts, o->st.stx_mnt_id, o->name, inner, size) == MOUNT_OTHER)
		return false;
	return strcmp(inner, "/self") == 0 || strcmp(inner, "/thread-self") == 0;
}

/* The text into buf (PATH_MAX). Returns how much of it goes to the caller, or -errno. */
static ssize_t read_target(struct call *c, const struct object *o, char *buf, size_t size)
{
	char inner[PATH_MAX];
	ssize_t n;

	if (size > PATH_MAX)
		size = PATH_MAX;
	if (o->len == 0 || !mounts_is_proc(c->s->mounts, makedev(o->st.stx_dev_major, o->st.stx_dev_minor))) {
		n = readlinkat(o->fd, "", buf, size);
		return n < 0 ? -errno : n;
	}
	if (!is_self(c, o, inner, sizeof(inner)))
		return walk_read_link(c, o->fd, inner, buf, size);
	n = walk_self(c, inner + 1, buf, PATH_MAX);
	if (n < 0)
		return n;
	return (size_t)n < size ? n : (ssize_t)size;
}

static void answer_link(struct call *c, struct object *o, uint64_t to, size_t size)
{
	char buf[PATH_MAX];
	ssize_t n;
	int rc = judge_object(c, ACCESS_READ, o, O_RDONLY);

	if (rc) {
		judge_answer(c, rc);
		return;
	}
	n = read_target(c, o, buf, size);
	if (n > 0) {
		rc = tracee_write(c, to, buf, (size_t)n);
		n = rc < 0 ? rc : n;
	}
	if (n < 0)
		call_error(c, (int)-n);
	else
		call_return(c, n);
}

static void do_readlink(struct call *c, int dirfd, int path)
{
	int size = call_int(c, path + 2), rc;
	struct object o;

	if (size <= 0) {
		call_error(c, EINVAL);
		return;
	}
	rc = resolve_object_at(c, 0, dirfd, c->arg[path], RESOLVE_NOFOLLOW | RESOLVE_EMPTY, &o);
	if (rc < 0) {
		hide_silently(c);
		path_copy_failed(c, rc);
		return;
	}
	/* A descriptor of a link is an O_PATH one, and gives no more rights than the name that the link has or had. */
	if (o.by_magic)
		o.magic_mode = RESOLVE_NO_MODE;
	if (S_ISLNK(o.st.stx_mode))
		answer_link(c, &o, c->arg[path + 1], (size_t)size);
	else
		call_error(c, c->path[0][0] ? EINVAL : ENOENT);
	object_close(&o);
}

static void handle_readlinkat(struct call *c)
{
	do_readlink(c, call_int(c, 0), 1);
}

#define DOC_READLINK                                                                                         \
	"The link is pinned and judged as a file that is read, and the supervisor writes its text into the " \
	"caller's memory."

const struct sysc sysc_readlinkat = {
	.name = "readlinkat",
	.op = "read",
	.action = SYSC_NOTIFY,
	.needs = FEATURE_READS,
	.handle = handle_readlinkat,
	.doc = DOC_READLINK,
};

#ifdef SYS_readlink
static void handle_readlink(struct call *c)
{
	do_readlink(c, AT_FDCWD, 0);
}

const struct sysc sysc_readlink = {
	.name = "readlink",
	.op = "read",
	.action = SYSC_NOTIFY,
	.needs = FEATURE_READS,
	.handle = handle_readlink,
	.doc = DOC_READLINK,
};
#endif
