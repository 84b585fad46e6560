/*
 * Heads of requests of any bytes. What is accepted is accepted however it is cut; what is sent on for it is one head with
 * one Host, one end, and nothing for the proxy in it; and bytes that are no head never become one.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/http.h"
#include "policy/parent.h"
#include "tests/fuzz/fuzz.h"

static int count(const char *text, const char *name)
{
	int n = 0;

	for (const char *at = text; (at = strcasestr(at, name)); at += strlen(name))
		n++;
	return n;
}

static void check_sent(const struct http_head *h, bool proxy)
{
	static char out[2 * HTTP_HEAD_MAX];
	struct http_forward how = {.proxy = proxy, .authorization = "Basic eDp5", .upgrade = !proxy};
	size_t n = http_write(h, &how, out, sizeof(out) - 1);
	struct http_scan s = {0};
	struct http_head again;
	const char *why;
	int end;

	require(n > 0, "a head that grew beyond twice its size");
	out[n] = '\0';
	require(strlen(out) == n, "a NUL was sent on");
	end = http_scan(&s, out, n);
	require(end == (int)n || (end == -431 && n >= HTTP_HEAD_MAX), "what is sent on is not one head");
	require(count(out, "\r\nhost:") == 1, "not one Host");
	require(count(out, "\r\ncontent-length:") + count(out, "\r\ntransfer-encoding:") ==
			(h->body != HTTP_BODY_NONE),
		"not one statement of the body's end");
	require(count(out, "\r\nproxy-authorization:") == proxy, "a password was sent on");
	require(count(out, "\r\nconnection:") == 1, "not one Connection");
	if (!proxy || n >= HTTP_HEAD_MAX)
		return;
	require(http_parse(out, n, &again, &why) == 0 || why[0] == 't', "what is sent to a proxy is refused");
	if (!why)
		require(!memcmp(&again.host, &h->host, sizeof(h->host)) && again.port == h->port &&
				again.body == h->body && again.length == h->length,
			"what is sent to a proxy reads as something else");
}

static void check_head(const char *text, size_t size)
{
	struct http_scan whole = {0}, parts = {0};
	int end = http_scan(&whole, text, size), got = 0;
	char login[HTTP_LOGIN_SIZE];
	struct http_head h;
	const char *why;
	int status;

	for (size_t n = 1; n <= size && got == 0; n += 1 + n % 3)
		got = http_scan(&parts, text, n);
	if (got == 0)
		got = http_scan(&parts, text, size);
	require(got == end, "a head that ends elsewhere when it comes in parts");
	if (end < 0)
		require(end == -400 || end == -431, "an odd status");
	if (end <= 0)
		return;
	http_status(text, (size_t)end);
	http_phrase(text, (size_t)end);
	status = http_parse(text, (size_t)end, &h, &why);
	require(status == 0 ? why == NULL : (why && *why), "a refusal without a reason");
	if (status) {
		require(status == 400 || status == 431 || status == 505, "an odd status");
		return;
	}
	require(h.port && h.host.text[0], "no host or port");
	http_password(h.authorization, login);
	if (h.connect)
		return;
	check_sent(&h, false);
	check_sent(&h, true);
}

static void check_chunks(const char *text, size_t size)
{
	struct http_chunks whole = {0}, parts = {0};
	bool end = false, end2 = false;
	int n = http_chunks(&whole, text, size, &end), sum = 0;

	for (size_t at = 0; at < size && !end2 && sum >= 0; at++) {
		int got = http_chunks(&parts, text + at, 1, &end2);

		sum = got < 0 ? -1 : sum + got;
	}
	require(sum == n && end == end2, "a body that ends elsewhere when it comes in parts");
	require(!end || (n >= 5 && !memcmp(text + n - 4, "\r\n\r\n", 4)), "an odd end of a body");
}

static void check_parent(const char *text)
{
	static const struct host_name host = {.text = "a.b"};
	struct parent p;

	if (!parent_parse(text, &p))
		require(p.port && p.host.text[0] && !strpbrk(p.authorization, "\r\n"), "an odd parent");
	parent_is_skipped(text, &host, 80);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	check_head(text, size);
	check_chunks(text, size);
	check_parent(text);
	free(text);
	return 0;
}
