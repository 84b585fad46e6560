/* Policy files and flags to a configuration. */
#include "tests/unit/config_fixture.h"

/* A file and all of its faults. */
static const struct {
	const char *text, *faults;
} faulty[] = {
	{"[filesystem]\nalow_write = .\n",
	 "f:2: unknown key 'alow_write' in [filesystem]; did you mean 'allow_write'?\n"},
	{"[filesystem]\nallow_domain = a.b\n",
	 "f:2: unknown key 'allow_domain' in [filesystem]; it belongs to [network]\n"},
	{"[exec]\nallow_exec = /bin\n[environment]\nFOO = bar\n",
	 "f:2: unknown key 'allow_exec' in [exec]; it is 'allow' in [exec]\n"
	 "f:4: unknown key 'FOO' in [environment]; a variable is given as 'set = FOO=...'\n"},
	{"[filesystem]\nxyzzy = 1\n", "f:2: unknown key 'xyzzy' in [filesystem]\n"},
	{"[filesytem]\nallow_write = .\n", "f:1: unknown section [filesytem]; did you mean [filesystem]?\n"},
	{"[Filesystem]\n", "f:1: unknown section [Filesystem]; did you mean [filesystem]?\n"},
	{"[xyzzy]\na = b\n", "f:1: unknown section [xyzzy]\n"},
	{"[filesystem]\ndeny_read = ~/.ssh, ~/.aws\n",
	 "f:2: deny_read = ~/.ssh, ~/.aws: one path in a line: repeat the key (\"\\,\" is the character)\n"},
	{"[filesystem]\ndeny_read = .env, .env.local\nallow_write = src,build\nallow_write = ./a, ./b\n",
	 "f:2: deny_read = .env, .env.local: one path in a line: repeat the key (\"\\,\" is the character)\n"
	 "f:3: allow_write = src,build: one path in a line: repeat the key (\"\\,\" is the character)\n"
	 "f:4: allow_write = ./a, ./b: one path in a line: repeat the key (\"\\,\" is the character)\n"},
	{"[filesystem]\ndeny_read = .env .env.local\nallow_read = /a /b\n[exec]\nallow = git make\n",
	 "f:2: deny_read = .env .env.local: one path in a line: repeat the key (\"\\ \" is a blank in a "
	 "name)\n"
	 "f:3: allow_read = /a /b: one path in a line: repeat the key (\"\\ \" is a blank in a name)\n"
	 "f:5: allow = git make: one path in a line: repeat the key (\"\\ \" is a blank in a name)\n"},
	{"[exec]\nallow = /a:/b\nallow = a:b\ndeny = /usr/bin/id;id\ndeny = [ab],x\n",
	 "f:2: allow = /a:/b: one path in a line: repeat the key (\"\\:\" is the character)\n"
	 "f:3: allow = a:b: one path in a line: repeat the key (\"\\:\" is the character)\n"
	 "f:4: deny = /usr/bin/id;id: one path in a line: repeat the key (\"\\;\" is the character)\n"
	 "f:5: deny = [ab],x: one path in a line: repeat the key (\"\\,\" is the character)\n"},
	{"[filesystem]\ndeny_read = **/*.{pem,key}\n",
	 "f:2: deny_read = **/*.{pem,key}: '{a,b}' is no pattern here: write a line for each (\"\\{\" is the "
	 "character)\n"},
	{"[filesystem]\nprotect = Y\n", "f:2: protect = Y: not one of: yes no true false on off 1 0\n"},
	{"[filesystem]\nprotect = yes\nprotect = no\n",
	 "f:3: protect is set a second time (first in line 2)\n"},
	{"[audit]\nlevel = denied\n[messages]\nstderr = no\n[audit]\nlevel = all\n",
	 "f:6: level is set a second time (first in line 2)\n"},
	{"[filesystem]\nhardlinks = Refuse\n", "f:2: hardlinks = Refuse: not one of: refuse allow\n"},
	{"[network]\nlocal_binding = yes\n", "f:2: local_binding = yes: not one of: none loopback any\n"},
	{"[filesystem]\nallow_write = /a #b\n", "f:2: allow_write: a comment must stand on a line of its own "
						"(in a path write \\# for the character)\n"},
	{"[filesystem]\ndeny_read = $NONE/x\nallow_write = ~bob\nallow_read = x/*/..\n",
	 "f:2: deny_read = $NONE/x: the variable NONE is not set\n"
	 "f:3: allow_write = ~bob: '~' stands before '/' only; write the home directory of another user out\n"
	 "f:4: allow_read = x/*/..: '..' after a pattern\n"},
	{"[network]\nallow_domain = *\nallow_domain = *.com\nallow_domain = http://a.b\n",
	 "f:2: allow_domain = *: '*' is too wide; only deny_domain takes it\n"
	 "f:3: allow_domain = *.com: too wide; '*.' needs at least two parts after it\n"
	 "f:4: allow_domain = http://a.b: leave out the scheme\n"},
	{"[network]\nallow_ip = 10.1.0.0/8\n",
	 "f:2: allow_ip = 10.1.0.0/8: the address has bits beyond the '/'\n"},
	{"[network]\nallow_ip = ::1\nallow_ip = fd00::/8\nallow_ip = 10.0.0.1,10.0.0.2\nallow_ip = "
	 "10.0.0.1:80,443\n",
	 "f:2: allow_ip = ::1: an IPv6 address stands in brackets, as in [::1]:443 or [fd00::]/8\n"
	 "f:3: allow_ip = fd00::/8: an IPv6 address stands in brackets, as in [::1]:443 or [fd00::]/8\n"
	 "f:4: allow_ip = 10.0.0.1,10.0.0.2: one address or network belongs here; each has a line of its "
	 "own\n"
	 "f:5: allow_ip = 10.0.0.1:80,443: one address or network belongs here; each has a line of its "
	 "own\n"},
	{"[network]\nallow_ip = localhost:80\nallow_ip = 10.0.0.1-10.0.0.9\nallow_ip = "
	 "10.0.0.0/255.0.0.0\nallow_ip = 127.1\n",
	 "f:2: allow_ip = localhost:80: a name belongs in allow_domain, here an IP address\n"
	 "f:3: allow_ip = 10.0.0.1-10.0.0.9: a range of addresses is written as a network, ADDRESS/BITS\n"
	 "f:4: allow_ip = 10.0.0.0/255.0.0.0: a number of bits belongs after '/', no mask\n"
	 "f:5: allow_ip = 127.1: not an IP address (IPv6 stands in brackets)\n"},
	{"[network]\nallow_domain = 10.0.0.0/8\nallow_domain = [fd00::]/8\nallow_domain = a.b/8\ndeny_domain "
	 "= a.b, c.d\n",
	 "f:2: allow_domain = 10.0.0.0/8: a network belongs in allow_ip\n"
	 "f:3: allow_domain = [fd00::]/8: a network belongs in allow_ip\n"
	 "f:4: allow_domain = a.b/8: leave out the path\n"
	 "f:5: deny_domain = a.b, c.d: one host belongs here; each has a line of its own\n"},
	{"[network]\nallow_local_binding = any\nallowLocalBinding = any\nallowedDomains = "
	 "a.b\ndenied_domains = a.b\n",
	 "f:2: unknown key 'allow_local_binding' in [network]; did you mean 'local_binding'?\n"
	 "f:3: unknown key 'allowLocalBinding' in [network]; did you mean 'local_binding'?\n"
	 "f:4: unknown key 'allowedDomains' in [network]; did you mean 'allow_domain'?\n"
	 "f:5: unknown key 'denied_domains' in [network]; did you mean 'deny_domain'?\n"},
	{"[network]\nresolve = a.b:80\n", "f:2: resolve = a.b:80: not of the form HOST:PORT:ADDR[:PORT]\n"},
	{"[network]\ndns_server = ns.a.b\n",
	 "f:2: dns_server = ns.a.b: not an IP address (IPv6 stands in brackets)\n"},
	{"[network]\ndeny_reason = a.b\n", "f:2: deny_reason = a.b: the text is missing after the entry\n"},
	{"[network]\ndeny_reason = a.b x\ndeny_reason = A.b. y\n",
	 "f:3: deny_reason = A.b. y: this entry has a reason already\n"},
	{"[network]\nallow_unix_socket = @\n",
	 "f:2: allow_unix_socket = @: an abstract name has 1 to 107 bytes\n"},
	{"[environment]\nset = X\nset = =v\nset = 1X=v\nunset = A=B\nunset = A B\n",
	 "f:2: set = X: not of the form NAME=VALUE\nf:3: set = =v: not of the form NAME=VALUE\n"
	 "f:4: set = 1X=v: not of the form NAME=VALUE\n"
	 "f:5: unset = A=B: not the name of a variable (letters, digits, '_', '*', '?')\n"
	 "f:6: unset = A B: not the name of a variable (letters, digits, '_', '*', '?')\n"},
	{"[audit]\nfile = fd:x\n", "f:2: file = fd:x: fd: is followed by the number of a descriptor\n"},
	{"[audit]\nfile = /x/*.log\n", "f:2: file = /x/*.log: not a pattern but one file belongs here\n"},
	{"[audit]\nfile = /x/\n", "f:2: file = /x/: a directory\n"},
	{"[network]\nparent_proxy = https://u:secret@h:1\n",
	 "f:2: parent_proxy: only a proxy of http:// can be chained to\n"},
	{"[exec]\nallow = [\n", NULL},
};

static void test_faults(void **state)
{
	for (size_t i = 0; i < sizeof(faulty) / sizeof(*faulty); i++) {
		struct faults f;
		struct config *c = load(faulty[i].text, &f);
		char all[4096];

		join_faults(&f, all, sizeof(all));
		assert_true(faults_count(&f) > 0);
		if (faulty[i].faults && strcmp(all, faulty[i].faults) != 0)
			fail_msg("<%s> gives <%s>", faulty[i].text, all);
		config_free(c);
		faults_free(&f);
	}
}

static void test_fault_applies_nothing(void **state)
{
	static const char text[] =
		"[filesystem]\nallow_write = /a\nprotect = no\n[network]\nallow_domain = a.b\n"
		"deny_reason = a.b x\n[audit]\nfile = -\n[x]\n";
	struct faults f;
	struct config *c = load(text, &f);

	assert_int_equal(faults_count(&f), 1);
	assert_int_equal(c->n_rules + c->n_domains, 0);
	assert_true(c->protect);
	assert_null(c->audit_file);
	/* A fault in one file keeps no other from being read, so that its faults are told, too. */
	config_load_ini(c, &env, "g", "[y]\n", 4, &f);
	assert_int_equal(faults_count(&f), 2);
	config_free(c);
	faults_free(&f);
}

static void test_everything(void **state)
{
	struct config *c = load_good(everything);
	struct faults f = {0};

	config_finish(c, &env, &f);
	no_faults(&f);
	assert_int_equal(c->n_rules, 13);
	assert_string_equal(c->rules[0].path, "/w");
	assert_string_equal(c->rules[0].key, "allow_write");
	assert_string_equal(c->rules[0].text, ".");
	assert_string_equal(c->rules[0].origin.file, "f");
	assert_int_equal(c->rules[0].origin.line, 2);
	assert_true(c->rules[1].dir_only);
	assert_string_equal(c->rules[3].path, "/w/a* b");
	for (size_t i = 0; i < c->n_rules; i++)
		assert_int_equal(c->rules[i].alias_of, i);
	assert_int_equal(c->rules[11].kind, RULE_ALLOW_EXEC);
	assert_string_equal(c->rules[12].key, "deny");
	assert_string_equal(c->rules[10].path, "@a b");
	assert_true(c->rules[10].literal);
	assert_int_equal(c->n_domains, 5);
	assert_string_equal(c->domains[0].host, "registry.example.org");
	assert_true(c->domains[1].wildcard && c->domains[1].port == 443 && !c->domains[1].deny);
	assert_string_equal(c->domains[2].host, "127.0.0.1");
	assert_true(c->domains[2].is_ip);
	assert_string_equal(c->domains[3].reason, "use the paste service, see #12");
	assert_true(c->domains[4].any && c->domains[4].deny && c->domains[4].port == 22 &&
		    !c->domains[4].reason);
	assert_int_equal(c->n_ips, 2);
	assert_int_equal(c->ips[0].prefix, 104);
	assert_int_equal(c->resolves[1].to_port, 80);
	assert_int_equal(c->dns_servers[0].port, 5353);
	assert_int_equal(c->dns_servers[1].port, 53);
	assert_int_equal(c->n_env, 5);
	assert_string_equal(c->env[2].value, "");
	assert_string_equal(c->env[4].value, "a=b #1");
	assert_string_equal(c->parent_proxy, "http://u:p%40@proxy.corp:3128");
	assert_true(!c->protect && !c->private_tmp && c->hide && c->core_files && !c->messages_stderr);
	assert_int_equal(c->proxy_env, PROXY_ENV_YES);
	assert_int_equal(c->hardlinks, HARDLINKS_ALLOW);
	assert_int_equal(c->local_binding, LOCAL_BINDING_ANY);
	assert_int_equal(c->audit_level, AUDIT_ALL);
	assert_string_equal(c->audit_file, "/home/u/a$.jsonl");
	config_free(c);
}

static void test_defaults(void **state)
{
	struct config *c = config_new();

	assert_true(c->protect && c->private_tmp && c->messages_stderr);
	assert_true(!c->hide && !c->core_files && !c->audit_file && !c->parent_proxy);
	assert_int_equal(c->hardlinks, HARDLINKS_REFUSE);
	assert_int_equal(c->local_binding, LOCAL_BINDING_LOOPBACK);
	assert_int_equal(c->proxy_env, PROXY_ENV_AUTO);
	assert_int_equal(c->audit_level, AUDIT_DENIED);
	config_free(c);
}

static void test_yes_and_no(void **state)
{
	static const char *const good[] = {"no", "yes", "false", "true", "off", "on",
					   "0",	 "1",	"No",	 "YES",	 "oFF", "True"};
	static const char *const bad[] = {"2", "y", "n", "enabled", "yes ", "yess", ""};

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		struct config *c = config_new();
		struct faults f = {0};

		config_set(c, &env, "filesystem", "hide", good[i], &f);
		no_faults(&f);
		assert_int_equal(c->hide, i & 1);
		config_free(c);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct config *c = config_new();
		struct faults f = {0};

		config_set(c, &env, "filesystem", "protect", bad[i], &f);
		assert_int_equal(faults_count(&f), 1);
		assert_true(c->protect);
		faults_free(&f);
		config_free(c);
	}
}

/* The same words where a third one stands beside yes and no. Others of a list are as they are written. */
static void test_yes_and_no_among_words(void **state)
{
	static const char *const words[] = {"no", "yes", "false", "true", "off", "on", "0", "1", "No", "ON"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		struct config *c = config_new();
		struct faults f = {0};

		config_set(c, &env, "network", "proxy_env", words[i], &f);
		no_faults(&f);
		assert_int_equal(c->proxy_env, i & 1 ? PROXY_ENV_YES : PROXY_ENV_NO);
		config_set(c, &env, "filesystem", "hardlinks", words[i], &f);
		config_set(c, &env, "network", "proxy_env", "Auto", &f);
		assert_int_equal(faults_count(&f), 2);
		faults_free(&f);
		config_free(c);
	}
}

static void test_merging(void **state)
{
	static const char one[] = "[filesystem]\nallow_write = /a\nhide = YES\nprotect = False\n[network]\n"
				  "deny_domain = a.b\ndeny_reason = a.b one\n";
	static const char two[] =
		"[filesystem]\nallow_write = /b\nhide = no\n[network]\ndeny_reason = a.b two\n";
	struct config *c = load_good(one);
	struct faults f = {0};

	config_load_ini(c, &env, "g", two, strlen(two), &f);
	config_set(c, &env, "filesystem", "allow_write", "/c\\ \\;d", &f);
	config_set(c, &env, "filesystem", "allow_write", "/my dir/a,b;c d .e:f", &f);
	config_set(c, &env, "audit", "level", "all", &f);
	config_set(c, &env, "audit", "level", "denied", &f);
	config_finish(c, &env, &f);
	no_faults(&f);
	assert_int_equal(c->n_rules, 4);
	assert_string_equal(c->rules[1].origin.file, "g");
	assert_int_equal(c->rules[1].alias_of, 1);
	assert_string_equal(c->rules[2].path, "/c ;d");
	assert_string_equal(c->rules[3].path, "/my dir/a,b;c d .e:f");
	assert_string_equal(c->rules[2].origin.file, "command line");
	assert_int_equal(c->rules[2].origin.line, 0);
	assert_false(c->hide);
	assert_false(c->protect);
	assert_int_equal(c->audit_level, AUDIT_DENIED);
	assert_string_equal(c->domains[0].reason, "two");
	config_free(c);
}

#define WORD "one path in an option: repeat the option (a \"\\\" in front makes the character part of a name)"

static void test_set_faults(void **state)
{
	static const struct {
		const char *section, *key, *value, *fault;
	} rows[] = {
		{"filesystem", "allow_write", "", "command line: allow_write = : the value is missing"},
		{"filesystem", "deny_read", "~/.ssh,~/.aws",
		 "command line: deny_read = ~/.ssh,~/.aws: " WORD},
		{"filesystem", "deny_read", "a /b", "command line: deny_read = a /b: " WORD},
		{"filesystem", "deny_read", "*.a;*.b", "command line: deny_read = *.a;*.b: " WORD},
		{"exec", "allow", "/a:/b", "command line: allow = /a:/b: " WORD},
		{"filesystem", "deny_read", "*.{a,b}",
		 "command line: deny_read = *.{a,b}: '{a,b}' is no pattern here: write a line for each "
		 "(\"\\{\" is "
		 "the character)"},
		{"filesystem", "nothing", "x", "command line: unknown key 'nothing' in [filesystem]"},
		{"network", "allow_domain", "*.com",
		 "command line: allow_domain = *.com: too wide; '*.' needs at least two parts after it"},
		{"environment", "set", "A=b\nc",
		 "command line: set = A=b\\x0ac: a control byte; in a path write it as \\xNN"},
		{"environment", "set", "A=b ",
		 "command line: set = A=b : a value cannot begin or end with a blank"},
		{"network", "allow_unix_socket", "@a\tb ",
		 "command line: allow_unix_socket = @a\\x09b : a value cannot begin or end with a blank"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct config *c = config_new();
		struct faults f = {0};

		config_set(c, &env, rows[i].section, rows[i].key, rows[i].value, &f);
		assert_int_equal(faults_count(&f), 1);
		assert_string_equal(f.text[0], rows[i].fault);
		faults_free(&f);
		config_free(c);
	}
}

static void test_reason_without_entry(void **state)
{
	struct config *c =
		load_good("[network]\nallow_domain = a.b\ndeny_domain = a.b:22\ndeny_reason = a.b x\n");
	struct faults f = {0};

	config_finish(c, &env, &f);
	assert_int_equal(faults_count(&f), 1);
	assert_string_equal(f.text[0], "f:4: deny_reason for a.b, which no deny_domain names");
	faults_free(&f);
	config_free(c);
}

static const struct rule *find_rule(const struct config *c, const char *path)
{
	for (size_t i = 0; i < c->n_rules; i++)
		if (!strcmp(c->rules[i].path, path))
			return &c->rules[i];
	return NULL;
}

static void test_protected(void **state)
{
	static const struct {
		const char *path, *text;
		enum rule_kind kind;
	} rows[] = {
		{"/**/.bashrc", ".bashrc", RULE_PROTECT},
		{"/**/.vscode", ".vscode", RULE_PROTECT},
		{"/**/.claude/settings*.json", ".claude/settings*.json", RULE_PROTECT},
		{"/**/.git/hooks", ".git/hooks", RULE_PROTECT_GIT},
		{"/**/.git/worktrees/*/commondir", ".git/worktrees/*/commondir", RULE_PROTECT_GIT},
		{"/home/u/.config/cordon", "~/.config/cordon", RULE_PROTECT},
		{"/xdg/cordon", "$XDG_CONFIG_HOME/cordon", RULE_PROTECT},
	};
	struct config *c = config_new();
	struct faults f = {0};

	config_finish(c, &env, &f);
	no_faults(&f);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct rule *r = find_rule(c, rows[i].path);

		assert_non_null(r);
		assert_int_equal(r->kind, rows[i].kind);
		assert_string_equal(r->text, rows[i].text);
		assert_string_equal(r->key, "protect");
		assert_string_equal(r->origin.file, "built-in");
		assert_int_equal(r->alias_of, r - c->rules);
		assert_int_equal(r->literal, !strstr(r->path, "**"));
	}
	config_free(c);

	c = load_good("[filesystem]\nprotect = no\n");
	config_finish(c, &env, &f);
	assert_int_equal(c->n_rules, 0);
	config_free(c);
}

static void test_add_rule(void **state)
{
	struct config *c = load_good("[filesystem]\ndeny_read = ~/x\n");

	assert_int_equal(config_add_rule(c, RULE_DENY_READ, "deny_read", "/other*", 0), 0);
	assert_int_equal(config_add_rule(c, RULE_PROTECT, "audit", "/a.jsonl", SIZE_MAX), 0);
	assert_int_equal(config_add_rule(c, RULE_PROTECT, "audit", "a.jsonl", SIZE_MAX), -1);
	assert_int_equal(config_add_rule(c, RULE_PROTECT, "audit", "/a", 3), -1);
	assert_int_equal(c->n_rules, 3);
	assert_string_equal(c->rules[1].path, "/other*");
	assert_true(c->rules[1].literal);
	assert_string_equal(c->rules[1].text, "~/x");
	assert_int_equal(c->rules[1].origin.line, 2);
	assert_int_equal(c->rules[1].alias_of, 0);
	assert_string_equal(c->rules[2].text, "/a.jsonl");
	assert_string_equal(c->rules[2].origin.file, "built-in");
	assert_int_equal(c->rules[2].alias_of, 2);
	config_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_fault_applies_nothing),
		cmocka_unit_test(test_everything),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_yes_and_no),
		cmocka_unit_test(test_yes_and_no_among_words),
		cmocka_unit_test(test_merging),
		cmocka_unit_test(test_set_faults),
		cmocka_unit_test(test_reason_without_entry),
		cmocka_unit_test(test_protected),
		cmocka_unit_test(test_add_rule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
