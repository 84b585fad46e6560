/* Sockets that their programs closed are given up, also beside a process that may not be looked at. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/caps.h"
#include "supervisor/ident.h"
#include "supervisor/session.h"
#include "supervisor/sockets.h"
#include "tests/unit/other_process.h"

static struct session session = {.proc = -1};

static void begin(void)
{
	struct session *s = &session;

	s->proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(s->proc >= 0);
	s->supervisor = getpid();
	assert_int_equal(ident_initial(s), 0);
	s->sockets = sockets_new();
	assert_non_null(s->sockets);
}

static uint64_t inode_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return st.st_ino;
}

/* As the supervisor makes one for a program, which closes it at once. */
static int add(int fd, pid_t maker)
{
	const struct sockets_made m = {SOCKETS_UNIX, AF_UNIX, fd, inode_of(fd), maker};

	return sockets_add(&session, &m);
}

static int make_dead(uint64_t *inode)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), rc;

	assert_true(fd >= 0);
	*inode = inode_of(fd);
	rc = add(fd, 1);
	if (rc < 0)
		close(fd);
	sockets_delivered(&session, *inode);
	return rc;
}

static int make_pair(void)
{
	const struct ucred maker = {.pid = 1};
	int pair[2], rc = 0;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	for (int i = 0; i < 2 && rc == 0; i++)
		rc = sockets_add_pair(&session, pair[i], &maker);
	for (int i = 0; i < 2; i++) {
		sockets_delivered(&session, inode_of(pair[i]));
		close(pair[i]);
	}
	return rc;
}

static int descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void make_many(void)
{
	struct rlimit was, low;
	uint64_t inode;

	getrlimit(RLIMIT_NOFILE, &was);
	low = was;
	low.rlim_cur = 256;
	setrlimit(RLIMIT_NOFILE, &low);
	for (int i = 0; i < 2000; i++) {
		assert_int_equal(make_dead(&inode), 0);
		if (i % 100 == 0)
			assert_true(descriptors() < 200);
	}
	setrlimit(RLIMIT_NOFILE, &was);
}

/* Connected ones keep no descriptor. */
static void make_connected(void)
{
	uint64_t inode;

	for (int i = 0; i < 70000; i++) {
		assert_int_equal(make_dead(&inode), 0);
		sockets_release(&session, inode);
	}
	for (int i = 0; i < 40000; i++)
		assert_int_equal(make_pair(), 0);
}

static void test_dead(void **state)
{
	uint64_t inode;
	int fd;

	(void)state;
	assert_int_equal(make_dead(&inode), 0);
	fd = sockets_get(&session, inode);
	assert_true(fd >= 0);
	close(fd);
	make_many();
	make_connected();
	sockets_sweep(&session);
	assert_int_equal(sockets_get(&session, inode), -ENOENT);
}

static void test_beside_a_shut_process(void **state)
{
	uint64_t last;
	pid_t pid;
	int fd;

	(void)state;
	pid = start(true);
	make_many();
	make_connected();
	/* It may be the process's that cannot be looked at. */
	assert_int_equal(make_dead(&last), 0);
	sockets_sweep(&session);
	fd = sockets_get(&session, last);
	assert_true(fd >= 0);
	close(fd);
	stop(pid);
	sockets_sweep(&session);
	assert_int_equal(sockets_get(&session, last), -ENOENT);
}

/* What a process has that cannot be looked at is given up last. */
static void test_of_a_shut_process(void **state)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	uint64_t inode = inode_of(fd);
	pid_t pid = start(true);

	(void)state;
	assert_int_equal(add(fd, pid), 0);
	sockets_delivered(&session, inode);
	make_many();
	fd = sockets_get(&session, inode);
	assert_true(fd >= 0);
	close(fd);
	stop(pid);
}

/* Held ones stay, and too many of them are refused. */
static void test_held(void **state)
{
	int held[200], copy, rc = 0, n;
	struct rlimit was, low;
	uint64_t inode = 0;
	pid_t pid;

	(void)state;
	getrlimit(RLIMIT_NOFILE, &was);
	low = was;
	low.rlim_cur = 300;
	setrlimit(RLIMIT_NOFILE, &low);
	sockets_sweep(&session);
	for (n = 0; n < 200 && rc == 0; n++) {
		held[n] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		assert_true(held[n] >= 0);
		rc = add(held[n], 1);
		inode = n == 0 ? inode_of(held[n]) : inode;
	}
	assert_int_equal(rc, -ENFILE);
	assert_int_equal(n, 151);
	close(held[--n]);
	pid = start(false);
	while (n > 0)
		sockets_delivered(&session, inode_of(held[--n]));
	sockets_sweep(&session);
	copy = sockets_get(&session, inode);
	assert_true(copy >= 0);
	close(copy);
	stop(pid);
	setrlimit(RLIMIT_NOFILE, &was);
}

/* A number that was used again is not the listener that had it. */
static void test_number_used_again(void **state)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), kept = dup(fd);
	uint64_t inode = inode_of(fd), cookie = 0;
	socklen_t len = sizeof(cookie);
	const struct sockets_made m = {SOCKETS_INET, AF_INET, kept, inode, 1};

	(void)state;
	assert_int_equal(sockets_add(&session, &m), 0);
	assert_int_equal(listen(fd, 3), 0);
	sockets_note_listening(&session, inode, fd);
	assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &len), 0);
	assert_true(sockets_is_inet(&session, inode, cookie));
	assert_false(sockets_is_inet(&session, inode, cookie + 1));
	assert_true(sockets_is_inet(&session, inode, 0)); /* where the kernel tells numbers alone */
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dead),
		cmocka_unit_test(test_beside_a_shut_process),
		cmocka_unit_test(test_of_a_shut_process),
		cmocka_unit_test(test_held),
		cmocka_unit_test(test_number_used_again),
	};
	struct caps caps;

	/* Nobody is shut to who has this. */
	if (caps_get(&caps) == 0) {
		caps.effective &= ~(1ULL << CAP_SYS_PTRACE);
		caps.permitted &= ~(1ULL << CAP_SYS_PTRACE);
		caps_set(&caps);
	}
	begin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
