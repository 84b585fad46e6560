/* Policies made by hand, for tests: "allow_write /w; deny_read /w/secret". */
#ifndef CORDON_POLICY_FIXTURE_H
#define CORDON_POLICY_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/config.h"
#include "policy/policy.h"

static const char *const kind_words[RULE_KINDS] = {
	[RULE_DENY_READ] = "deny_read",
	[RULE_ALLOW_READ] = "allow_read",
	[RULE_ALLOW_WRITE] = "allow_write",
	[RULE_ALLOW_OWN] = "allow_own",
	[RULE_DENY_WRITE] = "deny_write",
	[RULE_PROTECT] = "protect",
	[RULE_PROTECT_GIT] = "protect_git",
	[RULE_ALLOW_PROTECTED] = "allow_protected",
	[RULE_ALLOW_DEVICE] = "allow_device",
	[RULE_ALLOW_EXEC] = "allow",
	[RULE_DENY_EXEC] = "deny",
	[RULE_UNIX_SOCKET] = "allow_unix_socket",
};

/* What accesses are called in the tables of tests; access_name() does not tell mkdir from create. */
static const char *const access_keys[ACCESS_COUNT] = {
	"read", "write",    "create", "mkdir",	"delete",  "rename",
	"link", "metadata", "exec",   "device", "connect",
};

#define FIXTURE_RULES 256

struct fixture {
	struct config cfg;
	struct rule rule[FIXTURE_RULES];
	struct faults faults;
	struct policy *p;
};

/*
 * Adds a rule. A pattern that ends in '/' is for directories only; with '=' in front it is literal whatever it
 * holds. The file and line of the origin are "t.ini" and the number of the rule.
 */
static void fixture_add(struct fixture *x, enum rule_kind kind, const char *pattern)
{
	bool literal = *pattern == '=';
	const char *path = pattern + literal;
	size_t len = strlen(path);
	struct rule *r = &x->rule[x->cfg.n_rules];

	if (x->cfg.n_rules == FIXTURE_RULES)
		abort();
	*r = (struct rule){.kind = kind, .key = kind_words[kind]};
	r->text = strdup(path);
	r->dir_only = len > 1 && path[len - 1] == '/';
	r->path = strndup(path, len - r->dir_only);
	r->literal = literal || !strpbrk(path, "*?[\\");
	r->alias_of = x->cfg.n_rules++;
	r->origin = (struct origin){.file = "t.ini", .line = x->cfg.n_rules};
	x->cfg.rules = x->rule;
}

static inline void fixture_parse(struct fixture *x, const char *rules)
{
	char *copy = strdup(rules), *save = NULL;

	for (char *s = strtok_r(copy, ";", &save); s; s = strtok_r(NULL, ";", &save)) {
		char word[32], pattern[256];
		int kind = 0;

		if (sscanf(s, " %31s %255s", word, pattern) != 2)
			abort();
		while (kind < RULE_KINDS && strcmp(kind_words[kind], word) != 0)
			kind++;
		if (kind == RULE_KINDS)
			abort();
		fixture_add(x, kind, pattern);
	}
	free(copy);
}

/* x->p is NULL and x->faults tells why if the rules are at fault. */
static inline struct fixture *fixture_new(const char *rules)
{
	struct fixture *x = calloc(1, sizeof(*x));

	fixture_parse(x, rules);
	x->p = policy_new(&x->cfg, &x->faults);
	return x;
}

static void fixture_free(struct fixture *x)
{
	policy_free(x->p);
	faults_free(&x->faults);
	for (size_t i = 0; i < x->cfg.n_rules; i++) {
		free(x->rule[i].text);
		free(x->rule[i].path);
	}
	free(x);
}

/* "write f /w/x": access, type (f: file, d: directory, -: absent) and path. */
static inline struct request request_parse(const char *text)
{
	struct request q = {.type = OBJ_ABSENT};
	char word[32];
	int used = 0;

	if (sscanf(text, "%31s %n", word, &used) != 1 || strlen(text) < (size_t)used + 3)
		abort();
	while (q.access < ACCESS_COUNT && strcmp(access_keys[q.access], word) != 0)
		q.access++;
	q.type = text[used] == 'f' ? OBJ_OTHER : text[used] == 'd' ? OBJ_DIR : OBJ_ABSENT;
	q.path = text + used + 2;
	q.len = strlen(q.path);
	return q;
}

static const char *decision_word(enum decision d)
{
	return d == VERDICT_ALLOW ? "allow" : d == VERDICT_ALLOW_IF_OWN ? "own" : "deny";
}

/* "allow", "deny RULE", "own RULE", "git LEN allow" with RULE a key and its line, or "default". */
static inline char *verdict_print(const struct verdict *v, char *buf, size_t size)
{
	if (v->decision == VERDICT_ALLOW)
		snprintf(buf, size, "allow");
	else if (v->decision == VERDICT_ALLOW_IF_OWN_GIT)
		snprintf(buf, size, "git %zu %s", v->git_len, decision_word(v->if_git));
	else if (v->rule)
		snprintf(buf, size, "%s %s:%d", decision_word(v->decision), v->rule->key,
			 v->rule->origin.line);
	else
		snprintf(buf, size, "%s default", decision_word(v->decision));
	return buf;
}

#endif
