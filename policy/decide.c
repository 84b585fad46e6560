/*
 * The order of precedence. Everything here works on pathset_hits: per kind of rule, the longest prefix of
 * the path that a rule of that kind matched. That the longest is enough holds because every comparison
 * between kinds is one of anchors, so a shorter match never refuses or lifts what the longest does not.
 */
#include "policy/policy.h"
#include "policy/policy_private.h"

#include <string.h>

#include "policy/component.h"

static struct verdict verdict_by(enum decision d, const struct pathset_hit *hit)
{
	return (struct verdict){.decision = d, .rule = hit->rule, .anchor = hit->anchor};
}

static struct verdict verdict_default(enum decision d)
{
	return (struct verdict){.decision = d};
}

/* What mkdir makes is a directory, so that a rule written as "name/" covers its making. */
static bool request_is_dir(const struct request *q)
{
	return q->type == OBJ_DIR || (q->access == ACCESS_MKDIR && q->type == OBJ_ABSENT);
}

bool request_match(const struct policy *p, const struct request *q, struct pathset_hits *hits)
{
	return pathset_match(p->set, q->path, q->len, request_is_dir(q), hits);
}

/* The rule that re-opens reading. */
static const struct pathset_hit *find_read_lift(const struct pathset_hits *h)
{
	const struct pathset_hit *read = &h->best[RULE_ALLOW_READ], *write = &h->best[RULE_ALLOW_WRITE];

	return write->anchor > read->anchor ? write : read;
}

bool hits_refuse_read(const struct pathset_hits *h, size_t len, bool is_dir)
{
	const struct pathset_hit *deny = &h->best[RULE_DENY_READ], *lift = find_read_lift(h);

	if (!deny->rule)
		return false;
	/* A rule that names the file itself yields only to one that does so too. */
	if (deny->anchor == len && !is_dir)
		return lift->anchor != len;
	return lift->anchor <= deny->anchor;
}

/* Length of the prefix that ends with the last ".git" before the anchor: the innermost is hardest to own. */
static size_t find_git(const char *path, size_t anchor)
{
	size_t end = path_end(anchor), pos = 0, found = 0, len;
	const char *name;

	while (component_next(path, end, &pos, &name, &len))
		if (component_is_git(name, len))
			found = pos;
	return found;
}

bool hits_open_git(const struct pathset_hits *h, const char *path)
{
	const struct pathset_hit *open = &h->best[RULE_ALLOW_PROTECTED];

	return open->rule && find_git(path, open->anchor) > 0;
}

const struct pathset_hit *hits_find_protected(const struct pathset_hits *h, enum rule_kind kind,
					      const char *path)
{
	const struct pathset_hit *hit = &h->best[kind];

	if (!hit->rule || h->best[RULE_ALLOW_PROTECTED].anchor >= hit->anchor)
		return NULL;
	return kind == RULE_PROTECT_GIT && hits_open_git(h, path) ? NULL : hit;
}

bool hits_allow_exec(const struct pathset_hits *h, bool has_allow)
{
	const struct pathset_hit *deny = &h->best[RULE_DENY_EXEC], *allow = &h->best[RULE_ALLOW_EXEC];

	if (!has_allow)
		return !deny->rule;
	return allow->anchor > deny->anchor;
}

static struct verdict judge_read(const struct request *q, const struct pathset_hits *h)
{
	const struct pathset_hit *deny = &h->best[RULE_DENY_READ];

	if (!deny->rule)
		return verdict_default(VERDICT_ALLOW);
	if (hits_refuse_read(h, q->len, request_is_dir(q)))
		return verdict_by(VERDICT_DENY, deny);
	return verdict_by(VERDICT_ALLOW, find_read_lift(h));
}

/* What allow_write and allow_own grant where nothing refuses. */
static struct verdict judge_grant(const struct request *q, const struct pathset_hits *h)
{
	const struct pathset_hit *write = &h->best[RULE_ALLOW_WRITE], *own = &h->best[RULE_ALLOW_OWN];
	struct pathset_hit root = {.rule = h->root[RULE_ALLOW_WRITE], .anchor = q->len};

	if (!root.rule)
		root.rule = h->root[RULE_ALLOW_OWN];
	if (q->access == ACCESS_DELETE || q->access == ACCESS_RENAME)
		if (root.rule && !h->inside[RULE_ALLOW_WRITE])
			return verdict_by(VERDICT_DENY, &root);
	if (write->rule)
		return verdict_by(VERDICT_ALLOW, write);
	if (own->rule && !h->root[RULE_ALLOW_OWN]) {
		bool makes = q->access == ACCESS_CREATE || q->access == ACCESS_MKDIR;

		return (struct verdict){.decision = makes ? VERDICT_ALLOW : VERDICT_ALLOW_IF_OWN,
					.rule = own->rule,
					.anchor = own->anchor,
					.beneath = q->access == ACCESS_MKDIR ? h->beneath : NULL};
	}
	if (q->access == ACCESS_MKDIR && h->beneath)
		return (struct verdict){.decision = VERDICT_ALLOW, .rule = h->beneath};
	if (own->rule)
		return verdict_by(VERDICT_DENY, &root);
	return verdict_default(VERDICT_DENY);
}

static struct verdict judge_write(const struct request *q, const struct pathset_hits *h)
{
	const struct pathset_hit *protect = hits_find_protected(h, RULE_PROTECT, q->path);
	const struct pathset_hit *git = hits_find_protected(h, RULE_PROTECT_GIT, q->path);
	struct verdict v;

	if (protect)
		return verdict_by(VERDICT_DENY, protect);
	if (h->best[RULE_DENY_WRITE].rule)
		return verdict_by(VERDICT_DENY, &h->best[RULE_DENY_WRITE]);
	if (hits_refuse_read(h, q->len, request_is_dir(q)))
		return verdict_by(VERDICT_DENY, &h->best[RULE_DENY_READ]);
	v = judge_grant(q, h);
	if (!git || v.decision == VERDICT_DENY)
		return v;
	v = (struct verdict){.if_git = v.decision, .rule = git->rule, .anchor = git->anchor};
	v.git_len = find_git(q->path, git->anchor);
	v.decision = v.git_len ? VERDICT_ALLOW_IF_OWN_GIT : VERDICT_DENY;
	if (!v.git_len)
		v.if_git = VERDICT_DENY;
	return v;
}

static struct verdict judge_exec(const struct policy *p, const struct request *q,
				 const struct pathset_hits *h)
{
	const struct pathset_hit *allow = &h->best[RULE_ALLOW_EXEC], *deny = &h->best[RULE_DENY_EXEC];

	if (!hits_allow_exec(h, policy_has(p, RULE_ALLOW_EXEC)))
		return deny->rule ? verdict_by(VERDICT_DENY, deny) : verdict_default(VERDICT_DENY);
	if (hits_refuse_read(h, q->len, request_is_dir(q)))
		return verdict_by(VERDICT_DENY, &h->best[RULE_DENY_READ]);
	return verdict_by(VERDICT_ALLOW, allow);
}

/* For what is refused unless a rule of that kind names it. */
static struct verdict judge_named(const struct pathset_hits *h, enum rule_kind kind)
{
	return h->best[kind].rule ? verdict_by(VERDICT_ALLOW, &h->best[kind]) : verdict_default(VERDICT_DENY);
}

static struct verdict judge_connect(const struct request *q, const struct pathset_hits *h)
{
	struct verdict v = judge_named(h, RULE_UNIX_SOCKET);

	if (v.decision == VERDICT_ALLOW && hits_refuse_read(h, q->len, request_is_dir(q)))
		return verdict_by(VERDICT_DENY, &h->best[RULE_DENY_READ]);
	return v;
}

struct verdict request_judge(const struct policy *p, const struct request *q, const struct pathset_hits *h)
{
	switch (q->access) {
	case ACCESS_READ:
		return judge_read(q, h);
	case ACCESS_WRITE:
	case ACCESS_CREATE:
	case ACCESS_MKDIR:
	case ACCESS_DELETE:
	case ACCESS_RENAME:
	case ACCESS_LINK_FROM:
	case ACCESS_METADATA:
		return judge_write(q, h);
	case ACCESS_EXEC:
		return judge_exec(p, q, h);
	case ACCESS_DEVICE:
		return judge_named(h, RULE_ALLOW_DEVICE);
	case ACCESS_CONNECT_UNIX:
		return judge_connect(q, h);
	case ACCESS_COUNT:
		break;
	}
	return verdict_default(VERDICT_DENY);
}

static struct verdict decide_abstract(const struct policy *p, const struct request *q)
{
	for (size_t i = 0; q->access == ACCESS_CONNECT_UNIX && i < p->n_abstract; i++) {
		struct pathset_hit hit = {.rule = p->abstract[i], .anchor = q->len};

		if (strlen(hit.rule->path) == q->len && memcmp(hit.rule->path, q->path, q->len) == 0)
			return verdict_by(VERDICT_ALLOW, &hit);
	}
	return verdict_default(VERDICT_DENY);
}

bool policy_opens_git(const struct policy *p, const struct request *q)
{
	struct pathset_hits hits;

	return request_match(p, q, &hits) && hits_open_git(&hits, q->path);
}

bool policy_hides(const struct policy *p, const struct request *q, struct verdict *v)
{
	*v = policy_decide(p, q);
	if (v->decision != VERDICT_DENY || !v->rule)
		return false;
	return !request_is_dir(q) || !pathset_opens_beneath(p->set, q->path, q->len);
}

struct verdict policy_decide(const struct policy *p, const struct request *q)
{
	struct pathset_hits hits;

	if (q->len && q->path[0] == '@')
		return decide_abstract(p, q);
	if (!request_match(p, q, &hits))
		return verdict_default(VERDICT_DENY);
	return request_judge(p, q, &hits);
}
