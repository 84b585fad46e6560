/*
 * Linked into cordon when it is built with a sanitizer, for the options in the environment do not reach all tests.
 * Leaks of memory are looked for in unit tests: cordon's processes end with theirs in use, and with their threads, and
 * may not be traced. Little freed memory is held back, for tests look at how much is in use. A data race ends the
 * supervisor, which no test overlooks.
 */
const char *__asan_default_options(void);
const char *__tsan_default_options(void);

const char *__asan_default_options(void)
{
	return "detect_leaks=0:quarantine_size_mb=4";
}

const char *__tsan_default_options(void)
{
	return "report_thread_leaks=0:halt_on_error=1";
}
