/*
 * The keys of a policy, one row each. Loading, printing, the command line's options and the manual's table
 * all follow from this one table.
 */
#ifndef CORDON_SCHEMA_H
#define CORDON_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/rule.h"

enum schema_type {
	SCHEMA_PATH,	   /* pattern; kind says what rule */
	SCHEMA_SOCKET,	   /* pattern, or @name for an abstract socket */
	SCHEMA_BOOL,	   /* yes, no */
	SCHEMA_ENUM,	   /* one of words */
	SCHEMA_DOMAIN,	   /* HOST[:PORT]; deny says which list */
	SCHEMA_REASON,	   /* HOST[:PORT] TEXT */
	SCHEMA_NET,	   /* ADDR[/BITS][:PORT[-PORT]] */
	SCHEMA_RESOLVE,	   /* HOST:PORT:ADDR[:PORT] */
	SCHEMA_DNS_SERVER, /* ADDR[:PORT] */
	SCHEMA_PROXY,	   /* http://[USER:PASSWORD@]HOST:PORT */
	SCHEMA_UNSET,	   /* NAME with * and ? */
	SCHEMA_SET,	   /* NAME=VALUE */
	SCHEMA_SINK,	   /* path without patterns, "-" or fd:N */
	SCHEMA_TYPES
};

struct schema_row {
	const char *section, *key;
	enum schema_type type;
	enum rule_kind kind; /* SCHEMA_PATH, SCHEMA_SOCKET */
	bool deny;	     /* SCHEMA_DOMAIN */
	size_t offset; /* SCHEMA_BOOL, SCHEMA_ENUM, SCHEMA_SINK, SCHEMA_PROXY: the member of struct config */
	const char *const *words; /* SCHEMA_ENUM: in the order of the enum, then NULL */
	const char *def;	  /* the default in words; NULL for an empty list or nothing */
	bool repeatable;	  /* a list; else a scalar */
	const char *flag;	  /* long option without the dashes, or NULL */
	const char *metavar;	  /* what the option and the manual call the value */
	const char *help;	  /* one line */
};

#define SCHEMA_ROWS 29

extern const struct schema_row schema_rows[SCHEMA_ROWS];

/* NULL when there is no such key. */
const struct schema_row *schema_find(const char *section, const char *key);
bool schema_has_section(const char *section);

/* Into buf what the writer may have meant, as "; did you mean 'x'?", or "". Return buf. */
char *schema_suggest_key(const char *section, const char *key, char *buf, size_t size);
char *schema_suggest_section(const char *section, char *buf, size_t size);

#endif
