#include "supervisor/hide.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "supervisor/judge.h"
#include "supervisor/nameless.h"

static enum objtype type_of(const struct statx *st)
{
	return S_ISDIR(st->stx_mode) ? OBJ_DIR : OBJ_OTHER;
}

static bool is_on(const struct session *s)
{
	return (s->features & FEATURE_HIDE) && !s->asking;
}

/* By a rule about paths, not by those about processes and mounts. */
static bool refused_by_path(const struct call *c)
{
	return c->event.rule || (c->event.rule_name && strcmp(c->event.rule_name, "default") == 0);
}

static void forget(struct call *c)
{
	memset(&c->event, 0, sizeof(c->event));
	c->recorded = false;
}

bool hide_object(struct call *c, struct object *o)
{
	struct request q = {.access = ACCESS_READ, .type = type_of(&o->st), .path = o->name, .len = o->len};
	struct verdict v;
	int rc;

	if (!is_on(c->s) || o->len == 0)
		return false;
	/* A file with several names may be hidden by another one, which only the judge knows. */
	if (!policy_hides(c->s->policy, &q, &v) && (q.type == OBJ_DIR || o->st.stx_nlink < 2))
		return false;
	if (o->by_magic && nameless_stdio(c->s, &o->st))
		return false;
	rc = judge_object(c, ACCESS_READ, o, O_RDONLY);
	if (rc > 0 && refused_by_path(c)) {
		c->event.err = ENOENT;
		return true;
	}
	if (!c->event.denied || rc)
		forget(c);
	return false;
}

bool hide_entry(struct call *c, const struct entry *e)
{
	struct request q = {.access = ACCESS_READ, .type = type_of(&e->st), .path = e->name, .len = e->len};
	struct verdict v;

	if (!is_on(c->s) || c->s->log_only || e->len == 0 || !policy_hides(c->s->policy, &q, &v))
		return false;
	c->event.path = (struct bytes){e->name, e->len};
	c->event.syscall = c->sysc->name;
	c->event.op = access_name(ACCESS_READ);
	judge_refuse_by(c, &q, &v, ENOENT);
	return true;
}

void hide_silently(struct call *c)
{
	if (c->s->features & FEATURE_HIDE)
		c->event.message = NULL;
}
