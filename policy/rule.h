/*
 * A rule as the loaders produce it and as verdicts name it: of paths, or made from those of names and addresses.
 *
 * Pure data. A struct rule is owned by the struct config that holds it and is immutable once the
 * policy is compiled from it, so verdicts may point at it from any thread for the policy's life.
 */
#ifndef CORDON_RULE_H
#define CORDON_RULE_H

#include <stdbool.h>
#include <stddef.h>

enum rule_kind {
	RULE_DENY_READ,
	RULE_ALLOW_READ,
	RULE_ALLOW_WRITE,
	RULE_ALLOW_OWN,
	RULE_DENY_WRITE,
	RULE_PROTECT,	  /* a protected name: refused even inside allow_write */
	RULE_PROTECT_GIT, /* the same, but not beneath a .git that this session created */
	RULE_ALLOW_PROTECTED,
	RULE_ALLOW_DEVICE,
	RULE_ALLOW_EXEC,
	RULE_DENY_EXEC,
	RULE_UNIX_SOCKET,
	RULE_KINDS,		  /* of paths */
	RULE_NETWORK = RULE_KINDS /* of names and addresses (policy/net.h): has no path */
};

/* Deny and protected rules compare ASCII letters blind to case, the others exactly. */
static inline bool rule_kind_is_caseless(enum rule_kind k)
{
	return k == RULE_DENY_READ || k == RULE_DENY_WRITE || k == RULE_PROTECT || k == RULE_PROTECT_GIT ||
	       k == RULE_DENY_EXEC;
}

/* Where a rule was written. */
struct origin {
	const char *file; /* path as given, "built-in" or "command line"; never NULL */
	int line;	  /* 1-based; 0 where there are no lines */
};

struct rule {
	enum rule_kind kind;
	const char *key;    /* the policy key that made it, e.g. "deny_read"; static string */
	char *text;	    /* the value as written, for messages; bytes, NUL-terminated */
	char *path;	    /* absolute pattern after expansion; no trailing '/', no "." or ".." */
	bool literal;	    /* path is compared byte by byte; covers the object and all beneath it */
	bool dir_only;	    /* written with a trailing slash-star-star or '/': only directories match */
	const char *reason; /* user's text for refusals, or NULL */
	struct origin origin;
	size_t alias_of; /* index of the rule this one is another name of; its own index if none */
};

#endif
