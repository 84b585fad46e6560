/* What the tests of the configuration share: an environment, loading, a policy with every key in it. */
#ifndef CORDON_TESTS_CONFIG_FIXTURE_H
#define CORDON_TESTS_CONFIG_FIXTURE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/config.h"

static const char *getvar(const char *name, void *arg)
{
	static const char *const vars[][2] = {
		{"REL", "sub/dir"},	     {"ABS", "/abs"}, {"STAR", "a*b"}, {"EMPTY", ""},
		{"XDG_CONFIG_HOME", "/xdg"},
	};

	for (size_t i = 0; i < sizeof(vars) / sizeof(*vars); i++)
		if (!strcmp(vars[i][0], name))
			return vars[i][1];
	return NULL;
}

__attribute__((unused)) static const struct config_env env = {
	.cwd = "/w", .home = "/home/u", .getvar = getvar};

static inline void join_faults(const struct faults *f, char *all, size_t size)
{
	*all = '\0';
	for (size_t i = 0; i < faults_kept(f); i++)
		snprintf(all + strlen(all), size - strlen(all), "%s\n", f->text[i]);
}

static inline void no_faults(struct faults *f)
{
	char all[4096];

	join_faults(f, all, sizeof(all));
	if (faults_count(f))
		fail_msg("%s", all);
}

static inline struct config *load(const char *text, struct faults *f)
{
	struct config *c = config_new();

	memset(f, 0, sizeof(*f));
	assert_non_null(c);
	config_load_ini(c, &env, "f", text, strlen(text), f);
	return c;
}

static inline struct config *load_good(const char *text)
{
	struct faults f;
	struct config *c = load(text, &f);

	no_faults(&f);
	return c;
}

__attribute__((unused)) static const char everything[] =
	"[filesystem]\nallow_write = .\nallow_write = **/out/\nallow_own = /tmp\ndeny_write = a\\*\\ b\n"
	"deny_read = ~/.ssh\ndeny_read = **/.env\nallow_read = ~/.ssh/known_hosts\nprotect = off\n"
	"allow_protected = .git/config\nhardlinks = allow\nallow_device = /dev/fuse\nprivate_tmp = 0\nhide = "
	"on\n"
	"core_files = true\n[network]\nallow_domain = Registry.Example.org.\nallow_domain = "
	"*.github.com:443\n"
	"allow_domain = [::FFFF:127.0.0.1]:80\ndeny_domain = gist.github.com\ndeny_domain = *:22\n"
	"deny_reason = gist.github.com   use the paste service, see #12\nallow_ip = 10.0.0.0/8:5432\n"
	"allow_ip = [fd00::]/8:1-9\nresolve = api.test:443:127.0.0.1:8443\nresolve = b.test:80:[::1]\n"
	"dns_server = 127.0.0.1:5353\ndns_server = [::1]\nallow_unix_socket = /run/x.sock\n"
	"allow_unix_socket = @a b\nlocal_binding = any\nproxy_env = yes\n"
	"parent_proxy = http://u:p%40@proxy.corp:3128\n[exec]\nallow = /usr/**\ndeny = "
	"/usr/bin/docker\n"
	"[environment]\nunset = AWS_*\nset = CI=1\nset = EMPTY=\nunset = X?\nset = Y=a=b #1\n"
	"[audit]\nfile = ~/a$$.jsonl\nlevel = all\n[messages]\nstderr = no\n";

#endif
