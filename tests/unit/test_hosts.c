/* /etc/hosts: what is written in it, odd lines, bounds, and random files against a naive reader. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/hosts.h"
#include "tests/unit/random.h"

static struct hosts *parse(const char *text)
{
	struct hosts *h = hosts_parse(text, strlen(text));

	assert_non_null(h);
	return h;
}

static struct host_name name_of(const char *text)
{
	struct host_name n;

	assert_null(host_canonicalise(text, strlen(text), &n));
	return n;
}

static bool join_name(const struct host_name *n, void *arg)
{
	char *all = arg;

	assert_false(n->is_ip);
	strcat(all, n->text);
	strcat(all, " ");
	return strcmp(n->text, "stop") == 0;
}

static bool join_addr(const uint8_t addr[16], void *arg)
{
	char *all = arg, buf[HOST_TEXT_SIZE];

	strcat(all, host_format_addr(addr, false, buf));
	strcat(all, " ");
	return false;
}

static void expect_names(const struct hosts *h, const char *addr, const char *want)
{
	char got[4096] = "";

	assert_int_equal(hosts_each_name(h, name_of(addr).addr, join_name, got),
			 strstr(want, "stop ") != NULL);
	assert_string_equal(got, want);
}

static void expect_addrs(const struct hosts *h, const char *name, const char *want)
{
	struct host_name n = name_of(name);
	char got[4096] = "";

	assert_false(hosts_each_addr(h, &n, join_addr, got));
	assert_string_equal(got, want);
}

static void test_usual(void **state)
{
	struct hosts *h = parse("# comment\n127.0.0.1\tlocalhost\n::1 localhost ip6-localhost ip6-loopback\n"
				"172.17.0.1   host.docker.internal  # added\n\n  10.0.0.5 Db.Corp. db DB\r\n"
				"10.0.0.6 db\n10.0.0.7 a stop b");

	expect_names(h, "127.0.0.1", "localhost ");
	expect_names(h, "::1", "localhost ip6-localhost ip6-loopback ");
	expect_names(h, "172.17.0.1", "host.docker.internal ");
	expect_names(h, "10.0.0.5", "db.corp db db ");
	expect_names(h, "10.0.0.7", "a stop ");
	expect_names(h, "10.0.0.8", "");
	expect_addrs(h, "localhost", "127.0.0.1 ::1 ");
	expect_addrs(h, "db", "10.0.0.5 10.0.0.5 10.0.0.6 ");
	expect_addrs(h, "b", "10.0.0.7 ");
	expect_addrs(h, "c", "");
	hosts_free(h);
}

static void test_odd(void **state)
{
	static const char nul[] = "10.0.0.1 a\0b\n10.0.0.2 c\n";
	struct hosts *h;

	h = parse("127.1 short\n1.2.3 x\nfe80::1%eth0 scoped\n256.0.0.1 big\n[::1] brackets\nname 10.0.0.1\n"
		  "10.0.0.1\n10.0.0.2 #x\n10.0.0.3#x\n10.0.0.4 a#b c\n10.0.0.5 ok b\xc3\xbc a..b 1.2.3.4 _x\n"
		  "::ffff:10.0.0.6 mapped\n");
	expect_names(h, "127.0.0.1", "");
	expect_names(h, "::1", "");
	expect_names(h, "10.0.0.2", "");
	expect_names(h, "10.0.0.3", "");
	expect_names(h, "10.0.0.4", "a ");
	expect_names(h, "10.0.0.5", "ok _x ");
	expect_names(h, "10.0.0.6", "mapped ");
	hosts_free(h);
	h = hosts_parse(nul, sizeof(nul) - 1);
	expect_names(h, "10.0.0.1", "");
	expect_names(h, "10.0.0.2", "c ");
	hosts_free(h);
	h = parse("");
	expect_names(h, "10.0.0.1", "");
	expect_addrs(h, "a", "");
	hosts_free(h);
	expect_names(NULL, "10.0.0.1", "");
	expect_addrs(NULL, "a", "");
}

static bool count(const struct host_name *n, void *arg)
{
	++*(size_t *)arg;
	return false;
}

static void test_bounds(void **state)
{
	char *text = NULL;
	size_t len, n = 0;
	FILE *out = open_memstream(&text, &len);
	struct hosts *h;

	fputs("127.0.0.1 localhost\n", out);
	for (int i = 0; i < HOSTS_PAIRS_MAX; i++)
		fprintf(out, "0.0.0.0 h%d.ads.test\n", i);
	fputs("10.0.0.1 late\n", out);
	fclose(out);
	h = hosts_parse(text, len);
	hosts_each_name(h, name_of("0.0.0.0").addr, count, &n);
	assert_int_equal(n, HOSTS_NAMES_MAX);
	expect_names(h, "127.0.0.1", "localhost ");
	expect_names(h, "10.0.0.1", "");
	expect_addrs(h, "h65534.ads.test", "0.0.0.0 ");
	expect_addrs(h, "h65535.ads.test", "");
	hosts_free(h);
	text = realloc(text, HOSTS_BYTES_MAX + 100);
	memset(text, '\n', HOSTS_BYTES_MAX + 100);
	memcpy(text + HOSTS_BYTES_MAX - 11, "10.0.0.2 abcd\n", 14);
	h = hosts_parse(text, HOSTS_BYTES_MAX + 100);
	expect_names(h, "10.0.0.2", "ab ");
	hosts_free(h);
	free(text);
}

/* Names "a".."f" and addresses 10.0.0.0 to 10.0.0.7, each pair remembered in the order written. */
static void test_random(void **state)
{
	random_init();
	for (int round = 0; round < 2000; round++) {
		char text[2048] = "", names[8][256] = {""}, addrs[6][512] = {""};
		size_t lines = random_below(12);
		struct hosts *h;

		for (size_t i = 0; i < lines; i++) {
			size_t a = random_below(8), n = random_below(4);

			sprintf(text + strlen(text), "%s10.0.0.%zu", random_below(4) ? "" : " \t", a);
			for (size_t k = 0; k < n; k++) {
				size_t name = random_below(6);

				sprintf(text + strlen(text), "%s%c", random_below(2) ? " " : "\t ",
					(char)((random_below(2) ? 'a' : 'A') + name));
				sprintf(names[a] + strlen(names[a]), "%c ", (char)('a' + name));
				sprintf(addrs[name] + strlen(addrs[name]), "10.0.0.%zu ", a);
			}
			strcat(text, random_below(4) ? "\n" : " # 10.0.0.1 a\n");
		}
		h = parse(text);
		for (int i = 0; i < 8; i++) {
			char addr[24];

			sprintf(addr, "10.0.0.%d", i);
			expect_names(h, addr, names[i]);
		}
		for (int i = 0; i < 6; i++)
			expect_addrs(h, (char[]){(char)('a' + i), '\0'}, addrs[i]);
		hosts_free(h);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_usual),
		cmocka_unit_test(test_odd),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
