/*
 * cordon check [FILE...]: are these policies free of faults, and what do they come to?
 */
#ifndef CORDON_CHECK_H
#define CORDON_CHECK_H

#include "supervisor/opts.h"

/* Returns the exit status: 0, or 125 when there are faults. */
int check_command(const struct opts *o);

#endif
