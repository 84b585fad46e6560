#include "supervisor/siphash.h"

#include <endian.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "supervisor/lockdown.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(getrandom));

void siphash_key_make(struct siphash_key *key)
{
	if (getrandom(key, sizeof(*key), GRND_NONBLOCK) == (ssize_t)sizeof(*key))
		return;
	/* Only before the pool is ready, early at boot; the hash only has to be hard to guess. */
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	key->k[0] = (uint64_t)ts.tv_nsec << 32 ^ (uint64_t)ts.tv_sec;
	key->k[1] = (uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15u;
}

static inline uint64_t rotl(uint64_t x, int n)
{
	return x << n | x >> (64 - n);
}

static void sip_rounds(uint64_t v[4], int n)
{
	while (n-- > 0) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotl(v[1], 13) ^ v[0];
		v[3] = rotl(v[3], 16) ^ v[2];
		v[0] = rotl(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotl(v[1], 17) ^ v[2];
		v[3] = rotl(v[3], 21) ^ v[0];
		v[2] = rotl(v[2], 32);
	}
}

static void sip_word(uint64_t v[4], uint64_t m)
{
	v[3] ^= m;
	sip_rounds(v, 2);
	v[0] ^= m;
}

uint64_t siphash(const struct siphash_key *key, const void *data, size_t len)
{
	const unsigned char *p = data;
	uint64_t v[4] = {key->k[0] ^ 0x736f6d6570736575u, key->k[1] ^ 0x646f72616e646f6du,
			 key->k[0] ^ 0x6c7967656e657261u, key->k[1] ^ 0x7465646279746573u};
	uint64_t m, last = (uint64_t)len << 56;
	size_t i;

	for (i = 0; i + 8 <= len; i += 8) {
		memcpy(&m, p + i, 8);
		sip_word(v, le64toh(m));
	}
	for (size_t j = 0; i + j < len; j++)
		last |= (uint64_t)p[i + j] << (8 * j);
	sip_word(v, last);
	v[2] ^= 0xff;
	sip_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
