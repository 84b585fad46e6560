/* Heads of requests to a proxy: what is understood, what is refused, what is sent on. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "policy/base64.h"
#include "policy/http.h"
#include "tests/unit/random.h"

static int scan(const char *text, size_t len)
{
	struct http_scan s = {0};

	return http_scan(&s, text, len);
}

static const struct {
	const char *text;
	int end;
} scans[] = {
	{"", 0},
	{"GET", 0},
	{"GET / HTTP/1.1\r\n", 0},
	{"GET / HTTP/1.1\r\n\r", 0},
	{"GET / HTTP/1.1\r\n\r\n", 18},
	{"GET / HTTP/1.1\r\nA: b\r\n\r\nrest", 24},
	{"a\tb\x80\xff\r\n\r\n", 9},
	{"\r\nGET / HTTP/1.1\r\n\r\n", -400},
	{"\n", -400},
	{"GET / HTTP/1.1\n\n", -400},
	{"GET / HTTP/1.1\r\n\n", -400},
	{"GET / HTTP/1.1\r\r\n", -400},
	{"GET / HTTP/1.1\r\nA: b\rc\r\n\r\n", -400},
	{"GET / HTTP/1.1\r\nA: b\nc\r\n\r\n", -400},
	{"GET\x01", -400},
	{"GET\x7f", -400},
	{"\x1b[0m", -400},
	{"\x16\x03\x01", -400},
};

static void test_scan(void **state)
{
	for (size_t i = 0; i < sizeof(scans) / sizeof(*scans); i++) {
		size_t len = strlen(scans[i].text);
		struct http_scan s = {0};
		int got = 0;

		assert_int_equal(scan(scans[i].text, len), scans[i].end);
		for (size_t n = 1; n <= len && got == 0; n++)
			got = http_scan(&s, scans[i].text, n);
		assert_int_equal(got, scans[i].end);
	}
	assert_int_equal(scan("a\0b", 3), -400);
}

static void test_scan_limit(void **state)
{
	static char text[HTTP_HEAD_MAX + 2];

	memset(text, 'a', sizeof(text));
	memcpy(text + HTTP_HEAD_MAX - 4, "\r\n\r\n", 4);
	assert_int_equal(scan(text, HTTP_HEAD_MAX - 1), 0);
	assert_int_equal(scan(text, HTTP_HEAD_MAX), HTTP_HEAD_MAX);
	memset(text, 'a', sizeof(text));
	memcpy(text + HTTP_HEAD_MAX - 3, "\r\n\r\n", 4);
	assert_int_equal(scan(text, HTTP_HEAD_MAX + 1), -431);
	assert_int_equal(scan(text, HTTP_HEAD_MAX), -431);
}

static const struct {
	const char *head;
	int status;
	const char *host; /* of a good one */
	uint16_t port;
	const char *path;
} heads[] = {
	{"CONNECT a.b:443 HTTP/1.1\r\n\r\n", 0, "a.b", 443, ""},
	{"CONNECT A.B.:443 HTTP/1.0\r\nHost: other\r\n\r\n", 0, "a.b", 443, ""},
	{"CONNECT [::1]:8 HTTP/1.1\r\n\r\n", 0, "::1", 8, ""},
	{"CONNECT [::ffff:127.0.0.1]:8 HTTP/1.1\r\n\r\n", 0, "127.0.0.1", 8, ""},
	{"CONNECT 127.1:8 HTTP/1.1\r\n\r\n", 0, "127.0.0.1", 8, ""},
	{"CONNECT 0x7f000001:8 HTTP/1.1\r\n\r\n", 0, "127.0.0.1", 8, ""},
	{"CONNECT a:1 HTTP/1.1\r\nContent-Length: 0\r\n\r\n", 0, "a", 1, ""},
	{"GET http://a.b HTTP/1.1\r\n\r\n", 0, "a.b", 80, ""},
	{"GET HTTP://A.b/ HTTP/1.1\r\n\r\n", 0, "a.b", 80, "/"},
	{"GET http://a.b?x HTTP/1.1\r\n\r\n", 0, "a.b", 80, "?x"},
	{"GET http://a.b:81/x/../y?@http://c HTTP/1.1\r\n\r\n", 0, "a.b", 81, "/x/../y?@http://c"},
	{"GET http://[::1]/ HTTP/1.1\r\n\r\n", 0, "::1", 80, "/"},
	{"POST http://a/ HTTP/1.1\r\nContent-Length: 5\r\n\r\n", 0, "a", 80, "/"},
	{"POST http://a/ HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n", 0, "a", 80, "/"},
	{"PROPFIND http://a/ HTTP/1.1\r\nX:\r\nY: \t b\t \r\n\r\n", 0, "a", 80, "/"},
	/* the request line */
	{"CONNECT a.b HTTP/1.1\r\n\r\n", 400},
	{"CONNECT a.b: HTTP/1.1\r\n\r\n", 400},
	{"CONNECT a.b:0 HTTP/1.1\r\n\r\n", 400},
	{"CONNECT a.b:080 HTTP/1.1\r\n\r\n", 400},
	{"CONNECT a.b:65536 HTTP/1.1\r\n\r\n", 400},
	{"CONNECT a.b:1:2 HTTP/1.1\r\n\r\n", 400},
	{"CONNECT a.b:+1 HTTP/1.1\r\n\r\n", 400},
	{"CONNECT ::1:80 HTTP/1.1\r\n\r\n", 400},
	{"CONNECT [::1 HTTP/1.1\r\n\r\n", 400},
	{"CONNECT [::1]80 HTTP/1.1\r\n\r\n", 400},
	{"CONNECT [::1] HTTP/1.1\r\n\r\n", 400},
	{"CONNECT [fe80::1%25lo]:80 HTTP/1.1\r\n\r\n", 400},
	{"CONNECT :80 HTTP/1.1\r\n\r\n", 400},
	{"CONNECT u@a.b:80 HTTP/1.1\r\n\r\n", 400},
	{"CONNECT a.b:80/ HTTP/1.1\r\n\r\n", 400},
	{"CONNECT a%2eb:80 HTTP/1.1\r\n\r\n", 400},
	{"CONNECT http://a.b:80 HTTP/1.1\r\n\r\n", 400},
	{"CONNECT  a.b:80 HTTP/1.1\r\n\r\n", 400},
	{"CONNECT a.b:80  HTTP/1.1\r\n\r\n", 400},
	{"CONNECT a.b:80 HTTP/1.1 \r\n\r\n", 400},
	{"CONNECT a.b:80 HTTP/1.1x\r\n\r\n", 400},
	{"CONNECT a.b:80\tHTTP/1.1\r\n\r\n", 400},
	{"CONNECT\ta.b:80 HTTP/1.1\r\n\r\n", 400},
	{"CONNECT a.b:80\r\n\r\n", 400},
	{"CONNECT\r\n\r\n", 400},
	{" CONNECT a.b:80 HTTP/1.1\r\n\r\n", 400},
	{"connect a.b:80 HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"CONNECT a.b:80 HTTP/2.0\r\n\r\n", 505},
	{"CONNECT a.b:80 HTTP/1.2\r\n\r\n", 505},
	{"PRI * HTTP/2.0\r\n\r\n", 505},
	{"G@T http://a/ HTTP/1.1\r\n\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
	{"GET a.b/ HTTP/1.1\r\n\r\n", 400},
	{"OPTIONS * HTTP/1.1\r\n\r\n", 400},
	{"GET https://a/ HTTP/1.1\r\n\r\n", 400},
	{"GET ftp://a/ HTTP/1.1\r\n\r\n", 400},
	{"GET http:/a/ HTTP/1.1\r\n\r\n", 400},
	{"GET http:///a HTTP/1.1\r\n\r\n", 400},
	{"GET http://u@a/ HTTP/1.1\r\n\r\n", 400},
	{"GET http://u:p@a/ HTTP/1.1\r\n\r\n", 400},
	{"GET http://a:/ HTTP/1.1\r\n\r\n", 400},
	{"GET http://a\\@b/ HTTP/1.1\r\n\r\n", 400},
	{"GET http://a#b/ HTTP/1.1\r\n\r\n", 400},
	{"GET http://a/#b HTTP/1.1\r\n\r\n", 400},
	{"GET http://a/\x80 HTTP/1.1\r\n\r\n", 400},
	{"GET http://a b/ HTTP/1.1\r\n\r\n", 400},
	/* the fields */
	{"GET http://a/ HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n", 400},
	{"GET http://a/ HTTP/1.1\r\nHost : a\r\n\r\n", 400},
	{"GET http://a/ HTTP/1.1\r\nA\tB: a\r\n\r\n", 400},
	{"GET http://a/ HTTP/1.1\r\nA: b\r\n c\r\n\r\n", 400},
	{"GET http://a/ HTTP/1.1\r\n A: b\r\n\r\n", 400},
	{"GET http://a/ HTTP/1.1\r\n: b\r\n\r\n", 400},
	{"GET http://a/ HTTP/1.1\r\nA\r\n\r\n", 400},
	{"GET http://a/ HTTP/1.1\r\nProxy-Authorization: Basic YQ==\r\nProxy-Authorization: Basic "
	 "YQ==\r\n\r\n",
	 400},
	{"POST http://a/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", 400},
	{"POST http://a/ HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\n", 400},
	{"POST http://a/ HTTP/1.1\r\nContent-Length: +1\r\n\r\n", 400},
	{"POST http://a/ HTTP/1.1\r\nContent-Length: 0x1\r\n\r\n", 400},
	{"POST http://a/ HTTP/1.1\r\nContent-Length: \r\n\r\n", 400},
	{"POST http://a/ HTTP/1.1\r\nContent-Length: 1 1\r\n\r\n", 400},
	{"POST http://a/ HTTP/1.1\r\nContent-Length: 1000000000000000000\r\n\r\n", 400},
	{"POST http://a/ HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
	{"POST http://a/ HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 400},
	{"POST http://a/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
	{"POST http://a/ HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n\r\n", 400},
	{"POST http://a/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
	{"CONNECT a:1 HTTP/1.1\r\nContent-Length: 1\r\n\r\n", 400},
	{"CONNECT a:1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
};

static void test_parse(void **state)
{
	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		struct http_head h;
		const char *why;
		int status = http_parse(heads[i].head, strlen(heads[i].head), &h, &why);

		if (status != heads[i].status)
			fail_msg("%s gives %d (%s)", heads[i].head, status, why ? why : "");
		assert_true(status == 0 || (why && *why));
		if (status)
			continue;
		assert_string_equal(h.host.text, heads[i].host);
		assert_int_equal(h.port, heads[i].port);
		assert_int_equal(h.path.len, strlen(heads[i].path));
		assert_memory_equal(h.path.at, heads[i].path, h.path.len);
	}
}

static void test_too_many_fields(void **state)
{
	static char text[HTTP_HEAD_MAX] = "GET http://a/ HTTP/1.1\r\n";
	struct http_head h;
	const char *why;

	for (size_t i = 0; i < HTTP_FIELDS_MAX + 1; i++)
		strcat(text, "a:b\r\n");
	strcat(text, "\r\n");
	assert_int_equal(http_parse(text, strlen(text), &h, &why), 431);
	text[strlen(text) - strlen("a:b\r\n\r\n")] = '\0';
	strcat(text, "\r\n");
	assert_int_equal(http_parse(text, strlen(text), &h, &why), 0);
}

static const struct {
	const char *in, *origin, *parent;
} writes[] = {
	{"GET http://A.b:81/x?y HTTP/1.1\r\nHost: evil\r\nAccept: */*\r\nProxy-Connection: keep-alive\r\n"
	 "Proxy-Authorization: Basic YTpi\r\nConnection: keep-alive, x-secret, Host\r\nX-Secret: "
	 "1\r\nUser-Agent: c\r\n\r\n",
	 "GET /x?y HTTP/1.1\r\nHost: a.b:81\r\nAccept: */*\r\nUser-Agent: c\r\nConnection: close\r\n\r\n",
	 "GET http://a.b:81/x?y HTTP/1.1\r\nHost: a.b:81\r\nProxy-Authorization: Basic eDp5\r\nAccept: "
	 "*/*\r\n"
	 "User-Agent: c\r\nConnection: close\r\n\r\n"},
	{"POST http://[::1]?z HTTP/1.0\r\ncontent-length: 007\r\n\r\n",
	 "POST /?z HTTP/1.0\r\nHost: [::1]\r\nContent-Length: 7\r\nConnection: close\r\n\r\n",
	 "POST http://[::1]/?z HTTP/1.0\r\nHost: [::1]\r\nProxy-Authorization: Basic eDp5\r\nContent-Length: "
	 "7\r\n"
	 "Connection: close\r\n\r\n"},
	{"PUT http://a HTTP/1.1\r\nTE: trailers\r\nTrailer: x\r\ntransfer-encoding: chunked\r\n"
	 "Connection: transfer-encoding, te\r\n\r\n",
	 "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n",
	 "PUT http://a/ HTTP/1.1\r\nHost: a\r\nProxy-Authorization: Basic eDp5\r\nTransfer-Encoding: "
	 "chunked\r\n"
	 "Connection: close\r\n\r\n"},
	{"GET http://a/ HTTP/1.1\r\nConnection: keep-alive\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\n"
	 "Sec-WebSocket-Key: x\r\n\r\n",
	 "GET / HTTP/1.1\r\nHost: a\r\nSec-WebSocket-Key: x\r\nUpgrade: websocket\r\nConnection: "
	 "Upgrade\r\n\r\n",
	 "GET http://a/ HTTP/1.1\r\nHost: a\r\nProxy-Authorization: Basic eDp5\r\nSec-WebSocket-Key: x\r\n"
	 "Connection: close\r\n\r\n"},
	{"GET http://a/ HTTP/1.1\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: "
	 "x\r\n\r\n",
	 "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
	 "GET http://a/ HTTP/1.1\r\nHost: a\r\nProxy-Authorization: Basic eDp5\r\nConnection: close\r\n\r\n"},
};

static void test_write(void **state)
{
	static const struct http_forward origin = {.upgrade = true},
					 parent = {.proxy = true, .authorization = "Basic eDp5"};

	for (size_t i = 0; i < sizeof(writes) / sizeof(*writes); i++) {
		char out[1024];
		struct http_head h;
		const char *why;
		size_t n;

		assert_int_equal(http_parse(writes[i].in, strlen(writes[i].in), &h, &why), 0);
		n = http_write(&h, &origin, out, sizeof(out) - 1);
		out[n] = '\0';
		assert_string_equal(out, writes[i].origin);
		n = http_write(&h, &parent, out, sizeof(out) - 1);
		out[n] = '\0';
		assert_string_equal(out, writes[i].parent);
		for (size_t size = 0; size < n; size++)
			assert_int_equal(http_write(&h, &parent, out, size), 0);
	}
}

static const struct {
	const char *value, *password;
} logins[] = {
	{"Basic eDp5", "y"},
	{"basic  eDp5", "y"},
	{"Basic eDp5Onph", "y:za"},
	{"Basic Og==", ""},
	{"Basic eDp5\t", NULL},
	{"Basic eA==", NULL},
	{"Basic eDp5=", NULL},
	{"Basic eDp5AA==", NULL},
	{"Basic Oh==", NULL},
	{"Basic", NULL},
	{"Basic ", NULL},
	{"Bearer eDp5", NULL},
	{"", NULL},
};

static void test_password(void **state)
{
	for (size_t i = 0; i < sizeof(logins) / sizeof(*logins); i++) {
		struct http_text t = {logins[i].value, strlen(logins[i].value)};
		char buf[HTTP_LOGIN_SIZE];
		const char *got = http_password(t, buf);

		if (!logins[i].password)
			assert_null(got);
		else
			assert_string_equal(got, logins[i].password);
	}
}

static void test_base64(void **state)
{
	random_init();
	for (int round = 0; round < 2000; round++) {
		char bytes[64], text[100], back[64];
		size_t len = random_below(sizeof(bytes) + 1);
		int n;

		for (size_t i = 0; i < len; i++)
			bytes[i] = (char)random_below(256);
		n = base64_encode(bytes, len, text, sizeof(text));
		assert_int_equal(n, (len + 2) / 3 * 4);
		assert_int_equal(base64_encode(bytes, len, text, (size_t)n), -1);
		assert_int_equal(base64_encode(bytes, len, text, sizeof(text)), n);
		assert_int_equal(base64_decode(text, (size_t)n, back, len), len);
		assert_memory_equal(back, bytes, len);
		if (len)
			assert_int_equal(base64_decode(text, (size_t)n, back, len - 1), -1);
	}
}

static const struct {
	const char *text;
	int body; /* -1: malformed */
	bool end;
} chunked[] = {
	{"0\r\n\r\n", 5, true},
	{"0\r\n\r\nGET", 5, true},
	{"3\r\nabc\r\n0\r\n\r\nx", 13, true},
	{"00A\r\n0123456789\r\n000\r\n\r\n", 24, true},
	{"a\r\n0123456789\r\n", 15, false},
	{"a\r\n01234", 8, false},
	{"", 0, false},
	{"\r\n", -1},
	{"3;x\r\nabc\r\n", -1},
	{"3 \r\nabc\r\n", -1},
	{"+3\r\nabc\r\n", -1},
	{"0x3\r\nabc\r\n", -1},
	{"3\nabc\r\n", -1},
	{"3\r\nabcd\r\n", -1},
	{"3\r\nabc\n0\r\n\r\n", -1},
	{"0\r\nA: b\r\n\r\n", -1},
	{"0\n\n", -1},
	{"1000000000000000\r\n", -1},
	{"0000000000000003\r\n", -1},
};

static void test_chunks(void **state)
{
	for (size_t i = 0; i < sizeof(chunked) / sizeof(*chunked); i++) {
		size_t len = strlen(chunked[i].text);

		for (size_t cut = 0; cut <= len; cut++) {
			struct http_chunks c = {0};
			bool end = false;
			int n = http_chunks(&c, chunked[i].text, cut, &end), rest = 0;

			if (n >= 0 && !end)
				rest = http_chunks(&c, chunked[i].text + cut, len - cut, &end);
			assert_int_equal(n < 0 || rest < 0 ? -1 : n + rest, chunked[i].body);
			assert_true(n < 0 || rest < 0 || end == chunked[i].end);
		}
	}
}

static void test_answers(void **state)
{
	static const struct {
		const char *head;
		int status;
		const char *phrase;
	} answers[] = {
		{"HTTP/1.1 200 Connection established\r\n\r\n", 200, "Connection established"},
		{"HTTP/1.0 407\r\n\r\n", 407, ""},
		{"HTTP/1.1 403 \r\n\r\n", 403, ""},
		{"HTTP/1.1 2000 x\r\n\r\n", 0, NULL},
		{"HTTP/1.1 099 x\r\n\r\n", 0, NULL},
		{"HTTP/2.0 200 x\r\n\r\n", 0, NULL},
		{"SSH-2.0-OpenSSH\r\n\r\n", 0, NULL},
		{"\r\n\r\n", 0, NULL},
	};

	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
		size_t len = strlen(answers[i].head);
		struct http_text t = http_phrase(answers[i].head, len);

		assert_int_equal(http_status(answers[i].head, len), answers[i].status);
		if (answers[i].phrase) {
			assert_int_equal(t.len, strlen(answers[i].phrase));
			assert_memory_equal(t.at, answers[i].phrase, t.len);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scan),	cmocka_unit_test(test_scan_limit),
		cmocka_unit_test(test_parse),	cmocka_unit_test(test_too_many_fields),
		cmocka_unit_test(test_write),	cmocka_unit_test(test_password),
		cmocka_unit_test(test_base64),	cmocka_unit_test(test_chunks),
		cmocka_unit_test(test_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
