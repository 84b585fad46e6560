/* Shared by pathset.c, which builds, and pathset_match.c, which walks. */
#ifndef CORDON_PATHSET_PRIVATE_H
#define CORDON_PATHSET_PRIVATE_H

#include "policy/glob.h"
#include "policy/pathset.h"
#include "policy/trie.h"

struct pathset_entry {
	const struct rule *rule;
	uint32_t rank;
	struct glob *glob;    /* NULL for literal rules */
	bool plain;	      /* a glob without wildcards: stands among the literals of the tree */
	size_t n_leading;     /* literal components at the start of the glob */
	uint64_t need;	      /* a bit for each literal component, by hash */
	uint32_t suffix_hash; /* of the last component, in the suffix table */
	struct pathset_entry *next;
};

/* The rules of one way to compare. */
struct pathset_half {
	struct trie trie;
	struct pathset_entry **suffix; /* buckets; a power of two of them */
	size_t n_buckets;
	size_t n_suffix;
};

enum { HALF_EXACT, HALF_CASELESS, HALVES };

struct pathset {
	struct pathset_half half[HALVES];
	struct pathset_entry *entry;
	size_t n;
};

static inline uint64_t hash_bit(uint32_t hash)
{
	return UINT64_C(1) << hash % 64;
}

#endif
