/*
 * rename, renameat, renameat2.
 *
 * Both names are judged. A directory takes its contents along, and rules hold by name: so the rules that can still match
 * beneath the old and the new name must be the same. Where they are not, everything beneath is looked at, with all
 * other changes of names held up meanwhile, and the rename is refused if any verdict would change.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "supervisor/change.h"
#include "supervisor/compat.h"
#include "supervisor/idset.h"
#include "supervisor/lockdown.h"
#include "supervisor/path.h"
#include "supervisor/settle.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(openat), OWN(close), OWN_READDIR, OWN(newfstatat), OWN_RENAMEAT2);

/* More than this is not looked at: EXDEV makes programs copy instead, each file judged by itself. The depth is
 * bounded by a worker's stack and descriptors. */
#define SCAN_MAX   200000
#define SCAN_DEPTH 100

/* Two names of one directory, growing and shrinking together while its contents are walked. */
struct scan {
	struct call *c;
	char *name[2];
	size_t len[2], size;
	int left, depth;
	bool done; /* it has the second name already */
};

static enum decision decision_of(const struct scan *s, int i, enum access a, enum objtype type)
{
	struct request q = {.access = a, .type = type, .path = s->name[i], .len = s->len[i]};
	enum decision d = policy_decide(s->c->s->policy, &q).decision;

	/* What lies beneath a directory that the session may move is its own. */
	return d == VERDICT_ALLOW_IF_OWN ? VERDICT_ALLOW : d;
}

/* How much a verdict grants: what is beneath a .git depends on whose that is. */
static int grant_of(enum decision d)
{
	return d == VERDICT_DENY ? 0 : d == VERDICT_ALLOW_IF_OWN_GIT ? 1 : 2;
}

/*
 * Before the rename all must be the same: nothing may come out of its rule, or into one. Afterwards what others made there since is
 * rightly there, as it was judged by the new name; wrong is only what that refuses and the old one did not.
 */
static bool may_go(const struct scan *s, enum decision from, enum decision to)
{
	return s->done ? grant_of(to) >= grant_of(from) : to == from;
}

static bool same_verdicts(const struct scan *s, enum objtype type)
{
	static const enum access all[] = {ACCESS_READ,	 ACCESS_WRITE,	  ACCESS_CREATE, ACCESS_DELETE,
					  ACCESS_RENAME, ACCESS_METADATA, ACCESS_EXEC,	 ACCESS_CONNECT_UNIX};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!may_go(s, decision_of(s, 0, all[i], type), decision_of(s, 1, all[i], type)))
			return false;
	return true;
}

static bool push(struct scan *s, const char *leaf)
{
	size_t n = strlen(leaf);

	for (int i = 0; i < 2; i++) {
		if (s->len[i] + n + 2 > s->size)
			return false;
		s->name[i][s->len[i]++] = '/';
		memcpy(s->name[i] + s->len[i], leaf, n + 1);
		s->len[i] += n;
	}
	return true;
}

static void pop(struct scan *s, const char *leaf)
{
	for (int i = 0; i < 2; i++) {
		s->len[i] -= strlen(leaf) + 1;
		s->name[i][s->len[i]] = '\0';
	}
}

static int scan_dir(struct scan *s, int dir);

static int scan_entry(struct scan *s, int dir, const char *leaf)
{
	struct stat st;
	int rc = 0, fd;

	if (--s->left < 0)
		return -EXDEV;
	if (fstatat(dir, leaf, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (!push(s, leaf))
		return -EXDEV;
	if (!same_verdicts(s, S_ISDIR(st.st_mode) ? OBJ_DIR : OBJ_OTHER)) {
		rc = -EPERM;
	} else if (S_ISDIR(st.st_mode) &&
		   !policy_same_beneath(s->c->s->policy, s->name[0], s->len[0], s->name[1], s->len[1])) {
		fd = openat(dir, leaf, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		rc = fd < 0 ? -EXDEV : scan_dir(s, fd);
	}
	if (rc == 0)
		pop(s, leaf);
	return rc;
}

/* Takes over dir. */
static int scan_dir(struct scan *s, int dir)
{
	DIR *d = s->depth < SCAN_DEPTH ? fdopendir(dir) : NULL;
	struct dirent *e;
	int rc = 0;

	if (!d) {
		close(dir);
		return -EXDEV;
	}
	s->depth++;
	while (rc == 0 && (e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			rc = scan_entry(s, dirfd(d), e->d_name);
	s->depth--;
	closedir(d);
	return rc;
}

/* May what lies beneath from go, or have gone, to the name of to? at: where it is now. 0, or -errno with s->name[0] at the entry
 * that may not. */
static int scan(struct scan *s, const struct entry *at, const struct entry *from, const struct entry *to)
{
	int fd;

	if (from->len >= s->size || to->len >= s->size)
		return -EXDEV;
	memcpy(s->name[0], from->name, from->len + 1);
	memcpy(s->name[1], to->name, to->len + 1);
	s->len[0] = from->len;
	s->len[1] = to->len;
	fd = openat(at->dir.fd, at->leaf, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOTDIR || errno == ELOOP || errno == ENOENT ? 0 : -EXDEV;
	return scan_dir(s, fd);
}

struct renaming {
	struct entry from, to;
	unsigned flags;
	struct entry_verdict from_ev, to_ev;
};

static mode_t type_at(const struct entry *e)
{
	return e->exists ? e->st.stx_mode & S_IFMT : 0;
}

/* Whatever the entry is now: it may be a directory by the time that the names are locked. */
static bool changes_rules(const struct call *c, const struct entry *from, const struct entry *to)
{
	return !policy_same_beneath(c->s->policy, from->name, from->len, to->name, to->len);
}

static int refuse_tree(struct call *c, const struct scan *s)
{
	snprintf(c->message, sizeof(c->message),
		 "renaming a directory was refused: other rules would hold for what is in it (%.300s)",
		 s->name[0]);
	return judge_refuse(c, "rename", "rename of a directory (built-in)", EPERM, c->message);
}

/* With session->names held for writing, before or after the act. 0, or an errno to answer (the refusal recorded). */
static int judge_trees(struct call *c, struct renaming *r, bool done)
{
	const struct entry *from = done ? &r->to : &r->from, *to = done ? &r->from : &r->to;
	char a[2 * PATH_MAX], b[2 * PATH_MAX];
	struct scan s = {.c = c, .name = {a, b}, .size = sizeof(a), .left = SCAN_MAX, .done = done};
	int rc = 0;

	if (changes_rules(c, &r->from, &r->to))
		rc = scan(&s, from, &r->from, &r->to);
	if (rc == 0 && (r->flags & RENAME_EXCHANGE) && changes_rules(c, &r->to, &r->from))
		rc = scan(&s, to, &r->to, &r->from);
	if (rc == -EPERM)
		return refuse_tree(c, &s);
	return -rc;
}

/* Whether rules or the session's own objects are at stake: then no other change may come between. */
static bool needs_exclusive(struct call *c, struct renaming *r)
{
	return r->from_ev.in_own_area || r->to_ev.in_own_area || changes_rules(c, &r->from, &r->to) ||
	       ((r->flags & RENAME_EXCHANGE) && changes_rules(c, &r->to, &r->from));
}

/* The kernel's own reasons against it. */
static int kind_errno(const struct renaming *r)
{
	if (!r->from.exists)
		return r->from.err;
	if ((r->flags & RENAME_NOREPLACE) && r->to.exists)
		return EEXIST;
	if ((r->flags & RENAME_EXCHANGE) && !r->to.exists)
		return r->to.err;
	return 0;
}

static int check(const struct renaming *r)
{
	int err = kind_errno(r);

	return err ? path_change_errno(r->to.dir.fd, err) : 0;
}

static int judge_names(struct call *c, struct renaming *r)
{
	const struct bytes from = {r->from.name, r->from.len}, to = {r->to.name, r->to.len};
	bool old;
	int rc;

	/* What was said of them before they were locked is void. */
	c->event.denied = false;
	c->event.path = (struct bytes){NULL, 0};
	rc = judge_entry(c, ACCESS_RENAME, &r->from, &r->from_ev);
	change_name_both(c, &from, &to, false);
	if (rc)
		return rc;
	old = c->event.denied;
	r->to.becomes = type_at(&r->from);
	rc = judge_entry(c, ACCESS_CREATE, &r->to, &r->to_ev);
	if (rc == 0 && r->to.exists)
		rc = judge_entry(c, ACCESS_RENAME, &r->to, &r->to_ev);
	change_name_both(c, &from, &to, !old && c->event.denied);
	if (rc == 0 && (r->flags & RENAME_EXCHANGE)) {
		r->from.becomes = type_at(&r->to);
		rc = judge_entry(c, ACCESS_CREATE, &r->from, &r->from_ev);
		c->event.op = "rename";
	}
	return rc;
}

static void note(struct call *c, struct renaming *r)
{
	/* A replaced object lost a name, and is gone with its last. */
	if (r->to.exists && !(r->flags & RENAME_EXCHANGE) && r->to.st.stx_ino != r->from.st.stx_ino) {
		idset_change(c->s->own_links, &r->to.st, 0, -1);
		if (S_ISDIR(r->to.st.stx_mode) || r->to.st.stx_nlink == 1)
			idset_remove(c->s->created, &r->to.st);
	}
	judge_note_created(c, &r->to, &r->to_ev);
	if (r->flags & RENAME_EXCHANGE)
		judge_note_created(c, &r->from, &r->from_ev);
}

/* Looks at both names again, now that they are locked, and judges what is there. */
static int judge_locked(struct call *c, struct renaming *r)
{
	int rc = -entry_reread(c, &r->from);

	if (rc == 0)
		rc = -entry_reread(c, &r->to);
	if (rc == 0)
		rc = check(r);
	return rc ? rc : judge_names(c, r);
}

static int act(const struct renaming *r)
{
	/* What others put there meanwhile is theirs. */
	bool keep = r->to_ev.in_own_area && !r->to.exists && !r->flags;

	if (keep && renameat2(r->from.dir.fd, r->from.leaf, r->to.dir.fd, r->to.leaf, RENAME_NOREPLACE) == 0)
		return 0;
	if (keep && errno != EINVAL) /* a file system that cannot */
		return errno;
	if (renameat2(r->from.dir.fd, r->from.leaf, r->to.dir.fd, r->to.leaf, r->flags) < 0)
		return errno;
	return 0;
}

static int refuse_moved(struct call *c)
{
	return judge_refuse(
		c, "rename", "rename of a directory (built-in)", EPERM,
		"renaming a directory was refused: another session renamed one above it meanwhile");
}

/* Of one name that something got, after the act. What went along with it is not looked at: that is rare enough to be refused. */
static int judge_moved(struct call *c, struct entry *e, struct entry_verdict *ev)
{
	char *before;
	int rc;

	if (!settle_has_moved(c, &e->dir))
		return 0;
	before = strdup(e->name);
	if (!before)
		return ENOMEM;
	rc = settle_judge(c, ACCESS_CREATE, e, ev);
	if (rc == 0 && S_ISDIR(e->becomes) && strcmp(before, e->name) != 0 &&
	    !policy_same_beneath(c->s->policy, before, strlen(before), e->name, e->len))
		rc = refuse_moved(c);
	free(before);
	return rc;
}

/* After the act: see settle.h. */
static int judge_again(struct call *c, struct renaming *r, bool trees)
{
	bool exchange = r->flags & RENAME_EXCHANGE;
	int rc = judge_moved(c, &r->to, &r->to_ev);

	if (rc == 0 && exchange)
		rc = judge_moved(c, &r->from, &r->from_ev);
	if (rc == 0 && trees)
		rc = judge_trees(c, r, true);
	if (rc == 0)
		return 0;
	change_name_both(c, &(struct bytes){r->from.name, r->from.len},
			 &(struct bytes){r->to.name, r->to.len}, true);
	settle_set_aside(c, &r->to, &r->from.dir);
	if (exchange)
		settle_set_aside(c, &r->from, &r->to.dir);
	return rc;
}

static int perform(struct call *c, struct renaming *r, bool trees)
{
	int rc = act(r);

	if (rc == EACCES && change_is_held(c, &r->from))
		return EPERM;
	if (rc == 0)
		rc = judge_again(c, r, trees);
	if (rc == 0)
		note(c, r);
	return rc;
}

static void rename_judged(struct call *c, struct renaming *r)
{
	bool trees = false;
	int rc = change_lock(c, false);

	if (rc == 0) {
		rc = judge_locked(c, r);
		if (rc == 0 && needs_exclusive(c, r)) {
			change_unlock(c);
			rc = change_lock(c, true);
			if (rc) {
				call_error(c, rc);
				return;
			}
			rc = judge_locked(c, r);
			if (rc == 0)
				rc = judge_trees(c, r, false);
			trees = true;
		}
		if (rc == 0)
			rc = perform(c, r, trees);
		change_unlock(c);
	}
	if (rc)
		judge_answer(c, rc);
	else
		call_return(c, 0);
}

static void do_rename(struct call *c, int fromdir, int from, int todir, int to, unsigned flags)
{
	struct renaming r = {.flags = flags};
	int rc;

	if (flags & ~(RENAME_NOREPLACE | RENAME_EXCHANGE | RENAME_WHITEOUT) ||
	    ((flags & RENAME_EXCHANGE) && (flags & (RENAME_NOREPLACE | RENAME_WHITEOUT)))) {
		call_error(c, EINVAL);
		return;
	}
	rc = resolve_entry_at(c, 0, fromdir, c->arg[from], &r.from);
	if (rc < 0) {
		path_copy_failed(c, rc);
		return;
	}
	rc = resolve_entry_at(c, 1, todir, c->arg[to], &r.to);
	if (rc < 0)
		path_copy_failed(c, rc);
	else if (r.from.dir.st.stx_mnt_id != r.to.dir.st.stx_mnt_id)
		call_error(c, EXDEV);
	else if (r.from.special || r.to.special) /* EBUSY and its kin, never a success */
		call_error(c, flags & RENAME_NOREPLACE && !r.from.special ? EEXIST : EBUSY);
	else
		rename_judged(c, &r);
	entry_close(&r.from);
	entry_close(&r.to);
}

static void handle_renameat(struct call *c)
{
	do_rename(c, call_int(c, 0), 1, call_int(c, 2), 3, 0);
}

static void handle_renameat2(struct call *c)
{
	do_rename(c, call_int(c, 0), 1, call_int(c, 2), 3, (unsigned)call_int(c, 4));
}

#define DOC_RENAME                                                                                           \
	"Both names are judged, for a directory also what it takes along; the supervisor renames between "   \
	"the pinned directories."

#ifdef SYS_renameat
const struct sysc sysc_renameat = {
	.name = "renameat",
	.op = "rename",
	.action = SYSC_NOTIFY,
	.handle = handle_renameat,
	.doc = DOC_RENAME,
};
#endif
const struct sysc sysc_renameat2 = {
	.name = "renameat2",
	.op = "rename",
	.action = SYSC_NOTIFY,
	.handle = handle_renameat2,
	.doc = DOC_RENAME,
};

#ifdef SYS_rename
static void handle_rename(struct call *c)
{
	do_rename(c, AT_FDCWD, 0, AT_FDCWD, 1, 0);
}

const struct sysc sysc_rename = {
	.name = "rename",
	.op = "rename",
	.action = SYSC_NOTIFY,
	.handle = handle_rename,
	.doc = DOC_RENAME,
};
#endif
