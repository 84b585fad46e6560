#include "supervisor/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/rules.h"

#define FAULTY 125

/* A name can hold anything; here a line must stay a line. */
static void print_name(const char *name)
{
	for (; *name; name++)
		putchar((unsigned char)*name < 0x20 || *name == 0x7f ? '?' : *name);
}

static void print_header(const struct loaded *l, const struct opts *o)
{
	puts("# The effective policy, as cordon " CORDON_VERSION " reads it.");
	for (size_t i = 0; i < l->n_files; i++) {
		fputs("# policy: ", stdout);
		print_name(l->files[i]);
		putchar('\n');
	}
	if (l->builtin)
		puts("# policy: built-in");
	if (o->n_settings)
		puts("# policy: command line");
	putchar('\n');
}

/* The files to look at are those of -p, then the arguments. */
static bool add_files(struct opts *all, const struct opts *o)
{
	*all = *o;
	if (o->argc == 0)
		return true;
	all->n_policies = o->n_policies + (size_t)o->argc;
	all->policies = calloc(all->n_policies, sizeof(*all->policies));
	if (!all->policies)
		return false;
	if (o->n_policies)
		memcpy(all->policies, o->policies, o->n_policies * sizeof(*o->policies));
	for (int i = 0; i < o->argc; i++)
		all->policies[o->n_policies + (size_t)i] = o->argv[i];
	return true;
}

int check_command(const struct opts *o)
{
	struct mounts *mounts;
	struct opts all;
	struct loaded l;
	char *text;

	if (!add_files(&all, o) || !rules_load(&l, &all, &mounts))
		return FAULTY;
	text = config_print(l.config);
	if (!text) {
		fprintf(stderr, "cordon: out of memory\n");
		return FAULTY;
	}
	if (!o->quiet) {
		rules_hint_local(&l);
		rules_hint_patterns(&l);
		rules_hint_programs(&l);
		rules_hint_network(&l);
	}
	print_header(&l, o);
	fputs(text, stdout);
	free(text);
	if (fflush(stdout) != 0) {
		perror("cordon: standard output");
		return FAULTY;
	}
	/* What a run would refuse is no policy to put in place. */
	return rules_check_cwd(&l, true) ? 0 : FAULTY;
}
