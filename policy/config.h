/*
 * The configuration: what the policy files, the built-in default and the flags say, expanded and
 * validated but not yet compiled.
 *
 * Loading collects all faults and never stops at the first. After loading, if faults_count() is not 0 the
 * config must not be used. Pure: files are read by the caller and given as bytes; the environment,
 * the current directory and the home directory come in a struct config_env.
 *
 * Merging, in the order of the calls: lists add; a scalar that a later file or flag sets wins; a scalar
 * set twice within one file is a fault.
 */
#ifndef CORDON_CONFIG_H
#define CORDON_CONFIG_H

#include <stdint.h>

#include "policy/faults.h"
#include "policy/rule.h"

/* What expansion needs. getvar returns the value or NULL; ~ is home. All borrowed for the call only. */
struct config_env {
	const char *cwd; /* absolute */
	/* Absolute, or NULL: then a rule with ~ is a fault. The built-in default has such rules, so a caller that
	 * knows no home gives "/nonexistent". */
	const char *home;
	const char *(*getvar)(const char *name, void *arg);
	void *arg;
};

enum local_binding { LOCAL_BINDING_NONE, LOCAL_BINDING_LOOPBACK, LOCAL_BINDING_ANY };
/* auto: yes if cordon was started with variables of a proxy, or there is a parent_proxy */
enum proxy_env { PROXY_ENV_AUTO, PROXY_ENV_NO, PROXY_ENV_YES };
enum hardlinks { HARDLINKS_REFUSE, HARDLINKS_ALLOW };
enum audit_level { AUDIT_DENIED, AUDIT_ALL };

/* allow_domain, deny_domain. The host is canonical: lower case, no trailing dot, IP literals in their
 * usual form (IPv6 in brackets is stored without them). "*.a.b" is stored as "a.b" with wildcard set. */
struct domain_rule {
	char *host;
	bool wildcard;
	bool any; /* "*" (deny_domain only) */
	bool is_ip;
	uint16_t port; /* 0: any */
	bool deny;
	char *reason; /* from deny_reason, or NULL */
	char *text;
	struct origin origin;
};

/* An IPv6 network (prefix < 96) holds no IPv4 address, though 16 bytes of "[::]/0" would: see
 * host_net_matches(). */
struct ip_rule {
	uint8_t addr[16];	   /* IPv4 as v4-mapped */
	unsigned prefix;	   /* 0..128 on the 16 bytes */
	uint16_t port_lo, port_hi; /* 0,0: any */
	char *text;
	struct origin origin;
};

/* resolve = HOST:PORT:ADDR[:PORT] */
struct resolve_rule {
	char *host;
	uint16_t port;
	uint8_t addr[16];
	uint16_t to_port; /* port when none was written */
	char *text;
	struct origin origin;
};

/* dns_server = ADDR[:PORT] */
struct dns_server {
	uint8_t addr[16];
	uint16_t port;
	struct origin origin;
};

/* [environment], in the order written. */
struct env_rule {
	bool unset; /* name is a pattern with * and ? */
	char *name;
	char *value; /* set only; may be empty */
	struct origin origin;
};

struct config {
	struct rule *rules;
	size_t n_rules;

	struct domain_rule *domains;
	size_t n_domains;
	struct ip_rule *ips;
	size_t n_ips;
	struct resolve_rule *resolves;
	size_t n_resolves;
	struct dns_server *dns_servers;
	size_t n_dns_servers;
	struct env_rule *env;
	size_t n_env;

	bool protect;	      /* default yes */
	bool private_tmp;     /* default yes */
	bool hide;	      /* default no */
	bool messages_stderr; /* default yes */
	bool core_files;      /* default no: core files are off */
	enum hardlinks hardlinks;
	enum local_binding local_binding; /* default loopback */
	enum proxy_env proxy_env;	  /* default auto */
	char *audit_file;		  /* expanded; "-" and "fd:N" as they are; NULL: none */
	enum audit_level audit_level;
	char *parent_proxy; /* as written; good for parent_parse(). NULL: none */

	struct config_private *priv; /* strings, per-file scalar bookkeeping */
};

/* An empty config with the defaults of the scalars and no rules. NULL when out of memory. */
struct config *config_new(void);
void config_free(struct config *c);

/*
 * Loads one policy text in sandbox.ini form. name is what messages and origins show (copied).
 * In a relative rule path the base is env->cwd.
 */
void config_load_ini(struct config *c, const struct config_env *env, const char *name, const char *bytes,
		     size_t len, struct faults *f);

/* One setting from a flag, as if "key = value" stood in the section of a file of its own loaded last; origin
 * "command line". The value is read as in a file (in paths "\\", "$", "*"... have their meaning, see
 * policy/path_text.h), but blanks belong to it. Example: config_set(c, env, "filesystem", "allow_write", "/srv", f). */
void config_set(struct config *c, const struct config_env *env, const char *section, const char *key,
		const char *value, struct faults *f);

/* The built-in default policy's text (equal to the shipped sandbox.ini byte by byte). */
extern const char config_default_ini[];
extern const size_t config_default_ini_len;

/* Call once, after all files and flags: joins deny_reason with deny_domain (a reason without its entry is a
 * fault), finds fixed addresses that contradict each other, and adds the protected names. */
void config_finish(struct config *c, const struct config_env *env, struct faults *f);

/* The part of config_finish() that adds the always-protected names when c->protect. */
void config_add_protected(struct config *c, const struct config_env *env, struct faults *f);

/* Adds a rule that the program itself makes (the audit file, the private TMPDIR, another name of a rule
 * by a symbolic link or a mount). path is literal and absolute; copied. alias_of: index of the
 * original rule, or SIZE_MAX for a rule of its own with this key, text == path, origin "built-in". Another
 * name takes key, text, reason and origin from the original, and is a pattern if that is one. 0, or -1 when memory is out or the path is
 * not absolute. */
int config_add_rule(struct config *c, enum rule_kind kind, const char *key, const char *path,
		    size_t alias_of);

/* Prints the effective policy in sandbox.ini form, paths expanded, each line with its origin in a comment line
 * above it; rules that no key makes (protected names, config_add_rule()) as comments. May be called before
 * or after config_finish(); it loads again to the same policy. The string is malloc'd; NULL when out of memory. */
char *config_print(const struct config *c);

#endif
