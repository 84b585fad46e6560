/*
 * cordon explain OPERATION PATH...: what a run would answer, and which rule decides. The question goes through the
 * same resolution and judgement as the calls of a command; it is put as the first thing a new session does.
 */
#ifndef CORDON_EXPLAIN_H
#define CORDON_EXPLAIN_H

#include "supervisor/opts.h"

/* Returns the exit status: 0 all allowed, 1 something refused, 125 a question could not be answered. */
int explain_command(const struct opts *o);

#endif
