#include "supervisor/environment.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/gateway.h"
#include "supervisor/proxyenv.h"

extern char **environ;

struct environment {
	char **list;
	size_t count, size;
};

static bool name_is(const char *entry, const char *name, size_t n)
{
	return strncmp(entry, name, n) == 0 && entry[n] == '=';
}

static void env_unset(struct environment *e, const char *pattern)
{
	size_t kept = 0;

	for (size_t i = 0; i < e->count; i++) {
		size_t n = strcspn(e->list[i], "=");
		char name[4096];

		snprintf(name, sizeof(name), "%.*s", (int)n, e->list[i]);
		if (fnmatch(pattern, name, 0) != 0)
			e->list[kept++] = e->list[i];
	}
	e->count = kept;
	e->list[kept] = NULL;
}

static bool env_set(void *arg, const char *name, const char *value)
{
	struct environment *e = arg;
	size_t n = strlen(name);
	char *entry;

	if (asprintf(&entry, "%s=%s", name, value) < 0)
		return false;
	for (size_t i = 0; i < e->count; i++)
		if (name_is(e->list[i], name, n)) {
			e->list[i] = entry;
			return true;
		}
	e->list[e->count++] = entry;
	e->list[e->count] = NULL;
	return true;
}

char **environment_make(const struct session *s, const char *tmpdir)
{
	struct environment e = {.size = s->config->n_env + PROXYENV_MAX + 8};
	bool ok = true;

	while (environ[e.count])
		e.count++;
	e.size += e.count;
	e.list = calloc(e.size + 1, sizeof(*e.list));
	if (!e.list)
		return NULL;
	memcpy(e.list, environ, e.count * sizeof(*e.list));
	if (tmpdir && tmpdir[0])
		ok = env_set(&e, "TMPDIR", tmpdir);
	ok = ok && env_set(&e, "CORDON_SESSION", s->id);
	if (gateway_proxy_port(s))
		ok = ok && proxyenv_each(gateway_proxy_port(s), gateway_proxy_token(s), env_set, &e);
	for (size_t i = 0; ok && i < s->config->n_env; i++) {
		const struct env_rule *r = &s->config->env[i];

		if (r->unset)
			env_unset(&e, r->name);
		else
			ok = env_set(&e, r->name, r->value);
	}
	return ok ? e.list : NULL;
}
