/* DNS messages: what is read of questions and answers, what is written, and what is refused. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "policy/dns.h"

struct message {
	uint8_t bytes[4096];
	size_t len;
};

static void add(struct message *m, const char *bytes, size_t len)
{
	memcpy(m->bytes + m->len, bytes, len);
	m->len += len;
}
#define ADD(m, text) add(m, text, sizeof(text) - 1)

#define EXAMPLE "\7example\3com\0"

static struct message header(const char *counts)
{
	struct message m = {.len = 0};

	ADD(&m, "\x12\x34\x01\x00");
	add(&m, counts, 8);
	return m;
}

static struct message question(const char *name, size_t len, const char *type)
{
	struct message m = header("\0\1\0\0\0\0\0\0");

	add(&m, name, len);
	add(&m, type, 2);
	ADD(&m, "\0\1");
	return m;
}
#define QUESTION(name, type) question(name, sizeof(name) - 1, type)

static int parse(const struct message *m, struct dns_question *q)
{
	return dns_parse_question(m->bytes, m->len, q);
}

static const char *host_of(const struct dns_question *q)
{
	static struct host_name h;

	return dns_host(&q->name, &h) ? h.text : NULL;
}

static void test_question(void **state)
{
	struct message m = QUESTION("\7eXample\3COM\0", "\0\x1c");
	struct dns_question q;

	(void)state;
	assert_int_equal(parse(&m, &q), DNS_NOERROR);
	assert_int_equal(q.id, 0x1234);
	assert_int_equal(q.type, DNS_AAAA);
	assert_int_equal(q.size, 512);
	assert_false(q.edns);
	assert_string_equal(host_of(&q), "example.com");
	assert_memory_equal(q.name.wire, "\7eXample\3COM\0", 13);
}

static void test_edns(void **state)
{
	struct message m = QUESTION(EXAMPLE, "\0\1");
	struct dns_question q;

	(void)state;
	m.bytes[11] = 1;
	ADD(&m, "\0\0\x29\x10\x00\0\0\0\0\0\4abcd");
	assert_int_equal(parse(&m, &q), DNS_NOERROR);
	assert_true(q.edns);
	assert_int_equal(q.size, 4096);
	m.bytes[m.len - 9] = 1; /* version */
	assert_int_equal(parse(&m, &q), DNS_BADVERS);
	m.bytes[m.len - 9] = 0;
	m.bytes[m.len - 12] = 0; /* smaller than the least */
	assert_int_equal(parse(&m, &q), DNS_NOERROR);
	assert_int_equal(q.size, 512);
	m.bytes[11] = 2;
	assert_int_equal(parse(&m, &q), DNS_FORMERR);
	ADD(&m, "\0\0\x29\x10\x00\0\0\0\0\0\0");
	assert_int_equal(parse(&m, &q), DNS_FORMERR);
}

static void test_bad_questions(void **state)
{
	struct message m = QUESTION(EXAMPLE, "\0\1");
	struct dns_question q;
	char longest[4 * 64 + 1];

	(void)state;
	for (size_t len = 0; len < 12; len++)
		assert_int_equal(dns_parse_question(m.bytes, len, &q), -1);
	for (size_t len = 12; len < m.len; len++)
		assert_int_equal(dns_parse_question(m.bytes, len, &q), DNS_FORMERR);
	m.bytes[2] |= 0x80;
	assert_int_equal(parse(&m, &q), -1);
	m.bytes[2] = 0x28; /* update */
	assert_int_equal(parse(&m, &q), DNS_NOTIMP);
	m.bytes[2] = 1;
	m.bytes[m.len - 1] = 3; /* chaos */
	assert_int_equal(parse(&m, &q), DNS_REFUSED);
	m = header("\0\2\0\0\0\0\0\0");
	assert_int_equal(parse(&m, &q), DNS_FORMERR);
	m = header("\0\1\0\1\0\0\0\0");
	assert_int_equal(parse(&m, &q), DNS_FORMERR);
	m = QUESTION("\xc0\0", "\0\1");
	assert_int_equal(parse(&m, &q), DNS_FORMERR);
	m = QUESTION("\xc0\x0c", "\0\1");
	assert_int_equal(parse(&m, &q), DNS_FORMERR);
	m = QUESTION("\x40x\0", "\0\1");
	assert_int_equal(parse(&m, &q), DNS_FORMERR);
	memset(longest, 'a', sizeof(longest));
	for (int i = 0; i < 4; i++)
		longest[i * 64] = 63;
	longest[3 * 64] = 61;
	longest[3 * 64 + 62] = 0;
	m = question(longest, 3 * 64 + 63, "\0\1");
	assert_int_equal(parse(&m, &q), DNS_NOERROR);
	assert_int_equal(q.name.len, 255);
	assert_int_equal(strlen(host_of(&q)), 253);
	longest[3 * 64] = 62;
	longest[3 * 64 + 63] = 0;
	m = question(longest, sizeof(longest) - 1, "\0\1");
	assert_int_equal(parse(&m, &q), DNS_FORMERR);
}

static void test_odd_names(void **state)
{
	static const struct {
		const char *name;
		size_t len;
		const char *host;
	} names[] = {
#define NAME(n, h) {n, sizeof(n) - 1, h}
		NAME("\0", NULL),
		NAME("\3a.b\1c\0", NULL),
		NAME("\3a\0b\0", NULL),
		NAME("\3a b\0", NULL),
		NAME("\3a\\b\0", NULL),
		NAME("\2\xc3\xa9\0", NULL),
		NAME("\3"
		     "127\1"
		     "0\1"
		     "0\1"
		     "1\0",
		     NULL),
		NAME("\3"
		     "127\1"
		     "1\0",
		     NULL),
		NAME("\4_ldp\1a\0", "_ldp.a"),
		NAME("\11localhost\0", "localhost"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct message m = question(names[i].name, names[i].len, "\0\1");
		struct dns_question q;

		assert_int_equal(parse(&m, &q), DNS_NOERROR);
		if (names[i].host)
			assert_string_equal(host_of(&q), names[i].host);
		else
			assert_null(host_of(&q));
	}
}

static struct host_name host(const char *text)
{
	struct host_name h;

	assert_null(host_canonicalise(text, strlen(text), &h));
	return h;
}

/* As a server says it, with pointers. */
static struct message chain(void)
{
	struct message m = header("\0\1\0\4\0\0\0\0");

	m.bytes[2] = 0x81;
	m.bytes[3] = 0x80;
	ADD(&m, "\3www\7example\3com\0\0\1\0\1");		 /* at 12 */
	ADD(&m, "\xc0\x0c\0\5\0\1\0\0\1\0\0\6\3CDN\xc0\x10");	 /* data at 45 */
	ADD(&m, "\xc0\x2d\0\5\0\1\0\0\0\x20\0\7\4edge\xc0\x10"); /* data at 63 */
	ADD(&m, "\xc0\x3f\0\1\0\1\0\0\0\x40\0\4\x0a\0\0\1");
	ADD(&m, "\4edge\xc0\x10\0\1\0\1\0\0\0\x40\0\4\x0a\0\0\2");
	return m;
}

static void test_chain(void **state)
{
	struct message m = chain(), w = {.len = 0};
	struct host_name h = host("www.example.com");
	struct dns_answer a, again;
	struct dns_question q;

	(void)state;
	assert_true(dns_parse_answer(m.bytes, m.len, &h, DNS_A, &a));
	assert_int_equal(a.rcode, 0);
	assert_int_equal(a.n_aliases, 2);
	assert_int_equal(a.n, 2);
	assert_int_equal(a.ttl, 0x20);
	assert_int_equal(a.addr[1][15], 2);
	assert_memory_equal(a.alias[1].wire, "\4edge\7example\3com\0", 18);
	m = QUESTION("\3wWw\7example\3com\0", "\0\1");
	assert_int_equal(parse(&m, &q), 0);
	w.len = dns_write_answer(&q, &a, w.bytes, 512);
	assert_memory_equal(w.bytes, "\x12\x34\x81\x80\0\1\0\4\0\0\0\0\3wWw\7example\3com\0\0\1\0\1", 33);
	assert_true(dns_parse_answer(w.bytes, w.len, &h, DNS_A, &again));
	assert_int_equal(again.n, 2);
	assert_int_equal(again.n_aliases, 2);
	assert_memory_equal(again.addr, a.addr, sizeof(a.addr));
	assert_memory_equal(again.alias[1].wire, a.alias[1].wire, 18);
	/* An answer to something else. */
	h = host("other.example.com");
	assert_false(dns_parse_answer(w.bytes, w.len, &h, DNS_A, &again));
	h = host("www.example.com");
	assert_true(dns_parse_answer(w.bytes, w.len, &h, DNS_AAAA, &again));
	assert_int_equal(again.n, 0);
	for (size_t len = 0; len < w.len; len++)
		assert_false(dns_parse_answer(w.bytes, len, &h, DNS_A, &again));
}

static void test_bad_answers(void **state)
{
	struct message good = chain(), m;
	struct host_name h = host("www.example.com");
	struct dns_answer a;

	(void)state;
	m = good;
	m.bytes[2] |= 2; /* cut */
	assert_false(dns_parse_answer(m.bytes, m.len, &h, DNS_A, &a));
	m = good;
	m.bytes[2] = 1; /* a question */
	assert_false(dns_parse_answer(m.bytes, m.len, &h, DNS_A, &a));
	m = good;
	m.bytes[34] = 0x21; /* an owner that points to itself */
	assert_false(dns_parse_answer(m.bytes, m.len, &h, DNS_A, &a));
	m = good;
	m.bytes[34] = 0xff; /* forward */
	assert_false(dns_parse_answer(m.bytes, m.len, &h, DNS_A, &a));
	/* An alias of itself. */
	m = header("\0\1\0\1\0\0\0\0");
	m.bytes[2] = 0x81;
	ADD(&m, "\3www\7example\3com\0\0\1\0\1\xc0\x0c\0\5\0\1\0\0\1\0\0\2\xc0\x0c");
	assert_false(dns_parse_answer(m.bytes, m.len, &h, DNS_A, &a));
}

/* An IPv4 address may not come in by the other type, nor with another length. */
static void test_odd_addresses(void **state)
{
	struct message m = header("\0\1\0\2\0\0\0\0");
	struct host_name h = host("example.com");
	struct dns_answer a;

	(void)state;
	m.bytes[2] = 0x81;
	ADD(&m, EXAMPLE "\0\x1c\0\1");
	ADD(&m, "\xc0\x0c\0\x1c\0\1\0\0\1\0\0\x10\0\0\0\0\0\0\0\0\0\0\xff\xff\x7f\0\0\1");
	ADD(&m, "\xc0\x0c\0\x1c\0\1\0\0\1\0\0\x04\x7f\0\0\1");
	assert_true(dns_parse_answer(m.bytes, m.len, &h, DNS_AAAA, &a));
	assert_int_equal(a.n, 0);
}

static void test_negative(void **state)
{
	struct message m = header("\0\1\0\0\0\1\0\0"), w;
	struct host_name h = host("example.com");
	struct dns_answer a, again;
	struct dns_question q;

	(void)state;
	m.bytes[2] = 0x81;
	m.bytes[3] = 3;
	ADD(&m, EXAMPLE "\0\1\0\1");
	ADD(&m, "\xc0\x14\0\6\0\1\0\0\1\0\0\x16\0\0\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\x3c");
	assert_true(dns_parse_answer(m.bytes, m.len, &h, DNS_A, &a));
	assert_int_equal(a.rcode, DNS_NXDOMAIN);
	assert_int_equal(a.ttl, 60);
	m = QUESTION(EXAMPLE, "\0\1");
	assert_int_equal(parse(&m, &q), 0);
	w.len = dns_write_answer(&q, &a, w.bytes, 512);
	assert_int_equal(w.bytes[3] & 15, DNS_NXDOMAIN);
	assert_true(dns_parse_answer(w.bytes, w.len, &h, DNS_A, &again));
	assert_int_equal(again.ttl, 60);
}

static void test_cut(void **state)
{
	struct message m = QUESTION(EXAMPLE, "\0\x1c"), w;
	struct dns_answer a = {.n = DNS_ADDRS_MAX, .ttl = 5};
	struct dns_question q;

	(void)state;
	for (size_t i = 0; i < a.n; i++)
		a.addr[i][0] = 0x20;
	assert_int_equal(parse(&m, &q), 0);
	w.len = dns_write_answer(&q, &a, w.bytes, 512);
	assert_in_range(w.len, 400, 512);
	assert_true(w.bytes[2] & 2);
	assert_int_equal(w.bytes[7], 17);
	w.len = dns_write_answer(&q, &a, w.bytes, sizeof(w.bytes));
	assert_false(w.bytes[2] & 2);
	assert_int_equal(w.bytes[7], 32);
	/* With EDNS there is always room for its own record. */
	q.edns = true;
	w.len = dns_write_answer(&q, &a, w.bytes, 512);
	assert_in_range(w.len, 400, 512);
	assert_memory_equal(w.bytes + w.len - 11, "\0\0\x29\x04\xd0\0\0\0\0\0\0", 11);
	a = (struct dns_answer){.rcode = DNS_BADVERS};
	w.len = dns_write_answer(&q, &a, w.bytes, 512);
	assert_int_equal(w.bytes[3] & 15, 0);
	assert_int_equal(w.bytes[w.len - 6], 1);
}

/* To what could not be read. */
static void test_error(void **state)
{
	struct message m = header("\0\2\0\0\0\0\0\0"), w;
	struct dns_answer a = {.rcode = DNS_FORMERR};
	struct dns_question q;

	(void)state;
	assert_int_equal(parse(&m, &q), DNS_FORMERR);
	w.len = dns_write_answer(&q, &a, w.bytes, 512);
	assert_int_equal(w.len, 12);
	assert_memory_equal(w.bytes, "\x12\x34\x81\x81\0\0\0\0\0\0\0\0", 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_question),      cmocka_unit_test(test_edns),
		cmocka_unit_test(test_bad_questions), cmocka_unit_test(test_odd_names),
		cmocka_unit_test(test_chain),	      cmocka_unit_test(test_bad_answers),
		cmocka_unit_test(test_odd_addresses), cmocka_unit_test(test_negative),
		cmocka_unit_test(test_cut),	      cmocka_unit_test(test_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
