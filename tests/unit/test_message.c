#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <signal.h>

#include "supervisor/message.h"
#include "tests/unit/trail.h"

struct stream {
	int fd[2];
	struct message *m;
};

static struct stream stream_open(const char *trail)
{
	struct stream s;

	assert_int_equal(pipe2(s.fd, O_CLOEXEC), 0);
	s.m = message_open(s.fd[1], trail);
	assert_non_null(s.m);
	assert_int_equal(message_start(s.m), 0);
	return s;
}

/* All that was written, NUL-terminated. */
static char *stream_close(struct stream *s)
{
	size_t len;

	message_close(s->m);
	close(s->fd[1]);
	char *text = trail_slurp(s->fd[0], &len);
	close(s->fd[0]);
	text = realloc(text, len + 1);
	text[len] = '\0';
	return text;
}

static void check_stream(struct stream *s, const char *expected)
{
	char *text = stream_close(s);

	assert_string_equal(text, expected);
	free(text);
}

static void test_one_line_per_distinct_text(void **state)
{
	struct stream s = stream_open(NULL);

	for (int i = 0; i < 50; i++) {
		message_refusal(s.m, "write /etc/x refused: no allow_write covers it", "allow_write = /etc");
		message_refusal(s.m, "read ~/.ssh refused by deny_read = ~/.ssh", NULL);
	}
	check_stream(&s,
		     "cordon: write /etc/x refused: no allow_write covers it (to allow: allow_write = /etc)\n"
		     "cordon: read ~/.ssh refused by deny_read = ~/.ssh\n");
	message_refusal(NULL, "x", NULL);
	message_warn(NULL, "x");
	message_close(NULL);
}

static void test_nothing_acts_on_the_terminal(void **state)
{
	struct stream s = stream_open(NULL);

	message_refusal(s.m, "write a\nb\033[2J\r\x7f\xff\xc2\x9b\xe2\x80\xae\xc3\xa9", "allow_write = \a");
	message_warn(s.m, "%s", "x\ny");
	check_stream(&s, "cordon: write a\\x0ab\\x1b[2J\\x0d\\x7f\\xff\\xc2\\x9b\\xe2\\x80\\xae\xc3\xa9"
			 " (to allow: allow_write = \\x07)\n"
			 "cordon: x\\x0ay\n");
}

static void test_long_text_is_cut(void **state)
{
	struct stream s = stream_open(NULL);
	char text[3000];

	memset(text, 'a', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	message_refusal(s.m, text, "allow_write = /");
	memset(text, '\n', sizeof(text) - 1);
	message_refusal(s.m, text, "allow_write = /");
	char *out = stream_close(&s);
	char *nl = strchr(out, '\n');
	assert_non_null(nl);
	assert_int_equal(nl - out, 1023);
	assert_int_equal(strncmp(nl - 4, "a...\n", 5), 0);
	char *end = strchr(nl + 1, '\n');
	assert_non_null(end);
	assert_true(end - nl <= 1024);
	assert_string_equal(end - 3, "...\n");
	free(out);
}

static void emit_distinct(struct message *m, int from, int n)
{
	char text[32];

	for (int i = from; i < from + n; i++) {
		snprintf(text, sizeof(text), "refusal %d", i);
		message_refusal(m, text, NULL);
	}
}

static int count_lines(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += *s == '\n';
	return n;
}

static void test_rate_limit(void **state)
{
	struct stream s = stream_open(NULL);

	emit_distinct(s.m, 0, 50);
	usleep(1100 * 1000); /* two more tokens, and the summary, as it is calm */
	emit_distinct(s.m, 50, 10);
	char *out = stream_close(&s);
	assert_non_null(strstr(out, "refusal 19\ncordon: 30 more refusals not shown; see the audit trail "
				    "(--audit FILE)\ncordon: refusal 50\n"));
	/* Two more lines, or a few on a machine that is slow to wake us. */
	int shown = count_lines(out) - 20 - 1 - 1;
	char last[64];
	assert_in_range(shown, 2, 9);
	snprintf(last, sizeof(last), "refusal %d\ncordon: %d more refusals not shown", 49 + shown,
		 10 - shown);
	assert_non_null(strstr(out, last));
	free(out);
}

static void test_table_of_texts_is_bounded(void **state)
{
	struct stream s = stream_open("/var/log/t");

	emit_distinct(s.m, 0, 5000);
	char *out = stream_close(&s);
	assert_int_equal(count_lines(out), 21);
	assert_non_null(
		strstr(out, "cordon: 4980 more refusals not shown; see the audit trail (/var/log/t)\n"));
	free(out);
}

/* stderr that nobody reads: the calls return, the shared description keeps its flags, close ends. */
static void test_blocked_stderr(void **state)
{
	struct stream s = stream_open(NULL);
	char block[4096] = {0};

	assert_int_equal(fcntl(s.fd[1], F_SETFL, O_NONBLOCK), 0);
	while (write(s.fd[1], block, sizeof(block)) > 0)
		;
	assert_int_equal(fcntl(s.fd[1], F_SETFL, 0), 0);
	double from = trail_now();
	emit_distinct(s.m, 0, 100);
	for (int i = 0; i < 100; i++)
		message_warn(s.m, "warning %d", i);
	assert_true(trail_now() - from < 0.5);
	message_close(s.m);
	assert_true(trail_now() - from < 2.5);
	assert_int_equal(fcntl(s.fd[1], F_GETFL) & O_NONBLOCK, 0);
	close(s.fd[0]);
	close(s.fd[1]);
}

static void test_stderr_gone(void **state)
{
	struct stream s = stream_open(NULL);

	close(s.fd[0]);
	emit_distinct(s.m, 0, 5);
	message_close(s.m);
	close(s.fd[1]);
	assert_null(message_open(s.fd[1], NULL));
}

static void *emit_thread(void *m)
{
	emit_distinct(m, 0, 200);
	return NULL;
}

static void test_threads(void **state)
{
	struct stream s = stream_open(NULL);
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&t[i], NULL, emit_thread, s.m), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	char *out = stream_close(&s);
	assert_int_equal(count_lines(out), 21);
	assert_non_null(strstr(out, "cordon: 180 more refusals not shown"));
	free(out);
}

static void test_through_the_audit(void **state)
{
	int p[2];
	char err[256], *out;
	size_t len;
	struct event e = trail_denial("/etc/x");

	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	for (int quiet = 0; quiet < 2; quiet++) {
		struct audit_opts o = {.stderr_messages = !quiet, .stderr_fd = p[1], .session = "s"};
		struct audit *a = audit_open(&o, err, sizeof(err));
		assert_non_null(a);
		assert_int_equal(audit_start(a), 0);
		e.message = "write /etc/x refused";
		audit_emit(a, &e);
		e.denied = false;
		e.message = "allowed things have no line";
		audit_emit(a, &e);
		e.denied = true;
		message_warn(audit_messages(a), "about cordon");
		audit_close(a);
	}
	close(p[1]);
	out = trail_slurp(p[0], &len);
	close(p[0]);
	static const char expected[] =
		"cordon: write /etc/x refused\ncordon: about cordon\ncordon: about cordon\n";
	assert_int_equal(len, sizeof(expected) - 1);
	assert_memory_equal(out, expected, len);
	free(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_line_per_distinct_text),
		cmocka_unit_test(test_nothing_acts_on_the_terminal),
		cmocka_unit_test(test_long_text_is_cut),
		cmocka_unit_test(test_rate_limit),
		cmocka_unit_test(test_table_of_texts_is_bounded),
		cmocka_unit_test(test_blocked_stderr),
		cmocka_unit_test(test_stderr_gone),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_through_the_audit),
	};

	signal(SIGPIPE, SIG_DFL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
