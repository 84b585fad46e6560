/* Addresses that stand for refused names. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "supervisor/gateway/fakes.h"

static const char *address_of(struct fakes *f, const char *format, unsigned i)
{
	static char text[HOST_TEXT_SIZE];
	struct host_name n;
	uint8_t addr[16];
	char name[64];

	snprintf(name, sizeof(name), format, i);
	assert_null(host_canonicalise(name, strlen(name), &n));
	assert_true(fakes_addr(f, &n, addr));
	return host_format_addr(addr, false, text);
}

static void test_fakes(void **state)
{
	struct fakes *f = fakes_new();

	(void)state;
	assert_string_equal(address_of(f, "a%u.example", 0), "240.0.0.1");
	assert_string_equal(address_of(f, "b%u.example", 0), "240.0.0.2");
	assert_string_equal(address_of(f, "a%u.example", 0), "240.0.0.1");
	for (unsigned i = 0; i < FAKES_MAX - 2; i++)
		address_of(f, "c%u.example", i);
	assert_string_equal(address_of(f, "a%u.example", 0), "240.0.0.1");
	/* The oldest goes. */
	assert_string_equal(address_of(f, "d%u.example", 0), "240.0.0.1");
	assert_string_equal(address_of(f, "b%u.example", 0), "240.0.0.2");
	assert_string_equal(address_of(f, "a%u.example", 0), "240.0.0.2");
	assert_string_equal(address_of(f, "c%u.example", FAKES_MAX - 3), "240.0.64.0");
	fakes_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_fakes)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
