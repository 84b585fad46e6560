/* The mark that a program believes to have: its children begin with it, other memories do not. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/dumpable.h"
#include "supervisor/member.h"

static struct session session;

static void set(pid_t pid, bool dumpable)
{
	struct member_stat st;

	assert_true(dumpable_look(&session, pid, &st));
	dumpable_set(pid, &st, dumpable);
}

/* Runs in a child: what it exits with. */
static bool in_child(bool (*fn)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(fn());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status) == 1;
}

static bool own(void)
{
	return dumpable_get(&session, getpid());
}

static bool own_set_again(void)
{
	set(getpid(), true);
	return own() && !dumpable_get(&session, getppid());
}

static bool of_grandchild(void)
{
	return in_child(own);
}

static void test_marks(void **state)
{
	(void)state;
	assert_true(own());
	set(getpid(), false);
	assert_false(own());
	assert_false(in_child(own));
	assert_false(in_child(of_grandchild));
	assert_true(in_child(own_set_again));
	assert_false(own());
	set(getpid(), true);
	assert_true(own());
	assert_true(in_child(own));
}

static void test_others(void **state)
{
	struct member_stat st;

	(void)state;
	assert_true(dumpable_look(&session, getpid(), &st));
	st.stack += 4096; /* another program, that exec started */
	dumpable_set(getpid(), &st, false);
	assert_true(own());
	st.stack = 0; /* one that could not be looked into */
	dumpable_set(getpid(), &st, false);
	assert_false(own());
	set(getpid(), true);
	st.start++; /* a later process with this number */
	dumpable_set(getpid(), &st, false);
	assert_true(own());
	assert_true(dumpable_get(&session, 0x7ffffff0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_others),
	};

	session.proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	session.supervisor = -1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
