#include "supervisor/ident.h"

#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/caps.h"
#include "supervisor/compat.h"
#include "supervisor/tracee.h"

/* Whether this thread now is someone else. */
static _Thread_local bool assumed;

int ident_initial(struct session *s)
{
	struct identity *id = &s->identity;
	struct tracee_status st;
	int rc = tracee_status(s, getpid(), &st);

	if (rc < 0)
		return rc;
	if (st.n_groups < 0)
		return -E2BIG;
	id->ruid = st.uid[0], id->euid = st.uid[1], id->suid = st.uid[2], id->fsuid = st.uid[3];
	id->rgid = st.gid[0], id->egid = st.gid[1], id->sgid = st.gid[2], id->fsgid = st.gid[3];
	/* The command and the supervisor both keep this much of them. */
	id->cap_effective = st.cap_effective & CAPS_KEPT;
	id->n_groups = st.n_groups;
	id->groups = calloc((size_t)st.n_groups + 1, sizeof(gid_t));
	if (!id->groups)
		return -ENOMEM;
	memcpy(id->groups, st.groups, (size_t)st.n_groups * sizeof(gid_t));
	return 0;
}

static bool is_initial(const struct identity *id, const struct tracee_status *st)
{
	return st->uid[0] == id->ruid && st->uid[1] == id->euid && st->uid[3] == id->fsuid &&
	       st->gid[0] == id->rgid && st->gid[1] == id->egid && st->gid[3] == id->fsgid &&
	       st->cap_effective == id->cap_effective && st->n_groups == id->n_groups &&
	       memcmp(st->groups, id->groups, (size_t)id->n_groups * sizeof(gid_t)) == 0;
}

static int take(const struct tracee_status *st, const struct identity *own)
{
	struct caps caps;

	if (st->n_groups < 0)
		return -EPERM;
	/* Groups and capabilities first: without CAP_SETUID they could not be changed any more. */
	if (syscall(SYS_setgroups, st->n_groups, st->groups) < 0 ||
	    syscall(SYS_setresgid, st->gid[0], st->gid[1], own->egid) < 0 ||
	    syscall(SYS_setresuid, st->uid[0], st->uid[1], own->euid) < 0)
		return -errno;
	if (st->uid[3] != st->uid[1])
		setfsuid(st->uid[3]);
	if (st->gid[3] != st->gid[1])
		setfsgid(st->gid[3]);
	if (caps_get(&caps) < 0)
		return -EPERM;
	caps.effective = caps.permitted & st->cap_effective & CAPS_KEPT;
	return caps_set(&caps);
}

static void give_back(const struct identity *own)
{
	struct caps caps;

	if (syscall(SYS_setresuid, own->ruid, own->euid, own->suid) < 0)
		abort();
	if (caps_get(&caps) < 0)
		abort();
	caps.effective = caps.permitted & CAPS_KEPT;
	if (caps_set(&caps) < 0 || syscall(SYS_setresgid, own->rgid, own->egid, own->sgid) < 0 ||
	    syscall(SYS_setgroups, own->n_groups, own->groups) < 0)
		abort();
	setfsuid(own->fsuid);
	setfsgid(own->fsgid);
}

int ident_assume(struct call *c)
{
	struct session *s = c->s;
	struct tracee_status st;
	int rc;

	if (!atomic_load_explicit(&s->identity_changed, memory_order_relaxed))
		return 0;
	rc = tracee_status(s, c->tid, &st);
	if (rc < 0)
		return rc;
	if (is_initial(&s->identity, &st))
		return 0;
	assumed = true;
	return take(&st, &s->identity);
}

void ident_drop(struct call *c)
{
	if (!assumed)
		return;
	give_back(&c->s->identity);
	assumed = false;
}

void ident_begin_thread(const struct session *s)
{
	if (atomic_load(&s->identity_changed))
		give_back(&s->identity);
}
