/*
 * A policy file of any bytes. Either it has faults and leaves nothing behind, or what it says can be printed,
 * compiled patterns and all, and loads again to the same policy in another place.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/config.h"
#include "policy/glob.h"
#include "tests/fuzz/fuzz.h"

static const char *getvar(const char *name, void *arg)
{
	return !strcmp(name, "V") ? "v*\n ;[" : NULL;
}

static char *without_comments(char *text)
{
	char *w = text, *next;

	for (char *s = text; *s; s = next) {
		next = strchrnul(s, '\n');
		next += *next == '\n';
		if (*s != '#') {
			memmove(w, s, (size_t)(next - s));
			w += next - s;
		}
	}
	*w = '\0';
	return text;
}

static void check_rules(const struct config *c)
{
	for (size_t i = 0; i < c->n_rules; i++) {
		const struct rule *r = &c->rules[i];
		const char *why;
		struct glob *g;

		require(r->alias_of == i, "a rule is another name of one that is not there");
		require(*r->path == '/' || (*r->path == '@' && r->literal), "a path is not absolute");
		require(!r->literal || !r->dir_only, "a literal rule is for directories only");
		require(!r->path[1] || r->path[strlen(r->path) - 1] != '/' || !r->literal || *r->path == '@',
			"a path ends in '/'");
		if (r->literal)
			continue;
		g = glob_new(r->path, 0, &why);
		require(g != NULL, "a pattern does not compile");
		glob_free(g);
	}
}

static void check_round_trip(const struct config *c)
{
	static const struct config_env elsewhere = {.cwd = "/e", .home = "/f"};
	struct config *again = config_new();
	char *one = config_print(c), *two;
	struct faults f = {0};

	config_load_ini(again, &elsewhere, "printed", one, strlen(one), &f);
	require(faults_count(&f) == 0, f.text[0] ? f.text[0] : "no text");
	require(again->n_rules == c->n_rules, "rules were lost");
	for (size_t i = 0; i < c->n_rules; i++) {
		bool found = false;

		for (size_t k = 0; k < c->n_rules && !found; k++)
			found = again->rules[k].kind == c->rules[i].kind &&
				again->rules[k].literal == c->rules[i].literal &&
				again->rules[k].dir_only == c->rules[i].dir_only &&
				!strcmp(again->rules[k].path, c->rules[i].path);
		require(found, "a rule came back otherwise");
	}
	two = config_print(again);
	require(!strcmp(without_comments(one), without_comments(two)), "printing is no fixed point");
	config_free(again);
	free(one);
	free(two);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct config_env env = {.cwd = "/w/a[b]\\c", .home = "/home/u*", .getvar = getvar};
	struct config *c = config_new();
	struct faults f = {0};

	config_load_ini(c, &env, "f", (const char *)data, size, &f);
	if (faults_count(&f) == 0) {
		check_rules(c);
		check_round_trip(c);
		config_finish(c, &env, &f);
	} else {
		require(c->n_rules + c->n_domains + c->n_ips + c->n_resolves + c->n_dns_servers + c->n_env ==
				0,
			"a faulty file was applied");
		require(faults_kept(&f) > 0, "a fault without a text");
	}
	config_free(c);
	faults_free(&f);
	return 0;
}
