/* How a component with wildcards is compiled; shared by glob.c and glob_match.c only. */
#ifndef CORDON_GLOB_OPS_H
#define CORDON_GLOB_OPS_H

#include <stdbool.h>
#include <stdint.h>

/* Below OP_STAR an op is the byte to match (folded in caseless patterns), from OP_SET on the number of a set. */
enum { OP_STAR = 256, OP_ANY, OP_SET };

static inline bool glob_set_has(const uint64_t set[4], unsigned char c)
{
	return set[c / 64] >> c % 64 & 1;
}

#endif
