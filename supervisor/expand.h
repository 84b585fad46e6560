/*
 * Other names of the paths in the rules. Objects are judged by their canonical name, so a rule whose path leads through
 * a symbolic link gets a second name: where it leads to. And a tree that is mounted in two places has two names.
 *
 * Deny and protected rules are always followed. An allow rule is not when a link on its way lies where the command
 * may write: an earlier run could have made it, and the rule would then open whatever it points to.
 */
#ifndef CORDON_EXPAND_H
#define CORDON_EXPAND_H

#include "policy/config.h"
#include "supervisor/mounts.h"

/* Adds the names. warn gets one line for each allow rule that is not followed. A link that leads nowhere in a circle in
 * a deny rule is a fault. */
void expand_rules(struct config *c, struct mounts *m, struct faults *f, void (*warn)(const char *line));

#endif
