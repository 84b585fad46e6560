/*
 * Heads of HTTP/1 as a proxy gets and sends them. Pure, no allocation.
 *
 * Strict, since two readings of one request are a way past whoever has only one of them: lines end in CR LF, no line is
 * continued on the next, no blank before a colon, one Host at most, one statement of where the body ends. What is forwarded
 * is written anew from what was understood, never copied as a whole.
 */
#ifndef CORDON_HTTP_H
#define CORDON_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/host.h"

#define HTTP_HEAD_MAX	16384
#define HTTP_FIELDS_MAX 128
/* A password in Proxy-Authorization, with the user name before it. */
#define HTTP_LOGIN_SIZE 256

struct http_text {
	const char *at; /* not terminated */
	size_t len;
};

/* Where a head ends, found as its bytes come in. Begin with zeros. */
struct http_scan {
	size_t seen;
	unsigned char line_ends; /* CR, LF, CR, LF: how many of them were the last bytes */
	bool text;		 /* some came before */
};
/* buf: all bytes so far, len of them; none is looked at twice. The length of the head with the empty line that ends it, 0
 * when more is wanted, or -400, -431: the status to answer. */
int http_scan(struct http_scan *s, const char *buf, size_t len);

enum http_body { HTTP_BODY_NONE, HTTP_BODY_LENGTH, HTTP_BODY_CHUNKED };

/* Texts point into the head that was parsed. */
struct http_head {
	struct http_text method;
	bool connect; /* CONNECT HOST:PORT; else METHOD http://HOST[:PORT][/PATH] */
	struct host_name host;
	uint16_t port;
	struct http_text path; /* "" or what begins with '/' or '?' */
	bool http10;
	struct http_text authorization; /* value of Proxy-Authorization */
	enum http_body body;
	uint64_t length;
	bool upgrade; /* wants to go on as WebSocket */
	struct http_text fields;
};
/* A head as http_scan() found it, of a request to a proxy. 0, or the status to answer and a text that says why. */
int http_parse(const char *head, size_t len, struct http_head *out, const char **why);

/* The password of "Basic BASE64(USER:PASSWORD)", into buf of HTTP_LOGIN_SIZE bytes; NULL when there is none. */
const char *http_password(struct http_text authorization, char *buf);

struct http_forward {
	const char *
		authorization; /* to another proxy, with http://HOST in the request line; NULL: none is needed */
	bool proxy;
	bool upgrade; /* let it go on as WebSocket if it wants to */
};
/* The head as it is sent on: one request, after which the connection is closed. Its length, or 0: it does not fit. */
size_t http_write(const struct http_head *h, const struct http_forward *how, char *out, size_t size);

/* The status of the head of an answer, 100 to 999, or 0: it is none. */
int http_status(const char *head, size_t len);
/* The text after it. */
struct http_text http_phrase(const char *head, size_t len);

/* Finds the end of a chunked body. Begin with zeros. */
struct http_chunks {
	uint64_t left;
	unsigned char state, digits;
};
/* How many of the bytes belong to the body; *end: it is complete. -1: malformed (extensions and trailers are, here). */
int http_chunks(struct http_chunks *c, const char *buf, size_t len, bool *end);

#endif
