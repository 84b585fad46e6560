/*
 * uthash as it is used here. Out of memory is an answer, not the end of the process: a failed HASH_ADD sets the
 * member "lost" of the entry. Include it after all other headers.
 */
#ifndef CORDON_HASH_H
#define CORDON_HASH_H

#define HASH_NONFATAL_OOM      1
#define uthash_nonfatal_oom(e) ((e)->lost = true)
/* clang warns of the default one, which falls through in a switch. */
#define HASH_FUNCTION HASH_OAT
#include <uthash.h>

#endif
