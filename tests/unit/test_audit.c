#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <sys/wait.h>

#include "tests/unit/trail.h"

static char *slurp_text(const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	size_t len;
	char *s = trail_slurp(fd, &len);

	close(fd);
	s = realloc(s, len + 1);
	s[len] = '\0';
	return s;
}

static void test_all_fields_in_order(void **state)
{
	struct rule rule = {.key = "deny_read", .text = "~/.ssh", .origin = {"/p/sandbox.ini", 12}};
	struct event e = {
		.syscall = "renameat2",
		.op = "rename",
		.pid = 11,
		.tid = 12,
		.ppid = 1,
		.comm = B("cat"),
		.exe = B("/bin/cat"),
		.cwd = B("/w"),
		.path = B("/a"),
		.target = B("/b"),
		.host = B("example.org"),
		.ip = B("192.0.2.1"),
		.port = 443,
		.denied = true,
		.rule = &rule,
		.err = 1,
		.suggestion = "allow_read = ~/.ssh",
	};
	struct audit *a = trail_open("t", AUDIT_DENIED);

	audit_emit(a, &e);
	audit_close(a);
	char *s = slurp_text("t");
	assert_int_equal(strncmp(s, "{\"ts\":\"20", 9), 0);
	char *rest = strchr(s, ',');
	assert_string_equal(
		rest, ",\"seq\":1,\"session\":\"s1\",\"kind\":\"event\",\"pid\":11,\"tid\":12,\"ppid\":1,"
		      "\"comm\":\"cat\",\"exe\":\"/bin/cat\",\"cwd\":\"/w\",\"syscall\":\"renameat2\","
		      "\"op\":\"rename\",\"path\":\"/a\",\"target\":\"/b\",\"host\":\"example.org\","
		      "\"ip\":\"192.0.2.1\",\"port\":443,\"verdict\":\"deny\","
		      "\"rule\":\"deny_read = ~/.ssh\",\"origin\":\"/p/sandbox.ini:12\","
		      "\"errno\":\"EPERM\",\"suggestion\":\"allow_read = ~/.ssh\"}\n");
	free(s);
}

static void test_absent_fields_are_left_out(void **state)
{
	struct event e = {.syscall = "mount", .op = "syscall", .denied = true};
	struct rule built_in = {.key = "protect", .text = ".bashrc", .origin = {"built-in", 0}};
	struct audit *a = trail_open("t", AUDIT_DENIED);

	audit_emit(a, &e);
	e.rule_name = "system";
	e.err = 4095;
	audit_emit(a, &e);
	e.rule = &built_in;
	e.path = (struct bytes){"", 0};
	audit_emit(a, &e);
	audit_close(a);
	json_t *all = trail_read("t");
	assert_int_equal(json_object_size(json_array_get(all, 0)), 8);
	assert_string_equal(trail_str(all, 0, "rule"), "default");
	assert_string_equal(trail_str(all, 1, "rule"), "system");
	assert_string_equal(trail_str(all, 1, "errno"), "4095");
	assert_string_equal(trail_str(all, 2, "rule"), "protect = .bashrc");
	assert_string_equal(trail_str(all, 2, "origin"), "built-in");
	assert_string_equal(trail_str(all, 2, "path"), "");
	json_decref(all);
}

static void test_levels_and_totals(void **state)
{
	struct event allowed = {.syscall = "openat", .op = "read", .path = B("/x")};
	struct event denied = trail_denial("/y");

	for (int level = 0; level < 2; level++) {
		unlink("t");
		struct audit *a = trail_open("t", level ? AUDIT_ALL : AUDIT_DENIED);
		assert_int_equal(audit_wants_allowed(a), level);
		for (int i = 0; i < 3; i++)
			audit_emit(a, &allowed);
		audit_emit(a, &denied);
		struct audit_totals t = audit_totals(a);
		assert_int_equal(t.allowed, 3);
		assert_int_equal(t.denied, 1);
		assert_int_equal(t.dropped, 0);
		audit_close(a);
		json_t *all = trail_read("t");
		assert_int_equal(json_array_size(all), level ? 4 : 1);
		json_decref(all);
	}
}

static void test_without_a_sink(void **state)
{
	char err[256] = "";
	struct audit *a = trail_try(NULL, AUDIT_ALL, err);
	struct event e = trail_denial("/y");

	assert_non_null(a);
	assert_int_equal(audit_start(a), 0);
	assert_false(audit_wants_allowed(a));
	assert_int_equal(audit_fd(a), -1);
	audit_emit(a, &e);
	audit_emit_record(a, "end", "\"x\":1");
	assert_int_equal(audit_totals(a).denied, 1);
	audit_close(a);
	audit_close(NULL);
}

/* The first at once, the others as one record when the second is over, then anew. */
/* What is not known of a process is left out; a rename may be about its new name. */
static void test_left_out(void **state)
{
	struct event e = {
		.syscall = "rename",
		.op = "rename",
		.exe = B(""),
		.cwd = B(""),
		.path = B("/b"),
		.source = B("/a"),
		.denied = true,
	};
	struct audit *a = trail_open("t", AUDIT_DENIED);

	(void)state;
	audit_emit(a, &e);
	audit_close(a);
	char *s = slurp_text("t");
	assert_null(strstr(s, "\"exe\""));
	assert_null(strstr(s, "\"cwd\""));
	assert_null(strstr(s, "\"target\""));
	assert_non_null(strstr(s, "\"path\":\"/b\",\"source\":\"/a\""));
	free(s);
}

static void test_repeats_are_counted(void **state)
{
	struct event e = trail_denial("/same"), other = trail_denial("/other");
	struct audit *a = trail_open("t", AUDIT_DENIED);

	for (int i = 0; i < 100; i++)
		audit_emit(a, &e);
	e.err = 1; /* another answer is another event */
	audit_emit(a, &e);
	audit_emit(a, &other);
	usleep(300 * 1000);
	json_t *all = trail_read("t");
	assert_int_equal(json_array_size(all), 3);
	json_decref(all);
	usleep(1000 * 1000);
	all = trail_read("t");
	assert_int_equal(json_array_size(all), 4);
	assert_int_equal(trail_int(all, 3, "repeat"), 99);
	assert_string_equal(trail_str(all, 3, "path"), "/same");
	json_decref(all);
	audit_emit(a, &other);
	audit_emit(a, &other);
	audit_emit_record(a, "end", "\"status\":0");
	audit_close(a);
	all = trail_read("t");
	assert_int_equal(json_array_size(all), 7);
	assert_null(json_object_get(json_array_get(all, 4), "repeat"));
	assert_int_equal(trail_int(all, 5, "repeat"), 1);
	assert_string_equal(trail_str(all, 6, "kind"), "end");
	assert_int_equal(trail_int(all, 6, "status"), 0);
	assert_int_equal(trail_denied(all), 104);
	json_decref(all);
}

static void test_many_distinct_denials(void **state)
{
	struct audit *a = trail_open("t", AUDIT_DENIED);
	char path[32];

	for (int i = 0; i < 1000; i++) {
		snprintf(path, sizeof(path), "/p%d", i % 500);
		struct event e = trail_denial(path);
		audit_emit(a, &e);
	}
	audit_close(a);
	json_t *all = trail_read("t");
	assert_int_equal(trail_denied(all), 1000);
	assert_string_equal(trail_str(all, 499, "path"), "/p499");
	json_decref(all);
}

static void test_forged_content_stays_one_line(void **state)
{
	static const char name[] =
		"/w/\n{\"seq\":9,\"verdict\":\"allow\"}\n\033[2K\r\"\\\xff\xc2\x9b\xe2\x80\xae,x";
	struct event e = trail_denial("");
	struct audit *a = trail_open("t", AUDIT_DENIED);
	char back[256];

	e.path = e.comm = e.exe = e.cwd = e.host = (struct bytes){name, sizeof(name)}; /* with the NUL */
	audit_emit(a, &e);
	audit_emit_record(a, "warning\n", "\"text\":\n\"x\"");
	audit_close(a);
	json_t *all = trail_read("t");
	assert_int_equal(json_array_size(all), 2);
	const json_t *v = json_object_get(json_array_get(all, 0), "path");
	assert_int_equal(jsonw_unescape(json_string_value(v), json_string_length(v), back), sizeof(name));
	assert_memory_equal(back, name, sizeof(name));
	json_decref(all);
	char *s = slurp_text("t");
	for (char *p = s; *p; p++)
		assert_true(*p == '\n' || ((unsigned char)*p >= 0x20 && (unsigned char)*p < 0x7f));
	free(s);
}

struct emitter {
	struct audit *a;
	int id, rounds;
};

static void *emit_many(void *arg)
{
	const struct emitter *m = arg;
	char path[64];

	for (int i = 0; i < m->rounds; i++) {
		/* Distinct ones, ones that all threads share, and allowed ones. */
		snprintf(path, sizeof(path), i % 3 ? "/t%d/%d" : "/shared", m->id, i);
		struct event e = trail_denial(path);
		e.denied = i % 5 != 4;
		audit_emit(m->a, &e);
	}
	return NULL;
}

static void test_eight_threads(void **state)
{
	struct audit *a = trail_open("t", AUDIT_ALL);
	struct emitter m[8];
	pthread_t t[8];

	for (int i = 0; i < 8; i++) {
		m[i] = (struct emitter){a, i, 500};
		assert_int_equal(pthread_create(&t[i], NULL, emit_many, &m[i]), 0);
	}
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	struct audit_totals n = audit_totals(a);
	audit_close(a);
	assert_int_equal(n.denied, 8 * 400);
	assert_int_equal(n.allowed, 8 * 100);
	json_t *all = trail_read("t");
	assert_int_equal(trail_denied(all), 8 * 400);
	json_decref(all);
}

static void *close_trail(void *a)
{
	audit_close(a);
	return NULL;
}

/* A pipe that nobody reads until the end: the queue fills, all denials together wait about one second, and
 * what was dropped is told when the reader comes back. */
static void test_stalled_reader(void **state)
{
	int p[2], sent = 0;
	char path[4000], file[16];

	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	snprintf(file, sizeof(file), "fd:%d", p[1]);
	struct audit *a = trail_open(file, AUDIT_ALL);
	close(p[1]);
	memset(path, 'x', sizeof(path));
	double from = trail_now();
	for (int i = 0; i < 600; i++) {
		snprintf(path, 16, "/%014d", i);
		path[15] = 'x';
		struct event e = trail_denial("");
		e.path = (struct bytes){path, sizeof(path)};
		e.denied = i % 2 == 0;
		sent += e.denied;
		audit_emit(a, &e);
	}
	double took = trail_now() - from;
	assert_true(took > 0.8 && took < 4);
	struct audit_totals n = audit_totals(a);
	assert_true(n.dropped > 200 && n.dropped < 600);
	audit_emit_record(a, "end", "\"status\":0");

	pthread_t closer;
	assert_int_equal(pthread_create(&closer, NULL, close_trail, a), 0);
	size_t len;
	char *buf = trail_slurp(p[0], &len);
	pthread_join(closer, NULL);
	json_t *all = trail_parse(buf, len);
	assert_int_equal(trail_denied(all), sent);
	assert_string_equal(trail_str(all, json_array_size(all) - 1, "kind"), "end");
	json_decref(all);
	free(buf);
	close(p[0]);
}

/* A loop over one denial needs no room, however stalled the sink is. */
static void test_stalled_reader_same_denial(void **state)
{
	int p[2];
	char file[16];
	struct event e = trail_denial("/same");

	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	while (fcntl(p[1], F_SETFL, O_NONBLOCK) == 0 && write(p[1], "\n", 1) == 1)
		;
	fcntl(p[1], F_SETFL, 0);
	snprintf(file, sizeof(file), "fd:%d", p[1]);
	struct audit *a = trail_open(file, AUDIT_DENIED);
	double from = trail_now();
	for (int i = 0; i < 20000; i++)
		audit_emit(a, &e);
	assert_true(trail_now() - from < 1);
	assert_int_equal(audit_totals(a).dropped, 0);
	from = trail_now();
	audit_close(a);
	assert_true(trail_now() - from < 2.6);
	assert_int_equal(fcntl(p[1], F_GETFL) & O_NONBLOCK, 0);
	close(p[0]);
	close(p[1]);
}

/* What is emitted before the fork is written by the side that starts the writer, once. */
static void test_open_before_fork(void **state)
{
	char err[256] = "";
	struct audit *a = trail_try("t", AUDIT_DENIED, err);
	struct event e = trail_denial("/x");
	int status;

	assert_non_null(a);
	audit_emit_record(a, "start", "\"command\":[\"true\"]");
	pid_t pid = fork();
	if (pid == 0) {
		int r = audit_start(a);
		audit_emit(a, &e);
		audit_close(a);
		_exit(r != 0);
	}
	audit_close(a);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	json_t *all = trail_read("t");
	assert_int_equal(json_array_size(all), 2);
	assert_string_equal(trail_str(all, 0, "kind"), "start");
	json_decref(all);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, trail_enter, trail_leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_all_fields_in_order),
		TEST(test_absent_fields_are_left_out),
		TEST(test_levels_and_totals),
		TEST(test_without_a_sink),
		TEST(test_left_out),
		TEST(test_repeats_are_counted),
		TEST(test_many_distinct_denials),
		TEST(test_forged_content_stays_one_line),
		TEST(test_eight_threads),
		TEST(test_stalled_reader),
		TEST(test_stalled_reader_same_denial),
		TEST(test_open_before_fork),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
