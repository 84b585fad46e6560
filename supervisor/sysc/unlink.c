/*
 * unlink, unlinkat, rmdir.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/change.h"
#include "supervisor/idset.h"
#include "supervisor/path.h"

/* The last name is gone: the inode may become anything now. */
static void forget(struct call *c, const struct entry *e)
{
	if (!S_ISDIR(e->st.stx_mode) && e->st.stx_nlink > 1)
		return;
	idset_remove(c->s->created, &e->st);
	idset_remove(c->s->own_links, &e->st);
}

static void unlink_judged(struct call *c, struct entry *e, int flags)
{
	struct entry_verdict ev;
	int rc = judge_entry(c, ACCESS_DELETE, e, &ev);

	if (rc) {
		judge_answer(c, rc);
		return;
	}
	rc = change_lock(c, e, &ev);
	if (rc == 0) {
		rc = unlinkat(e->dir.fd, e->leaf, flags) < 0 ? -errno : 0;
		if (rc == 0)
			forget(c, e);
		pthread_rwlock_unlock(&c->s->names);
	}
	call_result(c, rc);
}

static void do_unlink(struct call *c, int dirfd, int path, int flags)
{
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
	if (e.special) /* never removes anything; the kernel has an errno for each */
		call_result(c, unlinkat(e.dir.fd, e.leaf, flags) < 0 ? -errno : -EPERM);
	else if (!e.exists)
		call_error(c, e.err);
	else if (!(flags & AT_REMOVEDIR) && S_ISDIR(e.st.stx_mode))
		call_error(c, EISDIR);
	else if ((flags & AT_REMOVEDIR || e.leaf[e.leaf_len]) && !S_ISDIR(e.st.stx_mode))
		call_error(c, ENOTDIR);
	else
		unlink_judged(c, &e, flags);
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
