/*
 * Names beneath /proc/PID. Pure.
 */
#ifndef CORDON_PROCNAME_H
#define CORDON_PROCNAME_H

#include <stdbool.h>

/* What "ps" shows of a stranger anyway. rest: what follows the number. */
bool procname_is_public(const char *rest);

/* A descriptor or a mapping: the kernel lets the process itself into these directories, whatever their mode says. */
bool procname_is_held(const char *rest);

#endif
