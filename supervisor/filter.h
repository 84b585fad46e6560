/*
 * The seccomp program. Made when cordon is built: filter_gen turns the rows of sysc.def into one program
 * per combination of features with libseccomp (which takes over a millisecond, more than all the
 * rest of a start), checks each by interpretation against the rows, and writes them as C.
 */
#ifndef CORDON_FILTER_H
#define CORDON_FILTER_H

#include <linux/filter.h>
#include <stddef.h>

#include "supervisor/sysc.h"

/* Indexed by a set of enum sysc_feature. */
extern const struct sock_fprog filter_programs[FEATURE_COMBINATIONS];

/* The program for a set of enum sysc_feature. Never NULL; static data. */
const struct sock_fprog *filter_program(unsigned features);

/*
 * Loads it into the calling thread with a listener. no_new_privs must be set. Returns the listener's
 * descriptor (O_CLOEXEC) or -errno: EINVAL kernel too old for the flags, EBUSY when a listener of an outer
 * supervisor is in force, EACCES without no_new_privs. Makes no call but seccomp(2).
 */
int filter_load(unsigned features);

#endif
