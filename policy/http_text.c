#include "policy/http_text.h"

#include <string.h>

bool http_text_begins(struct http_text t, const char *word)
{
	size_t n = strlen(word);

	return t.len >= n && strncasecmp(t.at, word, n) == 0;
}

bool http_text_equals(struct http_text t, const char *word)
{
	return t.len == strlen(word) && http_text_begins(t, word);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct http_text trim(const char *at, const char *end)
{
	while (at < end && is_blank(*at))
		at++;
	while (end > at && is_blank(end[-1]))
		end--;
	return (struct http_text){at, (size_t)(end - at)};
}

bool http_text_lists(struct http_text list, const char *word)
{
	const char *at = list.at, *end = list.at + list.len;

	while (at < end) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		const char *stop = comma ? comma : end;

		if (http_text_equals(trim(at, stop), word))
			return true;
		at = stop + 1;
	}
	return false;
}

bool http_text_is_token(struct http_text t)
{
	for (size_t i = 0; i < t.len; i++) {
		char c = t.at[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
		    (c == '\0' || !strchr("!#$%&'*+-.^_`|~", c)))
			return false;
	}
	return t.len > 0;
}

const char *http_text_field(struct http_text *rest, struct http_text *name, struct http_text *value)
{
	const char *end = memchr(rest->at, '\r', rest->len), *colon;

	if (!end || end + 1 == rest->at + rest->len || end[1] != '\n')
		return "malformed line end";
	if (is_blank(*rest->at))
		return "a line that goes on with the one before";
	colon = memchr(rest->at, ':', (size_t)(end - rest->at));
	if (!colon)
		return "a header line without a colon";
	*name = (struct http_text){rest->at, (size_t)(colon - rest->at)};
	if (!http_text_is_token(*name))
		return "malformed field name";
	*value = trim(colon + 1, end);
	rest->len -= (size_t)(end + 2 - rest->at);
	rest->at = end + 2;
	return NULL;
}
