/* Inside of struct config, for the config_*.c files only. */
#ifndef CORDON_CONFIG_PRIV_H
#define CORDON_CONFIG_PRIV_H

#include "policy/config.h"
#include "policy/host.h"
#include "policy/schema.h"

/* deny_reason. Joined with deny_domain when everything is loaded, so that their order does not matter. */
struct config_reason {
	struct host_entry entry;
	const char *text;
	struct origin origin;
};

struct config_private {
	struct config_string *strings, **strings_end;
	struct config_reason *reasons;
	size_t n_reasons;
	struct origin scalars[SCHEMA_ROWS]; /* file is NULL where the default holds */
};

/* Strings live as long as the config. NULL when out of memory. */
char *config_keep(struct config *c, const char *s);

/* Room for one more item at the end of a list of n; the list must be replaced by the result. NULL when out of
 * memory: the old list is then still good. */
void *config_grow(void *list, size_t n, size_t size);

/* Adds a rule with all but path, literal and dir_only from the arguments. NULL when out of memory. */
struct rule *config_new_rule(struct config *c, enum rule_kind kind, const char *key, const char *text,
			     const char *path, struct origin origin);

/* Where a value is being read. c is a draft. */
struct config_reading {
	struct config *c;
	const struct config_env *env;
	struct faults *f;
	struct origin origin;
	bool is_word; /* of the command line */
};

/* Reads one value of row into r->c; a value at fault adds to r->f. */
void config_read_value(const struct config_reading *r, const struct schema_row *row, const char *value);

/* The reason given for a deny rule, or NULL. */
struct config_reason *config_find_reason(const struct config *c, const struct domain_rule *d);

/* The entry that a domain rule was made of. */
void config_domain_entry(const struct domain_rule *d, struct host_entry *out);

#endif
