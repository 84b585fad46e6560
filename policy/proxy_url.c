#include "policy/proxy_url.h"

#include <ctype.h>
#include <string.h>

static int hex_value(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, tolower((unsigned char)c)) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Takes %NN out. What ends up in a header line must not end that line. */
static const char *decode_auth(const char *s, size_t len, char *out)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		int c = (unsigned char)s[i];

		if (c == '%') {
			int hi = i + 2 < len ? hex_value(s[i + 1]) : -1,
			    lo = i + 2 < len ? hex_value(s[i + 2]) : -1;

			if (hi < 0 || lo < 0)
				return "a '%' in the password is written %25";
			c = hi << 4 | lo;
			i += 2;
		}
		if (c < 0x20 || c == 0x7f)
			return "a control byte before the '@'";
		if (n == PROXY_URL_AUTH_MAX)
			return "more than 255 bytes before the '@'";
		out[n++] = (char)c;
	}
	out[n] = '\0';
	return NULL;
}

/* The scheme is not case-sensitive; without one, HTTP is meant, as other programs take it. */
static const char *skip_scheme(const char **text)
{
	static const char http[] = "http://";
	const char *end = strstr(*text, "://");

	if (!end)
		return NULL;
	for (size_t i = 0; i < sizeof(http) - 1; i++)
		if (tolower((unsigned char)(*text)[i]) != http[i])
			return "only http:// proxies are spoken to";
	*text += sizeof(http) - 1;
	return NULL;
}

const char *proxy_url_parse(const char *text, struct proxy_url *out)
{
	char host[HOST_TEXT_SIZE];
	struct host_entry e;
	const char *why, *at;
	size_t len;

	memset(out, 0, sizeof(*out));
	why = skip_scheme(&text);
	if (why)
		return why;
	/* The last one: people forget that one in a password is written %40. */
	len = strcspn(text, "/?#");
	at = len ? memrchr(text, '@', len) : NULL;
	if (at) {
		why = decode_auth(text, (size_t)(at - text), out->auth);
		len -= (size_t)(at + 1 - text);
		text = at + 1;
	}
	if (why)
		return why;
	if (text[len] && strcmp(text + len, "/") != 0)
		return "nothing stands after the port";
	if (len >= sizeof(host))
		return "the name is too long";
	memcpy(host, text, len);
	host[len] = '\0';
	why = host_parse_entry(host, false, &e);
	if (why)
		return why;
	if (e.wildcard)
		return "one proxy belongs here";
	out->host = e.name;
	out->port = e.port ? e.port : 80;
	return NULL;
}
