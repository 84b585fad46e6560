#include "supervisor/judge.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "supervisor/compat.h"
#include "supervisor/device.h"
#include "supervisor/idset.h"
#include "supervisor/literals.h"
#include "supervisor/lockdown.h"
#include "supervisor/member.h"
#include "supervisor/mounts.h"
#include "supervisor/nameless.h"
#include "supervisor/mqueue.h"
#include "supervisor/procname.h"
#include "supervisor/quiet.h"
#include "supervisor/refusal.h"
#include "supervisor/tracee.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(openat), OWN(close), OWN(statx), OWN_FACCESSAT,
	  OWN_IF(fcntl, ARG_IS(1, F_DUPFD_CLOEXEC)));

bool judge_is_write(enum access a)
{
	switch (a) {
	case ACCESS_WRITE:
	case ACCESS_CREATE:
	case ACCESS_MKDIR:
	case ACCESS_DELETE:
	case ACCESS_RENAME:
	case ACCESS_LINK_FROM:
	case ACCESS_METADATA:
		return true;
	case ACCESS_READ:
	case ACCESS_EXEC:
	case ACCESS_DEVICE:
	case ACCESS_CONNECT_UNIX:
	case ACCESS_COUNT:
		break;
	}
	return false;
}

int judge_refuse(struct call *c, const char *op, const char *rule, int err, const char *message)
{
	refusal_firm(c, op, rule, err, message);
	return refusal_made(c, err);
}

void judge_answer(struct call *c, int rc)
{
	if (rc == JUDGE_GONE)
		call_gone(c);
	else
		call_error(c, rc);
}

/*
 * Would the kernel have refused by itself? Then the program gets the kernel's own errno and no message blames
 * the policy. fd: the object, or for an entry its directory.
 */
static int kernel_errno(enum access a, int fd, const struct statx *st, bool entry)
{
	int mode = entry ? W_OK | X_OK : W_OK;

	if (a == ACCESS_METADATA && !entry) {
		uid_t uid = geteuid();

		return uid != 0 && st->stx_uid != uid ? EPERM : 0;
	}
	if (a == ACCESS_READ)
		mode = R_OK;
	else if (a == ACCESS_EXEC)
		mode = X_OK;
	else if (a == ACCESS_LINK_FROM)
		return 0;
	if (faccessat(fd, "", mode, AT_EMPTY_PATH | AT_EACCESS) == 0)
		return 0;
	return errno == EACCES || errno == EROFS ? errno : 0;
}

/* Shells read their history at their start and write it at their end. */
static bool is_quiet(const struct request *q)
{
	if (q->access == ACCESS_READ)
		return quiet_is_history(q->path, q->len);
	return judge_is_write(q->access) && quiet_is_comfort(q->path, q->len);
}

int judge_refuse_by(struct call *c, const struct request *q, const struct verdict *v, int native)
{
	c->event.rule = v->rule;
	c->event.rule_name = v->rule ? NULL : "default";
	if (native == 0 && !is_quiet(q)) {
		policy_explain(q, v, c->s->home, c->message, sizeof(c->message));
		policy_suggest(c->s->policy, q, v, c->suggestion, sizeof(c->suggestion));
		c->event.message = c->message;
		c->event.suggestion = c->suggestion[0] ? c->suggestion : NULL;
	}
	return refusal_made(c, native ? native : EPERM);
}

/* A fact about an existing object that refuses a change whatever the path rules say. */
struct fact {
	const char *rule, *text; /* for the record and for the message */
	const char *suggestion;	 /* NULL: none */
};

static const struct fact fact_sealed = {"protect", "protect (built-in): it belongs to this sandbox", NULL};
/* No rule of any policy: a .git is protected as a whole by facts. For the line that lifts it. */
static const struct rule git_itself = {.kind = RULE_PROTECT_GIT, .key = "protect"};
static const struct fact fact_git = {"protect", "protect (built-in)", NULL};
static const struct fact fact_link = {
	"protect", "protect (built-in): a symbolic link there would lead around the rules", NULL};
static const struct fact fact_links = {
	"hardlinks = refuse", "hardlinks = refuse: the file has other names that this session did not make",
	"hardlinks = allow"};

/* A refusal by a built-in rule about an object with a name. */
static int refuse_builtin(struct call *c, enum access a, const char *name, size_t len, const struct fact *f)
{
	struct request q = {.access = a, .path = name, .len = len};
	struct verdict v = {.decision = VERDICT_DENY};
	size_t n;

	c->event.rule = NULL;
	c->event.rule_name = f->rule;
	c->event.suggestion = f->suggestion;
	policy_explain(&q, &v, c->s->home, c->message, sizeof(c->message));
	/* "write PATH refused: no rule..." becomes "write PATH refused by RULE". */
	n = strlen(c->message);
	for (char *p = strstr(c->message, " refused"); p; p = strstr(p + 1, " refused"))
		n = (size_t)(p - c->message);
	snprintf(c->message + n, sizeof(c->message) - n, " refused by %s", f->text);
	if (f == &fact_git) {
		v.rule = &git_itself;
		policy_suggest(c->s->policy, &q, &v, c->suggestion, sizeof(c->suggestion));
		c->event.suggestion = c->suggestion[0] ? c->suggestion : NULL;
	}
	c->event.message = c->message;
	return refusal_made(c, EPERM);
}

/* /PID of a procfs: members are free (the kernel's own checks remain), strangers show what "ps" shows. Returns 1
 * when it is no such path. */
static int judge_proc(struct call *c, enum access a, const char *inner, bool own)
{
	char *rest;
	pid_t pid;

	/* What these links say is the caller's own number. */
	if (!judge_is_write(a) && (strcmp(inner, "/self") == 0 || strcmp(inner, "/thread-self") == 0))
		return 0;
	if (!isdigit((unsigned char)inner[1]))
		return 1;
	pid = (pid_t)strtol(inner + 1, &rest, 10);
	if (*rest != '\0' && *rest != '/')
		return 1;
	/* A process's group of processes for the scheduler holds the user's shell as well. */
	if (own && member_is(c->s, pid) && !(judge_is_write(a) && strcmp(rest, "/autogroup") == 0))
		return 0;
	if (!judge_is_write(a) && procname_is_public(rest))
		return 0;
	c->event.rule_name = "process isolation (built-in)";
	/* The kernel's own answer for a process that may not be looked into; "ps" and "top" expect it. */
	return refusal_made(c, EACCES);
}

/* What the mount alone decides. Returns 1 when that is nothing. */
static int judge_mount(struct call *c, enum access a, uint64_t mount, const char *name)
{
	char inner[PATH_MAX];

	switch (mounts_look(c->s->mounts, mount, name, inner, sizeof(inner))) {
	case MOUNT_OTHER:
		return 1;
	case MOUNT_PROC:
		return judge_proc(c, a, inner, true);
	case MOUNT_FOREIGN_PROC:
		return judge_proc(c, a, inner, false);
	case MOUNT_MQUEUE:
		if (!inner[1] || mqueues_is_own(c->s->mqueues, inner))
			return 1;
		return judge_refuse(c, access_name(a), "process isolation (built-in)", EACCES,
				    "a message queue that is not of this session was refused");
	case MOUNT_UNKNOWN:
		break;
	}
	return judge_refuse(c, access_name(a), "mount namespace (built-in)", EPERM,
			    "an object of another mount namespace was refused");
}

/* Opens the directory that holds the object, proved by finding the object in it. -1: moved meanwhile. */
static int open_parent(const struct session *s, const struct object *o)
{
	char parent[PATH_MAX];
	const char *slash = memrchr(o->name, '/', o->len);
	size_t n = slash ? (size_t)(slash - o->name) : 0;
	struct statx st;
	int dir;

	if (o->len >= PATH_MAX) /* beyond the reach of a path */
		return o->has_parent ? fcntl(o->parent, F_DUPFD_CLOEXEC, 3)
				     : openat(o->fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (!slash || n >= sizeof(parent) || slash[1] == '\0')
		return -1;
	memcpy(parent, o->name, n);
	parent[n] = '\0';
	dir = compat_openat2(s->root, n ? parent : "/", O_PATH | O_DIRECTORY | O_CLOEXEC, 0,
			     RESOLVE_NO_SYMLINKS);
	if (dir < 0)
		return -1;
	if (statx(dir, slash + 1, AT_SYMLINK_NOFOLLOW, OBJECT_STATX, &st) < 0 ||
	    !object_is_same(&st, &o->st)) {
		close(dir);
		return -1;
	}
	return dir;
}

/* What the policy left to the session's facts. dir may be -1. */
static bool decision_holds(const struct session *s, const struct verdict *v, int dir,
			   const struct statx *self, const char *name, size_t len)
{
	enum decision d = v->decision;

	if (d == VERDICT_ALLOW_IF_OWN_GIT) {
		/* The .git itself counts, so the walk stops above it. */
		if (dir < 0 || !judge_is_created(s, dir, NULL, name, len, v->git_len - 1))
			return false;
		d = v->if_git;
	}
	if (d == VERDICT_ALLOW_IF_OWN)
		return dir >= 0 && judge_is_created(s, dir, self, name, len, v->anchor);
	return d == VERDICT_ALLOW;
}

/* A regular file with other names than those this session gave it. */
static bool has_other_names(const struct session *s, const struct statx *st)
{
	return S_ISREG(st->stx_mode) && st->stx_nlink > 1 && st->stx_nlink > idset_count(s->own_links, st);
}

/* A file with several names may be known to a deny_read rule by another one. */
static const struct rule *denied_by_identity(const struct session *s, const struct statx *st)
{
	if (!S_ISREG(st->stx_mode) || st->stx_nlink < 2 || !policy_has(s->policy, RULE_DENY_READ))
		return NULL;
	return literals_find(s->literals, st);
}

/* Beneath the directories in a .git that hold linked work trees and submodules. */
static bool is_git_inner(const char *path)
{
	return strcasestr(path, "/.git/worktrees/") || strcasestr(path, "/.git/modules/");
}

/*
 * A .git that is a file or link names the repository's directory: whoever writes it chooses hooks and config. One that
 * is a directory may be filled, but not taken away: a new one in its place would be the session's own. Nor may the
 * directories of submodules and work trees in it be moved.
 */
static bool changes_git(enum access a, const char *name, size_t len, const struct statx *st)
{
	if (a == ACCESS_RENAME && S_ISDIR(st->stx_mode) && is_git_inner(name))
		return true;
	if (len < 5 || strncasecmp(name + len - 5, "/.git", 5) != 0)
		return false;
	return !S_ISDIR(st->stx_mode) || a == ACCESS_DELETE || a == ACCESS_RENAME;
}

static enum objtype type_of(const struct statx *st)
{
	return S_ISDIR(st->stx_mode) ? OBJ_DIR : OBJ_OTHER;
}

/* NULL: none. */
static const struct fact *change_refused(const struct session *s, enum access a, const char *name, size_t len,
					 const struct statx *st)
{
	if (idset_has(s->sealed, st))
		return &fact_sealed;
	if (s->config->protect && changes_git(a, name, len, st) && !idset_has(s->created, st) &&
	    !policy_opens_git(s->policy, &(struct request){.type = type_of(st), .path = name, .len = len}))
		return &fact_git;
	if (s->config->hardlinks == HARDLINKS_REFUSE && (a == ACCESS_WRITE || a == ACCESS_METADATA) &&
	    has_other_names(s, st))
		return &fact_links;
	return NULL;
}

static int judge_named(struct call *c, enum access a, const struct object *o)
{
	struct request q = {.access = a, .type = type_of(&o->st), .path = o->name, .len = o->len};
	struct verdict v = policy_decide(c->s->policy, &q);
	const struct fact *fact = judge_is_write(a) ? change_refused(c->s, a, o->name, o->len, &o->st) : NULL;
	const struct rule *alias;
	int dir = -1;
	bool holds;

	if (fact) {
		int rc = refuse_builtin(c, a, o->name, o->len, fact);

		/* git dates packs that it shares with other clones, and does without. touch says so itself. */
		if (a == ACCESS_METADATA && strstr(c->sysc->name, "utime") && has_other_names(c->s, &o->st))
			c->event.message = NULL;
		return rc;
	}
	if (v.decision == VERDICT_ALLOW_IF_OWN || v.decision == VERDICT_ALLOW_IF_OWN_GIT)
		dir = open_parent(c->s, o);
	holds = decision_holds(c->s, &v, dir, &o->st, o->name, o->len);
	if (dir >= 0)
		close(dir);
	c->event.rule = v.rule;
	if (!holds)
		return judge_refuse_by(c, &q, &v, kernel_errno(a, o->fd, &o->st, false));
	/* An allow_read that names this very name knows what it opens. */
	alias = v.rule && v.rule->kind == RULE_ALLOW_READ ? NULL : denied_by_identity(c->s, &o->st);
	if (alias) {
		v = (struct verdict){.decision = VERDICT_DENY, .rule = alias, .anchor = strlen(alias->path)};
		return judge_refuse_by(c, &q, &v, 0);
	}
	return 0;
}

static int judge_device(struct call *c, enum access a, const struct object *o, int accmode)
{
	struct request q = {.access = ACCESS_DEVICE, .type = OBJ_OTHER, .path = o->name, .len = o->len};
	const struct stdio_object *std = nameless_stdio(c->s, &o->st);
	struct verdict v;

	if (device_is_builtin(&o->st) || (std && nameless_mode_within(accmode, std->accmode)) ||
	    device_is_own_pty(c->s, &o->st))
		return 0;
	v = policy_decide(c->s->policy, &q);
	if (v.decision == VERDICT_ALLOW)
		return 0;
	return judge_refuse_by(c, &q, &v, kernel_errno(a, o->fd, &o->st, false));
}

int judge_object(struct call *c, enum access a, struct object *o, int accmode)
{
	const struct stdio_object *std;
	int rc;

	/* Its name may have been removed before the links were counted, and the one that is left lie anywhere. */
	if (o->unread && judge_is_write(a) && S_ISREG(o->st.stx_mode) && o->st.stx_nlink <= 1) {
		rc = object_reread(c, o);
		if (rc < 0)
			return -rc;
	}
	if (tracee_check(c) < 0)
		return JUDGE_GONE;
	refusal_begin(c, access_name(a), o->name, o->len);
	if (o->len == 0)
		return nameless_judge(c, a, o, accmode);
	rc = judge_mount(c, a, o->st.stx_mnt_id, o->name);
	if (rc != 1)
		return rc;
	if ((a == ACCESS_READ || a == ACCESS_WRITE) && (S_ISCHR(o->st.stx_mode) || S_ISBLK(o->st.stx_mode)))
		return judge_device(c, a, o, accmode);
	std = o->by_magic ? nameless_stdio(c->s, &o->st) : NULL;
	if (std && (a == ACCESS_READ || a == ACCESS_WRITE) && nameless_mode_within(accmode, std->accmode))
		return 0;
	return judge_named(c, a, o);
}

int judge_place(struct call *c, const struct object *o)
{
	int rc;

	if (tracee_check(c) < 0)
		return JUDGE_GONE;
	refusal_begin(c, access_name(ACCESS_READ), o->name, o->len);
	if (o->len == 0)
		return o->foreign ? nameless_judge(c, ACCESS_READ, o, O_RDONLY) : 0;
	rc = judge_mount(c, ACCESS_READ, o->st.stx_mnt_id, o->name);
	return rc == 1 ? 0 : rc;
}

/* What is there, or, for a new name, what will be there: a rename may put a directory where a file is. */
static enum objtype entry_type(enum access a, const struct entry *e)
{
	if (a == ACCESS_MKDIR || (a == ACCESS_CREATE && S_ISDIR(e->becomes)))
		return OBJ_DIR;
	if (e->hidden) /* a rule for directories alone holds, too */
		return type_of(&e->st);
	if (a == ACCESS_CREATE)
		return e->exists ? OBJ_OTHER : OBJ_ABSENT;
	return e->exists ? type_of(&e->st) : OBJ_ABSENT;
}

/*
 * Rules hold by canonical names, which have no symbolic link on the way. A link named as a rule's directory would let
 * what is beneath the rule be made under another name; one in the place of an allow_write's own path would be followed
 * by the next session.
 */
static bool link_leads_around(const struct session *s, const struct entry *e, const struct verdict *v)
{
	size_t n = e->len - e->leaf_len;
	char *plain;
	bool same;

	if (v->rule && v->rule->kind == RULE_ALLOW_WRITE && v->rule->literal && v->anchor == e->len)
		return true;
	/* A name that no rule knows, in the same directory. */
	plain = malloc(n + 2);
	if (!plain)
		return true;
	memcpy(plain, e->name, n);
	memcpy(plain + n, "\001", 2);
	same = policy_same_beneath(s->policy, e->name, e->len, plain, n + 1);
	free(plain);
	return !same;
}

/* allow_own opens its own directory and those that the session made in it, not those of others. */
static bool is_foreign_dir(const struct session *s, enum access a, const struct entry *e,
			   const struct verdict *v)
{
	if ((a != ACCESS_CREATE && a != ACCESS_MKDIR) || e->dir.len <= v->anchor)
		return false;
	return !judge_is_created(s, e->dir.fd, NULL, e->name, e->len, v->anchor);
}

int judge_entry(struct call *c, enum access a, const struct entry *e, struct entry_verdict *ev)
{
	struct request q = {.access = a, .path = e->name, .len = e->len};
	struct verdict v;
	const struct fact *fact;
	int rc;

	ev->in_own_area = false;
	if (tracee_check(c) < 0)
		return JUDGE_GONE;
	refusal_begin(c, access_name(a), e->name, e->len);
	if (e->len == 0) /* in a directory that is gone; the kernel says the same */
		return e->dir.foreign ? nameless_judge(c, a, &e->dir, O_RDWR) : ENOENT;
	rc = judge_mount(c, a, e->dir.st.stx_mnt_id, e->name);
	if (rc != 1)
		return rc;
	q.type = entry_type(a, e);
	fact = e->exists ? change_refused(c->s, a, e->name, e->len, &e->st) : NULL;
	if (fact)
		return refuse_builtin(c, a, e->name, e->len, fact);
	v = policy_decide(c->s->policy, &q);
	c->event.rule = v.rule;
	if (!decision_holds(c->s, &v, e->dir.fd, e->exists ? &e->st : NULL, e->name, e->len))
		return judge_refuse_by(c, &q, &v, kernel_errno(a, e->dir.fd, &e->dir.st, true));
	if (a == ACCESS_CREATE && S_ISLNK(e->becomes) && link_leads_around(c->s, e, &v))
		return refuse_builtin(c, a, e->name, e->len, &fact_link);
	ev->in_own_area = v.rule && v.rule->kind == RULE_ALLOW_OWN;
	if (ev->in_own_area && is_foreign_dir(c->s, a, e, &v)) {
		if (v.beneath) {
			/* A missing directory above an allow_write, there as anywhere. It does not become the session's. */
			c->event.rule = v.beneath;
			ev->in_own_area = false;
			return 0;
		}
		v.decision = VERDICT_ALLOW_IF_OWN;
		return judge_refuse_by(c, &q, &v, 0);
	}
	return 0;
}
