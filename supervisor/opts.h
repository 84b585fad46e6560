/*
 * The command line. Options end at the first word that is not one.
 */
#ifndef CORDON_OPTS_H
#define CORDON_OPTS_H

#include <stdbool.h>
#include <stddef.h>

enum command { COMMAND_RUN, COMMAND_CHECK, COMMAND_EXPLAIN, COMMAND_DOCTOR, COMMAND_HELP, COMMAND_VERSION };

/* A flag that is a policy setting, in the order given. */
struct opts_setting {
	const char *section, *key, *value;
};

/* Borrows from argv; the arrays are allocated once and never freed. */
struct opts {
	enum command command;
	const char **policies;
	size_t n_policies;
	struct opts_setting *settings;
	size_t n_settings;
	int *keep_fds;
	size_t n_keep_fds;
	const char *shell; /* -c */
	bool log_only, quiet, verbose;
	char **argv; /* what follows the options (and the subcommand) */
	int argc;
};

/* Fills o. On a fault prints one line and exits 125. */
void opts_parse(struct opts *o, int argc, char **argv);

void opts_print_help(void);

#endif
