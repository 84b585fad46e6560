/* Socket addresses from bytes: what the kernel says of odd ones, and back again. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "policy/host.h"
#include "policy/inet.h"
#include "tests/unit/random.h"

static struct sockaddr_in make_v4(const char *text, uint16_t port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};

	assert_int_equal(inet_pton(AF_INET, text, &a.sin_addr), 1);
	return a;
}

static struct sockaddr_in6 make_v6(const char *text, uint16_t port, uint32_t scope)
{
	struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_scope_id = scope};

	assert_int_equal(inet_pton(AF_INET6, text, &a.sin6_addr), 1);
	return a;
}

static void test_v4(void **state)
{
	struct sockaddr_in in = make_v4("10.1.2.3", 443);
	struct sockaddr_storage out;
	struct inet_addr a;
	char text[HOST_TEXT_SIZE];

	memset(in.sin_zero, 0xaa, sizeof(in.sin_zero));
	assert_int_equal(inet_parse(&in, sizeof(in), AF_INET, &a), 0);
	assert_string_equal(host_format_addr(a.addr, false, text), "10.1.2.3");
	assert_int_equal(a.port, 443);
	assert_false(a.v6);
	assert_int_equal(inet_make(&a, AF_INET, &out), sizeof(in));
	memset(in.sin_zero, 0, sizeof(in.sin_zero));
	assert_memory_equal(&out, &in, sizeof(in));
	assert_int_equal(inet_make(&a, AF_INET6, &out), sizeof(struct sockaddr_in6));
	assert_int_equal(inet_parse(&out, sizeof(struct sockaddr_in6), AF_INET6, &a), 0);
	assert_string_equal(host_format_addr(a.addr, false, text), "10.1.2.3");
	assert_true(a.v6);
	assert_int_equal(inet_make(&a, AF_INET, &out), sizeof(in));
	assert_memory_equal(&out, &in, sizeof(in));
}

static void test_v6(void **state)
{
	struct sockaddr_in6 in = make_v6("fe80::1", 80, 7);
	struct sockaddr_storage out;
	struct inet_addr a;

	assert_int_equal(inet_parse(&in, sizeof(in), AF_INET6, &a), 0);
	assert_int_equal(a.scope, 7);
	assert_int_equal(a.port, 80);
	assert_int_equal(inet_make(&a, AF_INET6, &out), sizeof(in));
	assert_memory_equal(&out, &in, sizeof(in));
	assert_int_equal(inet_make(&a, AF_INET, &out), 0);
	/* The scope may be missing. */
	assert_int_equal(inet_parse(&in, sizeof(in) - 4, AF_INET6, &a), 0);
	assert_int_equal(a.scope, 0);
	assert_int_equal(inet_parse(&in, sizeof(in) - 1, AF_INET6, &a), 0);
	assert_int_equal(a.scope, 0);
}

/* The same bytes to a socket of the kernel's: a connect that is refused for its bytes never leaves. */
static int ask_kernel(const void *bytes, size_t len, int family)
{
	int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK, 0), rc;

	if (fd < 0)
		return -1;
	rc = connect(fd, bytes, (socklen_t)len) < 0 ? errno : 0;
	close(fd);
	return rc;
}

static void test_like_kernel(void **state)
{
	static const int families[] = {AF_INET, AF_INET6};
	struct sockaddr_storage bytes;
	struct inet_addr a;

	for (size_t f = 0; f < 2; f++)
		for (int given = 1; given < 12; given++)
			for (size_t len = 0; len <= sizeof(bytes) + 1; len++) {
				unsigned char room[sizeof(bytes) + 2] = {0};
				struct sockaddr_in v4 = make_v4("127.0.0.1", 9);
				struct sockaddr_in6 v6 = make_v6("::1", 9, 0);
				sa_family_t family = (sa_family_t)given;
				int rc, kernel;

				if (given == AF_INET6)
					memcpy(room, &v6, sizeof(v6));
				else
					memcpy(room, &v4, sizeof(v4));
				memcpy(room, &family, sizeof(family));
				rc = inet_parse(room, len, families[f], &a);
				kernel = ask_kernel(room, len, families[f]);
				if (kernel < 0)
					break;
				if (rc)
					assert_int_equal(kernel, rc);
				else
					assert_true(kernel != EINVAL && kernel != EAFNOSUPPORT);
			}
	assert_int_equal(inet_parse(&bytes, sizeof(bytes), AF_UNIX, &a), EAFNOSUPPORT);
}

/* As bind() of the kernel's: AF_UNSPEC is taken for 0.0.0.0 only. */
static void test_binding(void **state)
{
	struct sockaddr_in in = make_v4("0.0.0.0", 0);
	struct sockaddr_in6 in6 = make_v6("::1", 81, 0);
	struct inet_addr a;

	for (int family = 0; family < 12; family++)
		for (int any = 0; any < 2; any++)
			for (socklen_t len = sizeof(sa_family_t); len <= sizeof(in); len++) {
				int fd = socket(AF_INET, SOCK_STREAM, 0), rc;

				if (family == AF_INET6)
					continue;
				in.sin_family = (sa_family_t)family;
				in.sin_addr.s_addr = htonl(any ? INADDR_ANY : INADDR_LOOPBACK);
				rc = bind(fd, (struct sockaddr *)&in, len) < 0 ? errno : 0;
				close(fd);
				assert_int_equal(inet_parse_binding(&in, len, &a) != 0, rc != 0);
			}
	in = make_v4("0.0.0.0", 80);
	in.sin_family = AF_UNSPEC;
	assert_int_equal(inet_parse_binding(&in, sizeof(in), &a), 0);
	assert_int_equal(a.port, 80);
	assert_true(inet_is_any(a.addr));
	assert_int_equal(inet_parse_binding(&in6, sizeof(in6), &a), 0);
	assert_int_equal(a.port, 81);
	assert_int_not_equal(inet_parse_binding(&in, 1, &a), 0);
}

static void test_kinds(void **state)
{
	static const struct {
		const char *text;
		bool loopback, any;
	} rows[] = {
		{"127.0.0.1", true, false},
		{"127.255.255.254", true, false},
		{"::1", true, false},
		{"::ffff:127.9.9.9", true, false},
		{"0.0.0.0", false, true},
		{"::", false, true},
		{"::ffff:0.0.0.0", false, true},
		{"0.0.0.1", false, false},
		{"::2", false, false},
		{"::127.0.0.1", false, false},
		{"128.0.0.1", false, false},
		{"fe80::1", false, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct host_name n;

		assert_null(host_canonicalise(rows[i].text, strlen(rows[i].text), &n));
		assert_int_equal(inet_is_loopback(n.addr), rows[i].loopback);
		assert_int_equal(inet_is_any(n.addr), rows[i].any);
	}
}

static void test_random_round_trip(void **state)
{
	random_init();
	for (int i = 0; i < 100000; i++) {
		int family = random_below(2) ? AF_INET : AF_INET6;
		struct sockaddr_storage bytes, out;
		struct inet_addr a, b;
		socklen_t n;

		for (size_t k = 0; k < sizeof(bytes); k++)
			((unsigned char *)&bytes)[k] = (unsigned char)random_next();
		if (random_below(4))
			bytes.ss_family = (sa_family_t)family;
		if (inet_parse(&bytes, random_below(sizeof(bytes)), family, &a))
			continue;
		n = inet_make(&a, family, &out);
		assert_true(n > 0);
		assert_int_equal(inet_parse(&out, n, family, &b), 0);
		assert_memory_equal(a.addr, b.addr, 16);
		assert_int_equal(a.port, b.port);
		assert_int_equal(a.scope, b.scope);
		assert_int_equal(a.v6, b.v6);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_v4),	    cmocka_unit_test(test_v6),
		cmocka_unit_test(test_like_kernel), cmocka_unit_test(test_binding),
		cmocka_unit_test(test_kinds),	    cmocka_unit_test(test_random_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
