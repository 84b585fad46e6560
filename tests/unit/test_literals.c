/* Files by identity: looked up anew, and one that cannot be looked up holds nobody else up. */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "policy/config.h"
#include "supervisor/literals.h"

static char dir[] = "/tmp/literals.XXXXXX";
static char dead[64], good[64];
/* While hung, a lookup of "dead" begins and does not end. */
static _Atomic bool hung;
static sem_t begun, may_end;

/* In the place of libc's. */
int statx(int at, const char *restrict path, int flags, unsigned mask, struct statx *restrict st)
{
	if (hung && strcmp(path, dead) == 0) {
		sem_post(&begun);
		sem_wait(&may_end);
	}
	return (int)syscall(SYS_statx, at, path, flags, mask, st);
}

static void make(const char *name)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	fclose(f);
}

static struct config *two_rules(void)
{
	static struct config *c;

	c = config_new();
	assert_non_null(c);
	assert_int_equal(config_add_rule(c, RULE_DENY_READ, "deny_read", dead, SIZE_MAX), 0);
	assert_int_equal(config_add_rule(c, RULE_DENY_READ, "deny_read", good, SIZE_MAX), 0);
	c->rules[c->n_rules - 1].literal = c->rules[c->n_rules - 2].literal = true;
	return c;
}

static const char *found(struct literals *l, const char *name)
{
	const struct rule *r;
	struct statx st;

	assert_int_equal(syscall(SYS_statx, AT_FDCWD, name, 0, STATX_INO, &st), 0);
	r = literals_find(l, &st);
	return r ? r->path : "none";
}

static void *find_dead(void *l)
{
	return (void *)(uintptr_t)found(l, dead);
}

/* The second is due when the first was made over a second ago. */
static void test_dead(void **state)
{
	static struct literals *l; /* for good, as in the supervisor */
	char other[80];
	pthread_t t;
	void *what;

	(void)state;
	l = literals_new(two_rules(), true);
	assert_non_null(l);
	snprintf(other, sizeof(other), "%s.other", good);
	assert_string_equal(found(l, good), good);
	assert_string_equal(found(l, dead), dead);
	hung = true;
	sleep(2);
	assert_int_equal(pthread_create(&t, NULL, find_dead, l), 0);
	sem_wait(&begun);
	/* It hangs now, and all others go on; should they not, the alarm ends this. */
	alarm(20);
	assert_string_equal(found(l, good), good);
	assert_string_equal(found(l, dead), dead);
	/* Another file of that name is seen all the same. */
	make(other);
	assert_int_equal(rename(other, good), 0);
	sleep(2);
	assert_string_equal(found(l, good), good);
	assert_string_equal(found(l, dead), dead);
	alarm(0);
	hung = false;
	sem_post(&may_end);
	pthread_join(t, &what);
	assert_string_equal(what, dead);
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(dead, sizeof(dead), "%s/dead", dir);
	snprintf(good, sizeof(good), "%s/good", dir);
	make(dead);
	make(good);
	return sem_init(&begun, 0, 0) || sem_init(&may_end, 0, 0);
}

static int tear_down(void **state)
{
	(void)state;
	unlink(dead);
	unlink(good);
	return rmdir(dir);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(test_dead)};

	return cmocka_run_group_tests_name("literals", tests, set_up, tear_down);
}
