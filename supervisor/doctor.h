/*
 * cordon doctor: which layers this machine or container gives, and what follows.
 */
#ifndef CORDON_DOCTOR_H
#define CORDON_DOCTOR_H

#include "supervisor/opts.h"

/* Returns the exit status: 0 when commands can be run here, 1 when something is missing. */
int doctor_command(const struct opts *o);

#endif
