/* Loading and merging: see config.h. A file is read into a draft, which is merged only if it has no fault. */
#include "policy/config_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/ini_load.h"

struct config_string {
	struct config_string *next;
	char text[];
};

struct config *config_new(void)
{
	struct config *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->priv = calloc(1, sizeof(*c->priv));
	if (!c->priv) {
		free(c);
		return NULL;
	}
	c->priv->strings_end = &c->priv->strings;
	c->protect = true;
	c->private_tmp = true;
	c->messages_stderr = true;
	c->hardlinks = HARDLINKS_REFUSE;
	c->local_binding = LOCAL_BINDING_LOOPBACK;
	c->audit_level = AUDIT_DENIED;
	return c;
}

void config_free(struct config *c)
{
	struct config_string *s, *next;

	if (!c)
		return;
	for (s = c->priv->strings; s; s = next) {
		next = s->next;
		free(s);
	}
	free(c->rules);
	free(c->domains);
	free(c->ips);
	free(c->resolves);
	free(c->dns_servers);
	free(c->env);
	free(c->priv->reasons);
	free(c->priv);
	free(c);
}

char *config_keep(struct config *c, const char *text)
{
	size_t size = strlen(text) + 1;
	struct config_string *s = malloc(sizeof(*s) + size);

	if (!s)
		return NULL;
	memcpy(s->text, text, size);
	s->next = NULL;
	*c->priv->strings_end = s;
	c->priv->strings_end = &s->next;
	return s->text;
}

/* Lists grow at powers of two, so the room need not be remembered. */
void *config_grow(void *list, size_t n, size_t size)
{
	if (n & (n - 1))
		return list;
	return reallocarray(list, n ? 2 * n : 1, size);
}

struct rule *config_new_rule(struct config *c, enum rule_kind kind, const char *key, const char *text,
			     const char *path, struct origin origin)
{
	struct rule *list = config_grow(c->rules, c->n_rules, sizeof(*list)), *rule;

	if (!list)
		return NULL;
	c->rules = list;
	rule = &list[c->n_rules];
	*rule = (struct rule){
		.kind = kind,
		.key = key,
		.text = config_keep(c, text),
		.path = config_keep(c, path),
		.origin = origin,
		.alias_of = c->n_rules,
	};
	if (!rule->text || !rule->path)
		return NULL;
	c->n_rules++;
	return rule;
}

/* The list with n items more; *ok turns false when memory is out. */
static void *append(void *to, size_t *n_to, const void *from, size_t n, size_t size, bool *ok)
{
	for (size_t i = 0; i < n; i++) {
		void *list = config_grow(to, *n_to, size);

		if (!list) {
			*ok = false;
			return to;
		}
		to = list;
		memcpy((char *)to + *n_to * size, (const char *)from + i * size, size);
		(*n_to)++;
	}
	return to;
}

#define APPEND(list, n, ok) (c->list = append(c->list, &c->n, draft->list, draft->n, sizeof(*c->list), ok))

_Static_assert(sizeof(enum hardlinks) == sizeof(unsigned) && sizeof(enum local_binding) == sizeof(unsigned) &&
		       sizeof(enum audit_level) == sizeof(unsigned),
	       "the schema treats every enum as an unsigned");

static void merge_scalar(struct config *c, const struct config *draft, size_t row)
{
	size_t at = schema_rows[row].offset;
	const char *from = (const char *)draft + at;
	char *to = (char *)c + at;

	if (!draft->priv->scalars[row].file)
		return;
	c->priv->scalars[row] = draft->priv->scalars[row];
	if (schema_rows[row].type == SCHEMA_BOOL)
		memcpy(to, from, sizeof(bool));
	else if (schema_rows[row].type == SCHEMA_ENUM)
		memcpy(to, from, sizeof(unsigned));
	else
		memcpy(to, from, sizeof(void *));
}

static bool merge_lists(struct config *c, const struct config *draft)
{
	size_t first = c->n_rules;
	bool ok = true;

	APPEND(rules, n_rules, &ok);
	APPEND(domains, n_domains, &ok);
	APPEND(ips, n_ips, &ok);
	APPEND(resolves, n_resolves, &ok);
	APPEND(dns_servers, n_dns_servers, &ok);
	APPEND(env, n_env, &ok);
	for (size_t i = first; i < c->n_rules; i++)
		c->rules[i].alias_of = i;
	return ok;
}

/* Of two reasons for one entry the later stays. */
static bool merge_reasons(struct config *c, const struct config *draft)
{
	struct config_private *p = c->priv;
	bool ok = true;

	for (size_t i = 0; i < draft->priv->n_reasons; i++) {
		const struct config_reason *from = &draft->priv->reasons[i];
		size_t k = 0;

		while (k < p->n_reasons && !host_entry_equal(&p->reasons[k].entry, &from->entry))
			k++;
		if (k < p->n_reasons)
			p->reasons[k] = *from;
		else
			p->reasons = append(p->reasons, &p->n_reasons, from, 1, sizeof(*from), &ok);
	}
	return ok;
}

/* Moves what draft says into c and frees draft. */
static void merge(struct config *c, struct config *draft, struct faults *f)
{
	bool ok = merge_lists(c, draft) && merge_reasons(c, draft);

	for (size_t i = 0; i < SCHEMA_ROWS; i++)
		if (!schema_rows[i].repeatable)
			merge_scalar(c, draft, i);
	/* The strings go along whatever happened: some lists point at them already. */
	if (draft->priv->strings) {
		*c->priv->strings_end = draft->priv->strings;
		c->priv->strings_end = draft->priv->strings_end;
		draft->priv->strings = NULL;
	}
	config_free(draft);
	if (!ok)
		faults_add(f, NULL, 0, "out of memory");
}

static bool on_section(void *arg, int line, const char *section)
{
	struct config_reading *r = arg;
	char hint[96];

	if (schema_has_section(section))
		return true;
	faults_add(r->f, r->origin.file, line, "unknown section [%s]%s", section,
		   schema_suggest_section(section, hint, sizeof(hint)));
	return false;
}

static bool is_free_text(enum schema_type type)
{
	return type == SCHEMA_REASON || type == SCHEMA_SET;
}

static void on_setting(void *arg, int line, const char *section, const char *key, const char *value)
{
	struct config_reading *r = arg;
	const struct schema_row *row = schema_find(section, key);
	char hint[96];

	r->origin.line = line;
	if (!row)
		faults_add(r->f, r->origin.file, line, "unknown key '%s' in [%s]%s", key, section,
			   schema_suggest_key(section, key, hint, sizeof(hint)));
	/* "#12" may stand in a text, but a path or host with it is a comment gone wrong. */
	else if (!is_free_text(row->type) && (strstr(value, " #") || strstr(value, "\t#")))
		faults_add(r->f, r->origin.file, line,
			   "%s: a comment must stand on a line of its own (in a path write \\# for the "
			   "character)",
			   key);
	else
		config_read_value(r, row, value);
}

/* Readies r for one source. False, with a fault, when memory is out. */
static bool begin(struct config_reading *r, const struct config_env *env, const char *name, struct faults *f)
{
	*r = (struct config_reading){.c = config_new(), .env = env, .f = f};
	if (r->c)
		r->origin.file = config_keep(r->c, name);
	if (r->origin.file)
		return true;
	config_free(r->c);
	faults_add(f, name, 0, "out of memory");
	return false;
}

static void end(struct config *c, struct config_reading *r, size_t faults_before)
{
	if (faults_count(r->f) == faults_before)
		merge(c, r->c, r->f);
	else
		config_free(r->c);
}

void config_load_ini(struct config *c, const struct config_env *env, const char *name, const char *bytes,
		     size_t len, struct faults *f)
{
	static const struct ini_sink sink = {.section = on_section, .setting = on_setting};
	size_t before = faults_count(f);
	struct config_reading r;

	if (!begin(&r, env, name, f))
		return;
	ini_load(name, bytes, len, &sink, &r, f);
	end(c, &r, before);
}

void config_set(struct config *c, const struct config_env *env, const char *section, const char *key,
		const char *value, struct faults *f)
{
	const struct schema_row *row = schema_find(section, key);
	size_t before = faults_count(f);
	struct config_reading r;
	const char *why = NULL;

	if (!begin(&r, env, "command line", f))
		return;
	r.is_word = true;
	/* A path can name any bytes; the rest must be something that a file can say, too. */
	if (!*value ||
	    (row && row->type != SCHEMA_PATH && row->type != SCHEMA_SOCKET && row->type != SCHEMA_SINK))
		why = ini_value_fault(value);
	if (!row)
		faults_add(f, r.origin.file, 0, "unknown key '%s' in [%s]", key, section);
	else if (why)
		faults_add(f, r.origin.file, 0, "%s = %.300s: %s", key, value, why);
	else
		config_read_value(&r, row, value);
	end(c, &r, before);
}

int config_add_rule(struct config *c, enum rule_kind kind, const char *key, const char *path, size_t alias_of)
{
	static const struct origin built_in = {.file = "built-in"};
	struct rule *rule;

	if (*path != '/' || (alias_of != SIZE_MAX && alias_of >= c->n_rules))
		return -1;
	rule = config_new_rule(c, kind, key, alias_of == SIZE_MAX ? path : c->rules[alias_of].text, path,
			       built_in);
	if (!rule)
		return -1;
	rule->literal = true;
	if (alias_of != SIZE_MAX) {
		rule->alias_of = alias_of;
		rule->literal = c->rules[alias_of].literal;
		rule->dir_only = c->rules[alias_of].dir_only;
		rule->key = c->rules[alias_of].key;
		rule->reason = c->rules[alias_of].reason;
		rule->origin = c->rules[alias_of].origin;
	}
	return 0;
}

void config_domain_entry(const struct domain_rule *d, struct host_entry *out)
{
	memset(out, 0, sizeof(*out));
	snprintf(out->name.text, sizeof(out->name.text), "%s", d->host);
	out->wildcard = d->wildcard;
	out->any = d->any;
	out->port = d->port;
	/* host is canonical, so this only fills in the address. */
	if (d->is_ip)
		host_canonicalise(d->host, strlen(d->host), &out->name);
}

static bool join_reason(struct config *c, const struct config_reason *reason)
{
	bool found = false;

	for (size_t i = 0; i < c->n_domains; i++) {
		struct domain_rule *d = &c->domains[i];
		struct host_entry e;

		config_domain_entry(d, &e);
		if (!d->deny || !host_entry_equal(&e, &reason->entry))
			continue;
		/* In the strings of c already, and never written to. */
		d->reason = (char *)reason->text;
		found = true;
	}
	return found;
}

/* Two names share an address and port, but not the port to go to: a connect does not say which name it means. */
static bool contradict(const struct resolve_rule *a, const struct resolve_rule *b)
{
	return a->port == b->port && a->to_port != b->to_port &&
	       memcmp(a->addr, b->addr, sizeof(a->addr)) == 0;
}

static void check_resolve(const struct config *c, const struct resolve_rule *r, struct faults *f)
{
	for (size_t i = 0; i < c->n_resolves; i++) {
		if (!contradict(r, &c->resolves[i]))
			continue;
		faults_add(f, r->origin.file, r->origin.line,
			   "resolve = %s: %s leads to the same address and port, and on to another port; "
			   "give one of "
			   "them another address, such as 127.0.0.2",
			   r->text, c->resolves[i].host);
		return;
	}
}

void config_finish(struct config *c, const struct config_env *env, struct faults *f)
{
	for (size_t i = 0; i < c->priv->n_reasons; i++) {
		const struct config_reason *reason = &c->priv->reasons[i];
		char entry[HOST_TEXT_SIZE];

		if (!join_reason(c, reason))
			faults_add(f, reason->origin.file, reason->origin.line,
				   "deny_reason for %s, which no deny_domain names",
				   host_format_entry(&reason->entry, entry));
	}
	for (size_t i = 0; i < c->n_resolves; i++)
		if (c->resolves[i].to_port != c->resolves[i].port)
			check_resolve(c, &c->resolves[i], f);
	config_add_protected(c, env, f);
}
