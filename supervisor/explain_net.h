/*
 * "cordon explain connect HOST:PORT": what the rules, and /etc/hosts, say of a destination. No name is asked for and nothing
 * is connected to.
 */
#ifndef CORDON_EXPLAIN_NET_H
#define CORDON_EXPLAIN_NET_H

#include "supervisor/session.h"

enum explained { EXPLAINED_ALLOWED, EXPLAINED_REFUSED, EXPLAINED_FAILED };

/* Is this written as a path or the @name of a Unix socket, and not as a host? */
bool explain_is_unix(const char *target);
/* Prints the answer. */
enum explained explain_connect(const struct session *s, const char *target);

#endif
