/*
 * mkdir, mknod, symlink: a new entry.
 */
#include <errno.h>
#include <stdio.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "supervisor/change.h"
#include "supervisor/lockdown.h"
#include "supervisor/mounts.h"
#include "supervisor/path.h"
#include "supervisor/refusal.h"
#include "supervisor/tracee.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(mkdirat), OWN(symlinkat), OWN_FACCESSAT, OWN_IF(mknodat, ARG_NONE(2, S_IFMT)),
	  OWN_IF(mknodat, ARG_BITS(2, S_IFMT, S_IFREG)), OWN_IF(mknodat, ARG_BITS(2, S_IFMT, S_IFIFO)),
	  OWN_IF(mknodat, ARG_BITS(2, S_IFMT, S_IFSOCK)),
	  OWN_IF(mknodat, ARG_BITS(2, S_IFMT, S_IFCHR), ARG_IS(3, 0)));

struct make {
	mode_t mode;
	dev_t dev;
	const char *target;
};

static int act_mkdir(struct call *c, struct entry *e, void *arg)
{
	const struct make *m = arg;

	return mkdirat(e->dir.fd, e->leaf, path_mode(c, e->dir.fd, m->mode)) < 0 ? -errno : 0;
}

static void do_mkdir(struct call *c, int dirfd, int path, uint64_t mode)
{
	/* The kernel takes permission bits and the sticky bit. */
	struct make m = {.mode = (mode_t)mode & 01777};

	change_make(c, dirfd, path, S_IFDIR, act_mkdir, &m);
}

static int act_mknod(struct call *c, struct entry *e, void *arg)
{
	const struct make *m = arg;
	mode_t mode = (m->mode & S_IFMT) | path_mode(c, e->dir.fd, m->mode & 07777);

	return mknodat(e->dir.fd, e->leaf, mode, m->dev) < 0 ? -errno : 0;
}

/* Refused, but as the kernel does it: after all that is wrong with the path. */
static int refuse_device(struct call *c, struct entry *e, void *arg)
{
	(void)arg;
	if (e->err != ENOENT)
		return -e->err;
	if (e->leaf[e->leaf_len] == '/' ||
	    mounts_is_proc(c->s->mounts, makedev(e->dir.st.stx_dev_major, e->dir.st.stx_dev_minor)))
		return -ENOENT; /* in /proc a new name is not even looked up */
	if (faccessat(e->dir.fd, "", W_OK | X_OK, AT_EMPTY_PATH | AT_EACCESS) < 0)
		return -errno;
	snprintf(c->message, sizeof(c->message), "making a device was refused: %.600s", e->name);
	refusal_firm(c, "create", "devices (built-in)", EPERM, c->message);
	return -EPERM;
}

static void do_mknod(struct call *c, int dirfd, int path, uint64_t mode, uint64_t dev)
{
	struct make m = {.mode = (mode_t)mode, .dev = (dev_t)(uint32_t)dev};

	switch (m.mode & S_IFMT) {
	case 0:
	case S_IFREG:
	case S_IFIFO:
	case S_IFSOCK:
		break;
	case S_IFCHR:
		if (m.dev == 0) /* an overlay's whiteout */
			break;
		__attribute__((fallthrough));
	case S_IFBLK:
		change_make(c, dirfd, path, 0, refuse_device, NULL);
		return;
	default:
		call_error(c, (m.mode & S_IFMT) == S_IFDIR ? EPERM : EINVAL);
		return;
	}
	change_make(c, dirfd, path, 0, act_mknod, &m);
}

static int act_symlink(struct call *c, struct entry *e, void *arg)
{
	const struct make *m = arg;

	(void)c;
	return symlinkat(m->target, e->dir.fd, e->leaf) < 0 ? -errno : 0;
}

static void do_symlink(struct call *c, int target, int dirfd, int path)
{
	struct make m = {.target = c->path[1]};
	int rc = tracee_path(c, c->arg[target], c->path[1]);

	if (rc <= 0) {
		path_copy_failed(c, rc == 0 ? -ENOENT : rc);
		return;
	}
	c->event.target = (struct bytes){c->path[1], (size_t)rc};
	change_make(c, dirfd, path, S_IFLNK, act_symlink, &m);
}

static void handle_mkdirat(struct call *c)
{
	do_mkdir(c, call_int(c, 0), 1, c->arg[2]);
}

static void handle_mknodat(struct call *c)
{
	do_mknod(c, call_int(c, 0), 1, c->arg[2], c->arg[3]);
}

static void handle_symlinkat(struct call *c)
{
	do_symlink(c, 0, call_int(c, 1), 2);
}

#define DOC_MAKE "The entry is made by the supervisor in its pinned directory, with the caller's umask."

const struct sysc sysc_mkdirat = {
	.name = "mkdirat",
	.op = "create",
	.action = SYSC_NOTIFY,
	.handle = handle_mkdirat,
	.doc = DOC_MAKE,
};
const struct sysc sysc_mknodat = {
	.name = "mknodat",
	.op = "create",
	.action = SYSC_NOTIFY,
	.handle = handle_mknodat,
	.doc = DOC_MAKE " Files, FIFOs and sockets only.",
};
const struct sysc sysc_symlinkat = {
	.name = "symlinkat",
	.op = "create",
	.action = SYSC_NOTIFY,
	.handle = handle_symlinkat,
	.doc = DOC_MAKE,
};

#ifdef SYS_mkdir
static void handle_mkdir(struct call *c)
{
	do_mkdir(c, AT_FDCWD, 0, c->arg[1]);
}

static void handle_mknod(struct call *c)
{
	do_mknod(c, AT_FDCWD, 0, c->arg[1], c->arg[2]);
}

static void handle_symlink(struct call *c)
{
	do_symlink(c, 0, AT_FDCWD, 1);
}

const struct sysc sysc_mkdir = {
	.name = "mkdir",
	.op = "create",
	.action = SYSC_NOTIFY,
	.handle = handle_mkdir,
	.doc = DOC_MAKE,
};
const struct sysc sysc_mknod = {
	.name = "mknod",
	.op = "create",
	.action = SYSC_NOTIFY,
	.handle = handle_mknod,
	.doc = DOC_MAKE " Files, FIFOs and sockets only.",
};
const struct sysc sysc_symlink = {
	.name = "symlink",
	.op = "create",
	.action = SYSC_NOTIFY,
	.handle = handle_symlink,
	.doc = DOC_MAKE,
};
#endif
