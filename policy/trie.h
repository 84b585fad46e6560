/*
 * A prefix tree of path components. Children are found through one hash table for the whole tree, keyed
 * by parent and name, so that a step costs the same however many children a node has.
 *
 * Names are borrowed. Nodes are known by index; they move in memory while the tree grows.
 */
#ifndef CORDON_TRIE_H
#define CORDON_TRIE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIE_ROOT 0u
#define TRIE_NONE UINT32_MAX

struct rule;
struct pathset_entry;

struct trie_node {
	const char *name;
	size_t len;
	uint32_t hash;
	uint32_t parent;
	bool has_children;
	struct pathset_entry *literals; /* rules for exactly this path */
	struct pathset_entry *globs;	/* rules whose literal components end here */
	const struct rule *beneath;	/* a literal allow_write strictly beneath */
	uint32_t beneath_rank;
};

struct trie {
	bool caseless;
	struct trie_node *node;
	size_t n, cap;
	uint32_t *slot; /* node index + 1, 0: empty; open addressing */
	size_t n_slots; /* a power of two, more than twice n */
};

/* 0, or -1 when out of memory; then too the tree can be freed. */
int trie_init(struct trie *t, bool caseless);
void trie_free(struct trie *t);

/* The hash is component_hash() of the name with the tree's own caselessness. TRIE_NONE: no such child. */
uint32_t trie_find_child(const struct trie *t, uint32_t parent, uint32_t hash, const char *name, size_t len);

/* Finds or makes the child. TRIE_NONE: out of memory. */
uint32_t trie_add_child(struct trie *t, uint32_t parent, const char *name, size_t len);

#endif
