/* Verdicts in words. */
#include "policy/policy.h"

#include <string.h>

#include "policy/text.h"

static const struct {
	const char *name;
	const char *missing; /* the rule without which it is refused; NULL: allowed by default */
} access_words[ACCESS_COUNT] = {
	[ACCESS_READ] = {"read", NULL},
	[ACCESS_WRITE] = {"write", "allow_write"},
	[ACCESS_CREATE] = {"create", "allow_write"},
	[ACCESS_MKDIR] = {"create", "allow_write"},
	[ACCESS_DELETE] = {"delete", "allow_write"},
	[ACCESS_RENAME] = {"rename", "allow_write"},
	[ACCESS_LINK_FROM] = {"link", "allow_write"},
	[ACCESS_METADATA] = {"metadata", "allow_write"},
	[ACCESS_EXEC] = {"exec", "[exec] allow"},
	[ACCESS_DEVICE] = {"device", "allow_device"},
	[ACCESS_CONNECT_UNIX] = {"connect", "allow_unix_socket"},
};

const char *access_name(enum access a)
{
	return a < ACCESS_COUNT ? access_words[a].name : "?";
}

static void add_path(struct text *t, const struct request *q, const char *home)
{
	size_t n = home ? strlen(home) : 0, max = t->size / 2;

	if (n > 1 && q->len >= n && memcmp(q->path, home, n) == 0 && (q->len == n || q->path[n] == '/')) {
		text_add(t, "~");
		text_add_shown(t, q->path + n, q->len - n, max);
	} else {
		text_add_shown(t, q->path, q->len, max);
	}
}

static void add_rule(struct text *t, const struct rule *r)
{
	bool built_in = strcmp(r->origin.file, "built-in") == 0 && r->origin.line == 0;

	text_add(t, r->key);
	if (r->text && !built_in) {
		text_add(t, " = ");
		text_add_shown(t, r->text, strlen(r->text), t->size / 6);
	}
	text_add(t, " (");
	text_add_shown(t, r->origin.file, strlen(r->origin.file), t->size / 6);
	if (r->origin.line) {
		text_add(t, ":");
		text_add_number(t, r->origin.line);
	}
	text_add(t, ")");
}

static void add_allowed(struct text *t, const struct request *q, const struct rule *r)
{
	text_add(t, " allowed");
	if (r) {
		text_add(t, " by ");
		add_rule(t, r);
	} else if (q->access == ACCESS_READ) {
		text_add(t, ": no deny_read covers it");
	} else if (q->access == ACCESS_EXEC) {
		text_add(t, ": no [exec] deny covers it");
	}
}

static void add_refused_by_default(struct text *t, const struct request *q)
{
	const char *missing = q->access < ACCESS_COUNT ? access_words[q->access].missing : NULL;

	text_add(t, " refused: ");
	if (missing) {
		text_add(t, "no ");
		text_add(t, missing);
		text_add(t, " covers it");
	} else {
		text_add(t, "not a canonical path");
	}
}

static bool is_allow_rule(const struct rule *r)
{
	return r->kind == RULE_ALLOW_WRITE || r->kind == RULE_ALLOW_OWN;
}

static bool makes(enum access a)
{
	return a == ACCESS_CREATE || a == ACCESS_MKDIR;
}

static void add_refused(struct text *t, const struct request *q, const struct verdict *v)
{
	const struct rule *r = v->rule;

	if (!r) {
		add_refused_by_default(t, q);
		return;
	}
	/* An allow rule refuses nothing but its own root. */
	text_add(t,
		 v->decision == VERDICT_DENY && is_allow_rule(r) ? " refused: the root of " : " refused by ");
	add_rule(t, r);
	if (v->decision == VERDICT_ALLOW_IF_OWN)
		text_add(t, makes(q->access) ? ": its directory was not made by this session"
					     : ": not made by this session");
	if (r->reason) {
		text_add(t, ": ");
		text_add_shown(t, r->reason, strlen(r->reason), t->size / 6);
	}
}

char *policy_explain(const struct request *q, const struct verdict *v, const char *home, char *buf,
		     size_t size)
{
	struct text t;

	if (!size)
		return buf;
	text_init(&t, buf, size);
	text_add(&t, access_name(q->access));
	text_add(&t, " ");
	add_path(&t, q, home);
	if (v->decision == VERDICT_ALLOW)
		add_allowed(&t, q, v->rule);
	else
		add_refused(&t, q, v);
	return buf;
}

char *policy_say_would(const char *text, char *buf, size_t size)
{
	const char *path = strstr(text, " refused"), *at = path ? path : strstr(text, " blocked by ");
	size_t n = at ? (size_t)(at - text) : strlen(text);
	struct text t;

	memset(buf, 0, size);
	text_init(&t, buf, size);
	if (at && n >= 4 && memcmp(at - 4, " was", 4) == 0)
		n -= 4;
	text_add_shown(&t, text, n, size);
	if (at) {
		text_add(&t, " would be");
		text_add(&t, at);
	}
	return buf;
}
