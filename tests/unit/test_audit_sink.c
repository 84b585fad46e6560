#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "supervisor/audit_sink.h"
#include "tests/unit/trail.h"

static void check_refused(const char *file, const char *expected)
{
	char err[256] = "";

	assert_null(trail_try(file, AUDIT_ALL, err));
	assert_string_equal(err, expected);
}

static void test_refused_sinks(void **state)
{
	int p[2];
	char file[16], text[64], longname[600] = {0};

	assert_int_equal(symlink("nowhere", "link"), 0);
	assert_int_equal(mkdir("dir", 0700), 0);
	assert_int_equal(mkfifo("fifo", 0600), 0);
	close(open("one", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	assert_int_equal(link("one", "two"), 0);
	check_refused("link",
		      "audit trail link: is a symbolic link; name the file itself (or use - or fd:N)");
	check_refused("dir", "audit trail dir: is a directory");
	check_refused("dir/", "audit trail dir/: is a directory");
	check_refused("", "audit trail : empty name");
	check_refused("fifo", "audit trail fifo: nobody reads this FIFO; start the reader first");
	check_refused("two", "audit trail two: has more than one hard link");
	check_refused("one/t", "audit trail one/t: its directory: Not a directory");
	assert_int_equal(mkdir("a\033\n", 0700), 0);
	check_refused("a\033\n", "audit trail a\\x1b\\x0a: is a directory");
	check_refused("fd:", "audit trail fd:: not a descriptor number");
	check_refused("fd:1x", "audit trail fd:1x: not a descriptor number");
	check_refused("fd:-1", "audit trail fd:-1: not a descriptor number");
	check_refused("fd:99999999999", "audit trail fd:99999999999: not a descriptor number");
	check_refused("fd:987", "audit trail fd:987: not open for writing");
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	snprintf(file, sizeof(file), "fd:%d", p[0]);
	snprintf(text, sizeof(text), "audit trail fd:%d: not open for writing", p[0]);
	check_refused(file, text);
	close(p[0]);
	close(p[1]);
	memset(longname, 'n', sizeof(longname) - 1);
	char err[256];
	assert_null(trail_try(longname, AUDIT_ALL, err));
	assert_non_null(strstr(err, "...: File name too long"));
	assert_int_equal(access("nowhere", F_OK), -1);
}

static void test_socket_by_path_is_refused(void **state)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "sock"};
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(s, (struct sockaddr *)&un, sizeof(un)), 0);
	check_refused("sock", "audit trail sock: is a socket or has no device behind it");
	close(s);
}

static void test_file_and_parents_are_private(void **state)
{
	struct stat st, st_fd;
	mode_t old = umask(0);
	struct audit *a = trail_open("./state//cordon/audit.jsonl", AUDIT_ALL);

	umask(old);
	assert_int_equal(stat("state", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(stat("state/cordon/audit.jsonl", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(fstat(audit_fd(a), &st_fd), 0);
	assert_int_equal(st.st_ino, st_fd.st_ino);
	int fl = fcntl(audit_fd(a), F_GETFL);
	assert_int_equal(fl & (O_APPEND | O_NONBLOCK | O_ACCMODE), O_APPEND | O_NONBLOCK | O_WRONLY);
	assert_int_equal(fcntl(audit_fd(a), F_GETFD), FD_CLOEXEC);
	audit_close(a);
}

static void test_inherited_descriptor_is_not_handed_on(void **state)
{
	int p[2];
	char file[16];

	assert_int_equal(pipe(p), 0);
	snprintf(file, sizeof(file), "fd:%d", p[1]);
	struct audit *a = trail_open(file, AUDIT_ALL);
	assert_int_not_equal(audit_fd(a), p[1]);
	assert_int_equal(fcntl(p[1], F_GETFD), FD_CLOEXEC);
	assert_int_equal(fcntl(p[1], F_GETFL) & O_NONBLOCK, 0);
	audit_emit_record(a, "start", NULL);
	audit_close(a);
	close(p[1]);
	size_t len;
	char *buf = trail_slurp(p[0], &len);
	json_t *all = trail_parse(buf, len);
	assert_int_equal(json_array_size(all), 1);
	json_decref(all);
	free(buf);
	close(p[0]);
}

static void test_reader_gone_and_back(void **state)
{
	struct event e = trail_denial("/x");
	size_t len;

	assert_int_equal(mkfifo("fifo", 0600), 0);
	int r = open("fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct audit *a = trail_open("fifo", AUDIT_ALL);
	close(r);
	audit_emit(a, &e); /* EPIPE, and no signal */
	usleep(150 * 1000);
	r = open("fifo", O_RDONLY | O_CLOEXEC);
	audit_close(a);
	char *buf = trail_slurp(r, &len);
	json_t *all = trail_parse(buf, len);
	assert_int_equal(json_array_size(all), 1);
	json_decref(all);
	free(buf);
	close(r);
}

static void test_device_that_is_always_full(void **state)
{
	struct event e = trail_denial("/x");
	struct audit *a = trail_open("/dev/full", AUDIT_ALL);
	double from = trail_now();

	audit_emit(a, &e);
	audit_close(a);
	assert_true(trail_now() - from < 3);
}

/* A line of a killed writer is ended first, so that ours stay whole. */
static void test_torn_line_of_another(void **state)
{
	int fd = open("t", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	char buf[512];

	assert_int_equal(write(fd, "{\"torn", 6), 6);
	close(fd);
	for (int i = 0; i < 2; i++) {
		struct audit *a = trail_open("t", AUDIT_ALL);
		audit_emit_record(a, "start", NULL);
		audit_close(a);
	}
	fd = open("t", O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	assert_true(n > 0);
	buf[n] = '\0';
	assert_int_equal(strncmp(buf, "{\"torn\n{\"ts\"", 12), 0);
	assert_non_null(strstr(buf, "}\n{\"ts\""));
	assert_null(strstr(buf, "\n\n"));
}

static void test_rotation_is_followed(void **state)
{
	struct audit_sink s;
	char err[256], line[] = "{}\n";
	struct stat st;

	assert_int_equal(audit_sink_open(&s, "sub/t", 2, err, sizeof(err)), 0);
	int fd = s.out.fd;
	assert_int_equal(audit_sink_write(&s, line, 3), 0);
	assert_int_equal(rename("sub/t", "sub/t.1"), 0);
	s.checked = 0;
	assert_int_equal(audit_sink_write(&s, line, 3), 0);
	assert_int_equal(s.out.fd, fd);
	assert_int_equal(stat("sub/t", &st), 0);
	assert_int_equal(st.st_size, 3);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(stat("sub/t.1", &st), 0);
	assert_int_equal(st.st_size, 3);

	/* A link in the place of the name is not followed; the trail goes on where it was. */
	assert_int_equal(unlink("sub/t"), 0);
	assert_int_equal(symlink("../elsewhere", "sub/t"), 0);
	s.checked = 0;
	assert_int_equal(audit_sink_write(&s, line, 3), 0);
	assert_int_equal(access("elsewhere", F_OK), -1);

	/* Neither is a directory above that was exchanged: the name is looked up where it was. */
	assert_int_equal(unlink("sub/t"), 0);
	assert_int_equal(rename("sub", "moved"), 0);
	assert_int_equal(mkdir("other", 0700), 0);
	assert_int_equal(symlink("other", "sub"), 0);
	s.checked = 0;
	assert_int_equal(audit_sink_write(&s, line, 3), 0);
	assert_int_equal(access("other/t", F_OK), -1);
	assert_int_equal(access("moved/t", F_OK), 0);
	audit_sink_close(&s);
}

/* On a file system of 64 KiB: most lines do not fit until the filler is removed. */
static void fill_disk(void)
{
	static char block[32768];
	char path[2048];
	int sent = 0;

	int fd = open("m/filler", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, block, sizeof(block)), sizeof(block));
	close(fd);
	struct audit *a = trail_open("m/t", AUDIT_DENIED);
	memset(path, 'p', sizeof(path));
	for (; sent < 24; sent++) {
		path[1] = (char)('a' + sent);
		struct event e = trail_denial("");
		e.path = (struct bytes){path, sizeof(path)};
		audit_emit(a, &e);
	}
	usleep(300 * 1000);
	struct stat st;
	assert_int_equal(stat("m/t", &st), 0);
	assert_true(st.st_size > 0);
	assert_int_equal(st.st_size % 4096, 0); /* full, and torn for now */
	assert_int_equal(unlink("m/filler"), 0);
	audit_close(a);
	json_t *all = trail_read("m/t");
	assert_int_equal(trail_denied(all), sent);
	json_decref(all);
}

static void test_full_disk_recovers(void **state)
{
	int status;

	if (geteuid() != 0) {
		print_message("skipped: needs root for a file system of its own\n");
		skip();
	}
	assert_int_equal(mkdir("m", 0700), 0);
	pid_t pid = fork();
	if (pid == 0) {
		if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		    mount("tmpfs", "m", "tmpfs", 0, "size=64k") < 0)
			_exit(77);
		fill_disk();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		print_message("skipped: no mount namespace here\n");
		skip();
	}
	assert_int_equal(status, 0);
}

/* Without /proc the description stays shared and blocking: writes stop before they would block. */
static void test_shared_description_does_not_block(void **state)
{
	static char block[20000];
	int p[2];
	ssize_t n;

	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	struct outfd o = {.fd = p[1], .poll_first = true};
	for (int i = 0; (n = outfd_write(&o, block, sizeof(block))) > 0; i++) {
		assert_true(n <= 4096);
		assert_true(i < 1000);
	}
	assert_int_equal(n, -EAGAIN);
	double from = trail_now();
	outfd_wait(&o, 50);
	assert_true(trail_now() - from > 0.04);
	close(p[0]);
	assert_int_equal(outfd_write(&o, block, 1), -EPIPE);
	outfd_close(&o);
}

static void test_datagram_too_long_is_counted(void **state)
{
	static char path[300000];
	struct event small = trail_denial("/x"), big = trail_denial("");
	int p[2], size = 65536;
	char file[16], buf[4096];

	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, p), 0);
	assert_int_equal(setsockopt(p[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)), 0);
	snprintf(file, sizeof(file), "fd:%d", p[1]);
	struct audit *a = trail_open(file, AUDIT_DENIED);
	memset(path, 'x', sizeof(path));
	big.path = (struct bytes){path, sizeof(path)};
	audit_emit(a, &small);
	audit_emit(a, &big);
	audit_close(a);
	json_t *all = json_array();
	for (int i = 0; i < 2; i++) {
		ssize_t n = recv(p[0], buf, sizeof(buf), MSG_DONTWAIT);
		assert_true(n > 0);
		json_array_append_new(all, json_loadb(buf, (size_t)n, 0, NULL));
	}
	assert_int_equal(trail_int(all, 1, "denied"), 1);
	assert_int_equal(trail_int(all, 1, "seq"), 2);
	json_decref(all);
	close(p[0]);
	close(p[1]);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, trail_enter, trail_leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_refused_sinks),
		TEST(test_socket_by_path_is_refused),
		TEST(test_file_and_parents_are_private),
		TEST(test_inherited_descriptor_is_not_handed_on),
		TEST(test_reader_gone_and_back),
		TEST(test_device_that_is_always_full),
		TEST(test_torn_line_of_another),
		TEST(test_rotation_is_followed),
		TEST(test_full_disk_recovers),
		TEST(test_shared_description_does_not_block),
		TEST(test_datagram_too_long_is_counted),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
