/* A file of the system's: followed when others change it, held where the session could. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/hostfile.h"
#include "supervisor/session.h"
#include "tests/unit/policy_fixture.h"

/* A directory "etc" with the file "hosts" in it, one "run" beside it, and rules in which @ is where they are. */
struct place {
	char dir[32], path[64], rules[512];
	struct fixture *x;
	struct session s;
	struct hostfile *f;
};

static void put(struct place *p, const char *name, const char *text)
{
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", p->dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void begin(struct place *p, const char *rules)
{
	char *to = p->rules;

	memset(p, 0, sizeof(*p));
	strcpy(p->dir, "/tmp/test-hostfile-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	assert_int_equal(chdir(p->dir), 0);
	assert_int_equal(mkdir("etc", 0700) | mkdir("run", 0700), 0);
	put(p, "etc/hosts", "was");
	snprintf(p->path, sizeof(p->path), "%s/etc/hosts", p->dir);
	for (; *rules; rules++)
		to += *rules == '@' ? sprintf(to, "%s", p->dir) : sprintf(to, "%c", *rules);
	p->x = fixture_new(p->rules);
	assert_non_null(p->x->p);
	p->s.policy = p->x->p;
	p->s.config = &p->x->cfg;
}

static void read_it(struct place *p)
{
	p->f = hostfile_new(&p->s, p->path);
	assert_non_null(p->f);
}

/* What holds; "-": nothing. */
static void assert_text(struct place *p, const char *want)
{
	size_t len;
	char *text;

	hostfile_look(p->f);
	text = hostfile_text(p->f, &len);
	assert_int_equal(text ? len : 1, strlen(want));
	assert_memory_equal(text ? text : "-", want, strlen(want));
	free(text);
}

static void end(struct place *p)
{
	char command[64];

	hostfile_free(p->f);
	fixture_free(p->x);
	snprintf(command, sizeof(command), "rm -rf %s", p->dir);
	assert_int_equal(chdir("/") | system(command), 0);
}

static void test_followed(void **state)
{
	unsigned number;
	struct place p;
	int fd;

	(void)state;
	begin(&p, "allow_write @/run; deny_write @/run/x");
	read_it(&p);
	assert_text(&p, "was");
	number = hostfile_look(p.f);
	assert_int_equal(hostfile_look(p.f), number);
	assert_false(hostfile_pass(p.f, &number, &fd));
	put(&p, "etc/hosts", "new one");
	assert_true(hostfile_pass(p.f, &number, &fd));
	assert_true(fd >= 0);
	close(fd);
	assert_text(&p, "new one");
	assert_int_equal(unlink("etc/hosts"), 0);
	assert_text(&p, "-");
	assert_true(hostfile_pass(p.f, &number, &fd));
	assert_int_equal(fd, -1);
	put(&p, "etc/hosts", "back");
	assert_text(&p, "back");
	assert_false(hostfile_is_held(p.f));
	end(&p);
}

/* Each lets the session put something else there. */
static void test_held(void **state)
{
	static const char *const rules[] = {
		"allow_write @/etc/hosts",
		"allow_write @/etc",
		"allow_write @/etc/*",
		"allow_write /",
		"allow_own @/etc",
		"allow_write @",
		"allow_write @; deny_write @/etc/hosts",
		"deny_read @/etc/hosts; allow_write @/etc/h*",
	};
	unsigned number;
	struct place p;
	int fd;

	(void)state;
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		begin(&p, rules[i]);
		read_it(&p);
		if (!hostfile_is_held(p.f))
			fail_msg("%s", rules[i]);
		number = hostfile_look(p.f);
		put(&p, "etc/hosts", "another");
		assert_text(&p, "was");
		assert_false(hostfile_pass(p.f, &number, &fd));
		end(&p);
	}
	begin(&p, "allow_write @/*; deny_write @/etc");
	read_it(&p);
	put(&p, "etc/hosts", "another");
	assert_text(&p, "another");
	end(&p);
}

/* A link on the way counts by its own name and by where it leads. */
static void test_links(void **state)
{
	static const struct {
		const char *rules, *target, *now;
	} rows[] = {
		{"allow_write @/w", "../run/hosts", "another"},
		{"allow_write @/run", "../run/hosts", "was"},
		{"allow_write @/run", "../run/./../run//hosts", "was"},
		{"allow_write @/run/hosts", "../run/hosts", "was"},
		{"allow_write @/etc/hosts", "../run/hosts", "was"},
	};
	struct place p;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		begin(&p, rows[i].rules);
		assert_int_equal(rename("etc/hosts", "run/hosts"), 0);
		assert_int_equal(symlink(rows[i].target, "etc/hosts"), 0);
		read_it(&p);
		put(&p, "run/hosts", "another");
		assert_text(&p, rows[i].now);
		end(&p);
	}
}

/* Somebody lets it lead, while the session runs, to where that writes: what was held before stays, for good. */
static void test_held_later(void **state)
{
	struct place p;

	(void)state;
	begin(&p, "allow_write @/run");
	read_it(&p);
	put(&p, "run/hosts", "another");
	assert_int_equal(unlink("etc/hosts") | symlink("../run/hosts", "etc/hosts"), 0);
	assert_text(&p, "was");
	assert_int_equal(unlink("etc/hosts"), 0);
	put(&p, "etc/hosts", "later");
	assert_text(&p, "was");
	end(&p);
}

static void test_absent(void **state)
{
	struct place p;

	(void)state;
	begin(&p, "allow_own @/etc");
	assert_int_equal(unlink("etc/hosts"), 0);
	read_it(&p);
	assert_text(&p, "-");
	put(&p, "etc/hosts", "another");
	assert_text(&p, "-");
	end(&p);
}

/* By a descriptor for writing, by a second name, and where nothing is refused. */
static void test_other_ways(void **state)
{
	struct place p;
	struct stat st;

	(void)state;
	begin(&p, "allow_write @/run");
	assert_int_equal(stat(p.path, &st), 0);
	p.s.stdio[p.s.n_stdio++] = (struct stdio_object){st.st_dev, st.st_ino, O_RDONLY};
	read_it(&p);
	assert_false(hostfile_is_held(p.f));
	hostfile_free(p.f);
	p.s.stdio[0].accmode = O_WRONLY;
	read_it(&p);
	put(&p, "etc/hosts", "another");
	assert_text(&p, "was");
	end(&p);

	begin(&p, "allow_write @/run");
	assert_int_equal(link("etc/hosts", "run/hosts"), 0);
	read_it(&p);
	assert_false(hostfile_is_held(p.f));
	hostfile_free(p.f);
	p.x->cfg.hardlinks = HARDLINKS_ALLOW;
	read_it(&p);
	assert_true(hostfile_is_held(p.f));
	end(&p);

	begin(&p, "allow_write @/run");
	p.s.log_only = true;
	read_it(&p);
	assert_true(hostfile_is_held(p.f));
	end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_followed), cmocka_unit_test(test_held),
		cmocka_unit_test(test_links),	 cmocka_unit_test(test_held_later),
		cmocka_unit_test(test_absent),	 cmocka_unit_test(test_other_ways),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
