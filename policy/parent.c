#include "policy/parent.h"

#include <stdio.h>
#include <string.h>

#include "policy/base64.h"

static int hex_value(char c)
{
	static const char hex[] = "0123456789abcdefABCDEF";
	const char *at = c ? strchr(hex, c) : NULL;

	return !at ? -1 : at - hex > 15 ? (int)(at - hex) - 6 : (int)(at - hex);
}

/* %XX undone. How many bytes, -1: malformed. */
static int unescape(const char *text, size_t len, char *out, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (c == '%') {
			int hi = i + 2 < len ? hex_value(text[i + 1]) : -1;
			int lo = hi < 0 ? -1 : hex_value(text[i + 2]);

			if (lo < 0)
				return -1;
			c = (char)(hi << 4 | lo);
			i += 2;
		}
		if (n == size || (unsigned char)c < ' ' || c == 0x7f)
			return -1;
		out[n++] = c;
	}
	return (int)n;
}

static const char *parse_login(const char *text, size_t len, struct parent *out)
{
	char login[PARENT_LOGIN_MAX];
	int n = unescape(text, len, login, sizeof(login) - 1), size = (int)sizeof(out->authorization);
	int scheme = snprintf(out->authorization, (size_t)size, "Basic ");

	if (n < 0)
		return "malformed user or password";
	if (!memchr(text, ':', len))
		login[n++] = ':';
	return base64_encode(login, (size_t)n, out->authorization + scheme, (size_t)(size - scheme)) < 0
		       ? "user and password are too long"
		       : NULL;
}

const char *parent_parse(const char *text, struct parent *out)
{
	const char *scheme = strstr(text, "://"), *at, *end, *colon, *why;

	memset(out, 0, sizeof(*out));
	if (scheme) {
		if (strncasecmp(text, "socks", 5) == 0)
			return "a SOCKS proxy cannot be chained to, only one of http://";
		if (scheme - text != 4 || strncasecmp(text, "http", 4) != 0)
			return "only a proxy of http:// can be chained to";
		text = scheme + 3;
	}
	end = text + strcspn(text, "/");
	if (end[0] && end[1])
		return "leave out the path";
	at = memrchr(text, '@', (size_t)(end - text));
	if (at) {
		why = parse_login(text, (size_t)(at - text), out);
		if (why)
			return why;
		text = at + 1;
	}
	colon = *text == '[' ? memchr(text, ']', (size_t)(end - text)) : text;
	colon = colon ? memchr(colon, ':', (size_t)(end - colon)) : NULL;
	why = host_canonicalise(text, (size_t)((colon ? colon : end) - text), &out->host);
	out->port = 80;
	if (!why && colon)
		why = host_parse_port(colon + 1, (size_t)(end - colon - 1), &out->port);
	return why;
}

static bool net_matches(const char *entry, const struct host_name *host, uint16_t port)
{
	struct host_net net;
	char text[HOST_TEXT_SIZE];
	const char *slash = strchr(entry, '/');

	/* Here IPv6 stands without brackets, too. */
	if (strchr(entry, ':') != strrchr(entry, ':') && *entry != '[') {
		size_t n = slash ? (size_t)(slash - entry) : strlen(entry);

		snprintf(text, sizeof(text), "[%.*s]%s", (int)n, entry, entry + n);
		entry = text;
	}
	return !host_parse_net(entry, &net) && host->is_ip && host_net_matches(&net, host->addr, port);
}

static bool entry_matches(const char *entry, const struct host_name *host, uint16_t port)
{
	struct host_entry e;

	if (strcmp(entry, "*") == 0 || net_matches(entry, host, port))
		return true;
	entry += strncmp(entry, "*.", 2) == 0 ? 2 : *entry == '.';
	if (host_parse_entry(entry, false, &e) || e.wildcard)
		return false;
	if (host_entry_matches(&e, host, port))
		return true;
	e.wildcard = !e.name.is_ip;
	return host_entry_matches(&e, host, port);
}

bool parent_is_skipped(const char *no_proxy, const struct host_name *host, uint16_t port)
{
	while (*no_proxy) {
		size_t n = strcspn(no_proxy, ", \t");
		char entry[HOST_TEXT_SIZE];

		if (n > 0 && n < sizeof(entry)) {
			memcpy(entry, no_proxy, n);
			entry[n] = '\0';
			if (entry_matches(entry, host, port))
				return true;
		}
		no_proxy += n;
		no_proxy += strspn(no_proxy, ", \t");
	}
	return false;
}
