/*
 * link, linkat: another name for an existing file. The file must be one that may be read and written, since whoever has
 * the new name can do to it what the rules of the new name say.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/change.h"
#include "supervisor/idset.h"
#include "supervisor/lockdown.h"
#include "supervisor/path.h"
#include "supervisor/settle.h"
#include "supervisor/tracee.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(linkat), OWN(statx));

static bool same_time(const struct statx_timestamp *a, const struct statx_timestamp *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/*
 * On an overlay a file that was copied up shows other numbers under its new name. Then that name's count as well. What
 * somebody put there meanwhile was not born, and changed, at the same nanoseconds.
 */
static void note_copied_up(struct idset *names, const struct object *from, const struct entry *to)
{
	const unsigned mask = IDSET_STATX | STATX_CTIME | STATX_NLINK;
	struct statx a, b;

	if (statx(from->fd, "", AT_EMPTY_PATH, mask, &a) < 0 ||
	    statx(to->dir.fd, to->leaf, AT_SYMLINK_NOFOLLOW, mask, &b) < 0)
		return;
	if (object_is_same(&a, &b))
		return;
	if (!(a.stx_mask & b.stx_mask & STATX_BTIME) || !same_time(&a.stx_btime, &b.stx_btime) ||
	    !same_time(&a.stx_ctime, &b.stx_ctime) || a.stx_nlink != b.stx_nlink)
		return;
	idset_change(names, &b, from->st.stx_nlink, 1);
}

/* A directory, or a file of another mount: the kernel never links them, and knows which of its reasons comes first. */
static int link_never(const struct object *from, struct entry *to)
{
	char proc[PATH_PROC_SIZE];

	return linkat(AT_FDCWD, path_proc(from->fd, proc), to->dir.fd, to->leaf, AT_SYMLINK_FOLLOW) < 0
		       ? -errno
		       : -EPERM;
}

static int act_link(struct call *c, const struct object *from, struct entry *to)
{
	char proc[PATH_PROC_SIZE];
	struct idset *names = c->s->own_links;
	/* A file with one name (or, unnamed yet, none): every further name is the session's. Counted before, so that a
	 * link made at the same time does not look like a stranger's. */
	bool own = S_ISREG(from->st.stx_mode) && (from->st.stx_nlink <= 1 || idset_count(names, &from->st));
	int rc = 0;

	if (own)
		idset_change(names, &from->st, from->st.stx_nlink, 1);
	if (linkat(AT_FDCWD, path_proc(from->fd, proc), to->dir.fd, to->leaf, AT_SYMLINK_FOLLOW) < 0)
		rc = -errno;
	if (rc == 0 && own)
		note_copied_up(names, from, to);
	if (rc < 0 && own)
		idset_change(names, &from->st, 0, -1);
	return rc;
}

/* Judged, and with the names locked. */
static int make_link(struct call *c, const struct object *from, struct entry *to, struct entry_verdict *ev)
{
	int rc = -act_link(c, from, to);

	if (rc == 0)
		rc = settle_made(c, ACCESS_CREATE, to, ev);
	if (rc == 0)
		judge_note_created(c, to, ev);
	return rc;
}

static void link_judged(struct call *c, struct object *from, struct entry *to)
{
	const struct bytes object = {from->name, from->len};
	struct entry_verdict ev;
	bool old;
	int rc;

	c->event.path = (struct bytes){NULL, 0};
	rc = judge_object(c, ACCESS_LINK_FROM, from, O_RDWR);
	old = c->event.denied;
	if (rc == 0) {
		to->becomes = from->st.stx_mode & S_IFMT;
		rc = change_judge(c, ACCESS_CREATE, to, &ev, false, change_check_absent, 0);
		if (rc == 0) {
			rc = make_link(c, from, to, &ev);
			change_unlock(c);
		}
	}
	/* The directory may have got another name meanwhile. */
	change_name_both(c, &object, &(struct bytes){to->name, to->len}, !old && c->event.denied);
	if (rc)
		judge_answer(c, rc);
	else
		call_return(c, 0);
}

static void do_link(struct call *c, int fromdir, int from, int todir, int to, int flags)
{
	int how = (flags & AT_SYMLINK_FOLLOW ? 0 : RESOLVE_NOFOLLOW) |
		  (flags & AT_EMPTY_PATH ? RESOLVE_EMPTY : 0);
	struct object o;
	struct entry e;
	int rc;

	if (flags & ~(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH)) {
		call_error(c, EINVAL);
		return;
	}
	rc = resolve_object_at(c, 0, fromdir, c->arg[from], how, &o);
	if (rc < 0) {
		path_copy_failed(c, rc);
		return;
	}
	rc = resolve_entry_at(c, 1, todir, c->arg[to], &e);
	if (rc < 0)
		path_copy_failed(c, rc);
	else if (e.special || e.exists)
		call_error(c, EEXIST);
	else if (e.err != ENOENT || e.leaf[e.leaf_len] == '/')
		call_error(c, e.err);
	else if (S_ISDIR(o.st.stx_mode) || o.st.stx_mnt_id != e.dir.st.stx_mnt_id)
		call_result(c, link_never(&o, &e));
	else
		link_judged(c, &o, &e);
	entry_close(&e);
	object_close(&o);
}

static void handle_linkat(struct call *c)
{
	do_link(c, call_int(c, 0), 1, call_int(c, 2), 3, call_int(c, 4));
}

#define DOC_LINK "The file is pinned, both names are judged, and the supervisor links the pin."

const struct sysc sysc_linkat = {
	.name = "linkat",
	.op = "link",
	.action = SYSC_NOTIFY,
	.handle = handle_linkat,
	.doc = DOC_LINK,
};

#ifdef SYS_link
static void handle_link(struct call *c)
{
	do_link(c, AT_FDCWD, 0, AT_FDCWD, 1, 0);
}

const struct sysc sysc_link = {
	.name = "link",
	.op = "link",
	.action = SYSC_NOTIFY,
	.handle = handle_link,
	.doc = DOC_LINK,
};
#endif
