/*
 * Verdicts as the documentation of the policy reads: each sentence is a loop over all rules. Shares nothing
 * with policy/decide.c and the tables behind it.
 */
#ifndef CORDON_NAIVE_POLICY_H
#define CORDON_NAIVE_POLICY_H

#include <strings.h>

#include "policy/config.h"
#include "policy/policy.h"
#include "tests/unit/naive_glob.h"

struct naive {
	const struct rule *rules;
	size_t n;
	const struct request *q;
	bool is_dir;
};

static bool naive_same(const char *a, const char *b, size_t len, bool fold)
{
	return fold ? strncasecmp(a, b, len) == 0 : strncmp(a, b, len) == 0;
}

static bool naive_rule_matches(const struct naive *o, const struct rule *r, size_t len)
{
	bool fold = rule_kind_is_caseless(r->kind);

	if (len == o->q->len && r->dir_only && !o->is_dir)
		return false;
	if (r->literal)
		return strlen(r->path) == len && naive_same(r->path, o->q->path, len, fold);
	return naive_match(r->path, o->q->path, len, fold);
}

/* The longest prefix of at most max bytes that the rule matches; 0 if none. */
static size_t naive_anchor_upto(const struct naive *o, const struct rule *r, size_t max)
{
	const char *path = o->q->path;

	for (size_t len = max; len >= 1; len--)
		if (len == 1 || len == o->q->len || path[len] == '/')
			if (naive_rule_matches(o, r, len))
				return len;
	return 0;
}

static size_t naive_anchor(const struct naive *o, const struct rule *r)
{
	return naive_anchor_upto(o, r, o->q->len);
}

#define NAIVE_EACH(o, r, k)                                                                                  \
	for (const struct rule *r = (o)->rules; r < (o)->rules + (o)->n; r++)                                \
		if (r->kind == (k))

static bool naive_any(const struct naive *o, enum rule_kind k)
{
	NAIVE_EACH(o, r, k)
	if (naive_anchor(o, r))
		return true;
	return false;
}

static bool naive_exists(const struct naive *o, enum rule_kind k)
{
	NAIVE_EACH(o, r, k)
	return true;
	return false;
}

/* Whether a rule of that kind has an anchor of at least so many bytes. */
static bool naive_reaches(const struct naive *o, enum rule_kind k, size_t anchor)
{
	NAIVE_EACH(o, r, k)
	if (naive_anchor(o, r) >= anchor)
		return true;
	return false;
}

static bool naive_read_refused(const struct naive *o)
{
	NAIVE_EACH(o, d, RULE_DENY_READ)
	{
		size_t anchor = naive_anchor(o, d);
		bool names_file = anchor == o->q->len && !o->is_dir;
		size_t need = names_file ? o->q->len : anchor + 1;

		if (anchor && !naive_reaches(o, RULE_ALLOW_READ, need) &&
		    !naive_reaches(o, RULE_ALLOW_WRITE, need))
			return true;
	}
	return false;
}

static bool naive_is_root(const struct naive *o, enum rule_kind k)
{
	NAIVE_EACH(o, r, k)
	if (r->literal && naive_anchor(o, r) == o->q->len)
		return true;
	return false;
}

static enum decision naive_grant(const struct naive *o)
{
	enum access a = o->q->access;
	bool inside = false, beneath = false;

	NAIVE_EACH(o, r, RULE_ALLOW_WRITE)
	{
		inside = inside || naive_anchor_upto(o, r, o->q->len - 1);
		beneath = beneath || (r->literal && strlen(r->path) > o->q->len &&
				      naive_same(r->path, o->q->path, o->q->len, false) &&
				      (o->q->len == 1 || r->path[o->q->len] == '/'));
	}
	if ((a == ACCESS_DELETE || a == ACCESS_RENAME) && !inside)
		if (naive_is_root(o, RULE_ALLOW_WRITE) || naive_is_root(o, RULE_ALLOW_OWN))
			return VERDICT_DENY;
	if (naive_any(o, RULE_ALLOW_WRITE))
		return VERDICT_ALLOW;
	if (a == ACCESS_MKDIR && beneath)
		return VERDICT_ALLOW;
	if (!naive_any(o, RULE_ALLOW_OWN) || naive_is_root(o, RULE_ALLOW_OWN))
		return VERDICT_DENY;
	return a == ACCESS_CREATE || a == ACCESS_MKDIR ? VERDICT_ALLOW : VERDICT_ALLOW_IF_OWN;
}

/* A .git, or something in one, that an allow_protected names is open with all that is in it. */
static bool naive_git_open(const struct naive *o)
{
	NAIVE_EACH(o, r, RULE_ALLOW_PROTECTED)
	{
		size_t anchor = naive_anchor(o, r);

		for (size_t i = 0; i + 5 <= anchor; i++)
			if (strncasecmp(o->q->path + i, "/.git", 5) == 0 &&
			    (i + 5 == o->q->len || o->q->path[i + 5] == '/'))
				return true;
	}
	return false;
}

static bool naive_protected(const struct naive *o, enum rule_kind k)
{
	if (k == RULE_PROTECT_GIT && naive_git_open(o))
		return false;
	NAIVE_EACH(o, r, k)
	{
		size_t anchor = naive_anchor(o, r);

		if (anchor && !naive_reaches(o, RULE_ALLOW_PROTECTED, anchor))
			return true;
	}
	return false;
}

/* Every protected match has a .git of its own; to own the innermost is to own them all. */
static size_t naive_git(const struct naive *o)
{
	size_t found = 0;

	NAIVE_EACH(o, r, RULE_PROTECT_GIT)
	{
		size_t anchor = naive_anchor(o, r);

		for (size_t i = 0; i + 5 <= anchor; i++)
			if (strncasecmp(o->q->path + i, "/.git", 5) == 0 &&
			    (i + 5 == o->q->len || o->q->path[i + 5] == '/') && i + 5 > found)
				found = i + 5;
	}
	return found;
}

static struct verdict naive_write(const struct naive *o)
{
	struct verdict v = {.decision = VERDICT_DENY};
	enum decision d;

	if (naive_protected(o, RULE_PROTECT) || naive_any(o, RULE_DENY_WRITE) || naive_read_refused(o))
		return v;
	d = naive_grant(o);
	if (d == VERDICT_DENY || !naive_protected(o, RULE_PROTECT_GIT)) {
		v.decision = d;
		return v;
	}
	v.git_len = naive_git(o);
	if (v.git_len) {
		v.decision = VERDICT_ALLOW_IF_OWN_GIT;
		v.if_git = d;
	}
	return v;
}

static bool naive_exec_allowed(const struct naive *o)
{
	bool has_allow = naive_exists(o, RULE_ALLOW_EXEC);

	if (has_allow && !naive_any(o, RULE_ALLOW_EXEC))
		return false;
	NAIVE_EACH(o, d, RULE_DENY_EXEC)
	{
		size_t anchor = naive_anchor(o, d);

		if (anchor && !naive_reaches(o, RULE_ALLOW_EXEC, anchor + 1))
			return false;
	}
	return true;
}

static bool naive_plain(const struct naive *o)
{
	switch ((int)o->q->access) {
	case ACCESS_READ:
		return !naive_read_refused(o);
	case ACCESS_EXEC:
		return naive_exec_allowed(o) && !naive_read_refused(o);
	case ACCESS_DEVICE:
		return naive_any(o, RULE_ALLOW_DEVICE);
	case ACCESS_CONNECT_UNIX:
		return naive_any(o, RULE_UNIX_SOCKET) && !naive_read_refused(o);
	default:
		return false;
	}
}

/* decision, if_git and git_len only. */
static struct verdict naive_decide(const struct rule *rules, size_t n, const struct request *q)
{
	struct naive o = {.rules = rules, .n = n, .q = q};

	naive_budget = 100000000;
	o.is_dir = q->type == OBJ_DIR || (q->access == ACCESS_MKDIR && q->type == OBJ_ABSENT);
	if (q->access >= ACCESS_WRITE && q->access <= ACCESS_METADATA)
		return naive_write(&o);
	return (struct verdict){.decision = naive_plain(&o) ? VERDICT_ALLOW : VERDICT_DENY};
}

#endif
