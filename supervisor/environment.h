/*
 * The environment that the command starts with.
 */
#ifndef CORDON_ENVIRONMENT_H
#define CORDON_ENVIRONMENT_H

#include "supervisor/session.h"

/* cordon's own, TMPDIR, CORDON_SESSION, the variables of the proxy, and then [environment]. NULL when out of memory. */
char **environment_make(const struct session *s, const char *tmpdir);

#endif
