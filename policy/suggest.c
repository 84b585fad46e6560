/*
 * The line that would allow what was refused. Each candidate is judged as if it stood in the policy, so that
 * nobody is told to add a line that would not help.
 */
#include "policy/policy.h"
#include "policy/policy_private.h"

#include <stdint.h>
#include <string.h>

#include "policy/leaf.h"
#include "policy/text.h"

#define CANDIDATES 4

struct suggestion {
	enum rule_kind kind;
	const char *key;
	size_t len; /* of the prefix of the path to name */
};

/* Puts a rule into hits as if the policy had it. */
static void suppose(const struct request *q, struct pathset_hits *hits, const struct rule *rule, size_t len)
{
	struct pathset_hit *best = &hits->best[rule->kind];

	if (len < q->len)
		hits->inside[rule->kind] = true;
	else
		hits->root[rule->kind] = rule;
	if (len > best->anchor)
		*best = (struct pathset_hit){.rule = rule, .anchor = len};
}

static bool would_allow(const struct policy *p, const struct request *q, struct pathset_hits hits,
			const struct suggestion *s)
{
	struct rule rule = {.kind = s->kind, .literal = true};

	suppose(q, &hits, &rule, s->len);
	return request_judge(p, q, &hits).decision == VERDICT_ALLOW;
}

/* A protected name where nothing may be written needs both. */
static bool would_both_allow(const struct policy *p, const struct request *q, struct pathset_hits hits,
			     const struct suggestion *s)
{
	const struct rule write = {.kind = RULE_ALLOW_WRITE, .literal = true};

	if (s->kind != RULE_ALLOW_PROTECTED)
		return false;
	suppose(q, &hits, &write, q->len);
	return would_allow(p, q, hits, s);
}

static size_t parent_len(const char *path, size_t n)
{
	while (n && path[n - 1] != '/')
		n--;
	return n > 1 ? n - 1 : n;
}

/* Entries come and go in a directory; content and attributes belong to the object alone. */
static bool changes_directory(enum access a)
{
	return a == ACCESS_CREATE || a == ACCESS_DELETE || a == ACCESS_RENAME;
}

/* The candidates for a refused write, the best first. Returns their number. */
static size_t list_for_write(const struct request *q, const struct verdict *v,
			     struct suggestion out[CANDIDATES])
{
	const struct rule *r = v->rule;
	size_t n = 0, parent = parent_len(q->path, q->len);

	if (r && (r->kind == RULE_PROTECT || r->kind == RULE_PROTECT_GIT)) {
		/* Who removes the name removes what it belongs to (a .git, a worktree's or submodule's part of one), so one
		 * line is for all of that. */
		if (q->access == ACCESS_DELETE && v->git_len)
			out[n++] = (struct suggestion){RULE_ALLOW_PROTECTED, "allow_protected",
						       parent_len(q->path, v->anchor)};
		out[n++] = (struct suggestion){RULE_ALLOW_PROTECTED, "allow_protected", q->len};
		return n;
	}
	if (r && r->kind == RULE_DENY_WRITE)
		return 0;
	/* To remove the whole root of an allow rule is hardly what anyone wants allowed. */
	if (r && v->decision == VERDICT_DENY && r->kind != RULE_DENY_READ && q->type == OBJ_DIR)
		return 0;
	/* All of "/" is never suggested. */
	if (q->access == ACCESS_CREATE && parent > 1 &&
	    leaf_is_passing(q->path + parent + 1, q->len - parent - 1))
		out[n++] = (struct suggestion){RULE_ALLOW_WRITE, "allow_write", parent};
	/* The narrowest that does: removing needs the directory. */
	out[n++] = (struct suggestion){RULE_ALLOW_WRITE, "allow_write", q->len};
	if (changes_directory(q->access) && parent > 1)
		out[n++] = (struct suggestion){RULE_ALLOW_WRITE, "allow_write", parent};
	if (r && r->kind == RULE_DENY_READ)
		out[n++] = (struct suggestion){RULE_ALLOW_READ, "allow_read", q->len};
	return n;
}

static size_t list_candidates(const struct policy *p, const struct request *q, const struct verdict *v,
			      struct suggestion out[CANDIDATES])
{
	if (v->rule && v->rule->kind == RULE_DENY_READ &&
	    (q->access == ACCESS_READ || q->access == ACCESS_EXEC || q->access == ACCESS_CONNECT_UNIX)) {
		out[0] = (struct suggestion){RULE_ALLOW_READ, "allow_read", q->len};
		return 1;
	}
	switch (q->access) {
	case ACCESS_WRITE:
	case ACCESS_CREATE:
	case ACCESS_MKDIR:
	case ACCESS_DELETE:
	case ACCESS_RENAME:
	case ACCESS_LINK_FROM:
	case ACCESS_METADATA:
		return list_for_write(q, v, out);
	case ACCESS_EXEC:
		/* The first allow would forbid all other programs. */
		if (!policy_has(p, RULE_ALLOW_EXEC))
			return 0;
		out[0] = (struct suggestion){RULE_ALLOW_EXEC, "allow", q->len};
		return 1;
	case ACCESS_DEVICE:
		out[0] = (struct suggestion){RULE_ALLOW_DEVICE, "allow_device", q->len};
		return 1;
	case ACCESS_CONNECT_UNIX:
		out[0] = (struct suggestion){RULE_UNIX_SOCKET, "allow_unix_socket", q->len};
		return 1;
	case ACCESS_READ:
	case ACCESS_COUNT:
		break;
	}
	return 0;
}

const char *policy_suggestion_section(const char *line)
{
	return strncmp(line, "allow = ", 8) == 0 ? "[exec] " : "";
}

static void write_line(struct text *t, const char *key, const struct request *q, size_t len)
{
	text_add(t, key);
	text_add(t, " = ");
	if (q->path[0] == '/')
		text_add_quoted(t, q->path, len);
	else
		text_add_shown(t, q->path, len, SIZE_MAX / 2);
	/* Half a path would name something else. */
	if (t->cut)
		text_init(t, t->buf, t->size);
}

static void write_both(struct text *t, const struct request *q, const struct suggestion *s)
{
	write_line(t, "allow_write", q, q->len);
	if (t->len == 0)
		return;
	text_add(t, " and ");
	write_line(t, s->key, q, s->len);
}

/* An abstract name stands in a policy as it is, so one with odd bytes cannot stand there. */
static void suggest_abstract(struct text *t, const struct request *q)
{
	for (size_t i = 0; i < q->len; i++)
		if (q->path[i] <= ' ' || q->path[i] > '~')
			return;
	if (q->access == ACCESS_CONNECT_UNIX && q->len > 1 && q->len <= 108)
		write_line(t, "allow_unix_socket", q, q->len);
}

char *policy_suggest(const struct policy *p, const struct request *q, const struct verdict *v, char *buf,
		     size_t size)
{
	struct suggestion list[CANDIDATES];
	struct pathset_hits hits;
	size_t n;
	struct text t;

	if (!size)
		return buf;
	text_init(&t, buf, size);
	if (v->decision == VERDICT_ALLOW)
		return buf;
	if (q->len && q->path[0] == '@')
		suggest_abstract(&t, q);
	if (!request_match(p, q, &hits))
		return buf;
	n = list_candidates(p, q, v, list);
	for (size_t i = 0; i < n; i++) {
		if (would_allow(p, q, hits, &list[i])) {
			write_line(&t, list[i].key, q, list[i].len);
			break;
		}
		if (would_both_allow(p, q, hits, &list[i])) {
			write_both(&t, q, &list[i]);
			break;
		}
	}
	return buf;
}
