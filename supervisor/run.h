/*
 * One run: policy, set-up, supervision, end.
 */
#ifndef CORDON_RUN_H
#define CORDON_RUN_H

#include "supervisor/opts.h"

/* Returns the exit status of cordon. */
int run_command(const struct opts *o);

#endif
