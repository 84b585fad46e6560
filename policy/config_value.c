/* Values of policy settings, one reader for each type in the schema. */
#include "policy/config_priv.h"

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/ini_load.h"
#include "policy/parent.h"
#include "policy/path_form.h"
#include "policy/path_text.h"

struct value {
	const struct config_reading *r;
	const struct schema_row *row;
	const char *text;
};

static void fault(const struct value *v, const char *why)
{
	faults_add(v->r->f, v->r->origin.file, v->r->origin.line, "%s = %.300s: %s", v->row->key, v->text,
		   why);
}

#define NO_MEMORY "out of memory"

/* At any depth means the whole machine for what is refused, but what is opened begins here. */
static bool begins_here(enum rule_kind k, const char *text)
{
	return strncmp(text, "**/", 3) == 0 && !rule_kind_is_caseless(k);
}

static void read_pattern(const struct value *v)
{
	const struct config_reading *r = v->r;
	const char *other = path_form_fault(v->text, r->is_word);
	char why[256], *here = NULL;
	struct path_text p;
	struct rule *rule;
	bool ok;

	if (other) {
		fault(v, other);
		return;
	}
	if (begins_here(v->row->kind, v->text) && asprintf(&here, "./%s", v->text) < 0) {
		fault(v, NO_MEMORY);
		return;
	}
	ok = path_text_expand(r->env, here ? here : v->text, &p, why, sizeof(why));
	free(here);
	if (!ok) {
		fault(v, why);
		return;
	}
	rule = config_new_rule(r->c, v->row->kind, v->row->key, v->text, p.path, r->origin);
	free(p.path);
	if (!rule) {
		fault(v, NO_MEMORY);
		return;
	}
	rule->literal = p.literal;
	rule->dir_only = p.dir_only;
}

static void read_socket(const struct value *v)
{
	const char *why = NULL;
	struct rule *rule;

	if (*v->text != '@') {
		read_pattern(v);
		return;
	}
	/* sun_path has 108 bytes and an abstract name follows a NUL. */
	if (!v->text[1] || strlen(v->text + 1) > 107)
		why = "an abstract name has 1 to 107 bytes";
	else
		why = ini_value_fault(v->text);
	if (!why) {
		rule = config_new_rule(v->r->c, v->row->kind, v->row->key, v->text, v->text, v->r->origin);
		if (rule)
			rule->literal = true;
		else
			why = NO_MEMORY;
	}
	if (why)
		fault(v, why);
}

/* The plain word for what says it in another way. NULL: neither. */
static const char *yes_or_no(const char *text)
{
	static const char *const words[] = {"no", "yes", "false", "true", "off", "on", "0", "1"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcasecmp(text, words[i]))
			return words[i & 1];
	return NULL;
}

static void read_bool(const struct value *v)
{
	bool *member = (bool *)((char *)v->r->c + v->row->offset);
	const char *word = yes_or_no(v->text);

	if (word)
		*member = !strcmp(word, "yes");
	else
		fault(v, "not one of: yes no true false on off 1 0");
}

static void read_enum(const struct value *v)
{
	const char *plain = yes_or_no(v->text);
	char why[128] = "not one of:";

	for (unsigned i = 0; v->row->words[i]; i++) {
		if (!strcmp(v->text, v->row->words[i]) || (plain && !strcmp(plain, v->row->words[i]))) {
			/* The members are enums of different types with one representation. */
			memcpy((char *)v->r->c + v->row->offset, &i, sizeof(i));
			return;
		}
		snprintf(why + strlen(why), sizeof(why) - strlen(why), " %s", v->row->words[i]);
	}
	fault(v, why);
}

static void read_domain(const struct value *v)
{
	struct config *c = v->r->c;
	struct host_entry e;
	const char *why = host_parse_entry(v->text, v->row->deny, &e);
	struct domain_rule *list, *d;

	if (why) {
		fault(v, why);
		return;
	}
	list = config_grow(c->domains, c->n_domains, sizeof(*list));
	if (!list) {
		fault(v, NO_MEMORY);
		return;
	}
	c->domains = list;
	d = &list[c->n_domains];
	*d = (struct domain_rule){
		.host = config_keep(c, e.name.text),
		.wildcard = e.wildcard,
		.any = e.any,
		.is_ip = e.name.is_ip,
		.port = e.port,
		.deny = v->row->deny,
		.text = config_keep(c, v->text),
		.origin = v->r->origin,
	};
	if (d->host && d->text)
		c->n_domains++;
	else
		fault(v, NO_MEMORY);
}

static void read_reason(const struct value *v)
{
	struct config_private *p = v->r->c->priv;
	size_t n = strcspn(v->text, " \t"), gap = strspn(v->text + n, " \t");
	struct config_reason *list, *reason;
	char entry[HOST_TEXT_SIZE];
	const char *why = NULL;

	list = config_grow(p->reasons, p->n_reasons, sizeof(*list));
	if (!list) {
		fault(v, NO_MEMORY);
		return;
	}
	p->reasons = list;
	reason = &list[p->n_reasons];
	memset(reason, 0, sizeof(*reason));
	if (n >= sizeof(entry)) {
		fault(v, "the entry is too long");
		return;
	}
	snprintf(entry, sizeof(entry), "%.*s", (int)n, v->text);
	why = host_parse_entry(entry, true, &reason->entry);
	if (!why && !v->text[n + gap])
		why = "the text is missing after the entry";
	for (size_t i = 0; !why && i < p->n_reasons; i++)
		if (host_entry_equal(&list[i].entry, &reason->entry))
			why = "this entry has a reason already";
	reason->text = config_keep(v->r->c, v->text + n + gap);
	reason->origin = v->r->origin;
	if (!why && !reason->text)
		why = NO_MEMORY;
	if (why)
		fault(v, why);
	else
		p->n_reasons++;
}

static void read_net(const struct value *v)
{
	struct config *c = v->r->c;
	struct host_net net;
	const char *why = host_parse_net(v->text, &net);
	struct ip_rule *list = NULL, *ip;

	if (!why) {
		list = config_grow(c->ips, c->n_ips, sizeof(*list));
		c->ips = list ? list : c->ips;
	}
	if (!list) {
		fault(v, why ? why : NO_MEMORY);
		return;
	}
	ip = &list[c->n_ips];
	*ip = (struct ip_rule){
		.prefix = net.prefix,
		.port_lo = net.port_lo,
		.port_hi = net.port_hi,
		.text = config_keep(c, v->text),
		.origin = v->r->origin,
	};
	memcpy(ip->addr, net.addr, sizeof(ip->addr));
	if (ip->text)
		c->n_ips++;
	else
		fault(v, NO_MEMORY);
}

static void read_resolve(const struct value *v)
{
	struct config *c = v->r->c;
	struct resolve_rule rule = {.origin = v->r->origin}, *list = NULL;
	struct host_name host;
	const char *why = host_parse_resolve(v->text, &host, &rule.port, rule.addr, &rule.to_port);

	if (!why) {
		rule.host = config_keep(c, host.text);
		rule.text = config_keep(c, v->text);
		list = config_grow(c->resolves, c->n_resolves, sizeof(*list));
		c->resolves = list ? list : c->resolves;
	}
	if (!list || !rule.host || !rule.text)
		fault(v, why ? why : NO_MEMORY);
	else
		list[c->n_resolves++] = rule;
}

static void read_dns_server(const struct value *v)
{
	struct config *c = v->r->c;
	struct dns_server server = {.port = 53, .origin = v->r->origin}, *list = NULL;
	const char *why = host_parse_addr(v->text, server.addr, &server.port);

	if (!why) {
		list = config_grow(c->dns_servers, c->n_dns_servers, sizeof(*list));
		c->dns_servers = list ? list : c->dns_servers;
	}
	if (!list)
		fault(v, why ? why : NO_MEMORY);
	else
		list[c->n_dns_servers++] = server;
}

static void add_env(const struct value *v, bool unset, const char *name, const char *value)
{
	struct config *c = v->r->c;
	struct env_rule rule = {.unset = unset, .origin = v->r->origin}, *list;

	rule.name = config_keep(c, name);
	rule.value = value ? config_keep(c, value) : NULL;
	list = config_grow(c->env, c->n_env, sizeof(*list));
	c->env = list ? list : c->env;
	if (!list || !rule.name || (value && !rule.value))
		fault(v, NO_MEMORY);
	else
		list[c->n_env++] = rule;
}

static bool is_env_name(const char *s, size_t n, const char *also)
{
	for (size_t i = 0; i < n; i++)
		if (!(isascii((unsigned char)s[i]) && isalnum((unsigned char)s[i])) && s[i] != '_' &&
		    !strchr(also, s[i]))
			return false;
	return n > 0 && !(s[0] >= '0' && s[0] <= '9');
}

static void read_unset(const struct value *v)
{
	if (is_env_name(v->text, strlen(v->text), "*?"))
		add_env(v, true, v->text, NULL);
	else
		fault(v, "not the name of a variable (letters, digits, '_', '*', '?')");
}

static void read_set(const struct value *v)
{
	const char *eq = strchr(v->text, '=');
	char name[256];

	if (!eq || !is_env_name(v->text, (size_t)(eq - v->text), "")) {
		fault(v, "not of the form NAME=VALUE");
		return;
	}
	if ((size_t)(eq - v->text) >= sizeof(name)) {
		fault(v, "the name is too long");
		return;
	}
	snprintf(name, sizeof(name), "%.*s", (int)(eq - v->text), v->text);
	add_env(v, false, name, eq + 1);
}

/* The audit file: a path, but one file. */
static void read_sink(const struct value *v)
{
	char **member = (char **)((char *)v->r->c + v->row->offset), why[256];
	size_t n = strlen(v->text);
	struct path_text p;

	if (!strcmp(v->text, "-") || !strncmp(v->text, "fd:", 3)) {
		if (n > 1 && (n > 8 || n == 3 || strspn(v->text + 3, "0123456789") != n - 3)) {
			fault(v, "fd: is followed by the number of a descriptor");
			return;
		}
		*member = config_keep(v->r->c, v->text);
	} else if (!path_text_expand(v->r->env, v->text, &p, why, sizeof(why))) {
		fault(v, why);
		return;
	} else if (!p.literal || v->text[n - 1] == '/' || !strcmp(p.path, "/")) {
		fault(v, p.literal ? "a directory" : "not a pattern but one file belongs here");
		free(p.path);
		return;
	} else {
		*member = config_keep(v->r->c, p.path);
		free(p.path);
	}
	if (!*member)
		fault(v, NO_MEMORY);
}

static void read_proxy(const struct value *v)
{
	char **member = (char **)((char *)v->r->c + v->row->offset);
	struct parent parent;
	const char *why = parent_parse(v->text, &parent);

	if (!why) {
		*member = config_keep(v->r->c, v->text);
		why = *member ? NULL : NO_MEMORY;
	}
	/* Without the value: it may hold a password. */
	if (why)
		faults_add(v->r->f, v->r->origin.file, v->r->origin.line, "%s: %s", v->row->key, why);
}

static void (*const readers[SCHEMA_TYPES])(const struct value *v) = {
	[SCHEMA_PATH] = read_pattern, [SCHEMA_SOCKET] = read_socket,   [SCHEMA_BOOL] = read_bool,
	[SCHEMA_ENUM] = read_enum,    [SCHEMA_DOMAIN] = read_domain,   [SCHEMA_REASON] = read_reason,
	[SCHEMA_NET] = read_net,      [SCHEMA_RESOLVE] = read_resolve, [SCHEMA_DNS_SERVER] = read_dns_server,
	[SCHEMA_PROXY] = read_proxy,  [SCHEMA_UNSET] = read_unset,     [SCHEMA_SET] = read_set,
	[SCHEMA_SINK] = read_sink,
};

void config_read_value(const struct config_reading *r, const struct schema_row *row, const char *text)
{
	struct value v = {.r = r, .row = row, .text = text};
	struct origin *seen = &r->c->priv->scalars[row - schema_rows];

	if (!row->repeatable && seen->file) {
		faults_add(r->f, r->origin.file, r->origin.line, "%s is set a second time (first in line %d)",
			   row->key, seen->line);
		return;
	}
	if (!row->repeatable)
		*seen = r->origin;
	readers[row->type](&v);
}
