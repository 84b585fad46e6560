/* The table of policy keys: see schema.h. */
#include "policy/schema.h"

#include <stdio.h>
#include <string.h>

#include "policy/config.h"

static const char *const hardlinks_words[] = {"refuse", "allow", NULL};
static const char *const binding_words[] = {"none", "loopback", "any", NULL};
static const char *const proxy_words[] = {"auto", "no", "yes", NULL};
static const char *const level_words[] = {"denied", "all", NULL};

#define PATHS(sec, k, rule, opt, text)                                                                       \
	{                                                                                                    \
		.section = sec, .key = k, .type = SCHEMA_PATH, .kind = rule, .repeatable = true,             \
		.flag = opt, .metavar = "PATH", .help = text                                                 \
	}
#define LIST(sec, k, t, opt, var, text)                                                                      \
	{                                                                                                    \
		.section = sec, .key = k, .type = t, .repeatable = true, .flag = opt, .metavar = var,        \
		.help = text                                                                                 \
	}
#define YES_NO(sec, k, member, d, text)                                                                      \
	{                                                                                                    \
		.section = sec, .key = k, .type = SCHEMA_BOOL, .offset = offsetof(struct config, member),    \
		.def = d, .metavar = "yes|no", .help = text                                                  \
	}
#define WORD(sec, k, member, list, d, opt, var, text)                                                        \
	{                                                                                                    \
		.section = sec, .key = k, .type = SCHEMA_ENUM, .offset = offsetof(struct config, member),    \
		.words = list, .def = d, .flag = opt, .metavar = var, .help = text                           \
	}

/* clang-format off */
const struct schema_row schema_rows[SCHEMA_ROWS] = {
	PATHS("filesystem", "allow_write", RULE_ALLOW_WRITE, "allow-write", "may be written"),
	PATHS("filesystem", "allow_own", RULE_ALLOW_OWN, "allow-own",
	      "new entries may be made here, and only those may be changed"),
	PATHS("filesystem", "deny_write", RULE_DENY_WRITE, "deny-write", "may not be written, whatever allows it"),
	PATHS("filesystem", "deny_read", RULE_DENY_READ, "deny-read", "may not be read"),
	PATHS("filesystem", "allow_read", RULE_ALLOW_READ, "allow-read", "may be read although a deny_read above it says no"),
	YES_NO("filesystem", "protect", protect, "yes", "names that make other programs run code may not be written"),
	PATHS("filesystem", "allow_protected", RULE_ALLOW_PROTECTED, NULL, "not protected by protect"),
	WORD("filesystem", "hardlinks", hardlinks, hardlinks_words, "refuse", NULL, "refuse|allow",
	     "writing in place to files that have further names"),
	PATHS("filesystem", "allow_device", RULE_ALLOW_DEVICE, NULL, "devices beyond the usual ones that may be used"),
	YES_NO("filesystem", "private_tmp", private_tmp, "yes", "a TMPDIR for the session, removed at its end"),
	YES_NO("filesystem", "hide", hide, "no", "what may not be read looks absent"),
	YES_NO("filesystem", "core_files", core_files, "no", "crashing programs may leave core files"),
	{.section = "network", .key = "allow_domain", .type = SCHEMA_DOMAIN, .repeatable = true, .flag = "allow-domain",
	 .metavar = "HOST[:PORT]", .help = "may be connected to"},
	{.section = "network", .key = "deny_domain", .type = SCHEMA_DOMAIN, .deny = true, .repeatable = true,
	 .flag = "deny-domain", .metavar = "HOST[:PORT]", .help = "may not be connected to, whatever allows it"},
	LIST("network", "deny_reason", SCHEMA_REASON, NULL, "HOST[:PORT] TEXT", "told when that deny_domain refuses"),
	LIST("network", "allow_ip", SCHEMA_NET, "allow-ip", "CIDR[:PORT[-PORT]]", "addresses that may be connected to"),
	LIST("network", "resolve", SCHEMA_RESOLVE, "resolve", "HOST:PORT:ADDR[:PORT]", "a fixed address for a name"),
	LIST("network", "dns_server", SCHEMA_DNS_SERVER, NULL, "ADDR[:PORT]", "asked for names instead of the system's servers"),
	{.section = "network", .key = "allow_unix_socket", .type = SCHEMA_SOCKET, .kind = RULE_UNIX_SOCKET,
	 .repeatable = true, .flag = "allow-unix-socket", .metavar = "PATH|@NAME", .help = "Unix sockets that may be connected to"},
	WORD("network", "local_binding", local_binding, binding_words, "loopback", NULL, "none|loopback|any",
	     "where servers may listen"),
	WORD("network", "proxy_env", proxy_env, proxy_words, "auto", NULL, "auto|no|yes",
	     "also offer a proxy by the usual variables"),
	{.section = "network", .key = "parent_proxy", .type = SCHEMA_PROXY, .offset = offsetof(struct config, parent_proxy),
	 .metavar = "http://[USER:PASSWORD@]HOST:PORT", .help = "the proxy through which the proxy of proxy_env reaches out"},
	PATHS("exec", "allow", RULE_ALLOW_EXEC, "allow-exec", "programs that may be run; once given, no others"),
	PATHS("exec", "deny", RULE_DENY_EXEC, "deny-exec", "programs that may not be run"),
	LIST("environment", "unset", SCHEMA_UNSET, NULL, "NAME", "variables that are taken away; * and ? match"),
	LIST("environment", "set", SCHEMA_SET, NULL, "NAME=VALUE", "variables that are set, as written"),
	{.section = "audit", .key = "file", .type = SCHEMA_SINK, .offset = offsetof(struct config, audit_file),
	 .flag = "audit", .metavar = "FILE|-|fd:N", .help = "where records go"},
	WORD("audit", "level", audit_level, level_words, "denied", "audit-level", "denied|all", "what is recorded"),
	YES_NO("messages", "stderr", messages_stderr, "yes", "say on stderr what was refused"),
};
/* clang-format on */

const struct schema_row *schema_find(const char *section, const char *key)
{
	for (size_t i = 0; i < SCHEMA_ROWS; i++)
		if (!strcmp(schema_rows[i].section, section) && !strcmp(schema_rows[i].key, key))
			return &schema_rows[i];
	return NULL;
}

bool schema_has_section(const char *section)
{
	for (size_t i = 0; i < SCHEMA_ROWS; i++)
		if (!strcmp(schema_rows[i].section, section))
			return true;
	return false;
}

/* Least number of letters to change, add or drop; names of 32 or more letters are like none. */
static unsigned distance(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b);
	unsigned row[33];

	if (na > 32 || nb > 32)
		return 100;
	for (unsigned j = 0; j <= nb; j++)
		row[j] = j;
	for (size_t i = 1; i <= na; i++) {
		unsigned diagonal = row[0];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= nb; j++) {
			unsigned change = diagonal + (a[i - 1] != b[j - 1]),
				 step = row[j] < row[j - 1] ? row[j] : row[j - 1];

			diagonal = row[j];
			row[j] = change < step + 1 ? change : step + 1;
		}
	}
	return row[nb];
}

static bool is_near(unsigned d, const char *name)
{
	return d <= (strlen(name) < 5 ? 1 : strlen(name) < 9 ? 2 : strlen(name) < 10 ? 3 : 4);
}

/* allowLocalBinding and allow_local_binding are one word. Cut where it does not fit. */
static const char *letters_of(const char *key, char out[40])
{
	size_t n = 0;

	for (; *key && n < 39; key++)
		if (*key != '_' && *key != '-')
			out[n++] = (char)(*key >= 'A' && *key <= 'Z' ? *key - 'A' + 'a' : *key);
	out[n] = '\0';
	return out;
}

/* How much else a key is than what somebody wrote. A word more at its front or end is little. */
static unsigned unlikeness(const char *written, const char *key)
{
	char a[40], b[40];
	unsigned d = distance(letters_of(written, a), letters_of(key, b));

	return d > 1 && strlen(b) > 8 && strstr(a, b) ? 1 : d;
}

/* The name of an option in the place of the key that it stands for. */
static bool is_option(const struct schema_row *r, const char *key)
{
	const char *s = r->flag;

	if (!s)
		return false;
	while (*s && (*key == *s || (*key == '_' && *s == '-'))) {
		s++;
		key++;
	}
	return !*s && !*key;
}

char *schema_suggest_key(const char *section, const char *key, char *buf, size_t size)
{
	const struct schema_row *best = NULL;
	unsigned least = 100;

	*buf = '\0';
	for (size_t i = 0; i < SCHEMA_ROWS; i++) {
		const struct schema_row *r = &schema_rows[i];
		unsigned d = unlikeness(key, r->key);

		if (strcmp(key, r->key) == 0) {
			snprintf(buf, size, "; it belongs to [%s]", r->section);
			return buf;
		}
		if (is_option(r, key)) {
			snprintf(buf, size, "; it is '%s' in [%s]", r->key, r->section);
			return buf;
		}
		if (!strcmp(r->section, section) && d < least && is_near(d, r->key)) {
			best = r;
			least = d;
		}
	}
	if (best)
		snprintf(buf, size, "; did you mean '%s'?", best->key);
	else if (!strcmp(section, "environment"))
		snprintf(buf, size, "; a variable is given as 'set = %.40s=...'", key);
	return buf;
}

char *schema_suggest_section(const char *section, char *buf, size_t size)
{
	unsigned least = 100;

	*buf = '\0';
	for (size_t i = 0; i < SCHEMA_ROWS; i++) {
		unsigned d = distance(section, schema_rows[i].section);

		if (d < least && is_near(d, schema_rows[i].section)) {
			least = d;
			snprintf(buf, size, "; did you mean [%s]?", schema_rows[i].section);
		}
	}
	return buf;
}
