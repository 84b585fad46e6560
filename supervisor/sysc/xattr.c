/*
 * Setting and removing extended attributes, file flags and the inode attributes that ioctl sets.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "supervisor/change.h"
#include "supervisor/compat.h"
#include "supervisor/lockdown.h"
#include "supervisor/path.h"
#include "supervisor/sysc_nr.h"
#include "supervisor/tracee.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(setxattr), OWN(removexattr), OWN(file_setattr));

struct xattr {
	char name[XATTR_NAME_MAX + 1];
	void *value;
	size_t size;
	int flags;
};

static int copy_name(struct call *c, uint64_t addr, struct xattr *x)
{
	int n = tracee_string(c, addr, x->name, sizeof(x->name));

	return n == 0 ? -ERANGE : n < 0 ? n : 0;
}

static int copy_value(struct call *c, uint64_t addr, uint64_t size, struct xattr *x)
{
	int rc;

	if (size > XATTR_SIZE_MAX)
		return -E2BIG;
	x->size = size;
	x->value = malloc(size + 1);
	if (!x->value)
		return -ENOMEM;
	rc = size ? tracee_read(c, addr, x->value, size) : 0;
	if (rc < 0) {
		free(x->value);
		x->value = NULL;
	}
	return rc;
}

/* On the pin by way of /proc: that also reaches a symbolic link itself. */
static int act_set(struct call *c, const struct object *o, void *arg)
{
	const struct xattr *x = arg;
	char proc[PATH_PROC_SIZE];

	(void)c;
	return setxattr(path_proc(o->fd, proc), x->name, x->value, x->size, x->flags) < 0 ? -errno : 0;
}

static int act_remove(struct call *c, const struct object *o, void *arg)
{
	const struct xattr *x = arg;
	char proc[PATH_PROC_SIZE];

	(void)c;
	return removexattr(path_proc(o->fd, proc), x->name) < 0 ? -errno : 0;
}

static void do_set(struct call *c, int dirfd, int path, int how, struct xattr *x, uint64_t name,
		   uint64_t value, uint64_t size)
{
	int rc = x->flags & ~(XATTR_CREATE | XATTR_REPLACE) ? -EINVAL : copy_name(c, name, x);

	if (rc == 0)
		rc = copy_value(c, value, size, x);
	if (rc < 0) {
		path_copy_failed(c, rc);
		return;
	}
	if (path >= 0)
		change_object(c, dirfd, path, how, act_set, x);
	else
		change_descriptor(c, dirfd, false, act_set, x);
	free(x->value);
}

static void do_remove(struct call *c, int dirfd, int path, int how, uint64_t name)
{
	struct xattr x = {.flags = 0};
	int rc = copy_name(c, name, &x);

	if (rc < 0)
		path_copy_failed(c, rc);
	else if (path >= 0)
		change_object(c, dirfd, path, how, act_remove, &x);
	else
		change_descriptor(c, dirfd, false, act_remove, &x);
}

static void handle_setxattr(struct call *c)
{
	struct xattr x = {.flags = call_int(c, 4)};

	do_set(c, AT_FDCWD, 0, 0, &x, c->arg[1], c->arg[2], c->arg[3]);
}

static void handle_lsetxattr(struct call *c)
{
	struct xattr x = {.flags = call_int(c, 4)};

	do_set(c, AT_FDCWD, 0, RESOLVE_NOFOLLOW, &x, c->arg[1], c->arg[2], c->arg[3]);
}

static void handle_fsetxattr(struct call *c)
{
	struct xattr x = {.flags = call_int(c, 4)};

	do_set(c, call_int(c, 0), -1, 0, &x, c->arg[1], c->arg[2], c->arg[3]);
}

static void handle_removexattr(struct call *c)
{
	do_remove(c, AT_FDCWD, 0, 0, c->arg[1]);
}

static void handle_lremovexattr(struct call *c)
{
	do_remove(c, AT_FDCWD, 0, RESOLVE_NOFOLLOW, c->arg[1]);
}

static void handle_fremovexattr(struct call *c)
{
	do_remove(c, call_int(c, 0), -1, 0, c->arg[1]);
}

/* struct xattr_args of linux/xattr.h (6.13). */
struct xattr_args_v1 {
	uint64_t value;
	uint32_t size;
	uint32_t flags;
};

static void handle_setxattrat(struct call *c)
{
	struct xattr_args_v1 a;
	struct xattr x = {.flags = 0};
	int how = path_flags(call_int(c, 2)), rc;

	if (how < 0 || c->arg[5] != sizeof(a)) {
		call_error(c, how >= 0 && c->arg[5] > sizeof(a) ? E2BIG : EINVAL);
		return;
	}
	rc = tracee_read(c, c->arg[4], &a, sizeof(a));
	if (rc < 0) {
		path_copy_failed(c, rc);
		return;
	}
	x.flags = (int)a.flags;
	do_set(c, call_int(c, 0), 1, how, &x, c->arg[3], a.value, a.size);
}

static void handle_removexattrat(struct call *c)
{
	int how = path_flags(call_int(c, 2));

	if (how < 0)
		call_error(c, EINVAL);
	else
		do_remove(c, call_int(c, 0), 1, how, c->arg[3]);
}

/* file_setattr (6.17): a versioned struct that the kernel checks itself; we need only its bytes. */
struct file_attr_copy {
	unsigned char bytes[256];
	size_t size;
};

static int act_file_setattr(struct call *c, const struct object *o, void *arg)
{
	struct file_attr_copy *a = arg;

	(void)c;
	return syscall(SYS_file_setattr, o->fd, "", a->bytes, a->size, AT_EMPTY_PATH) < 0 ? -errno : 0;
}

static void handle_file_setattr(struct call *c)
{
	struct file_attr_copy a = {.size = c->arg[3]};
	int how = path_flags(call_int(c, 4)), rc;

	if (how < 0 || a.size > sizeof(a.bytes)) {
		call_error(c, how < 0 ? EINVAL : E2BIG);
		return;
	}
	rc = tracee_read(c, c->arg[2], a.bytes, a.size);
	if (rc < 0)
		path_copy_failed(c, rc);
	else
		change_object(c, call_int(c, 0), 1, how, act_file_setattr, &a);
}

#define DOC_XATTR "The object is pinned and judged, and the supervisor changes the pin."
#define ROW(call, fn)                                                                                        \
	const struct sysc sysc_##call = {                                                                    \
		.name = #call,                                                                               \
		.op = "metadata",                                                                            \
		.action = SYSC_NOTIFY,                                                                       \
		.handle = fn,                                                                                \
		.doc = DOC_XATTR,                                                                            \
	}

ROW(setxattr, handle_setxattr);
ROW(lsetxattr, handle_lsetxattr);
ROW(fsetxattr, handle_fsetxattr);
ROW(removexattr, handle_removexattr);
ROW(lremovexattr, handle_lremovexattr);
ROW(fremovexattr, handle_fremovexattr);
ROW(setxattrat, handle_setxattrat);
ROW(removexattrat, handle_removexattrat);
ROW(file_setattr, handle_file_setattr);
