/* What a process may write in its own memory, as asked for and as read from the list. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "supervisor/maps.h"

/* As from an older kernel: a copy of the list, which answers no question. */
static int copy_of(int maps)
{
	char buf[4096], name[] = "/tmp/maps.XXXXXX";
	int fd = mkstemp(name);
	ssize_t n;

	assert_true(fd >= 0);
	unlink(name);
	while ((n = read(maps, buf, sizeof(buf))) > 0)
		assert_int_equal(write(fd, buf, (size_t)n), n);
	close(maps);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static ssize_t look(const char *p, size_t len, bool old)
{
	int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	assert_true(maps >= 0);
	return maps_writable(old ? copy_of(maps) : maps, (uintptr_t)p, len);
}

static void test_writable(void **state)
{
	static const int prot[] = {PROT_READ, PROT_NONE, PROT_EXEC};
	char *p = mmap(NULL, 5 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(p != MAP_FAILED);
	for (int old = 0; old < 2; old++) {
		for (size_t i = 0; i < sizeof(prot) / sizeof(*prot); i++) {
			mprotect(p + 4096, 4096, prot[i]);
			assert_int_equal(look(p, 4096, old), 4096);
			assert_int_equal(look(p, 4097, old), 4096);
			assert_int_equal(look(p + 10, 5000, old), 4086);
			assert_int_equal(look(p + 4095, 1, old), 1);
			assert_int_equal(look(p + 4096, 1, old), 0);
			assert_int_equal(look(p + 5000, 4096, old), 0);
			assert_int_equal(look(p + 8192, 4096, old), 4096);
			mprotect(p + 4096, 4096, PROT_READ | PROT_WRITE);
		}
		mprotect(p + 4096, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
		assert_int_equal(look(p, 3 * 4096, old), 3 * 4096);
		mprotect(p + 4096, 4096, PROT_READ | PROT_WRITE);
		/* Holes are left to whoever writes. */
		munmap(p + 3 * 4096, 4096);
		mprotect(p + 4 * 4096, 4096, PROT_READ);
		assert_int_equal(look(p, 5 * 4096, old), 4 * 4096);
		assert_int_equal(look(p + 3 * 4096, 10, old), 10);
		assert_int_equal(look(NULL, 10, old), 10);
		p = mmap(p, 5 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		assert_true(p != MAP_FAILED);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_writable)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
