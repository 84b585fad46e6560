/* The session's keys and ids, against the kernel. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <unistd.h>

#include "supervisor/mqueue.h"
#include "supervisor/sysv.h"

#define MAKE (IPC_CREAT | IPC_EXCL | 0600)

static key_t key_of(int n)
{
	return (key_t)(0x52000000 + getpid() * 16 + n);
}

static void keys_are_apart(void **state)
{
	struct sysv *a = sysv_new(), *b = sysv_new();

	(void)state;
	for (enum sysv_kind k = 0; k < SYSV_KINDS; k++) {
		int one = sysv_get(a, k, key_of(1), 1, MAKE), two = sysv_get(b, k, key_of(1), 1, MAKE);

		assert_true(one >= 0 && two >= 0);
		assert_int_not_equal(one, two);
		assert_int_equal(sysv_get(a, k, key_of(1), 1, MAKE), -EEXIST);
		assert_int_equal(sysv_get(a, k, key_of(1), 1, 0), one);
		assert_int_equal(sysv_get(a, k, key_of(1), 1, IPC_CREAT | 0600), one);
		assert_int_equal(sysv_get(a, k, key_of(2), 1, 0), -ENOENT);
		assert_true(sysv_is_own(a, k, one) && !sysv_is_own(b, k, one));
		assert_false(sysv_is_own(a, k, -1));
		assert_int_equal(sysv_remove(b, k, one), -EINVAL);
		assert_int_equal(sysv_remove(a, k, one), 0);
		assert_false(sysv_is_own(a, k, one));
		assert_int_equal(sysv_get(a, k, key_of(1), 1, 0), -ENOENT);
	}
	sysv_end(a);
	sysv_end(b);
	for (enum sysv_kind k = 0; k < SYSV_KINDS; k++)
		assert_int_equal(sysv_get(b, k, key_of(1), 1, 0), -ENOENT);
}

/* A call that is late, of a caller that was ended, leaves nothing behind. */
static void closed(void **state)
{
	struct sysv *t = sysv_new();
	struct mqueues *q = mqueues_new();

	(void)state;
	assert_true(sysv_get(t, SYSV_SHM, key_of(5), 1, MAKE) >= 0);
	sysv_close(t);
	mqueues_close(q);
	for (enum sysv_kind k = 0; k < SYSV_KINDS; k++) {
		assert_int_equal(sysv_get(t, k, key_of(6), 1, MAKE), -ENOSPC);
		assert_int_equal(sysv_get(t, k, IPC_PRIVATE, 1, MAKE), -ENOSPC);
	}
	assert_int_equal(mqueues_open(q, "late", O_RDWR | O_CREAT, 0600, NULL), -ENOSPC);
	sysv_end(t);
	mqueues_end(q);
}

/* An object with the key as the outside has it is not met; what an outsider removes may be made again. */
static void outsiders(void **state)
{
	struct sysv *t = sysv_new();
	int theirs = semget(key_of(3), 1, MAKE), own;

	(void)state;
	assert_true(theirs >= 0);
	assert_false(sysv_is_own(t, SYSV_SEM, theirs));
	assert_int_equal(sysv_get(t, SYSV_SEM, key_of(3), 1, 0), -ENOENT);
	own = sysv_get(t, SYSV_SEM, key_of(3), 1, MAKE);
	assert_true(own >= 0 && own != theirs);
	semctl(own, 0, IPC_RMID);
	assert_false(sysv_is_own(t, SYSV_SEM, own));
	assert_int_equal(sysv_get(t, SYSV_SEM, key_of(3), 1, 0), -ENOENT);
	assert_true(sysv_get(t, SYSV_SEM, key_of(3), 1, MAKE) >= 0);
	sysv_end(t);
	assert_int_equal(semctl(theirs, 0, IPC_RMID), 0);
}

/* Shared memory that is removed lives on for who is attached, without its key. */
static void removed_but_attached(void **state)
{
	struct sysv *t = sysv_new();
	int id = sysv_get(t, SYSV_SHM, key_of(4), 4096, MAKE), again;
	char *p = shmat(id, NULL, 0);

	(void)state;
	assert_ptr_not_equal(p, (void *)-1);
	assert_int_equal(sysv_remove(t, SYSV_SHM, id), 0);
	assert_true(sysv_is_own(t, SYSV_SHM, id));
	again = sysv_get(t, SYSV_SHM, key_of(4), 4096, MAKE);
	assert_true(again >= 0 && again != id);
	shmdt(p);
	assert_false(sysv_is_own(t, SYSV_SHM, id));
	sysv_end(t);
	assert_false(sysv_is_own(t, SYSV_SHM, again));
}

static void many_private(void **state)
{
	struct sysv *t = sysv_new();
	int id[300];

	(void)state;
	for (int i = 0; i < 300; i++)
		id[i] = sysv_get(t, SYSV_MSG, IPC_PRIVATE, 0, 0600);
	for (int i = 0; i < 300; i++)
		assert_true(id[i] >= 0 && sysv_is_own(t, SYSV_MSG, id[i]));
	sysv_end(t);
	for (int i = 0; i < 300; i++)
		assert_false(sysv_is_own(t, SYSV_MSG, id[i]));
}

static void queues(void **state)
{
	struct mqueues *a = mqueues_new(), *b = mqueues_new();
	struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = 1};
	int fd = mqueues_open(a, "q", O_RDWR | O_CREAT | O_EXCL, 0600, &attr);

	(void)state;
	if (fd == -ENOSYS)
		skip();
	assert_true(fd >= 0);
	assert_int_equal(mqueues_open(a, "q", O_RDWR | O_CREAT | O_EXCL, 0600, &attr), -EEXIST);
	assert_int_equal(mqueues_open(b, "q", O_RDWR, 0, NULL), -ENOENT);
	assert_int_equal(mqueues_unlink(b, "q"), -ENOENT);
	assert_int_equal(mqueues_open(a, "a/b", O_RDWR, 0, NULL), -EACCES);
	assert_int_equal(mqueues_open(a, "", O_RDWR, 0, NULL), -ENOENT);
	assert_false(mqueues_is_own(a, "/q") || mqueues_is_own(a, "/") || mqueues_is_own(NULL, "/q"));
	close(fd);
	assert_int_equal(mqueues_unlink(a, "q"), 0);
	assert_int_equal(mqueues_unlink(a, "q"), -ENOENT);
	close(mqueues_open(a, "q", O_RDWR | O_CREAT, 0600, &attr));
	mqueues_end(a);
	assert_int_equal(mqueues_open(a, "q", O_RDWR, 0, NULL), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_apart), cmocka_unit_test(closed),
		cmocka_unit_test(outsiders),	  cmocka_unit_test(removed_but_attached),
		cmocka_unit_test(many_private),	  cmocka_unit_test(queues),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
