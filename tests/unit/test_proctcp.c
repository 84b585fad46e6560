/* Who listens, from /proc/net/tcp and tcp6: of several that may be meant each has to be own. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/inet.h"
#include "supervisor/proctcp.h"

static uint64_t own[8];
static size_t n_own;

static bool is_own(const struct inet_socket *s, void *arg)
{
	(void)arg;
	for (size_t i = 0; i < n_own; i++)
		if (own[i] == s->inode)
			return true;
	return false;
}

static const struct inet_own owner = {is_own, NULL};

static void make_own(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	own[n_own++] = st.st_ino;
}

/* At all addresses or at loopback; *port 0: any, which it is then. -1: no such family here. */
static int listener(int family, bool any, uint16_t *port)
{
	struct sockaddr_in6 a6 = {.sin6_family = AF_INET6, .sin6_port = htons(*port)};
	struct sockaddr_in a4 = {.sin_family = AF_INET, .sin_port = htons(*port)};
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1, rc;
	socklen_t len = sizeof(a4);

	if (fd < 0)
		return -1;
	a4.sin_addr.s_addr = htonl(any ? INADDR_ANY : INADDR_LOOPBACK);
	a6.sin6_addr = any ? in6addr_any : in6addr_loopback;
	setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
	if (family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	rc = family == AF_INET ? bind(fd, (struct sockaddr *)&a4, sizeof(a4))
			       : bind(fd, (struct sockaddr *)&a6, sizeof(a6));
	if (rc < 0) {
		assert_int_equal(errno, EADDRNOTAVAIL);
		close(fd);
		return -1;
	}
	assert_int_equal(listen(fd, 5), 0);
	if (family == AF_INET && getsockname(fd, (struct sockaddr *)&a4, &len) == 0)
		*port = ntohs(a4.sin_port);
	return fd;
}

static enum inet_answer ask(const uint8_t addr[16], uint16_t port)
{
	struct inet_end to = {.port = port};

	memcpy(to.addr, addr, 16);
	return proctcp_listener(&to, &owner);
}

/* Several at one address. */
static void test_shared(void **state)
{
	uint16_t port = 0;
	int a = listener(AF_INET, false, &port), b = listener(AF_INET, false, &port);

	(void)state;
	n_own = 0;
	assert_int_equal(ask(inet_loopback4, port), INET_UNKNOWN);
	make_own(a);
	assert_int_equal(ask(inet_loopback4, port), INET_UNKNOWN);
	make_own(b);
	assert_int_equal(ask(inet_loopback4, port), INET_SOCKET);
	close(a);
	close(b);
	assert_int_equal(ask(inet_loopback4, port), INET_NOBODY);
}

/* At all addresses of either family. The one of IPv6 may take both, the other does not. */
static void test_families(void **state)
{
	uint16_t port = 0;
	int a = listener(AF_INET, true, &port), b = listener(AF_INET6, true, &port);

	(void)state;
	n_own = 0;
	make_own(a);
	if (b < 0) {
		close(a);
		skip();
	}
	assert_int_equal(ask(inet_loopback4, port), INET_UNKNOWN);
	assert_int_equal(ask(inet_loopback6, port), INET_UNKNOWN);
	make_own(b);
	assert_int_equal(ask(inet_loopback4, port), INET_SOCKET);
	assert_int_equal(ask(inet_loopback6, port), INET_SOCKET);
	close(b);
	n_own = 0;
	assert_int_equal(ask(inet_loopback6, port), INET_NOBODY);
	close(a);
}

/* The one at the very address is meant, whoever listens at all. */
static void test_exact(void **state)
{
	uint16_t port = 0;
	int a = listener(AF_INET, true, &port), b = listener(AF_INET, false, &port);

	(void)state;
	n_own = 0;
	make_own(a);
	assert_int_equal(ask(inet_loopback4, port), INET_UNKNOWN);
	n_own = 0;
	make_own(b);
	assert_int_equal(ask(inet_loopback4, port), INET_SOCKET);
	close(a);
	close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_families),
		cmocka_unit_test(test_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
