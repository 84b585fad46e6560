#include "supervisor/rules.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "policy/net.h"
#include "supervisor/setup.h"
#include "supervisor/tmpdir.h"

bool rules_complete(struct loaded *l, struct mounts *m, const char *tmpdir)
{
	if (tmpdir && config_add_rule(l->config, RULE_ALLOW_WRITE, "private_tmp", tmpdir, SIZE_MAX) < 0) {
		fprintf(stderr, "cordon: out of memory\n");
		return false;
	}
	return setup_protect_own(l) && load_compile(l, m);
}

bool rules_load(struct loaded *l, const struct opts *o, struct mounts **m)
{
	char tmpdir[PATH_MAX];

	if (!load_config(l, o))
		return false;
	*m = mounts_new();
	if (!*m) {
		fprintf(stderr, "cordon: /proc/self/mountinfo cannot be read: %s\n", strerror(errno));
		return false;
	}
	if (l->config->private_tmp && tmpdir_name(tmpdir, sizeof(tmpdir)) == 0)
		return rules_complete(l, *m, tmpdir);
	return rules_complete(l, *m, NULL);
}

bool rules_check_cwd(const struct loaded *l, bool quiet)
{
	if (!l->builtin || l->n_files)
		return true;
	if (strcmp(l->cwd, "/") == 0) {
		fprintf(stderr,
			"cordon: the current directory is /, and the built-in policy opens it to writing; "
			"change to a project or give a policy (-p)\n");
		return false;
	}
	if (strcmp(l->cwd, l->home) == 0 && !quiet)
		fprintf(stderr,
			"cordon: the current directory is your home: the command may write all in it that no "
			"rule protects\n");
	return true;
}

void rules_hint_local(const struct loaded *l)
{
	if (l->builtin && access("sandbox.ini", F_OK) == 0)
		fprintf(stderr,
			"cordon: sandbox.ini is here but not in use; to use it: cordon -p sandbox.ini ...\n");
}

static void print_origin(const struct rule *r)
{
	fprintf(stderr, "cordon: %s", r->origin.file);
	if (r->origin.line)
		fprintf(stderr, ":%d", r->origin.line);
	fputs(": ", stderr);
}

/* What other tools would match at any depth. */
static bool is_shallow(const struct rule *r)
{
	return (r->kind == RULE_DENY_READ || r->kind == RULE_DENY_WRITE) && !r->literal &&
	       !strpbrk(r->text, "/~$");
}

void rules_hint_patterns(const struct loaded *l)
{
	const struct config *c = l->config;

	for (size_t i = 0; i < c->n_rules; i++) {
		const struct rule *r = &c->rules[i];

		if (r->alias_of != i || !is_shallow(r))
			continue;
		print_origin(r);
		fprintf(stderr, "%s = %s is ./%s, in this directory only; did you mean **/%s?\n", r->key,
			r->text, r->text, r->text);
	}
}

/* "allow = git" */
static bool is_bare(const struct rule *r)
{
	return !strpbrk(r->text, "/~$*?[") && strcmp(r->text, ".") != 0 && strcmp(r->text, "..") != 0;
}

static bool may_be_written(const struct loaded *l, const struct rule *r)
{
	struct request q = {
		.access = ACCESS_WRITE, .type = OBJ_OTHER, .path = r->path, .len = strlen(r->path)};

	return r->literal && policy_decide(l->policy, &q).decision == VERDICT_ALLOW;
}

static void hint_program(const struct loaded *l, const struct rule *r)
{
	if (is_bare(r)) {
		print_origin(r);
		fprintf(stderr, "[exec] %s = %s is ./%s, not what PATH finds; give its whole path\n", r->key,
			r->text, r->text);
	} else if (r->kind == RULE_ALLOW_EXEC && may_be_written(l, r)) {
		print_origin(r);
		fprintf(stderr, "[exec] %s = %s may be written by the command, which so runs what it likes\n",
			r->key, r->text);
	}
}

void rules_hint_programs(const struct loaded *l)
{
	const struct config *c = l->config;

	for (size_t i = 0; i < c->n_rules; i++)
		if (c->rules[i].alias_of == i &&
		    (c->rules[i].kind == RULE_ALLOW_EXEC || c->rules[i].kind == RULE_DENY_EXEC))
			hint_program(l, &c->rules[i]);
}

void rules_hint_network(const struct loaded *l)
{
	const struct config *c = l->config;

	for (size_t i = 0; i < c->n_resolves; i++) {
		const struct resolve_rule *r = &c->resolves[i];
		struct host_name name;
		char line[32] = "";

		if (host_canonicalise(r->host, strlen(r->host), &name) ||
		    net_decide_name(l->policy, &name, r->port).decision == VERDICT_ALLOW)
			continue;
		if (r->origin.line)
			snprintf(line, sizeof(line), ":%d", r->origin.line);
		fprintf(stderr, "cordon: %s%s: resolve = %s allows nothing by itself, and %s:%u is refused\n",
			r->origin.file, line, r->text, r->host, r->port);
	}
}
