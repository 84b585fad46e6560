/* Printing a policy, the shipped one and the table of keys. */
#include "tests/unit/config_fixture.h"
#include "policy/schema.h"

/* Without the lines that begin with '#', in place. */
static char *strip_comments(char *text)
{
	char *w = text, *next;

	for (char *s = text; *s; s = next) {
		next = strchrnul(s, '\n');
		next += *next == '\n';
		if (*s == '#')
			continue;
		memmove(w, s, (size_t)(next - s));
		w += next - s;
	}
	*w = '\0';
	return text;
}

static void check_round_trip(const struct config *c)
{
	/* Nothing in a printed policy depends on where it is loaded. */
	static const struct config_env elsewhere = {.cwd = "/e", .home = "/f"};
	char *one = config_print(c), *two;
	struct config *again = config_new();
	struct faults f = {0};

	assert_non_null(one);
	config_load_ini(again, &elsewhere, "printed", one, strlen(one), &f);
	no_faults(&f);
	two = config_print(again);
	assert_string_equal(strip_comments(one), strip_comments(two));
	assert_int_equal(c->n_domains, again->n_domains);
	assert_int_equal(c->n_env, again->n_env);
	config_free(again);
	free(one);
	free(two);
}

static void test_print(void **state)
{
	struct config *c = load_good(everything);
	struct faults f = {0};
	char *text;

	check_round_trip(c);
	config_set(c, &env, "filesystem", "protect", "yes", &f);
	config_finish(c, &env, &f);
	assert_int_equal(config_add_rule(c, RULE_DENY_READ, "deny_read", "/other\nname", 4), 0);
	no_faults(&f);
	check_round_trip(c);
	text = config_print(c);
	assert_non_null(strstr(text, "\n# f:3\nallow_write = /w/**/out/\n"));
	assert_non_null(strstr(text, "\n# f:5\ndeny_write = /w/a\\*\\ b\n"));
	assert_non_null(strstr(text, "\n# f:6\n# by another name: deny_read = /other\\x0aname\n"));
	assert_non_null(strstr(text, "\n# command line\nprotect = yes\n# built-in protect: /**/.bashrc\n"));
	assert_non_null(
		strstr(text, "\n# f:22\ndeny_reason = gist.github.com use the paste service, see #12\n"));
	free(text);
	config_free(c);
}

static void test_shipped(void **state)
{
	static const struct config_env homeless = {.cwd = "/", .home = "/nonexistent"};
	const struct config_env *envs[] = {&env, &homeless};
	static char bytes[65536];
	FILE *file = fopen("sandbox.ini", "r");
	size_t n;

	assert_non_null(file);
	n = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	assert_int_equal(n, config_default_ini_len);
	assert_memory_equal(bytes, config_default_ini, n);
	for (size_t i = 0; i < 2; i++) {
		struct config *c = config_new();
		struct faults f = {0};

		config_load_ini(c, envs[i], "built-in", config_default_ini, config_default_ini_len, &f);
		config_finish(c, envs[i], &f);
		no_faults(&f);
		assert_true(c->protect && c->private_tmp);
		assert_int_equal(c->n_domains + c->n_ips, 0);
		check_round_trip(c);
		config_free(c);
	}
}

/* What the shipped file says in comments must be right, too. */
static void test_shipped_examples(void **state)
{
	static char text[65536];
	size_t n = 0;
	bool at_start = true;
	struct config *c;
	struct faults f;

	for (size_t i = 0; i < config_default_ini_len; i++) {
		char next = config_default_ini[i + 1];

		if (!at_start || config_default_ini[i] != '#' || next < 'a' || next > 'z')
			text[n++] = config_default_ini[i];
		at_start = config_default_ini[i] == '\n';
	}
	text[n] = '\0';
	c = load(text, &f);
	config_finish(c, &env, &f);
	no_faults(&f);
	for (size_t i = 0; i < SCHEMA_ROWS; i++) {
		char key[64];

		snprintf(key, sizeof(key), "\n%s = ", schema_rows[i].key);
		if (!strstr(text, key))
			fail_msg("sandbox.ini does not speak of %s", schema_rows[i].key);
	}
	config_free(c);
}

static void test_schema(void **state)
{
	for (size_t i = 0; i < SCHEMA_ROWS; i++) {
		const struct schema_row *r = &schema_rows[i];

		assert_non_null(r->section);
		assert_non_null(r->help);
		assert_non_null(r->metavar);
		assert_ptr_equal(schema_find(r->section, r->key), r);
		assert_int_equal(r->type == SCHEMA_BOOL || r->type == SCHEMA_ENUM, r->def != NULL);
	}
	assert_null(schema_find("exec", "allow_write"));
}

/* The defaults of the table are those of config_new(). */
static void test_schema_defaults(void **state)
{
	struct config *c = config_new();
	char *one = config_print(c), *two;
	struct faults f = {0};

	for (size_t i = 0; i < SCHEMA_ROWS; i++)
		if (schema_rows[i].def)
			config_set(c, &env, schema_rows[i].section, schema_rows[i].key, schema_rows[i].def,
				   &f);
	no_faults(&f);
	two = config_print(c);
	assert_string_equal(strip_comments(one), strip_comments(two));
	free(one);
	free(two);
	config_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_print),
		cmocka_unit_test(test_shipped),
		cmocka_unit_test(test_shipped_examples),
		cmocka_unit_test(test_schema),
		cmocka_unit_test(test_schema_defaults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
