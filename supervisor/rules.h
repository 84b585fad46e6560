/*
 * The rules of a run: what the policy says, and what cordon adds to it for itself. Shared by all subcommands, so that
 * "check" and "explain" speak of the same rules that a run has.
 */
#ifndef CORDON_RULES_H
#define CORDON_RULES_H

#include "supervisor/load.h"

/* After load_config(): adds the session's TMPDIR (NULL: none) and the names of cordon's own files, then other names of
 * all these, and compiles. Prints all faults and returns false when there is any. */
bool rules_complete(struct loaded *l, struct mounts *m, const char *tmpdir);

/* All from the command line to the compiled policy as a run would have it, with a mere name for its TMPDIR. */
bool rules_load(struct loaded *l, const struct opts *o, struct mounts **m);

/* The built-in policy opens the current directory: refuses "/" (false, with a line) and warns of the home directory. */
bool rules_check_cwd(const struct loaded *l, bool quiet);

/* One line on stderr about a sandbox.ini in the current directory that is not in use. */
void rules_hint_local(const struct loaded *l);

/* Lines on stderr about patterns without a "/" that refuse: they hold in the current directory and not at any depth. */
void rules_hint_patterns(const struct loaded *l);

/* Lines on stderr about [exec] rules that do not say what they seem to: names without a "/", which begin in the current
 * directory and not along PATH, and an allow of what the command may write. */
void rules_hint_programs(const struct loaded *l);

/* Lines on stderr about fixed addresses of names that are refused. */
void rules_hint_network(const struct loaded *l);

#endif
