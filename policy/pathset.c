#include "policy/pathset.h"
#include "policy/pathset_private.h"

#include <stdlib.h>
#include <string.h>

#include "policy/component.h"

static int compare_bool(bool a, bool b)
{
	return (a > b) - (a < b);
}

/* Never 0 for rules that differ in what they match. */
static int compare_rules(const struct rule *a, const struct rule *b)
{
	int c = (a->kind > b->kind) - (a->kind < b->kind);

	if (!c)
		c = compare_bool(b->literal, a->literal);
	if (!c)
		c = strcmp(a->path, b->path);
	if (!c)
		c = compare_bool(a->dir_only, b->dir_only);
	return c;
}

static int compare_entries(const void *a, const void *b)
{
	const struct pathset_entry *x = a, *y = b;
	int c = compare_rules(x->rule, y->rule);

	return c ? c : (x->rule > y->rule) - (x->rule < y->rule);
}

/* Sorts the entries by what they match, and drops duplicates. */
static void rank_entries(struct pathset *s)
{
	size_t kept = 0;

	qsort(s->entry, s->n, sizeof(*s->entry), compare_entries);
	for (size_t i = 0; i < s->n; i++) {
		if (kept && compare_rules(s->entry[kept - 1].rule, s->entry[i].rule) == 0)
			continue;
		s->entry[kept] = s->entry[i];
		s->entry[kept].rank = kept;
		kept++;
	}
	s->n = kept;
}

static struct pathset_half *half_of(struct pathset *s, enum rule_kind kind)
{
	return &s->half[rule_kind_is_caseless(kind) ? HALF_CASELESS : HALF_EXACT];
}

static void push(struct pathset_entry **list, struct pathset_entry *e)
{
	e->next = *list;
	*list = e;
}

static void mark_beneath(struct trie_node *n, const struct pathset_entry *e)
{
	if (n->beneath && n->beneath_rank < e->rank)
		return;
	n->beneath = e->rule;
	n->beneath_rank = e->rank;
}

static int add_literal(struct pathset *s, struct pathset_entry *e)
{
	struct trie *t = &half_of(s, e->rule->kind)->trie;
	const char *path = e->rule->path, *name;
	size_t end = path_end(strlen(path)), pos = 0, len;
	uint32_t at = TRIE_ROOT;

	while (component_next(path, end, &pos, &name, &len)) {
		if (e->rule->kind == RULE_ALLOW_WRITE)
			mark_beneath(&t->node[at], e);
		at = trie_add_child(t, at, name, len);
		if (at == TRIE_NONE)
			return -1;
	}
	push(&t->node[at].literals, e);
	return 0;
}

/* Hangs the glob into the tree where its leading literals end. */
static int add_to_tree(struct trie *t, struct pathset_entry *e)
{
	uint32_t at = TRIE_ROOT;

	for (size_t i = 0; i < e->n_leading; i++) {
		const struct glob_component *c = &e->glob->component[i];

		at = trie_add_child(t, at, c->text, c->len);
		if (at == TRIE_NONE)
			return -1;
	}
	push(e->plain ? &t->node[at].literals : &t->node[at].globs, e);
	return 0;
}

static bool is_suffix_glob(const struct pathset_entry *e)
{
	const struct glob *g = e->glob;
	size_t i = e->n_leading;

	if (i + 1 >= g->n || g->component[i].kind != GLOB_ANY_DEPTH)
		return false;
	while (++i < g->n)
		if (g->component[i].kind != GLOB_LITERAL)
			return false;
	return true;
}

static void examine_glob(struct pathset_entry *e)
{
	const struct glob *g = e->glob;

	while (e->n_leading < g->n && g->component[e->n_leading].kind == GLOB_LITERAL)
		e->n_leading++;
	e->plain = e->n_leading == g->n;
	for (size_t i = 0; i < g->n; i++) {
		const struct glob_component *c = &g->component[i];

		if (c->kind != GLOB_LITERAL)
			continue;
		e->suffix_hash = component_hash(c->text, c->len, g->caseless);
		e->need |= hash_bit(e->suffix_hash);
	}
}

static int add_glob(struct pathset *s, struct pathset_entry *e)
{
	struct pathset_half *h = half_of(s, e->rule->kind);

	examine_glob(e);
	if (!is_suffix_glob(e))
		return add_to_tree(&h->trie, e);
	push(&h->suffix[e->suffix_hash & (h->n_buckets - 1)], e);
	h->n_suffix++;
	return 0;
}

static bool has_valid_literal(const struct rule *r)
{
	size_t len = strlen(r->path), pos = 0, n;
	const char *name;

	while (component_next(r->path, path_end(len), &pos, &name, &n))
		if (!n || component_is_dots(name, n))
			return false;
	return true;
}

/* What is wrong with the rule's path, or NULL. Leaves the glob in the entry, NULL there: no memory. */
static const char *compile_path(struct pathset_entry *e)
{
	const struct rule *r = e->rule;
	const char *why;

	if (r->path[0] != '/' && (r->literal || strncmp(r->path, "**", 2) != 0))
		return "not an absolute path";
	if (r->literal)
		return has_valid_literal(r) ? NULL : "not a plain absolute path";
	e->glob = glob_new(r->path, rule_kind_is_caseless(r->kind), &why);
	return why;
}

static int add_entry(struct pathset *s, struct pathset_entry *e, struct faults *f)
{
	const struct rule *r = e->rule;
	const char *why = compile_path(e);

	if (why) {
		faults_add(f, r->origin.file, r->origin.line, "%s = %s: %s", r->key,
			   r->text ? r->text : r->path, why);
		return 0;
	}
	if (r->literal)
		return add_literal(s, e);
	return e->glob ? add_glob(s, e) : -1;
}

static int init_half(struct pathset_half *h, bool caseless, size_t n)
{
	h->n_buckets = 16;
	while (h->n_buckets < n)
		h->n_buckets *= 2;
	h->suffix = calloc(h->n_buckets, sizeof(struct pathset_entry *));
	if (trie_init(&h->trie, caseless) || !h->suffix)
		return -1;
	return 0;
}

static struct pathset *pathset_alloc(const struct rule *rules, size_t n)
{
	struct pathset *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->entry = calloc(n + 1, sizeof(*s->entry));
	for (int i = 0; i < HALVES; i++) {
		if (init_half(&s->half[i], i == HALF_CASELESS, n) || !s->entry) {
			pathset_free(s);
			return NULL;
		}
	}
	for (size_t i = 0; i < n; i++) {
		/* An abstract socket's name is no path. */
		if (rules[i].kind == RULE_UNIX_SOCKET && rules[i].path[0] == '@')
			continue;
		s->entry[s->n++].rule = &rules[i];
	}
	return s;
}

struct pathset *pathset_new(const struct rule *rules, size_t n, struct faults *f)
{
	struct pathset *s = n < UINT32_MAX / 2 ? pathset_alloc(rules, n) : NULL;
	size_t faults = faults_count(f);
	int err = s ? 0 : -1;

	if (s)
		rank_entries(s);
	for (size_t i = 0; s && !err && i < s->n; i++)
		err = add_entry(s, &s->entry[i], f);
	if (err)
		faults_add(f, NULL, 0, "out of memory");
	if (!err && faults_count(f) == faults)
		return s;
	pathset_free(s);
	return NULL;
}

void pathset_free(struct pathset *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		glob_free(s->entry[i].glob);
	for (int i = 0; i < HALVES; i++) {
		trie_free(&s->half[i].trie);
		free(s->half[i].suffix);
	}
	free(s->entry);
	free(s);
}
