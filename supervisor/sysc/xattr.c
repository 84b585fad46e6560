/*
 * Setting, removing and reading extended attributes; setting file flags and the inode attributes that ioctl sets.
 *
 * Values and names of attributes are content, as a file's text is, but for those that say who may do what with it: they
 * are known to whoever sees the mode, and "ls -l" asks for them.
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
#include "supervisor/hide.h"
#include "supervisor/lockdown.h"
#include "supervisor/path.h"
#include "supervisor/sysc_nr.h"
#include "supervisor/tracee.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(setxattr), OWN(removexattr), OWN(file_setattr), OWN(getxattr), OWN(listxattr));

/* RESOLVE_* of the flags of setxattrat and its kin, which act on an opened descriptor where there is no path; -1: unknown ones. */
static int at_flags(int flags)
{
	int how = path_flags(flags);

	return how < 0 ? how : how | RESOLVE_OPENED;
}

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
	int how = at_flags(call_int(c, 2)), rc;

	rc = tracee_read_struct(c, c->arg[4], c->arg[5], &a, sizeof(a));
	if (rc == 0 && how < 0)
		rc = -EINVAL;
	if (rc < 0) {
		path_copy_failed(c, rc);
		return;
	}
	x.flags = (int)a.flags;
	do_set(c, call_int(c, 0), 1, how, &x, c->arg[3], a.value, a.size);
}

static void handle_removexattrat(struct call *c)
{
	int how = at_flags(call_int(c, 2));

	if (how < 0)
		call_error(c, EINVAL);
	else
		do_remove(c, call_int(c, 0), 1, how, c->arg[3]);
}

/* Room in the caller for a value or a list of names, and at.size what it says of it. */
struct reading {
	struct xattr at;
	uint64_t to;
	bool dropped; /* names were left out of the list */
};

static bool is_public(const char *name)
{
	static const char *const names[] = {"system.posix_acl_access", "system.posix_acl_default",
					    "system.nfs4_acl",	       "security.selinux",
					    "security.SMACK64",	       "security.capability"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static void give(struct call *c, const struct reading *r, const void *from, ssize_t n)
{
	int rc = n > 0 && r->at.size ? tracee_write(c, r->to, from, (size_t)n) : 0;

	call_result(c, n < 0 ? (int)n : rc < 0 ? rc : (int)n);
}

/* The kernel itself takes no larger size than the largest value. */
static void give_value(struct call *c, const struct object *o, struct reading *r)
{
	size_t size = r->at.size < XATTR_SIZE_MAX ? r->at.size : XATTR_SIZE_MAX;
	void *value = malloc(size + 1);
	char proc[PATH_PROC_SIZE];
	ssize_t n = value ? getxattr(path_proc(o->fd, proc), r->at.name, value, size) : -1;

	give(c, r, value, n < 0 ? -errno : n);
	free(value);
}

/* Leaves the names of public attributes in the list. Returns its new length. */
static ssize_t drop_names(char *list, ssize_t n, bool *dropped)
{
	ssize_t kept = 0;

	for (ssize_t at = 0, len; at < n; at += len) {
		len = (ssize_t)strlen(list + at) + 1;
		if (is_public(list + at)) {
			memmove(list + kept, list + at, (size_t)len);
			kept += len;
		} else {
			*dropped = true;
		}
	}
	return kept;
}

/* shut: only what is public. The list is taken whole, since what is left out of it must not show in its length. */
static ssize_t take_list(const struct object *o, struct reading *r, char *list, bool shut)
{
	char proc[PATH_PROC_SIZE];
	size_t size = shut || r->at.size > XATTR_LIST_MAX ? XATTR_LIST_MAX : r->at.size;
	ssize_t n = listxattr(path_proc(o->fd, proc), list, size);

	if (n < 0)
		return -errno;
	if (shut)
		n = drop_names(list, n, &r->dropped);
	return shut && r->at.size && (size_t)n > r->at.size ? -ERANGE : n;
}

static void give_list(struct call *c, const struct object *o, struct reading *r, bool shut)
{
	char *list = malloc(XATTR_LIST_MAX + 1);
	ssize_t n = list ? take_list(o, r, list, shut) : -ENOMEM;

	/* A list that lacks nothing is no refusal. One that does tells the trail, not the user: the program got its answer. */
	if (shut) {
		c->recorded = c->event.denied = r->dropped;
		c->event.err = 0;
		c->event.message = NULL;
	}
	give(c, r, list, n);
	free(list);
}

static int resolve_read(struct call *c, int dirfd, int path, int how, struct object *o)
{
	int rc = resolve_object_at(c, 0, dirfd, c->arg[path], how, o);

	hide_silently(c);
	return rc;
}

static void do_get(struct call *c, int dirfd, int path, int how, struct reading *r)
{
	struct object o;
	int rc = resolve_read(c, dirfd, path, how, &o);

	if (rc < 0) {
		path_copy_failed(c, rc);
		return;
	}
	rc = is_public(r->at.name) ? judge_place(c, &o) : judge_object(c, ACCESS_READ, &o, O_RDONLY);
	if (rc)
		judge_answer(c, rc);
	else
		give_value(c, &o, r);
	object_close(&o);
}

static void do_list(struct call *c, int dirfd, int path, int how, struct reading *r)
{
	struct object o;
	bool shut;
	int rc = resolve_read(c, dirfd, path, how, &o);

	if (rc < 0) {
		path_copy_failed(c, rc);
		return;
	}
	rc = judge_object(c, ACCESS_READ, &o, O_RDONLY);
	shut = rc > 0 && c->event.rule && c->event.rule->kind == RULE_DENY_READ;
	if (rc && !shut)
		judge_answer(c, rc);
	else
		give_list(c, &o, r, shut);
	object_close(&o);
}

static void get_by_path(struct call *c, int how)
{
	struct reading r = {.to = c->arg[2], .at.size = c->arg[3]};
	int rc = copy_name(c, c->arg[1], &r.at);

	if (rc < 0)
		path_copy_failed(c, rc);
	else
		do_get(c, AT_FDCWD, 0, how, &r);
}

static void handle_getxattr(struct call *c)
{
	get_by_path(c, 0);
}

static void handle_lgetxattr(struct call *c)
{
	get_by_path(c, RESOLVE_NOFOLLOW);
}

static void handle_listxattr(struct call *c)
{
	struct reading r = {.to = c->arg[1], .at.size = c->arg[2]};

	do_list(c, AT_FDCWD, 0, 0, &r);
}

static void handle_llistxattr(struct call *c)
{
	struct reading r = {.to = c->arg[1], .at.size = c->arg[2]};

	do_list(c, AT_FDCWD, 0, RESOLVE_NOFOLLOW, &r);
}

static void handle_getxattrat(struct call *c)
{
	struct xattr_args_v1 a;
	struct reading r = {.to = 0};
	int how = at_flags(call_int(c, 2)), rc;

	rc = tracee_read_struct(c, c->arg[4], c->arg[5], &a, sizeof(a));
	if (rc == 0 && (a.flags || how < 0))
		rc = -EINVAL;
	if (rc == 0)
		rc = copy_name(c, c->arg[3], &r.at);
	if (rc < 0) {
		path_copy_failed(c, rc);
		return;
	}
	r.to = a.value;
	r.at.size = a.size;
	do_get(c, call_int(c, 0), 1, how, &r);
}

static void handle_listxattrat(struct call *c)
{
	struct reading r = {.to = c->arg[3], .at.size = c->arg[4]};
	int how = at_flags(call_int(c, 2));

	if (how < 0)
		call_error(c, EINVAL);
	else
		do_list(c, call_int(c, 0), 1, how, &r);
}

/* file_setattr (6.17): a versioned struct that the kernel checks itself; we need only its bytes. */
struct file_attr_copy {
	unsigned char bytes[4096];
	size_t size;
};
#define FILE_ATTR_LEAST 24 /* of the first version */

/* The kernel looks at the struct before it looks for the file: where there is none it does only that. */
static int check_file_attr(const struct file_attr_copy *a)
{
	if (syscall(SYS_file_setattr, -1, "x", a->bytes, a->size, 0) == 0 || errno == EBADF)
		return 0;
	return -errno;
}

/* It knows no O_PATH descriptor. */
static int act_file_setattr(struct call *c, const struct object *o, void *arg)
{
	struct file_attr_copy *a = arg;
	char proc[PATH_PROC_SIZE];

	(void)c;
	return syscall(SYS_file_setattr, AT_FDCWD, path_proc(o->fd, proc), a->bytes, a->size, 0) < 0 ? -errno
												     : 0;
}

static void handle_file_setattr(struct call *c)
{
	struct file_attr_copy a = {.size = c->arg[3]};
	int how = at_flags(call_int(c, 4)), rc;

	if (how < 0 || a.size < FILE_ATTR_LEAST || a.size > sizeof(a.bytes)) {
		call_error(c, how < 0 || a.size < FILE_ATTR_LEAST ? EINVAL : E2BIG);
		return;
	}
	rc = tracee_read(c, c->arg[2], a.bytes, a.size);
	if (rc == 0)
		rc = check_file_attr(&a);
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

#define DOC_READ                                                                                             \
	"The object is pinned and judged as a file that is read, and the supervisor writes the answer into " \
	"the caller's memory. ACLs, labels and file capabilities are free, as the mode is."
#define ROW_READ(call)                                                                                       \
	const struct sysc sysc_##call = {                                                                    \
		.name = #call,                                                                               \
		.op = "read",                                                                                \
		.action = SYSC_NOTIFY,                                                                       \
		.needs = FEATURE_READS,                                                                      \
		.handle = handle_##call,                                                                     \
		.doc = DOC_READ,                                                                             \
	}

ROW_READ(getxattr);
ROW_READ(lgetxattr);
ROW_READ(getxattrat);
ROW_READ(listxattr);
ROW_READ(llistxattr);
ROW_READ(listxattrat);
