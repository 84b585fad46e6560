/* Memory of processes that is kept open: whose it is, when it is gone, and that there is never too much of it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/pins.h"

static pid_t start(void)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	assert_true(pid > 0);
	return pid;
}

static int open_mem(pid_t pid)
{
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/mem", pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_owner(void **state)
{
	const char text[] = "here";
	struct pins *p = pins_new();
	struct pin_owner o = {.tgid = start(), .start = 5, .forked = true, .stack = 7}, other = o;
	char copy[sizeof(text)];
	int fd, fd2;

	(void)state;
	assert_int_equal(pins_get(p, &o), -ENOENT);
	pins_put(p, &o, open_mem(o.tgid));
	fd = pins_get(p, &o);
	assert_true(fd >= 0);
	/* The child is a copy of us. */
	assert_int_equal(pread(fd, copy, sizeof(copy), (off_t)(uintptr_t)text), sizeof(copy));
	assert_string_equal(copy, text);
	assert_false(pins_memory_is_gone(fd));
	other.start = 6; /* a later process of that number */
	assert_int_equal(pins_get(p, &other), -ENOENT);
	other = o;
	other.forked = false; /* it has run exec since */
	assert_int_equal(pins_get(p, &other), -ENOENT);
	other = o;
	other.stack = 8; /* the same, where a child has its old memory */
	assert_int_equal(pins_get(p, &other), -ENOENT);
	other.stack = 0; /* not shown */
	fd2 = pins_get(p, &other);
	assert_true(fd2 >= 0);
	close(fd2);
	other = o;
	other.tgid++;
	assert_int_equal(pins_get(p, &other), -ENOENT);
	end(o.tgid);
	assert_true(pins_memory_is_gone(fd));
	close(fd);
	pins_free(p);
}

static void test_again(void **state)
{
	struct pins *p = pins_new();
	struct pin_owner o = {.tgid = getpid(), .start = 1};
	int fd;

	(void)state;
	for (int i = 0; i < 5; i++)
		pins_put(p, &o, open_mem(o.tgid));
	assert_int_equal(pins_count(p), 1);
	o.start = 2;
	pins_put(p, &o, open_mem(o.tgid));
	assert_int_equal(pins_count(p), 1);
	fd = pins_get(p, &o);
	assert_true(fd >= 0);
	close(fd);
	pins_drop(p, o.tgid + 1);
	assert_int_equal(pins_count(p), 1);
	pins_drop(p, o.tgid);
	assert_int_equal(pins_count(p), 0);
	assert_int_equal(pins_get(p, &o), -ENOENT);
	pins_free(p);
}

static void test_bound(void **state)
{
	struct rlimit was, l;
	struct pins *p = pins_new();
	struct pin_owner o = {.start = 1};
	pid_t pid = start();

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	l = (struct rlimit){256, was.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &l), 0);
	for (int i = 0; i < 500; i++) {
		o.tgid = 1000 + i;
		pins_put(p, &o, open_mem(pid));
	}
	assert_int_equal(pins_count(p), 64);
	/* Those that ended make room. */
	end(pid);
	o.tgid = 1;
	pins_put(p, &o, open_mem(getpid()));
	assert_int_equal(pins_count(p), 1);
	setrlimit(RLIMIT_NOFILE, &was);
	pins_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_owner),
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
