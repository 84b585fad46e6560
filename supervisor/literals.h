/*
 * The files that deny_read rules name, by identity: a file with several names may be known to a rule by another name
 * than the one it is opened by.
 *
 * Identities are looked up anew at most once a second, and only when a file with several names is opened: an overlay's
 * copy-up gives a file another inode, so numbers from the start would be wrong, and asking the file system for each rule
 * at each open would cost with the number of rules.
 *
 * Thread-safe.
 */
#ifndef CORDON_LITERALS_H
#define CORDON_LITERALS_H

#include <stdbool.h>

#include "policy/config.h"

struct literals;
struct statx;

/* Borrows the config. seen_by_others: the session may come to act for other users, so look now. NULL when out of
 * memory. */
struct literals *literals_new(const struct config *c, bool seen_by_others);

/* The rule that names this file, or NULL. */
const struct rule *literals_find(struct literals *l, const struct statx *st);

#endif
