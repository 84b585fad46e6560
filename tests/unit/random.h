/* Repeatable random numbers for tests: the seed is printed, and taken from CORDON_TEST_SEED when set. */
#ifndef CORDON_TEST_RANDOM_H
#define CORDON_TEST_RANDOM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t random_state;

static void random_init(void)
{
	const char *seed = getenv("CORDON_TEST_SEED");

	random_state = seed ? strtoull(seed, NULL, 0) : 20240607;
	printf("CORDON_TEST_SEED=%llu\n", (unsigned long long)random_state);
}

/* splitmix64 */
static uint64_t random_next(void)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static size_t random_below(size_t n)
{
	return random_next() % n;
}

#endif
