#include "policy/trie.h"

#include <stdlib.h>

#include "policy/component.h"

#define INITIAL_SLOTS 64

static size_t slot_index(const struct trie *t, uint32_t parent, uint32_t hash)
{
	uint32_t h = (hash ^ parent * 0x9e3779b1u) * 2246822519u;

	return (h ^ h >> 15) & (t->n_slots - 1);
}

/* The slot of the child, or the empty one where it would go. */
static uint32_t *find_slot(const struct trie *t, uint32_t parent, uint32_t hash, const char *name, size_t len)
{
	size_t i = slot_index(t, parent, hash);

	for (; t->slot[i]; i = (i + 1) & (t->n_slots - 1)) {
		const struct trie_node *n = &t->node[t->slot[i] - 1];

		if (n->hash == hash && n->parent == parent && n->len == len &&
		    component_equal(n->name, name, len, t->caseless))
			break;
	}
	return &t->slot[i];
}

int trie_init(struct trie *t, bool caseless)
{
	*t = (struct trie){.caseless = caseless, .n = 1, .cap = INITIAL_SLOTS / 4, .n_slots = INITIAL_SLOTS};
	t->node = calloc(t->cap, sizeof(*t->node));
	t->slot = calloc(t->n_slots, sizeof(*t->slot));
	if (!t->node || !t->slot)
		return -1;
	/* In no slot, so that it is nobody's child. */
	t->node[TRIE_ROOT].parent = TRIE_NONE;
	return 0;
}

void trie_free(struct trie *t)
{
	free(t->node);
	free(t->slot);
	*t = (struct trie){0};
}

uint32_t trie_find_child(const struct trie *t, uint32_t parent, uint32_t hash, const char *name, size_t len)
{
	uint32_t s;

	if (!t->node[parent].has_children)
		return TRIE_NONE;
	s = *find_slot(t, parent, hash, name, len);
	return s ? s - 1 : TRIE_NONE;
}

static int grow(struct trie *t)
{
	size_t n_slots = t->n_slots * 2;
	struct trie_node *node = reallocarray(t->node, t->cap * 2, sizeof(*node));
	uint32_t *slot;

	if (!node)
		return -1;
	t->node = node;
	slot = calloc(n_slots, sizeof(*slot));
	if (!slot)
		return -1;
	t->cap *= 2;
	free(t->slot);
	t->slot = slot;
	t->n_slots = n_slots;
	for (size_t i = TRIE_ROOT + 1; i < t->n; i++) {
		struct trie_node *n = &t->node[i];

		*find_slot(t, n->parent, n->hash, n->name, n->len) = i + 1;
	}
	return 0;
}

uint32_t trie_add_child(struct trie *t, uint32_t parent, const char *name, size_t len)
{
	uint32_t hash = component_hash(name, len, t->caseless);
	uint32_t *slot;

	slot = find_slot(t, parent, hash, name, len);
	if (*slot)
		return *slot - 1;
	if (t->n == t->cap) {
		if (t->n >= TRIE_NONE / 8 || grow(t))
			return TRIE_NONE;
		slot = find_slot(t, parent, hash, name, len);
	}
	t->node[t->n] = (struct trie_node){.name = name, .len = len, .hash = hash, .parent = parent};
	t->node[parent].has_children = true;
	*slot = ++t->n;
	return t->n - 1;
}
