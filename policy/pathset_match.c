#include "policy/pathset.h"
#include "policy/pathset_private.h"

#include <string.h>

#include "policy/component.h"

/* A walk over one path. */
struct walk {
	const char *path;
	size_t end;
	bool is_dir;
	uint64_t seen[HALVES]; /* a bit for each component of the path, by hash */
	uint32_t at[HALVES];   /* where it stands in the trees; TRIE_NONE: off them */
	struct pathset_hits *hits;
};

/* Also refuses what the caller should never send, so that a name like ".." cannot get around a rule. */
static bool scan_path(struct walk *w)
{
	const char *name;
	size_t pos = 0, len;

	while (component_next(w->path, w->end, &pos, &name, &len)) {
		if (!len || component_is_dots(name, len))
			return false;
		for (int i = 0; i < HALVES; i++)
			w->seen[i] |= hash_bit(component_hash(name, len, i == HALF_CASELESS));
	}
	return true;
}

static void record(struct walk *w, const struct pathset_entry *e, size_t pos)
{
	enum rule_kind kind = e->rule->kind;
	struct pathset_hit *best = &w->hits->best[kind];
	bool full = pos == w->end;
	size_t anchor = path_anchor(pos);

	if (full && e->rule->dir_only && !w->is_dir)
		return;
	if (!full)
		w->hits->inside[kind] = true;
	if (full && e->rule->literal)
		w->hits->root[kind] = e->rule;
	if (!best->rule || anchor > best->anchor || (anchor == best->anchor && e->rank < best->rank))
		*best = (struct pathset_hit){.rule = e->rule, .anchor = anchor, .rank = e->rank};
}

static void run_glob(struct walk *w, const struct pathset_entry *e, size_t pos)
{
	struct glob_match m = {0};

	w->hits->n_globs++;
	glob_match(e->glob, e->n_leading, w->path, w->end, pos, &m);
	if (m.is_proper)
		record(w, e, m.proper);
	if (m.full)
		record(w, e, w->end);
}

static void visit_node(struct walk *w, const struct trie *t, uint64_t seen, uint32_t at, size_t pos)
{
	const struct trie_node *n = &t->node[at];

	for (const struct pathset_entry *e = n->literals; e; e = e->next)
		record(w, e, pos);
	for (const struct pathset_entry *e = n->globs; e; e = e->next)
		if ((e->need & ~seen) == 0)
			run_glob(w, e, pos);
}

/* Whether the path up to pos is the glob's leading literals, anything, and its trailing literals. */
static bool suffix_matches(const struct walk *w, const struct pathset_entry *e, size_t pos)
{
	const struct glob *g = e->glob;
	const char *path = w->path, *name;
	size_t from = 0, len;

	for (size_t i = g->n - 1; i > e->n_leading; i--) {
		const struct glob_component *c = &g->component[i];

		if (pos < c->len + 1 || path[pos - c->len - 1] != '/' ||
		    !component_equal(path + pos - c->len, c->text, c->len, g->caseless))
			return false;
		pos -= c->len + 1;
	}
	for (size_t i = 0; i < e->n_leading; i++) {
		const struct glob_component *c = &g->component[i];

		if (!component_next(path, pos, &from, &name, &len) || len != c->len ||
		    !component_equal(name, c->text, len, g->caseless))
			return false;
	}
	return true;
}

static void visit_component(struct walk *w, const struct pathset *s, const char *name, size_t len, size_t pos)
{
	for (int i = 0; i < HALVES; i++) {
		const struct pathset_half *h = &s->half[i];
		const struct pathset_entry *e;
		uint32_t hash;

		if (w->at[i] == TRIE_NONE && !h->n_suffix)
			continue;
		hash = component_hash(name, len, i == HALF_CASELESS);
		if (w->at[i] != TRIE_NONE) {
			w->hits->n_lookups++;
			w->at[i] = trie_find_child(&h->trie, w->at[i], hash, name, len);
		}
		if (w->at[i] != TRIE_NONE)
			visit_node(w, &h->trie, w->seen[i], w->at[i], pos);
		if (!h->n_suffix)
			continue;
		for (e = h->suffix[hash & (h->n_buckets - 1)]; e; e = e->next)
			if (e->suffix_hash == hash && suffix_matches(w, e, pos))
				record(w, e, pos);
	}
}

bool pathset_match(const struct pathset *s, const char *path, size_t len, bool is_dir,
		   struct pathset_hits *hits)
{
	struct walk w = {.path = path, .end = path_end(len), .is_dir = is_dir, .hits = hits};
	const char *name;
	size_t pos = 0, n;

	memset(hits, 0, sizeof(*hits));
	if (!len || path[0] != '/' || !scan_path(&w))
		return false;
	for (int i = 0; i < HALVES; i++)
		visit_node(&w, &s->half[i].trie, w.seen[i], TRIE_ROOT, 0);
	while (component_next(path, w.end, &pos, &name, &n))
		visit_component(&w, s, name, n, pos);
	if (w.at[HALF_EXACT] != TRIE_NONE)
		hits->beneath = s->half[HALF_EXACT].trie.node[w.at[HALF_EXACT]].beneath;
	return true;
}

static bool has_rules_beneath(const struct trie *t, const char *path, size_t end)
{
	uint32_t at = TRIE_ROOT;
	const char *name;
	size_t pos = 0, len;

	while (component_next(path, end, &pos, &name, &len)) {
		at = trie_find_child(t, at, component_hash(name, len, t->caseless), name, len);
		if (at == TRIE_NONE)
			return false;
	}
	return t->node[at].has_children;
}

static bool can_match_beneath(const struct pathset_entry *e, const char *dir, size_t end)
{
	const char *path = e->rule->path;
	uint64_t states[GLOB_SET_WORDS];
	uint64_t any = 0;

	if (!e->glob)
		return strncmp(path, dir, end) == 0 && path[end] == '/' && path[end + 1] != '\0';
	glob_get_states(e->glob, dir, end, states);
	for (size_t i = 0; i < GLOB_SET_WORDS; i++)
		any |= states[i];
	return any != 0;
}

bool pathset_opens_beneath(const struct pathset *s, const char *dir, size_t len)
{
	for (size_t i = 0; i < s->n; i++) {
		enum rule_kind kind = s->entry[i].rule->kind;

		if ((kind == RULE_ALLOW_READ || kind == RULE_ALLOW_WRITE) &&
		    can_match_beneath(&s->entry[i], dir, path_end(len)))
			return true;
	}
	return false;
}

static bool has_git(const char *path, size_t end)
{
	const char *name;
	size_t pos = 0, len;

	while (component_next(path, end, &pos, &name, &len))
		if (component_is_git(name, len))
			return true;
	return false;
}

/*
 * A verdict about a .git also says which one, so beneath a .git a rule must still have its own ".git" to come:
 * no state beyond that component may be live.
 */
static bool git_is_to_come(const struct glob *g, const uint64_t set[GLOB_SET_WORDS])
{
	size_t git = 0;

	while (git < g->n && !(g->component[git].kind == GLOB_LITERAL &&
			       component_is_git(g->component[git].text, g->component[git].len)))
		git++;
	if (git == g->n)
		return false;
	for (size_t i = git + 1; i < g->n; i++)
		if (set[i / 64] >> i % 64 & 1)
			return false;
	return true;
}

bool pathset_same_states(const struct pathset *s, const char *a, size_t alen, const char *b, size_t blen)
{
	size_t aend = path_end(alen), bend = path_end(blen);
	uint64_t sa[GLOB_SET_WORDS], sb[GLOB_SET_WORDS];
	bool git;

	if (alen == blen && memcmp(a, b, alen) == 0)
		return true;
	/* Different paths never stand at the same node, except by case; that is not worth telling apart. */
	for (int i = 0; i < HALVES; i++) {
		const struct trie *t = &s->half[i].trie;

		if (has_rules_beneath(t, a, aend) || has_rules_beneath(t, b, bend))
			return false;
	}
	git = has_git(a, aend) || has_git(b, bend);
	for (size_t i = 0; i < s->n; i++) {
		const struct pathset_entry *e = &s->entry[i];

		if (!e->glob || e->plain)
			continue;
		glob_get_states(e->glob, a, aend, sa);
		glob_get_states(e->glob, b, bend, sb);
		if (memcmp(sa, sb, sizeof(sa)) != 0)
			return false;
		if (git && e->rule->kind == RULE_PROTECT_GIT && !git_is_to_come(e->glob, sa))
			return false;
	}
	return true;
}
