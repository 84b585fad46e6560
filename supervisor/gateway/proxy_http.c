/* HTTP for programs: the head of one request, and answers to what they do not get. */
#include <stdio.h>
#include <string.h>

#include "policy/text.h"
#include "supervisor/gateway/client.h"

#define ANSWER_MAX 4096
#define PHRASE_MAX 500

static const char *usual_phrase(int status)
{
	switch (status) {
	case 400:
		return "Bad Request";
	case 403:
		return "Forbidden";
	case 407:
		return "Proxy Authentication Required";
	case 431:
		return "Request Header Fields Too Large";
	case 502:
		return "Bad Gateway";
	case 504:
		return "Gateway Timeout";
	case 505:
		return "HTTP Version Not Supported";
	default:
		return "Error";
	}
}

/* Texts of a policy and of servers go here: not one byte of them may end the line. */
static const char *phrase(const struct refusal *r, char *buf, size_t size)
{
	struct text t;

	if (!r->phrase)
		return usual_phrase(r->status);
	text_init(&t, buf, size);
	text_add_shown(&t, r->phrase, strlen(r->phrase), PHRASE_MAX);
	return buf;
}

void http_client_refuse(struct client *c, const struct refusal *r)
{
	char answer[ANSWER_MAX], line[PHRASE_MAX + 8];
	const char *method = c->request.method.at;
	bool no_body = c->request.method.len == 4 && memcmp(method, "HEAD", 4) == 0;
	int n = snprintf(answer, sizeof(answer),
			 "HTTP/1.1 %d %s\r\n%s%s%s%sContent-Type: text/plain\r\nContent-Length: %zu\r\n"
			 "Connection: close\r\n\r\n%s%s",
			 r->status, phrase(r, line, sizeof(line)),
			 r->status == 407 ? "Proxy-Authenticate: Basic realm=\"cordon\"\r\n" : "",
			 r->error ? "X-Proxy-Error: " : "", r->error ? r->error : "", r->error ? "\r\n" : "",
			 strlen(r->text) + 1, no_body ? "" : r->text, no_body ? "" : "\n");

	client_leave(c, answer, n < ANSWER_MAX ? (size_t)n : ANSWER_MAX - 1);
}

static void refuse_malformed(struct client *c, int status, const char *why)
{
	http_client_refuse(c, &(struct refusal){.status = status, .text = why});
}

static bool is_authorized(const struct client *c)
{
	char login[HTTP_LOGIN_SIZE];
	const char *password = http_password(c->request.authorization, login);

	return password && client_knows_token(c, password, strlen(password));
}

void http_client_read(struct client *c)
{
	int n = http_scan(&c->scan, c->in, c->n_in), status;
	const char *why;

	if (n == 0)
		return;
	if (n < 0) {
		refuse_malformed(c, -n, n == -431 ? "the head of the request is too long" : "malformed head");
		return;
	}
	c->head = (size_t)n;
	status = http_parse(c->in, c->head, &c->request, &why);
	if (status) {
		refuse_malformed(c, status, why);
		return;
	}
	if (!is_authorized(c)) {
		refuse_malformed(c, 407, "the session's token is needed, which HTTP_PROXY has");
		return;
	}
	c->host = c->request.host;
	c->port = c->request.port;
	c->tunnel = c->request.connect;
	client_reach(c);
}
