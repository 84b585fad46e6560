#include "supervisor/ident.h"

#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/caps.h"
#include "supervisor/compat.h"
#include "supervisor/lockdown.h"
#include "supervisor/tracee.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(setgroups), OWN(setresgid), OWN(setfsgid), OWN(setfsuid), OWN(getuid),
	  OWN_IF(prctl, ARG_IS(0, PR_SET_DUMPABLE), ARG_IS(1, 0)));
OWN_CALLS(OWN_BOTH, OWN(geteuid), OWN(setresuid)); /* ident_begin_user() */

/* Who somebody is. */
struct who {
	struct tracee_status st;
	gid_t *groups; /* supplementary; owned */
	int n_groups;
};

/* In what this thread now is someone else. */
enum { TOOK_GROUPS = 1 << 0, TOOK_GIDS = 1 << 1, TOOK_UIDS = 1 << 2, TOOK_CAPS = 1 << 3 };
static _Thread_local unsigned assumed;
/* Who that is: to be it again after ident_other_end(). */
static _Thread_local struct who caller;

int ident_initial(struct session *s)
{
	struct identity *id = &s->identity;
	struct tracee_status st;

	id->n_groups = tracee_status_groups(s, getpid(), &st, &id->groups);
	if (id->n_groups < 0)
		return id->n_groups;
	id->ruid = st.uid[0], id->euid = st.uid[1], id->suid = st.uid[2], id->fsuid = st.uid[3];
	id->rgid = st.gid[0], id->egid = st.gid[1], id->sgid = st.gid[2], id->fsgid = st.gid[3];
	/* The command and the supervisor both keep this much of them. */
	id->cap_effective = st.cap_effective & CAPS_KEPT;
	return 0;
}

/* 0 or -errno. */
static int who_is(const struct session *s, pid_t tid, struct who *w)
{
	w->n_groups = tracee_status_groups(s, tid, &w->st, &w->groups);
	return w->n_groups < 0 ? w->n_groups : 0;
}

static bool same_groups(const struct who *w, const struct identity *own)
{
	return w->n_groups == own->n_groups &&
	       memcmp(w->groups, own->groups, (size_t)own->n_groups * sizeof(gid_t)) == 0;
}

static bool same_gids(const struct tracee_status *st, const struct identity *own)
{
	return st->gid[0] == own->rgid && st->gid[1] == own->egid && st->gid[3] == own->fsgid;
}

static bool same_uids(const struct tracee_status *st, const struct identity *own)
{
	return st->uid[0] == own->ruid && st->uid[1] == own->euid && st->uid[3] == own->fsuid;
}

static bool is_initial(const struct identity *own, const struct who *w)
{
	return same_uids(&w->st, own) && same_gids(&w->st, own) &&
	       w->st.cap_effective == own->cap_effective && same_groups(w, own);
}

/* A change of credentials sets this process's mark to fs.suid_dumpable, which is 1 on some machines. */
static void stay_shut(void)
{
	prctl(PR_SET_DUMPABLE, 0);
}

/* Takes what differs, and notes in `assumed` what was taken, also when it then fails. */
static int take(const struct who *w, const struct identity *own)
{
	const struct tracee_status *st = &w->st;
	struct caps caps;

	/* Groups and capabilities first: without CAP_SETUID they could not be changed any more. */
	if (!same_groups(w, own)) {
		if (syscall(SYS_setgroups, w->n_groups, w->groups) < 0)
			return -errno;
		assumed |= TOOK_GROUPS;
	}
	if (!same_gids(st, own)) {
		if (syscall(SYS_setresgid, st->gid[0], st->gid[1], own->egid) < 0)
			return -errno;
		assumed |= TOOK_GIDS;
		if (st->gid[3] != st->gid[1])
			setfsgid(st->gid[3]);
	}
	if (!same_uids(st, own)) {
		if (syscall(SYS_setresuid, st->uid[0], st->uid[1], own->euid) < 0)
			return -errno;
		assumed |= TOOK_UIDS;
		if (st->uid[3] != st->uid[1])
			setfsuid(st->uid[3]);
	}
	if (caps_get(&caps) < 0)
		return -EPERM;
	assumed |= TOOK_CAPS;
	caps.effective = caps.permitted & st->cap_effective & CAPS_KEPT;
	return caps_set(&caps);
}

/* A thread that could not come back would go on as someone else: ending all is the safe answer. */
static void give_back(const struct identity *own, unsigned took)
{
	struct caps caps;

	if (took & TOOK_UIDS) {
		if (syscall(SYS_setresuid, own->ruid, own->euid, own->suid) < 0)
			abort();
		setfsuid(own->fsuid);
	}
	if (took) {
		if (caps_get(&caps) < 0)
			abort();
		caps.effective = caps.permitted & own->cap_effective;
		if (caps_set(&caps) < 0)
			abort();
	}
	if (took & TOOK_GIDS) {
		if (syscall(SYS_setresgid, own->rgid, own->egid, own->sgid) < 0)
			abort();
		setfsgid(own->fsgid);
	}
	if ((took & TOOK_GROUPS) && syscall(SYS_setgroups, own->n_groups, own->groups) < 0)
		abort();
}

int ident_assume(struct call *c)
{
	struct session *s = c->s;
	int rc;

	if (!atomic_load_explicit(&s->identity_changed, memory_order_relaxed))
		return 0;
	rc = who_is(s, c->tid, &caller);
	if (rc < 0 || is_initial(&s->identity, &caller))
		return rc;
	rc = take(&caller, &s->identity);
	stay_shut();
	return rc;
}

void ident_drop(struct call *c)
{
	free(caller.groups);
	caller.groups = NULL;
	if (!assumed)
		return;
	give_back(&c->s->identity, assumed);
	stay_shut();
	assumed = 0;
}

static _Thread_local bool left_caller;

/* From one to another only by way of what the supervisor is: who has changed may not change further. */
bool ident_other_begin(struct session *s, pid_t pid)
{
	struct who other;
	bool became;

	if (who_is(s, pid, &other) < 0) {
		free(other.groups);
		return false;
	}
	left_caller = assumed;
	give_back(&s->identity, assumed);
	assumed = 0;
	became = is_initial(&s->identity, &other) || take(&other, &s->identity) == 0;
	free(other.groups);
	if (became)
		stay_shut();
	else
		ident_other_end(s);
	return became;
}

/* A thread that could not be the caller again would act with more rights for it. */
void ident_other_end(struct session *s)
{
	give_back(&s->identity, assumed);
	assumed = 0;
	if (left_caller && take(&caller, &s->identity) < 0)
		abort();
	stay_shut();
}

static _Thread_local struct {
	uid_t uid;
	gid_t gid;
	struct caps caps;
} before_look;

/* A change of the file system user changes effective capabilities as well, so they are noted first and set last. */
bool ident_look_begin(void)
{
	struct caps raised;

	if (caps_get(&before_look.caps) < 0)
		return false;
	before_look.uid = (uid_t)setfsuid((uid_t)-1);
	before_look.gid = (gid_t)setfsgid((gid_t)-1);
	raised = before_look.caps;
	raised.effective = raised.permitted;
	if (raised.effective == before_look.caps.effective && before_look.uid == getuid() &&
	    before_look.gid == getgid())
		return false;
	setfsgid(getgid());
	setfsuid(getuid());
	caps_set(&raised);
	stay_shut();
	return true;
}

void ident_look_end(void)
{
	setfsgid(before_look.gid);
	setfsuid(before_look.uid);
	if (caps_set(&before_look.caps) < 0)
		abort();
	stay_shut();
}

bool ident_is_assumed(void)
{
	return assumed != 0;
}

unsigned ident_of_maker(void)
{
	return assumed;
}

void ident_begin_thread(const struct session *s, unsigned maker)
{
	give_back(&s->identity, maker);
	stay_shut();
}

static uid_t user_before;

bool ident_begin_user(uid_t uid)
{
	user_before = geteuid();
	return syscall(SYS_setresuid, -1, uid, -1) == 0;
}

void ident_end_user(void)
{
	if (syscall(SYS_setresuid, -1, user_before, -1) < 0)
		abort();
}
