/* Stand-ins for datagram sockets: bounded, given up when nobody holds them; and whom resolvers ask. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/caps.h"
#include "supervisor/ident.h"
#include "supervisor/nameserver.h"
#include "supervisor/sockets.h"
#include "supervisor/standin.h"
#include "tests/unit/other_process.h"

static struct session session = {.proc = -1};

/* As the supervisor makes one for a program, which closes its own at once. The other end's number, or -errno. */
static int make(uint64_t *inode)
{
	struct stat st;
	int end[2], rc;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, end), 0);
	assert_int_equal(fstat(end[0], &st), 0);
	*inode = st.st_ino;
	rc = standin_add(&session, end[0], AF_INET, 1);
	if (rc == 0)
		return end[1];
	close(end[0]);
	close(end[1]);
	return rc;
}

static bool is_known(uint64_t inode)
{
	struct standin st;

	return standin_look(&session, inode, &st);
}

static void test_state(void **state)
{
	struct standin st, again;
	uint64_t inode;
	int other = make(&inode), fd;
	char byte = 0;

	(void)state;
	assert_true(other >= 0);
	assert_false(is_known(0));
	assert_false(is_known(inode + 1));
	assert_int_equal(sockets_get(&session, inode + 1), -ENOENT);
	assert_true(standin_look(&session, inode, &st));
	assert_int_equal(st.family, AF_INET);
	assert_int_equal(st.peer.len, 0);
	st.peer.len = 16;
	st.local.len = 28;
	standin_change(&session, inode, &st);
	assert_true(standin_look(&session, inode, &again));
	assert_memory_equal(&st, &again, sizeof(st));
	fd = sockets_get(&session, inode);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(send(other, "x", 1, 0), 1);
	assert_int_equal(recv(fd, &byte, 1, 0), 1);
	assert_int_equal(byte, 'x');
	close(fd);
	close(other);
	sockets_drop_all(&session);
	assert_true(is_known(inode)); /* a worker is about to give it */
	sockets_delivered(&session, inode);
	sockets_drop_all(&session);
	assert_false(is_known(inode));
}

/* Before its program has it nobody holds it, and it stays all the same. */
static void test_sweep(void **state)
{
	uint64_t fresh, dead;
	int a = make(&fresh), b = make(&dead);
	char byte;

	(void)state;
	sockets_delivered(&session, dead);
	sockets_sweep(&session);
	assert_true(is_known(fresh));
	assert_false(is_known(dead));
	/* The gateway sees that its end is closed. */
	assert_int_equal(recv(b, &byte, 1, MSG_DONTWAIT), 0);
	assert_int_equal(recv(a, &byte, 1, MSG_DONTWAIT), -1);
	close(a);
	close(b);
	sockets_delivered(&session, fresh);
	sockets_drop_all(&session);
}

static void test_many_dead(void **state)
{
	uint64_t inode, first = 0;

	(void)state;
	for (int i = 0; i < 10000; i++) {
		int other = make(&inode);

		assert_true(other >= 0);
		close(other);
		sockets_delivered(&session, inode);
		first = i == 0 ? inode : first;
	}
	assert_false(is_known(first));
	sockets_drop_all(&session);
}

static void limit_descriptors(rlim_t n, struct rlimit *was)
{
	struct rlimit low;

	getrlimit(RLIMIT_NOFILE, was);
	low = *was;
	low.rlim_cur = n;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
}

/* Those that are held stay, and too many of them are refused: a quarter of what sockets may have. */
static void test_held(void **state)
{
	struct rlimit was;
	uint64_t inodes[64];
	int others[64], n;
	pid_t pid;

	(void)state;
	limit_descriptors(256, &was);
	for (n = 0; n < 64; n++) {
		others[n] = make(&inodes[n]);
		if (others[n] < 0)
			break;
	}
	assert_int_equal(n, 32);
	assert_int_equal(others[n], -ENFILE);
	pid = start(false);
	for (int i = 0; i < n; i++)
		sockets_delivered(&session, inodes[i]);
	sockets_sweep(&session);
	for (int i = 0; i < n; i++)
		assert_true(is_known(inodes[i]));
	stop(pid);
	sockets_sweep(&session);
	for (int i = 0; i < n; i++) {
		assert_false(is_known(inodes[i]));
		close(others[i]);
	}
	setrlimit(RLIMIT_NOFILE, &was);
}

/* A process that may not be looked at may hold any: half of what there may be stays, the newest. */
static void test_beside_a_shut_process(void **state)
{
	struct rlimit was;
	uint64_t inode, first = 0;
	pid_t pid = start(true);

	(void)state;
	limit_descriptors(256, &was);
	for (int i = 0; i < 500; i++) {
		int other = make(&inode);

		assert_true(other >= 0);
		close(other);
		sockets_delivered(&session, inode);
		first = i == 0 ? inode : first;
	}
	sockets_sweep(&session);
	assert_true(is_known(inode));
	assert_false(is_known(first));
	stop(pid);
	sockets_sweep(&session);
	assert_false(is_known(inode));
	setrlimit(RLIMIT_NOFILE, &was);
}

/* Of a file that says this, the first server for a socket of that family. */
static void assert_server(const char *text, int family, const char *want)
{
	char path[] = "/tmp/test-standin-XXXXXX", got[INET6_ADDRSTRLEN];
	int fd = mkstemp(path);
	struct sockaddr_storage to;
	struct nameserver *n;

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	n = nameserver_new(path);
	assert_non_null(n);
	assert_int_equal(nameserver_first(n, family, &to),
			 family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6));
	assert_int_equal(to.ss_family, family);
	assert_int_equal(((struct sockaddr_in *)&to)->sin_port, htons(53));
	inet_ntop(family,
		  family == AF_INET ? (const void *)&((struct sockaddr_in *)&to)->sin_addr
				    : (const void *)&((struct sockaddr_in6 *)&to)->sin6_addr,
		  got, sizeof(got));
	assert_string_equal(got, want);
	nameserver_free(n);
	unlink(path);
}

static uint32_t scope_of(const char *text)
{
	char path[] = "/tmp/test-standin-XXXXXX";
	int fd = mkstemp(path);
	struct sockaddr_storage to;
	struct nameserver *n = nameserver_new(path);

	/* It is read when it has changed. */
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	assert_int_equal(nameserver_first(n, AF_INET6, &to), sizeof(struct sockaddr_in6));
	nameserver_free(n);
	unlink(path);
	return ((struct sockaddr_in6 *)&to)->sin6_scope_id;
}

static void test_nameserver(void **state)
{
	(void)state;
	assert_server("nameserver 192.0.2.1\n", AF_INET, "192.0.2.1");
	assert_server("nameserver\t 192.0.2.1 trailing", AF_INET, "192.0.2.1");
	assert_server("nameserver 192.0.2.1", AF_INET6, "::ffff:192.0.2.1");
	assert_server("nameserver 2001:db8::1\n", AF_INET6, "2001:db8::1");
	assert_server("nameserver 2001:db8::1\nnameserver 192.0.2.1\n", AF_INET, "192.0.2.1");
	assert_server("nameserver 2001:db8::1\n", AF_INET, "127.0.0.1");
	assert_server("nameservers 192.0.2.1\n", AF_INET, "127.0.0.1");
	assert_server("#nameserver 192.0.2.1\n", AF_INET, "127.0.0.1");
	assert_server("", AF_INET6, "::ffff:127.0.0.1");
	assert_int_equal(scope_of("nameserver fe80::1%3\n"), 3);
	assert_int_equal(scope_of("nameserver fe80::1%lo\n"), 1);
	assert_int_equal(scope_of("nameserver fe80::1%nosuch\n"), 0);
	assert_int_equal(scope_of("nameserver fe80::1\n"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_state),
		cmocka_unit_test(test_sweep),
		cmocka_unit_test(test_many_dead),
		cmocka_unit_test(test_held),
		cmocka_unit_test(test_beside_a_shut_process),
		cmocka_unit_test(test_nameserver),
	};
	struct caps caps;

	/* Nobody is shut to who has this. */
	if (caps_get(&caps) == 0) {
		caps.effective &= ~(1ULL << CAP_SYS_PTRACE);
		caps.permitted &= ~(1ULL << CAP_SYS_PTRACE);
		caps_set(&caps);
	}
	session.proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	session.supervisor = getpid();
	session.sockets = sockets_new();
	if (session.proc < 0 || ident_initial(&session) < 0 || !session.sockets)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
