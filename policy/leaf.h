/*
 * Names that are made to be gone again, so that a rule for one would never be of use. Pure.
 */
#ifndef CORDON_LEAF_H
#define CORDON_LEAF_H

#include <stdbool.h>
#include <stddef.h>

/* A lock, a name from mkstemp(3) and its kin, a UUID or a long hexadecimal number; a guess. */
bool leaf_is_passing(const char *leaf, size_t n);

#endif
