/*
 * Linked into cordon when it is built with the address sanitizer. Options in the environment do not reach all tests.
 * Leaks are looked for in unit tests: cordon's processes end with their memory in use, and may not be traced.
 */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}
