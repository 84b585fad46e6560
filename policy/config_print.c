/* Printing a configuration as a policy file. Follows the order of the schema. */
#include "policy/config_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/path_text.h"

struct printer {
	const struct config *c;
	FILE *out;
	bool ok;
};

static void print_origin(struct printer *p, const struct origin *o)
{
	fputs("# ", p->out);
	/* A file name can hold anything; here a line must stay a line. */
	for (const char *s = o->file ? o->file : "default"; *s; s++)
		fputc((unsigned char)*s < 0x20 || *s == 0x7f ? '?' : *s, p->out);
	if (o->file && o->line > 0)
		fprintf(p->out, ":%d", o->line);
	fputc('\n', p->out);
}

static void print_line(struct printer *p, const struct origin *o, const char *key, const char *value)
{
	print_origin(p, o);
	fprintf(p->out, "%s = %s\n", key, value);
}

/* Made by the program itself; the rules of the built-in default have lines. */
static bool is_built_in(const struct rule *rule)
{
	return rule->origin.line == 0 && !strcmp(rule->origin.file, "built-in");
}

static char *rule_text(const struct rule *rule)
{
	return *rule->path == '@' ? strdup(rule->path)
				  : path_text_print(rule->path, rule->literal, rule->dir_only);
}

/* A comment: it is found anew when the policy is loaded. */
static void print_alias(struct printer *p, const struct rule *rule, const char *text)
{
	print_origin(p, &rule->origin);
	fprintf(p->out, "# by another name: %s = %s\n", rule->key, text);
}

static void print_rules(struct printer *p, const struct schema_row *row)
{
	for (size_t i = 0; i < p->c->n_rules; i++) {
		const struct rule *rule = &p->c->rules[i];
		char *text;

		if (rule->kind != row->kind || is_built_in(rule))
			continue;
		text = rule_text(rule);
		if (!text)
			p->ok = false;
		else if (rule->alias_of != i)
			print_alias(p, rule, text);
		else
			print_line(p, &rule->origin, row->key, text);
		free(text);
	}
}

/* The same place by the way that some rule before it took. */
static bool is_printed(const struct config *c, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (is_built_in(&c->rules[k]) && c->rules[k].kind == c->rules[i].kind &&
		    strcmp(c->rules[k].path, c->rules[i].path) == 0)
			return true;
	return false;
}

/* After "protect": what it stands for, and the rules that cordon adds for itself. */
static void print_built_in(struct printer *p)
{
	for (size_t i = 0; i < p->c->n_rules; i++) {
		const struct rule *rule = &p->c->rules[i];
		char *text;

		if (!is_built_in(rule) || is_printed(p->c, i))
			continue;
		text = rule_text(rule);
		if (text)
			fprintf(p->out, "# built-in %s: %s\n", rule->key, text);
		else
			p->ok = false;
		free(text);
	}
}

static void print_scalar(struct printer *p, const struct schema_row *row)
{
	const char *at = (const char *)p->c + row->offset;
	const struct origin *o = &p->c->priv->scalars[row - schema_rows];
	unsigned word;

	if (row->type == SCHEMA_BOOL) {
		print_line(p, o, row->key, *(const bool *)at ? "yes" : "no");
	} else if (row->type == SCHEMA_ENUM) {
		memcpy(&word, at, sizeof(word));
		print_line(p, o, row->key, row->words[word]);
	}
	if (!strcmp(row->key, "protect"))
		print_built_in(p);
}

static void print_sink(struct printer *p, const struct schema_row *row)
{
	const char *file = *(char *const *)((const char *)p->c + row->offset);
	char *text;

	if (!file)
		return;
	text = *file == '/' ? path_text_print(file, true, false) : strdup(file);
	if (text)
		print_line(p, &p->c->priv->scalars[row - schema_rows], row->key, text);
	else
		p->ok = false;
	free(text);
}

static void print_proxy(struct printer *p, const struct schema_row *row)
{
	const char *url = *(char *const *)((const char *)p->c + row->offset);

	if (url)
		print_line(p, &p->c->priv->scalars[row - schema_rows], row->key, url);
}

static void print_domains(struct printer *p, const struct schema_row *row)
{
	char text[HOST_TEXT_SIZE];

	for (size_t i = 0; i < p->c->n_domains; i++) {
		const struct domain_rule *d = &p->c->domains[i];
		struct host_entry e;

		config_domain_entry(d, &e);
		if (d->deny == row->deny)
			print_line(p, &d->origin, row->key, host_format_entry(&e, text));
	}
}

static void print_reasons(struct printer *p, const struct schema_row *row)
{
	char entry[HOST_TEXT_SIZE];

	for (size_t i = 0; i < p->c->priv->n_reasons; i++) {
		const struct config_reason *reason = &p->c->priv->reasons[i];

		print_origin(p, &reason->origin);
		fprintf(p->out, "%s = %s %s\n", row->key, host_format_entry(&reason->entry, entry),
			reason->text);
	}
}

static void print_nets(struct printer *p, const struct schema_row *row)
{
	char text[HOST_TEXT_SIZE];

	for (size_t i = 0; i < p->c->n_ips; i++) {
		const struct ip_rule *ip = &p->c->ips[i];
		struct host_net net = {.prefix = ip->prefix, .port_lo = ip->port_lo, .port_hi = ip->port_hi};

		memcpy(net.addr, ip->addr, sizeof(net.addr));
		print_line(p, &ip->origin, row->key, host_format_net(&net, text));
	}
}

static void print_resolves(struct printer *p, const struct schema_row *row)
{
	char addr[HOST_TEXT_SIZE];

	for (size_t i = 0; i < p->c->n_resolves; i++) {
		const struct resolve_rule *r = &p->c->resolves[i];

		print_origin(p, &r->origin);
		fprintf(p->out, "%s = %s:%u:%s:%u\n", row->key, r->host, r->port,
			host_format_addr(r->addr, true, addr), r->to_port);
	}
}

static void print_dns_servers(struct printer *p, const struct schema_row *row)
{
	char addr[HOST_TEXT_SIZE];

	for (size_t i = 0; i < p->c->n_dns_servers; i++) {
		const struct dns_server *d = &p->c->dns_servers[i];

		print_origin(p, &d->origin);
		fprintf(p->out, "%s = %s:%u\n", row->key, host_format_addr(d->addr, true, addr), d->port);
	}
}

/* Both keys at once: a later line acts on what an earlier one left. */
static void print_env(struct printer *p, const struct schema_row *row)
{
	for (size_t i = 0; i < p->c->n_env; i++) {
		const struct env_rule *e = &p->c->env[i];

		print_origin(p, &e->origin);
		if (e->unset)
			fprintf(p->out, "unset = %s\n", e->name);
		else
			fprintf(p->out, "set = %s=%s\n", e->name, e->value);
	}
}

static void (*const printers[SCHEMA_TYPES])(struct printer *p, const struct schema_row *row) = {
	[SCHEMA_PATH] = print_rules,
	[SCHEMA_SOCKET] = print_rules,
	[SCHEMA_BOOL] = print_scalar,
	[SCHEMA_ENUM] = print_scalar,
	[SCHEMA_DOMAIN] = print_domains,
	[SCHEMA_REASON] = print_reasons,
	[SCHEMA_NET] = print_nets,
	[SCHEMA_RESOLVE] = print_resolves,
	[SCHEMA_DNS_SERVER] = print_dns_servers,
	[SCHEMA_PROXY] = print_proxy,
	[SCHEMA_UNSET] = print_env,
	[SCHEMA_SET] = NULL,
	[SCHEMA_SINK] = print_sink,
};

char *config_print(const struct config *c)
{
	struct printer p = {.c = c, .ok = true};
	const char *section = "";
	char *text = NULL;
	size_t len;

	p.out = open_memstream(&text, &len);
	if (!p.out)
		return NULL;
	for (size_t i = 0; i < SCHEMA_ROWS; i++) {
		const struct schema_row *row = &schema_rows[i];

		if (strcmp(row->section, section) != 0) {
			fprintf(p.out, "%s[%s]\n", i ? "\n" : "", row->section);
			section = row->section;
		}
		if (printers[row->type])
			printers[row->type](&p, row);
	}
	p.ok = p.ok && !ferror(p.out);
	if (fclose(p.out) != 0 || !p.ok) {
		free(text);
		return NULL;
	}
	return text;
}
