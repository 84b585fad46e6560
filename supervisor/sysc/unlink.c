/*
 * unlink, unlinkat, rmdir.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/change.h"
#include "supervisor/idset.h"
#include "supervisor/listing.h"
#include "supervisor/lockdown.h"
#include "supervisor/path.h"
#include "supervisor/tracee.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(openat), OWN(close), OWN_READDIR, OWN(unlinkat));

/* A name is gone; with the last one the inode may become anything. */
static void forget(struct call *c, const struct entry *e)
{
	idset_change(c->s->own_links, &e->st, 0, -1);
	if (S_ISDIR(e->st.stx_mode) || e->st.stx_nlink <= 1)
		idset_remove(c->s->created, &e->st);
}

static bool is_filled(const struct entry *e)
{
	DIR *d = listing_open(openat(e->dir.fd, e->leaf, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	int n = 0;

	while (d && n < 3 && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n == 3;
}

/* What the kernel has against it in any case. 0: nothing. */
static int native_errno(const struct entry *e, int flags)
{
	bool directory = e->exists && S_ISDIR(e->st.stx_mode);

	if (!(flags & AT_REMOVEDIR))
		return directory ? EISDIR : e->leaf[e->leaf_len] ? ENOTDIR : 0;
	return !directory ? ENOTDIR : is_filled(e) ? ENOTEMPTY : 0;
}

/* git tries to remove each directory above what it removed, up to the top. Where its contents keep a directory anyway, the
 * kernel's answer is the right one, and the policy no news. */
static int refused_anyway(struct call *c, const struct entry *e, int flags, int err)
{
	int native = err == EPERM ? native_errno(e, flags) : 0;

	if (native == 0)
		return err;
	c->event.err = native;
	c->event.message = NULL;
	return native;
}

/* Of the wrong type or not: the kernel knows what to say first. */
static int check(const struct entry *e, int arg)
{
	(void)arg;
	return e->exists ? 0 : path_change_errno(e->dir.fd, e->err);
}

static int remove_entry(const struct call *c, const struct entry *e, int flags)
{
	int rc = unlinkat(e->dir.fd, e->leaf, flags) < 0 ? -errno : 0, native;

	if (rc != -EACCES || !change_is_held(c, e))
		return rc;
	native = native_errno(e, flags);
	return native ? -native : -EPERM;
}

static void do_unlink(struct call *c, int dirfd, int path, int flags)
{
	struct entry_verdict ev;
	struct entry e;
	int rc;

	if (flags & ~AT_REMOVEDIR) {
		call_error(c, EINVAL);
		return;
	}
	rc = resolve_entry_at(c, 0, dirfd, c->arg[path], &e);
	if (rc < 0) {
		path_copy_failed(c, rc);
		return;
	}
	if (e.special) { /* never removes anything; the kernel has an errno for each */
		call_result(c, unlinkat(e.dir.fd, e.leaf, flags) < 0 ? -errno : -EPERM);
		entry_close(&e);
		return;
	}
	rc = change_judge(c, ACCESS_DELETE, &e, &ev, false, check, 0);
	if (rc == 0) {
		rc = remove_entry(c, &e, flags);
		if (rc == 0)
			forget(c, &e);
		change_unlock(c);
		call_result(c, rc);
	} else {
		judge_answer(c, refused_anyway(c, &e, flags, rc));
	}
	entry_close(&e);
}

static void handle_unlinkat(struct call *c)
{
	do_unlink(c, call_int(c, 0), 1, call_int(c, 2));
}

#define DOC_UNLINK "The entry is removed by the supervisor from its pinned directory."

const struct sysc sysc_unlinkat = {
	.name = "unlinkat",
	.op = "delete",
	.action = SYSC_NOTIFY,
	.handle = handle_unlinkat,
	.doc = DOC_UNLINK,
};

#ifdef SYS_unlink
static void handle_unlink(struct call *c)
{
	do_unlink(c, AT_FDCWD, 0, 0);
}

static void handle_rmdir(struct call *c)
{
	do_unlink(c, AT_FDCWD, 0, AT_REMOVEDIR);
}

const struct sysc sysc_unlink = {
	.name = "unlink",
	.op = "delete",
	.action = SYSC_NOTIFY,
	.handle = handle_unlink,
	.doc = DOC_UNLINK,
};
const struct sysc sysc_rmdir = {
	.name = "rmdir",
	.op = "delete",
	.action = SYSC_NOTIFY,
	.handle = handle_rmdir,
	.doc = DOC_UNLINK,
};
#endif
