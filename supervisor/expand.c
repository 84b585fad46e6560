#include "supervisor/expand.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/way.h"

static bool is_allow(enum rule_kind k)
{
	return k == RULE_ALLOW_READ || k == RULE_ALLOW_WRITE || k == RULE_ALLOW_OWN ||
	       k == RULE_ALLOW_PROTECTED || k == RULE_ALLOW_DEVICE || k == RULE_ALLOW_EXEC ||
	       k == RULE_UNIX_SOCKET;
}

static bool lies_beneath(const char *path, const char *dir)
{
	size_t n = strcmp(dir, "/") == 0 ? 0 : strlen(dir);

	return strncmp(path, dir, n) == 0 && path[n] == '/';
}

/* The directories in which the command may write, by the names in the rules and by where these lead: made before any link
 * is looked at, so that the order of the rules does not matter. Of a pattern all beneath its fixed part counts. */
struct roots {
	char **list;
	size_t count;
	bool failed;
};

static void roots_add(struct roots *r, const char *path)
{
	char **more = realloc(r->list, (r->count + 1) * sizeof(*more));

	if (more)
		r->list = more;
	if (!more || !(r->list[r->count] = strdup(path)))
		r->failed = true;
	else
		r->count++;
}

static void roots_free(struct roots *r)
{
	for (size_t i = 0; i < r->count; i++)
		free(r->list[i]);
	free(r->list);
}

/* May the command write there, so that it (or a run before) may have made what is there? */
static bool may_be_planted(const struct roots *roots, const char *path)
{
	for (size_t i = 0; i < roots->count; i++)
		if (lies_beneath(path, roots->list[i]))
			return true;
	return roots->failed;
}

/* Where a path leads, and the first link on its way that may have been planted. */
struct track {
	struct way way;
	const struct roots *roots;
	char planted[PATH_MAX]; /* "": none */
};

static void note_planted(const char *name, mode_t mode, void *arg)
{
	struct track *t = arg;

	if (S_ISLNK(mode) && !t->planted[0] && may_be_planted(t->roots, name))
		snprintf(t->planted, sizeof(t->planted), "%.*s", PATH_MAX - 1, name);
}

static int follow(struct track *t, const char *path)
{
	t->planted[0] = '\0';
	t->way.visit = note_planted;
	t->way.arg = t;
	return way_follow(&t->way, path);
}

/* A glob's directories before its first wildcard, unquoted into dir; the rest of the pattern is returned. */
static const char *split_pattern(const char *pattern, char *dir, size_t size)
{
	const char *end = pattern, *p = pattern;
	size_t n = 0;

	for (; *p && !strchr("*?[", *p); p++) {
		if (*p == '/')
			end = p;
		if (*p == '\\' && p[1])
			p++;
	}
	for (p = pattern; p < end && n + 1 < size; p++) {
		if (*p == '\\' && p + 1 < end)
			p++;
		dir[n++] = *p;
	}
	dir[n] = '\0';
	return end;
}

static void quote(const char *path, char *out, size_t size)
{
	size_t n = 0;

	for (; *path && n + 2 < size; path++) {
		if (strchr("*?[\\", *path))
			out[n++] = '\\';
		out[n++] = *path;
	}
	out[n] = '\0';
}

struct adding {
	struct config *c;
	size_t index;	  /* of the original rule */
	const char *rest; /* what follows the directories of a pattern */
	bool failed;
};

/* Adds path (of the literal, or of the pattern's directories) as another name of the rule. */
static void add_name(const char *path, void *arg)
{
	struct adding *a = arg;
	const struct rule *r = &a->c->rules[a->index];
	char quoted[2 * PATH_MAX], name[3 * PATH_MAX];

	if (r->literal) {
		snprintf(name, sizeof(name), "%s", path);
	} else {
		quote(strcmp(path, "/") == 0 ? "" : path, quoted, sizeof(quoted));
		snprintf(name, sizeof(name), "%s%s", quoted, a->rest);
	}
	if (strcmp(name, r->path) != 0 && config_add_rule(a->c, r->kind, r->key, name, a->index) < 0)
		a->failed = true;
}

static void warn_planted(const struct rule *r, const struct track *t, void (*warn)(const char *line))
{
	char line[2 * PATH_MAX];

	snprintf(line, sizeof(line),
		 "%s = %s is not followed through the symbolic link %s, which lies where the command may "
		 "write",
		 r->key, r->text, t->planted);
	warn(line);
}

/* The fixed directories of a rule: its path, or what comes before a pattern's first wildcard. False: none. */
static bool fixed_part(const struct rule *r, char *dir, size_t size, const char **rest)
{
	*rest = "";
	if (r->path[0] != '/' || strlen(r->path) >= PATH_MAX)
		return false;
	if (r->literal)
		snprintf(dir, size, "%.*s", PATH_MAX - 1, r->path);
	else
		*rest = split_pattern(r->path, dir, size);
	return dir[0] != '\0' || !r->literal;
}

static void expand_one(struct config *c, size_t i, struct mounts *m, struct faults *f, struct track *t,
		       void (*warn)(const char *line))
{
	struct adding a = {.c = c, .index = i, .rest = ""};
	const struct rule own = c->rules[i],
			  *r = &own; /* the rules move when one is added, their texts do not */
	char dir[PATH_MAX];
	int rc;

	if (!fixed_part(r, dir, sizeof(dir), &a.rest) || dir[0] == '\0')
		return;
	rc = follow(t, dir);
	if (rc < 0 && is_allow(r->kind))
		return;
	if (rc < 0) {
		faults_add(f, r->origin.file, r->origin.line, "%s = %s cannot be resolved: %s", r->key,
			   r->text, strerror(-rc));
		return;
	}
	if (t->planted[0] && is_allow(r->kind) && strcmp(t->way.done, dir) != 0) {
		warn_planted(r, t, warn);
		return;
	}
	add_name(t->way.done, &a);
	mounts_aliases(m, t->way.done, add_name, &a);
	if (a.failed)
		faults_add(f, NULL, 0, "out of memory");
}

static void find_roots(const struct config *c, struct track *t, struct roots *roots)
{
	static const struct roots none;
	char dir[PATH_MAX];
	const char *rest;

	t->roots = &none;
	for (size_t i = 0; i < c->n_rules; i++) {
		const struct rule *r = &c->rules[i];

		if ((r->kind != RULE_ALLOW_WRITE && r->kind != RULE_ALLOW_OWN) ||
		    !fixed_part(r, dir, sizeof(dir), &rest))
			continue;
		roots_add(roots, dir[0] ? dir : "/");
		if (dir[0] && follow(t, dir) == 0)
			roots_add(roots, t->way.done);
	}
	t->roots = roots;
}

void expand_rules(struct config *c, struct mounts *m, struct faults *f, void (*warn)(const char *line))
{
	struct track *t = calloc(1, sizeof(*t));
	struct roots roots = {.list = NULL};
	size_t n = c->n_rules;

	if (!t) {
		faults_add(f, NULL, 0, "out of memory");
		return;
	}
	find_roots(c, t, &roots);
	for (size_t i = 0; i < n; i++)
		expand_one(c, i, m, f, t, warn);
	roots_free(&roots);
	free(t);
}
