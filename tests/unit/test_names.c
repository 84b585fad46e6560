/* The names that led to an address, the file among them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/hostfile.h"
#include "supervisor/names.h"

static struct host_name name_of(const char *text)
{
	struct host_name n;

	assert_null(host_canonicalise(text, strlen(text), &n));
	return n;
}

/* 10.a.b.c */
static void address(uint8_t addr[16], unsigned i)
{
	const uint8_t a[16] = {[10] = 0xff, 0xff, 10, (uint8_t)(i >> 16), (uint8_t)(i >> 8), (uint8_t)i};

	memcpy(addr, a, sizeof(a));
}

struct seen {
	char text[4096];
	const char *stop;
};

static bool note(const struct host_name *name, bool refused, void *arg)
{
	struct seen *s = arg;

	strcat(s->text, refused ? "!" : "");
	strcat(s->text, name->text);
	strcat(s->text, " ");
	return s->stop && strcmp(name->text, s->stop) == 0;
}

static struct seen each(struct names *t, unsigned addr, const char *stop)
{
	struct seen s = {.stop = stop};
	uint8_t a[16];
	bool found;

	address(a, addr);
	names_look_again(t);
	found = names_each(t, a, note, &s);
	assert_int_equal(found, stop && strstr(s.text, stop));
	return s;
}

static void bind_name(struct names *t, const char *text, unsigned addr, bool refused)
{
	struct host_name n = name_of(text);
	uint8_t a[16];

	address(a, addr);
	assert_true(names_bind(t, &n, a, refused));
}

static struct names *table(const char *path, struct hostfile **file)
{
	struct names *t;

	*file = hostfile_new(NULL, path);
	t = names_new(*file);
	assert_non_null(t);
	return t;
}

static void end(struct names *t, struct hostfile *file)
{
	names_free(t);
	hostfile_free(file);
}

static void test_latest_first(void **state)
{
	struct hostfile *file;
	struct names *t = table("/nonexistent", &file);

	(void)state;
	bind_name(t, "a.example", 1, false);
	bind_name(t, "b.example", 1, false);
	bind_name(t, "c.example", 2, true);
	assert_string_equal(each(t, 1, NULL).text, "b.example a.example ");
	assert_string_equal(each(t, 2, NULL).text, "!c.example ");
	assert_string_equal(each(t, 3, NULL).text, "");
	bind_name(t, "a.example", 1, true);
	assert_string_equal(each(t, 1, NULL).text, "!a.example b.example ");
	assert_string_equal(each(t, 1, "a.example").text, "!a.example ");
	end(t, file);
}

/* The pair that was used longest ago goes. */
static void test_bounded(void **state)
{
	struct hostfile *file;
	struct names *t = table("/nonexistent", &file);

	(void)state;
	for (unsigned i = 0; i < NAMES_MAX; i++)
		bind_name(t, "a.example", i, false);
	bind_name(t, "a.example", 0, false);
	each(t, 1, "a.example");
	bind_name(t, "b.example", 0, false);
	bind_name(t, "b.example", 1, false);
	assert_string_equal(each(t, 0, NULL).text, "b.example a.example ");
	assert_string_equal(each(t, 1, NULL).text, "b.example a.example ");
	assert_string_equal(each(t, 2, NULL).text, "");
	assert_string_equal(each(t, 3, NULL).text, "");
	assert_string_equal(each(t, 4, NULL).text, "a.example ");
	end(t, file);
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void test_hosts_file(void **state)
{
	char dir[] = "/tmp/test-names-XXXXXX", path[64];
	struct hostfile *file;
	struct names *t;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/hosts", dir);
	t = table(path, &file);
	assert_string_equal(each(t, 1, NULL).text, "");
	write_file(path, "10.0.0.1 one.example One # two.example\n");
	assert_string_equal(each(t, 1, NULL).text, "one.example one ");
	bind_name(t, "late.example", 1, false);
	assert_string_equal(each(t, 1, NULL).text, "late.example one.example one ");
	assert_string_equal(each(t, 1, "late.example").text, "late.example ");
	write_file(path, "10.0.0.1 another.example");
	assert_string_equal(each(t, 1, NULL).text, "late.example another.example ");
	unlink(path);
	assert_string_equal(each(t, 1, NULL).text, "late.example ");
	rmdir(dir);
	end(t, file);
}

static bool any(const struct host_name *name, bool refused, void *arg)
{
	(void)refused;
	(void)arg;
	return name->text[0] == 'x';
}

static void *hammer(void *arg)
{
	struct host_name n = name_of("a.example");
	uint8_t a[16];

	for (unsigned i = 0; i < 3000; i++) {
		address(a, i % 97);
		names_bind(arg, &n, a, false);
		names_each(arg, a, any, NULL);
	}
	return NULL;
}

static void test_threads(void **state)
{
	struct hostfile *file;
	struct names *t = table("/etc/hosts", &file);
	pthread_t thread[4];

	(void)state;
	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, hammer, t);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	end(t, file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_latest_first),
					   cmocka_unit_test(test_bounded), cmocka_unit_test(test_hosts_file),
					   cmocka_unit_test(test_threads)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
