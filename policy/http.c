/* Requests to a proxy: see http.h. */
#include "policy/http.h"

#include <string.h>

#include "policy/base64.h"
#include "policy/http_text.h"

int http_scan(struct http_scan *s, const char *buf, size_t len)
{
	for (; s->seen < len; s->seen++) {
		unsigned char c = (unsigned char)buf[s->seen];

		if (s->seen == HTTP_HEAD_MAX)
			return -431;
		if (c == '\r' && s->line_ends % 2 == 0 && s->text) {
			s->line_ends++;
		} else if (c == '\n' && s->line_ends % 2 == 1) {
			if (++s->line_ends == 4)
				return (int)++s->seen;
		} else if (s->line_ends % 2 == 1 || (c < ' ' && c != '\t') || c == 0x7f) {
			return -400;
		} else {
			s->line_ends = 0;
			s->text = true;
		}
	}
	return len >= HTTP_HEAD_MAX ? -431 : 0;
}

static bool is_target_byte(char c)
{
	return c > ' ' && c < 0x7f;
}

/* HOST:PORT, or HOST alone where a port may be left out. */
static const char *parse_authority(struct http_text t, struct http_head *out, bool needs_port)
{
	const char *colon = NULL, *why;
	size_t host = t.len;

	if (t.len && t.at[0] == '[') {
		const char *end = memchr(t.at, ']', t.len);

		if (!end)
			return "'[' without ']'";
		host = (size_t)(end - t.at) + 1;
		if (host < t.len && *(colon = t.at + host) != ':')
			return "text after ']'";
	} else {
		colon = memchr(t.at, ':', t.len);
		if (colon)
			host = (size_t)(colon - t.at);
	}
	if (!colon && needs_port)
		return "no port";
	why = host_canonicalise(t.at, host, &out->host);
	if (!why && colon)
		why = host_parse_port(colon + 1, t.len - host - 1, &out->port);
	return why;
}

static const char *parse_target(struct http_text t, struct http_head *out)
{
	static const char scheme[] = "http://";
	struct http_text host;

	for (size_t i = 0; i < t.len; i++)
		if (!is_target_byte(t.at[i]) || t.at[i] == '#')
			return "a character that no target has";
	if (out->connect)
		return parse_authority(t, out, true);
	if (!http_text_begins(t, scheme))
		return "neither CONNECT nor a target that begins with http://";
	host = (struct http_text){t.at + strlen(scheme), 0};
	while (host.at + host.len < t.at + t.len && !strchr("/?", host.at[host.len]))
		host.len++;
	out->path = (struct http_text){host.at + host.len, t.len - strlen(scheme) - host.len};
	out->port = 80;
	return parse_authority(host, out, false);
}

/* METHOD SP TARGET SP HTTP/1.x */
static int parse_request_line(struct http_text line, struct http_head *out, const char **why)
{
	const char *end = line.at + line.len, *sp = memchr(line.at, ' ', line.len), *sp2;

	*why = "malformed request line";
	if (!sp)
		return 400;
	out->method = (struct http_text){line.at, (size_t)(sp - line.at)};
	sp2 = memchr(sp + 1, ' ', (size_t)(end - sp - 1));
	if (!http_text_is_token(out->method) || !sp2 || end - sp2 != 9 || memcmp(sp2, " HTTP/", 6) != 0 ||
	    sp2[7] != '.')
		return 400;
	*why = "only HTTP/1.0 and HTTP/1.1";
	if (sp2[6] != '1' || (sp2[8] != '0' && sp2[8] != '1'))
		return 505;
	out->http10 = sp2[8] == '0';
	out->connect = out->method.len == 7 && memcmp(out->method.at, "CONNECT", 7) == 0;
	*why = parse_target((struct http_text){sp + 1, (size_t)(sp2 - sp - 1)}, out);
	return *why ? 400 : 0;
}

/* What may stand once only, or says where the body ends. */
struct seen {
	bool host, length, coding, authorization, upgrade, websocket;
};

static const char *parse_length(struct http_text v, uint64_t *length)
{
	if (v.len == 0 || v.len > 18)
		return "malformed Content-Length";
	*length = 0;
	for (size_t i = 0; i < v.len; i++) {
		if (v.at[i] < '0' || v.at[i] > '9')
			return "malformed Content-Length";
		*length = *length * 10 + (uint64_t)(v.at[i] - '0');
	}
	return NULL;
}

static const char *note_field(struct http_text name, struct http_text value, struct seen *seen,
			      struct http_head *out)
{
	bool *once = http_text_equals(name, "Host")		     ? &seen->host
		     : http_text_equals(name, "Content-Length")	     ? &seen->length
		     : http_text_equals(name, "Transfer-Encoding")   ? &seen->coding
		     : http_text_equals(name, "Proxy-Authorization") ? &seen->authorization
								     : NULL;

	if (once && *once)
		return "a field that may stand once stands twice";
	if (once)
		*once = true;
	if (once == &seen->length) {
		out->body = HTTP_BODY_LENGTH;
		return parse_length(value, &out->length);
	}
	if (once == &seen->coding) {
		out->body = HTTP_BODY_CHUNKED;
		return http_text_equals(value, "chunked") ? NULL : "a Transfer-Encoding other than chunked";
	}
	if (once == &seen->authorization)
		out->authorization = value;
	else if (http_text_equals(name, "Connection"))
		seen->upgrade = seen->upgrade || http_text_lists(value, "Upgrade");
	else if (http_text_equals(name, "Upgrade"))
		seen->websocket = http_text_equals(value, "websocket");
	return NULL;
}

static const char *parse_fields(struct http_head *out)
{
	struct http_text rest = out->fields, name, value;
	struct seen seen = {0};
	unsigned n = 0;

	while (rest.len) {
		const char *why = http_text_field(&rest, &name, &value);

		if (!why)
			why = note_field(name, value, &seen, out);
		if (why)
			return why;
		if (++n > HTTP_FIELDS_MAX)
			return "";
	}
	if (seen.coding && (seen.length || out->http10))
		return "two statements of where the body ends";
	if (out->connect && (seen.coding || out->length))
		return "a body with CONNECT";
	out->upgrade = seen.upgrade && seen.websocket && !out->http10 && !out->connect && !seen.coding &&
		       !out->length;
	return NULL;
}

int http_parse(const char *head, size_t len, struct http_head *out, const char **why)
{
	const char *end;
	int status;

	memset(out, 0, sizeof(*out));
	*why = "malformed head";
	end = memchr(head, '\r', len);
	if (!end || len < 4 || memcmp(head + len - 4, "\r\n\r\n", 4) != 0)
		return 400;
	status = parse_request_line((struct http_text){head, (size_t)(end - head)}, out, why);
	if (status)
		return status;
	out->fields = (struct http_text){end + 2, len - (size_t)(end - head) - 4};
	*why = parse_fields(out);
	if (!*why)
		return 0;
	if (**why)
		return 400;
	*why = "too many header fields";
	return 431;
}

const char *http_password(struct http_text authorization, char *buf)
{
	static const char scheme[] = "Basic ";
	struct http_text t = authorization;
	char *colon;
	int n;

	if (!http_text_begins(t, scheme))
		return NULL;
	t.at += strlen(scheme);
	t.len -= strlen(scheme);
	while (t.len && *t.at == ' ') {
		t.at++;
		t.len--;
	}
	n = base64_decode(t.at, t.len, buf, HTTP_LOGIN_SIZE - 1);
	if (n < 0 || memchr(buf, '\0', (size_t)n))
		return NULL;
	buf[n] = '\0';
	colon = strchr(buf, ':');
	return colon ? colon + 1 : NULL;
}
