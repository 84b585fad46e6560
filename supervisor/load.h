/*
 * From the command line to a compiled policy: which files, what they say, other names of their paths by symbolic links
 * and mounts.
 */
#ifndef CORDON_LOAD_H
#define CORDON_LOAD_H

#include "policy/config.h"
#include "policy/policy.h"
#include "supervisor/mounts.h"
#include "supervisor/opts.h"

struct loaded {
	struct config *config;
	struct policy *policy;
	const char **files; /* policy files in use; none: built-in */
	char (*hashes)[65]; /* SHA-256 of each, hexadecimal */
	size_t n_files;
	const char *home;
	char *cwd;
	bool builtin;
};

/* Prints all faults, one per line, and returns false when there is any. tmpdir: the session's own, or NULL. */
bool load_config(struct loaded *l, const struct opts *o);
/* After rules were added by the program itself. */
bool load_compile(struct loaded *l, struct mounts *mounts);

/* Home directory of the user: $HOME, else from the user database, else "/nonexistent". */
const char *load_home(void);

#endif
