/*
 * The compiled policy: bytes in, verdict out. No system calls, no globals, no locks.
 *
 * A policy is made once from a struct config, is immutable afterwards and may be asked by any number
 * of threads. It borrows the config's rules: free it before the config.
 */
#ifndef CORDON_POLICY_H
#define CORDON_POLICY_H

#include "policy/rule.h"
#include "policy/faults.h"

struct config;
struct policy;

/* What is asked of an object. Each names the strongest thing that the call does to it. */
enum access {
	ACCESS_READ,	  /* content, or the names in a directory */
	ACCESS_WRITE,	  /* content of an existing object */
	ACCESS_CREATE,	  /* a new entry that is not a directory, also a rename's or link's new name */
	ACCESS_MKDIR,	  /* a new directory by mkdir */
	ACCESS_DELETE,	  /* removing an entry */
	ACCESS_RENAME,	  /* taking an entry away from its name, or replacing it */
	ACCESS_LINK_FROM, /* giving an existing file another name */
	ACCESS_METADATA,  /* mode, owner, times, xattrs, file flags */
	ACCESS_EXEC,
	ACCESS_DEVICE, /* using a block or character device that is not in the built-in list */
	ACCESS_CONNECT_UNIX,
	ACCESS_COUNT
};

/* What the object is. An absent one is judged by its name alone. */
enum objtype { OBJ_ABSENT, OBJ_DIR, OBJ_OTHER };

struct request {
	enum access access;
	enum objtype type;
	const char *path; /* absolute, canonical (no ".", "..", "//" or trailing '/'), any bytes but NUL */
	size_t len;	  /* strlen(path); "/" is 1 */
};

/* Zero is deny. */
enum decision {
	VERDICT_DENY = 0,
	VERDICT_ALLOW,
	/* Allowed for an object that this session created (allow_own), else refused by .rule == the
	 * allow_own rule. Creating a new entry is plain VERDICT_ALLOW. */
	VERDICT_ALLOW_IF_OWN,
	/* A protected name of git, the .git being path[0 .. git_len): allowed (as .if_git says) when a
	 * directory from that .git down to the object's parent was created by this session. */
	VERDICT_ALLOW_IF_OWN_GIT,
};

struct verdict {
	enum decision decision;
	enum decision if_git;	 /* only with ALLOW_IF_OWN_GIT: VERDICT_ALLOW or VERDICT_ALLOW_IF_OWN */
	const struct rule *rule; /* the deciding rule; NULL: the default */
	size_t anchor;		 /* length of the path prefix that the rule matched; 0 for the default */
	size_t git_len;		 /* only with ALLOW_IF_OWN_GIT */
	/* Only with the making of a directory that an allow_own allows: the literal allow_write beneath it, which allows
	 * it as well, in directories of others, too; or NULL. */
	const struct rule *beneath;
};

/* Compiles. Returns NULL with faults added (a malformed glob, out of memory). */
struct policy *policy_new(const struct config *cfg, struct faults *f);
void policy_free(struct policy *p);

struct verdict policy_decide(const struct policy *p, const struct request *q);

/*
 * True if reading is refused by a deny_read, with the verdict in *v, and the object is no directory above something
 * that a rule re-opens: what is to look absent where the policy hides. q: with ACCESS_READ.
 */
bool policy_hides(const struct policy *p, const struct request *q, struct verdict *v);

/* True if an allow_protected names the .git that the path is or lies in, or something in it above the path: then it is open
 * with all that is in it. */
bool policy_opens_git(const struct policy *p, const struct request *q);

/*
 * True if for every relative name R the verdicts of a/R and b/R are the same, so that a directory may
 * go from a to b without its contents being looked at. May say false where true would be right,
 * never the other way round.
 */
bool policy_same_beneath(const struct policy *p, const char *a, size_t alen, const char *b, size_t blen);

/* True when some rule may refuse a read: without one, reads need no notification. */
bool policy_restricts_reads(const struct policy *p);
/* True when there are [exec] rules. */
bool policy_restricts_exec(const struct policy *p);
/* True when some program may not run: by those, or because it may not be read. */
bool policy_restricts_programs(const struct policy *p);
/* True when a rule of that kind exists. */
bool policy_has(const struct policy *p, enum rule_kind kind);

/*
 * One line without a newline into buf, e.g. "write ~/.bashrc refused by protect (built-in)". Home (NULL
 * if unknown) is shown as "~"; control bytes and invalid UTF-8 in the path are shown as \xNN.
 * Returns buf.
 */
char *policy_explain(const struct request *q, const struct verdict *v, const char *home, char *buf,
		     size_t size);

/* The same of what is done all the same: "... would be refused ..." for a text that says "refused" or "was refused".
 * buf has room for size bytes, all of which are set. Returns buf. */
char *policy_say_would(const char *text, char *buf, size_t size);

/* The policy line that would allow it, e.g. "allow_write = /srv/x", or two with " and " between, or "" where nothing can.
 * Returns buf. */
char *policy_suggest(const struct policy *p, const struct request *q, const struct verdict *v, char *buf,
		     size_t size);

/* What is said in front of such a line where its section is not [filesystem] or [network], whose keys tell: "[exec] ". */
const char *policy_suggestion_section(const char *line);

/* The word for an access in messages and records: "read", "write", "create", "delete", "rename",
 * "link", "metadata", "exec", "device", "connect". */
const char *access_name(enum access a);

#endif
