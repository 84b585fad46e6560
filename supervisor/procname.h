/*
 * Names beneath /proc/PID. Pure.
 */
#ifndef CORDON_PROCNAME_H
#define CORDON_PROCNAME_H

#include <stdbool.h>

/* What "ps" shows of a stranger anyway. rest: what follows the number. */
bool procname_is_public(const char *rest);

#endif
