/* fs.protected_*: owners, modes of the directory, levels. Others' files are made up, so no rights are needed. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/sticky.h"

static char dir[64], name[128];

static bool refuses(int level, mode_t dir_mode, mode_t type, uid_t owner)
{
	struct session s = {.protected_regular = level, .protected_fifos = level};
	struct object o = {.fd = -1, .name = name, .len = strlen(name)};

	assert_int_equal(chmod(dir, dir_mode), 0);
	o.st.stx_mode = (uint16_t)(type | 0666);
	o.st.stx_uid = owner;
	return sticky_refuses_creat(&s, &o);
}

static void test_creat(void **state)
{
	const mode_t types[] = {S_IFREG, S_IFIFO};
	uid_t other = getuid() + 1000;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		assert_false(refuses(0, 01777, types[i], other));
		assert_true(refuses(1, 01777, types[i], other));
		assert_true(refuses(2, 01777, types[i], other));
		assert_false(refuses(2, 01777, types[i], getuid()));
		assert_false(refuses(2, 0777, types[i], other));
		assert_false(refuses(1, 01775, types[i], other));
		assert_true(refuses(2, 01775, types[i], other));
		assert_false(refuses(2, 01755, types[i], other));
	}
	/* Devices are looked at whatever is set. */
	assert_true(refuses(0, 01777, S_IFCHR, other));
	assert_false(refuses(2, 01775, S_IFCHR, other));
}

static bool hides(int level, mode_t dir_mode, uid_t owner)
{
	struct session s = {.protected_symlinks = level};
	int fd = open(dir, O_PATH | O_DIRECTORY);
	bool hidden;

	assert_int_equal(chmod(dir, dir_mode), 0);
	hidden = sticky_hides_link(&s, fd, owner);
	close(fd);
	return hidden;
}

static void test_links(void **state)
{
	uid_t other = getuid() + 1000;

	(void)state;
	assert_false(hides(0, 01777, other));
	assert_true(hides(1, 01777, other));
	assert_false(hides(1, 01777, getuid()));
	assert_false(hides(1, 01775, other));
	assert_false(hides(1, 0777, other));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_creat),
		cmocka_unit_test(test_links),
	};
	int rc;

	snprintf(dir, sizeof(dir), "/tmp/test_sticky.XXXXXX");
	if (!mkdtemp(dir))
		return 1;
	snprintf(name, sizeof(name), "%s/file", dir);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(dir);
	return rc;
}
