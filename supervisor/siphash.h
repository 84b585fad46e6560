/*
 * SipHash-2-4: a keyed hash for tables whose keys the workload chooses. Without the key nobody can make two
 * texts that collide on purpose.
 */
#ifndef CORDON_SIPHASH_H
#define CORDON_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

struct siphash_key {
	uint64_t k[2];
};

/* A fresh random key. */
void siphash_key_make(struct siphash_key *key);
uint64_t siphash(const struct siphash_key *key, const void *data, size_t len);

#endif
