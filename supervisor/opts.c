#include "supervisor/opts.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One row per option: parser, help and (for policy flags) the setting follow from it. */
struct option_row {
	const char *name;
	char letter;	     /* 0: none */
	const char *arg;     /* name of the argument, NULL: none */
	const char *section; /* a policy flag: "section key = argument" */
	const char *key;
	const char *help;
};

enum {
	ROW_POLICY,
	ROW_SHELL,
	ROW_LOG_ONLY,
	ROW_KEEP_FD,
	ROW_QUIET,
	ROW_VERBOSE,
	ROW_HELP,
	ROW_VERSION,
	ROW_FLAGS
};

static const struct option_row rows[] = {
	[ROW_POLICY] = {"policy", 'p', "FILE", NULL, NULL, "a policy in sandbox.ini form; repeatable"},
	[ROW_SHELL] = {NULL, 'c', "STRING", NULL, NULL, "run STRING through the shell"},
	[ROW_LOG_ONLY] =
		{"log-only", 0, NULL, NULL, NULL,
		 "record what rules refuse, and let pass what can be (unsafe): not signals and ptrace under "
		 "Landlock, nor making devices"},
	[ROW_KEEP_FD] = {"keep-fd", 0, "N", NULL, NULL, "hand descriptor N on to the command"},
	[ROW_QUIET] = {"quiet", 'q', NULL, NULL, NULL, "no messages about refusals"},
	[ROW_VERBOSE] = {"verbose", 'v', NULL, NULL, NULL, "say which policy and layers are in force"},
	[ROW_HELP] = {"help", 'h', NULL, NULL, NULL, "this text"},
	[ROW_VERSION] = {"version", 'V', NULL, NULL, NULL, "the version"},
	[ROW_FLAGS] = {"allow-write", 0, "PATH", "filesystem", "allow_write", "may be written"},
	{"deny-write", 0, "PATH", "filesystem", "deny_write", "may not, even inside what may"},
	{"allow-read", 0, "PATH", "filesystem", "allow_read", "may be read inside what may not"},
	{"deny-read", 0, "PATH", "filesystem", "deny_read", "may not be read"},
	{"allow-own", 0, "PATH", "filesystem", "allow_own", "may hold what the session makes there"},
	{"allow-protected", 0, "PATH", "filesystem", "allow_protected",
	 "a protected name that may be written"},
	{"allow-device", 0, "PATH", "filesystem", "allow_device", "a device beyond the usual ones"},
	{"allow-domain", 0, "HOST[:PORT]", "network", "allow_domain", "a domain that may be reached"},
	{"deny-domain", 0, "HOST[:PORT]", "network", "deny_domain", "one that may not"},
	{"allow-ip", 0, "CIDR[:PORT[-PORT]]", "network", "allow_ip", "addresses that may be reached"},
	{"allow-unix-socket", 0, "PATH|@NAME", "network", "allow_unix_socket",
	 "a Unix socket that may be reached"},
	{"resolve", 0, "H:P:ADDR[:P]", "network", "resolve", "a fixed address for a name"},
	{"allow-exec", 0, "PATH", "exec", "allow", "a program that may be run"},
	{"deny-exec", 0, "PATH", "exec", "deny", "one that may not"},
	{"audit", 'a', "FILE", "audit", "file", "the audit trail: FILE, - (stderr) or fd:N"},
	{"audit-level", 0, "LEVEL", "audit", "level", "denied or all"},
};
#define N_ROWS (sizeof(rows) / sizeof(*rows))

static const struct {
	const char *name;
	enum command command;
	bool later; /* reserved for a later version */
	const char *help;
} commands[] = {
	{"run", COMMAND_RUN, false, "run COMMAND confined (the default)"},
	{"check", COMMAND_CHECK, false, "validate policies and print what is in force"},
	{"explain", COMMAND_EXPLAIN, false,
	 "read|write|create|delete|rename|exec PATH..., connect HOST:PORT|SOCKET...: which rule decides"},
	{"doctor", COMMAND_DOCTOR, false, "what this machine or container gives"},
	{"learn", COMMAND_HELP, true, NULL},
	{"report", COMMAND_HELP, true, NULL},
	{"why", COMMAND_HELP, true, NULL},
	{"import", COMMAND_HELP, true, NULL},
};
#define N_COMMANDS (sizeof(commands) / sizeof(*commands))

static void __attribute__((noreturn, format(printf, 1, 2))) usage_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("cordon: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputs(" (see cordon --help)\n", stderr);
	va_end(ap);
	exit(125);
}

void opts_print_help(void)
{
	puts("usage: cordon [OPTION...] [--] COMMAND [ARGUMENT...]    run COMMAND confined\n"
	     "       cordon [OPTION...] -c STRING                      the same through the shell");
	for (size_t i = 1; i < N_COMMANDS; i++)
		if (!commands[i].later)
			printf("       cordon [OPTION...] %-10s %s\n", commands[i].name, commands[i].help);
	puts("\nOptions end at the first word that is not one.");
	for (size_t i = 0; i < N_ROWS; i++) {
		char left[64];

		snprintf(left, sizeof(left), "%c%c%s %s%s%s%s", rows[i].letter ? '-' : ' ',
			 rows[i].letter ? rows[i].letter : ' ', rows[i].letter && rows[i].name ? "," : " ",
			 rows[i].name ? "--" : "", rows[i].name ? rows[i].name : "", rows[i].arg ? " " : "",
			 rows[i].arg ? rows[i].arg : "");
		printf("  %-36s %s\n", left, rows[i].help);
	}
	puts("\nWithout -p: $CORDON_POLICY, else ~/.config/cordon/sandbox.ini, else the built-in policy.\n"
	     "Exit status: the command's own, 128+N if signal N ended it, 127 not found, 126 not "
	     "executable,\n"
	     "125 when the sandbox could not be set up (the command did not run).");
}

static void *grow(void *list, size_t n, size_t size)
{
	list = realloc(list, (n + 1) * size);
	if (!list)
		usage_error("out of memory");
	return list;
}

static int number(const char *text)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (*text == '\0' || *end || n < 0 || n > 1 << 20)
		usage_error("--keep-fd takes the number of a descriptor, not '%s'", text);
	return (int)n;
}

static void apply(struct opts *o, size_t row, const char *arg)
{
	switch (row) {
	case ROW_POLICY:
		o->policies = grow(o->policies, o->n_policies, sizeof(*o->policies));
		o->policies[o->n_policies++] = arg;
		break;
	case ROW_SHELL:
		if (o->shell)
			usage_error("-c is given twice");
		o->shell = arg;
		break;
	case ROW_LOG_ONLY:
		o->log_only = true;
		break;
	case ROW_KEEP_FD:
		o->keep_fds = grow(o->keep_fds, o->n_keep_fds, sizeof(*o->keep_fds));
		o->keep_fds[o->n_keep_fds++] = number(arg);
		break;
	case ROW_QUIET:
		o->quiet = true;
		break;
	case ROW_VERBOSE:
		o->verbose = true;
		break;
	case ROW_HELP:
		o->command = COMMAND_HELP;
		break;
	case ROW_VERSION:
		o->command = COMMAND_VERSION;
		break;
	default:
		o->settings = grow(o->settings, o->n_settings, sizeof(*o->settings));
		o->settings[o->n_settings++] = (struct opts_setting){rows[row].section, rows[row].key, arg};
		break;
	}
}

#define LONG_BASE 1000

/* getopt_long takes abbreviations; a script that uses one would break, or change its meaning, with the next option. */
static bool is_whole(const char *word, const char *name)
{
	size_t n = strlen(name);

	return strncmp(word, "--", 2) == 0 && strncmp(word + 2, name, n) == 0 &&
	       (word[2 + n] == '\0' || word[2 + n] == '=');
}

static size_t parse_options(struct opts *o, int argc, char **argv)
{
	struct option longs[N_ROWS + 1] = {{0}};
	char shorts[2 * N_ROWS + 2] = "+:", *s = shorts + 2;
	size_t n = 0;
	int opt, at, which = 0;

	for (size_t i = 0; i < N_ROWS; i++) {
		if (rows[i].name)
			longs[n++] =
				(struct option){rows[i].name, rows[i].arg ? required_argument : no_argument,
						NULL, LONG_BASE + (int)i};
		if (rows[i].letter)
			*s++ = rows[i].letter;
		if (rows[i].letter && rows[i].arg)
			*s++ = ':';
	}
	*s = '\0';
	opterr = 0;
	while (at = optind, (opt = getopt_long(argc, argv, shorts, longs, &which)) != -1) {
		if (opt >= LONG_BASE && !is_whole(argv[at], longs[which].name))
			usage_error("unknown option %s", argv[at]);
		if (opt == ':')
			usage_error("%s needs an argument", argv[optind - 1]);
		if (opt == '?' && optopt > 0 && optopt < LONG_BASE)
			usage_error("unknown option -%c", optopt);
		if (opt == '?')
			usage_error("%s %s", optopt ? "no argument goes with" : "unknown option",
				    argv[optind - 1]);
		for (size_t i = 0; i < N_ROWS; i++)
			if (opt == LONG_BASE + (int)i || (opt < LONG_BASE && opt == rows[i].letter))
				apply(o, i, optarg);
	}
	return (size_t)optind;
}

/* After "--" a word is a program's name, whatever it is. */
static void find_command(struct opts *o, bool after_dashes)
{
	if (after_dashes || o->argc == 0 || o->shell)
		return;
	for (size_t i = 0; i < N_COMMANDS; i++) {
		if (strcmp(o->argv[0], commands[i].name) != 0)
			continue;
		if (commands[i].later)
			usage_error("'%s' is not in this version; for a program of that name: cordon -- %s",
				    commands[i].name, commands[i].name);
		o->command = commands[i].command;
		o->argv++;
		o->argc--;
		return;
	}
}

void opts_parse(struct opts *o, int argc, char **argv)
{
	size_t at;

	memset(o, 0, sizeof(*o));
	at = parse_options(o, argc, argv);
	o->argv = argv + at;
	o->argc = argc - (int)at;
	if (o->command == COMMAND_HELP || o->command == COMMAND_VERSION)
		return;
	find_command(o, at > 0 && strcmp(argv[at - 1], "--") == 0);
	/* "cordon run -- x" and "cordon check --policy f" read as one would expect. */
	if (o->argv != argv + at) {
		optind = 1;
		at = parse_options(o, o->argc + 1, o->argv - 1);
		o->argv += at - 1;
		o->argc -= (int)at - 1;
	}
	if (o->command == COMMAND_RUN && o->argc == 0 && !o->shell)
		usage_error("no command given");
}
