/* Heads that are sent on, answers, and the end of chunked bodies: see http.h. */
#include <stdio.h>
#include <string.h>

#include "policy/http_text.h"

struct writer {
	char *out;
	size_t size, len;
	bool full;
};

static void add(struct writer *w, struct http_text t)
{
	if (w->full || t.len > w->size - w->len) {
		w->full = true;
		return;
	}
	memcpy(w->out + w->len, t.at, t.len);
	w->len += t.len;
}

static void add_string(struct writer *w, const char *s)
{
	add(w, (struct http_text){s, strlen(s)});
}

static void add_host(struct writer *w, const struct http_head *h)
{
	char text[HOST_TEXT_SIZE], port[8] = "";

	if (h->port != 80)
		snprintf(port, sizeof(port), ":%u", h->port);
	add_string(w, h->host.is_ip ? host_format_addr(h->host.addr, true, text) : h->host.text);
	add_string(w, port);
}

static bool connection_names(const struct http_head *h, struct http_text what)
{
	struct http_text rest = h->fields, name, value;
	char word[64];

	if (what.len >= sizeof(word))
		return false;
	memcpy(word, what.at, what.len);
	word[what.len] = '\0';
	while (rest.len && !http_text_field(&rest, &name, &value))
		if (http_text_equals(name, "Connection") && http_text_lists(value, word))
			return true;
	return false;
}

/* Of this connection only, or written anew. */
static bool is_left_out(const struct http_head *h, struct http_text name)
{
	static const char *const names[] = {"Host",
					    "Content-Length",
					    "Transfer-Encoding",
					    "Connection",
					    "Proxy-Connection",
					    "Proxy-Authorization",
					    "Proxy-Authenticate",
					    "Keep-Alive",
					    "TE",
					    "Trailer",
					    "Upgrade",
					    "HTTP2-Settings"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (http_text_equals(name, names[i]))
			return true;
	return connection_names(h, name);
}

static void add_fields(struct writer *w, const struct http_head *h)
{
	struct http_text rest = h->fields, name, value;

	while (rest.len && !http_text_field(&rest, &name, &value)) {
		if (is_left_out(h, name))
			continue;
		add(w, name);
		add_string(w, ": ");
		add(w, value);
		add_string(w, "\r\n");
	}
}

static void add_body(struct writer *w, const struct http_head *h)
{
	char line[64];

	if (h->body == HTTP_BODY_CHUNKED)
		add_string(w, "Transfer-Encoding: chunked\r\n");
	if (h->body == HTTP_BODY_LENGTH) {
		snprintf(line, sizeof(line), "Content-Length: %llu\r\n", (unsigned long long)h->length);
		add_string(w, line);
	}
}

size_t http_write(const struct http_head *h, const struct http_forward *how, char *out, size_t size)
{
	struct writer w = {.out = out, .size = size};

	add(&w, h->method);
	add_string(&w, how->proxy ? " http://" : " ");
	if (how->proxy)
		add_host(&w, h);
	if (!h->path.len || h->path.at[0] != '/')
		add_string(&w, "/");
	add(&w, h->path);
	add_string(&w, h->http10 ? " HTTP/1.0\r\nHost: " : " HTTP/1.1\r\nHost: ");
	add_host(&w, h);
	add_string(&w, "\r\n");
	if (how->proxy && how->authorization) {
		add_string(&w, "Proxy-Authorization: ");
		add_string(&w, how->authorization);
		add_string(&w, "\r\n");
	}
	add_fields(&w, h);
	add_body(&w, h);
	add_string(&w, how->upgrade && h->upgrade ? "Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
						  : "Connection: close\r\n\r\n");
	return w.full ? 0 : w.len;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

int http_status(const char *head, size_t len)
{
	if (len < 13 || memcmp(head, "HTTP/1.", 7) != 0 || !is_digit(head[7]) || head[8] != ' ' ||
	    head[9] < '1' || head[9] > '9' || !is_digit(head[10]) || !is_digit(head[11]) ||
	    (head[12] != ' ' && head[12] != '\r'))
		return 0;
	return (head[9] - '0') * 100 + (head[10] - '0') * 10 + (head[11] - '0');
}

struct http_text http_phrase(const char *head, size_t len)
{
	const char *end = memchr(head, '\r', len);

	if (!end || end - head < 13)
		return (struct http_text){"", 0};
	return (struct http_text){head + 13, (size_t)(end - head) - 13};
}

enum { SIZE, SIZE_LF, DATA, DATA_CR, DATA_LF, LAST_CR, LAST_LF, DONE };

static bool add_digit(struct http_chunks *c, char digit)
{
	static const char hex[] = "0123456789abcdefABCDEF";
	const char *at = digit ? strchr(hex, digit) : NULL;
	size_t v = at ? (size_t)(at - hex) : 0;

	if (!at || c->digits == 15)
		return false;
	c->left = c->left << 4 | (v > 15 ? v - 6 : v);
	c->digits++;
	return true;
}

/* One byte that is not data. */
static bool step(struct http_chunks *c, char byte)
{
	switch (c->state) {
	case SIZE:
		if (byte != '\r')
			return add_digit(c, byte);
		c->state = SIZE_LF;
		return c->digits > 0;
	case SIZE_LF:
		c->state = c->left ? DATA : LAST_CR;
		c->digits = 0;
		return byte == '\n';
	case DATA_CR:
		c->state = DATA_LF;
		return byte == '\r';
	case DATA_LF:
		c->state = SIZE;
		return byte == '\n';
	case LAST_CR:
		c->state = LAST_LF;
		return byte == '\r';
	case LAST_LF:
		c->state = DONE;
		return byte == '\n';
	default:
		return false;
	}
}

int http_chunks(struct http_chunks *c, const char *buf, size_t len, bool *end)
{
	size_t i = 0;

	while (i < len && c->state != DONE) {
		if (c->state == DATA) {
			size_t n = c->left < len - i ? (size_t)c->left : len - i;

			c->left -= n;
			i += n;
			if (!c->left)
				c->state = DATA_CR;
		} else if (!step(c, buf[i++])) {
			return -1;
		}
	}
	*end = c->state == DONE;
	return (int)i;
}
