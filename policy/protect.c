/*
 * The always-protected names: files that other programs read as instructions when they are next started,
 * outside the sandbox. At any depth, whether they exist or not.
 */
#include "policy/config_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/path_text.h"

static const char *const protected_names[] = {
	/* Start-up files of shells, run at every login or every new terminal. */
	".bashrc",
	".bash_profile",
	".bash_login",
	".bash_logout",
	".zshrc",
	".zprofile",
	".zshenv",
	".zlogin",
	".profile",
	".bash_aliases",
	/* Of graphical logins. */
	".xprofile",
	".xsession",
	".xinitrc",
	/* Editors and debuggers run what stands in them. */
	".vimrc",
	".exrc",
	".gdbinit",
	".lldbinit",
	/* direnv runs it on entering the directory. */
	".envrc",
	/* Aliases, editors, filters, sshCommand: git runs what they name. */
	".gitconfig",
	/* Where submodules are fetched from and how they are updated. */
	".gitmodules",
	/* --pre names a program. */
	".ripgreprc",
	/* Servers that an agent starts, what it may do unasked and what it runs around each step. */
	".mcp.json",
	".cursor/mcp.json",
	".cursor/hooks.json",
	".claude/commands",
	".claude/agents",
	".claude/hooks",
	".claude/settings*.json",
	/* Tasks and run configurations that an editor starts. */
	".vscode",
	".idea",
	/* Where husky points core.hooksPath. */
	".husky",
};

/*
 * Inside a .git only what lets a later git run code or take its configuration from elsewhere; the rest must
 * stay writable for commit, fetch, rebase, gc and worktree.
 *
 * Not here: info/attributes, which only picks among drivers that some config defines, as a
 * .gitattributes of the work tree does; objects/info/alternates, refs, HEAD, which name data, not code; the
 * todo list of a rebase under way, whose "exec" lines need someone to continue that rebase.
 */
static const char *const protected_git[] = {
	/* Run by commit, checkout, merge, push... */
	".git/hooks",
	/* core.fsmonitor, core.hooksPath, core.sshCommand, filter.*, alias.*, include.path. */
	".git/config",
	/* The same, read when extensions.worktreeConfig is set. */
	".git/config.worktree",
	/* Names another directory to take config and hooks from. */
	".git/commondir",
	/* The same two for each linked work tree; a worktree's own git reads its commondir first. */
	".git/worktrees/*/commondir",
	".git/worktrees/*/config.worktree",
	/* The repositories of submodules, whose names may hold slashes and which nest. */
	".git/modules/**/config",
	".git/modules/**/config.worktree",
	".git/modules/**/commondir",
	".git/modules/**/hooks",
};

static const struct origin built_in = {.file = "built-in"};

static bool add_name(struct config *c, enum rule_kind kind, const char *name)
{
	char pattern[128];

	snprintf(pattern, sizeof(pattern), "/**/%s", name);
	return config_new_rule(c, kind, "protect", name, pattern, built_in) != NULL;
}

/* cordon's own policies: with the right to write one, the next run would obey it. base is what text begins
 * with; without one nobody reads policies there. */
static void add_own(struct config *c, const struct config_env *env, const char *base, const char *text,
		    struct faults *f)
{
	char why[128] = "out of memory";
	struct rule *rule = NULL;
	struct path_text p;

	if (!base || *base != '/')
		return;
	if (path_text_expand(env, text, &p, why, sizeof(why))) {
		rule = config_new_rule(c, RULE_PROTECT, "protect", text, p.path, built_in);
		free(p.path);
	}
	/* What is inserted is never a pattern, so the path is literal. */
	if (rule)
		rule->literal = true;
	else
		faults_add(f, built_in.file, 0, "protecting %s: %s", text, why);
}

void config_add_protected(struct config *c, const struct config_env *env, struct faults *f)
{
	bool ok = true;

	if (!c->protect)
		return;
	for (size_t i = 0; i < sizeof(protected_names) / sizeof(*protected_names); i++)
		ok &= add_name(c, RULE_PROTECT, protected_names[i]);
	for (size_t i = 0; i < sizeof(protected_git) / sizeof(*protected_git); i++)
		ok &= add_name(c, RULE_PROTECT_GIT, protected_git[i]);
	if (!ok)
		faults_add(f, NULL, 0, "out of memory");
	add_own(c, env, env->home, "~/.config/cordon", f);
	add_own(c, env, env->getvar ? env->getvar("XDG_CONFIG_HOME", env->arg) : NULL,
		"$XDG_CONFIG_HOME/cordon", f);
}
