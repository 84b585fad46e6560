#include "supervisor/jsonw.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CAP_FIRST 512
/* A buffer that grew beyond this is given back at the next reset. */
#define CAP_KEPT 16384

void jsonw_init(struct jsonw *w, size_t max)
{
	memset(w, 0, sizeof(*w));
	w->max = max;
}

void jsonw_reset(struct jsonw *w)
{
	if (w->cap > CAP_KEPT) {
		free(w->buf);
		w->buf = NULL;
		w->cap = 0;
	}
	w->len = 0;
	w->comma = false;
	w->failed = false;
}

void jsonw_free(struct jsonw *w)
{
	free(w->buf);
	memset(w, 0, sizeof(*w));
}

bool jsonw_ok(const struct jsonw *w)
{
	return !w->failed;
}

/* Room for n more bytes and a NUL. */
static bool jsonw_reserve(struct jsonw *w, size_t n)
{
	if (w->failed)
		return false;
	if (n >= w->max || w->len > w->max - n - 1) {
		w->failed = true;
		return false;
	}
	size_t need = w->len + n + 1;
	if (need <= w->cap)
		return true;
	size_t cap = w->cap ? w->cap : CAP_FIRST;
	while (cap < need)
		cap *= 2;
	char *buf = realloc(w->buf, cap);
	if (!buf) {
		w->failed = true;
		return false;
	}
	w->buf = buf;
	w->cap = cap;
	return true;
}

static void jsonw_put(struct jsonw *w, const char *s, size_t n)
{
	if (n == 0 || !jsonw_reserve(w, n))
		return;
	memcpy(w->buf + w->len, s, n);
	w->len += n;
}

const char *jsonw_text(struct jsonw *w)
{
	if (!jsonw_reserve(w, 0))
		return NULL;
	w->buf[w->len] = '\0';
	return w->buf;
}

static void jsonw_separate(struct jsonw *w)
{
	if (w->comma)
		jsonw_put(w, ",", 1);
	w->comma = false;
}

static void jsonw_open(struct jsonw *w, const char *bracket)
{
	jsonw_separate(w);
	jsonw_put(w, bracket, 1);
}

static void jsonw_close(struct jsonw *w, const char *bracket)
{
	jsonw_put(w, bracket, 1);
	w->comma = true;
}

void jsonw_object_begin(struct jsonw *w)
{
	jsonw_open(w, "{");
}

void jsonw_object_end(struct jsonw *w)
{
	jsonw_close(w, "}");
}

void jsonw_array_begin(struct jsonw *w)
{
	jsonw_open(w, "[");
}

void jsonw_array_end(struct jsonw *w)
{
	jsonw_close(w, "]");
}

void jsonw_newline(struct jsonw *w)
{
	jsonw_put(w, "\n", 1);
	w->comma = false;
}

/* Length of the valid UTF-8 sequence at s and its code point; 0 when there is none. Refuses overlong
 * forms, surrogates and what is beyond U+10FFFF, as readers of JSON do. */
static size_t utf8_decode(const unsigned char *s, size_t len, uint32_t *cp)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t n = s[0] < 0x80	 ? 1
		   : s[0] < 0xc2 ? 0
		   : s[0] < 0xe0 ? 2
		   : s[0] < 0xf0 ? 3
		   : s[0] < 0xf5 ? 4
				 : 0;

	if (n == 0 || n > len)
		return 0;
	*cp = n == 1 ? s[0] : s[0] & (0x7f >> n);
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*cp = *cp << 6 | (s[i] & 0x3f);
	}
	if (*cp < least[n] || *cp > 0x10ffff || (*cp >= 0xd800 && *cp <= 0xdfff))
		return 0;
	return n;
}

/* Characters that move the cursor, end a line for some readers or reorder what is shown around them. */
static bool cp_is_hidden(uint32_t cp)
{
	return cp < 0x20 || (cp >= 0x7f && cp <= 0x9f) || cp == 0x61c || cp == 0x200e || cp == 0x200f ||
	       (cp >= 0x2028 && cp <= 0x202e) || (cp >= 0x2066 && cp <= 0x2069);
}

size_t jsonw_char_shown(const char *s, size_t len)
{
	uint32_t cp = 0;
	size_t n = utf8_decode((const unsigned char *)s, len, &cp);

	return n == 0 || cp_is_hidden(cp) ? 0 : n;
}

void jsonw_string_begin(struct jsonw *w)
{
	jsonw_separate(w);
	jsonw_put(w, "\"", 1);
}

void jsonw_string_add(struct jsonw *w, const char *bytes, size_t len)
{
	static const char hex[] = "0123456789abcdef";
	size_t done = 0, i = 0;

	while (i < len) {
		unsigned char c = bytes[i];
		size_t n = c >= 0x20 && c < 0x7f ? 1 : jsonw_char_shown(bytes + i, len - i);
		if (n > 0 && c != '"' && c != '\\') {
			i += n;
			continue;
		}
		jsonw_put(w, bytes + done, i - done);
		if (c == '"') {
			jsonw_put(w, "\\\"", 2);
		} else if (c == '\\') {
			jsonw_put(w, "\\\\\\\\", 4);
		} else {
			char esc[] = {'\\', '\\', 'x', hex[c >> 4], hex[c & 15]};
			jsonw_put(w, esc, sizeof(esc));
		}
		done = ++i;
	}
	if (done < len)
		jsonw_put(w, bytes + done, len - done);
}

void jsonw_string_end(struct jsonw *w)
{
	jsonw_put(w, "\"", 1);
	w->comma = true;
}

void jsonw_bytes(struct jsonw *w, const char *bytes, size_t len)
{
	jsonw_string_begin(w);
	jsonw_string_add(w, bytes, len);
	jsonw_string_end(w);
}

void jsonw_key(struct jsonw *w, const char *key)
{
	jsonw_bytes(w, key, strlen(key));
	jsonw_put(w, ":", 1);
	w->comma = false;
}

static void jsonw_literal(struct jsonw *w, const char *s)
{
	jsonw_separate(w);
	jsonw_put(w, s, strlen(s));
	w->comma = true;
}

void jsonw_uint(struct jsonw *w, uint64_t n)
{
	char s[24];

	snprintf(s, sizeof(s), "%" PRIu64, n);
	jsonw_literal(w, s);
}

void jsonw_int(struct jsonw *w, int64_t n)
{
	char s[24];

	snprintf(s, sizeof(s), "%" PRId64, n);
	jsonw_literal(w, s);
}

void jsonw_bool(struct jsonw *w, bool b)
{
	jsonw_literal(w, b ? "true" : "false");
}

/* By hand, since gmtime_r() loads the time zone file at its first call, and the writer opens no files.
 * Days are counted from 1 March of year 0, which puts the leap day at the end of a year. */
void jsonw_time(struct jsonw *w, const struct timespec *ts)
{
	uint64_t secs = ts->tv_sec > 0 ? (uint64_t)ts->tv_sec : 0;
	unsigned int day = secs % 86400;
	uint64_t z = secs / 86400 + 719468;
	unsigned int in_era = z % 146097;
	unsigned int year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
	unsigned int in_year = in_era - (365 * year + year / 4 - year / 100);
	unsigned int m = (5 * in_year + 2) / 153;
	unsigned int month = m < 10 ? m + 3 : m - 9;
	char s[64];

	int n = snprintf(s, sizeof(s), "%04" PRIu64 "-%02u-%02uT%02u:%02u:%02u.%06uZ",
			 z / 146097 * 400 + year + (month <= 2), month, in_year - (153 * m + 2) / 5 + 1,
			 day / 3600, day / 60 % 60, day % 60, (unsigned int)(ts->tv_nsec / 1000));
	jsonw_bytes(w, s, (size_t)n);
}

void jsonw_member_bytes(struct jsonw *w, const char *key, const char *bytes, size_t len)
{
	if (!bytes)
		return;
	jsonw_key(w, key);
	jsonw_bytes(w, bytes, len);
}

void jsonw_member_str(struct jsonw *w, const char *key, const char *str)
{
	jsonw_member_bytes(w, key, str, str ? strlen(str) : 0);
}

void jsonw_member_uint(struct jsonw *w, const char *key, uint64_t n)
{
	jsonw_key(w, key);
	jsonw_uint(w, n);
}

void jsonw_members(struct jsonw *w, const char *members, size_t len)
{
	if (len == 0)
		return;
	jsonw_separate(w);
	if (!jsonw_reserve(w, len))
		return;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = members[i];
		w->buf[w->len++] = c < 0x20 || c == 0x7f ? ' ' : c;
	}
	w->comma = true;
}

static int hex_value(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

ssize_t jsonw_unescape(const char *text, size_t len, char *out)
{
	size_t o = 0;

	for (size_t i = 0; i < len; i++) {
		if (text[i] != '\\') {
			out[o++] = text[i];
		} else if (i + 1 < len && text[i + 1] == '\\') {
			out[o++] = '\\';
			i++;
		} else {
			if (len - i < 4 || text[i + 1] != 'x')
				return -1;
			int hi = hex_value(text[i + 2]), lo = hex_value(text[i + 3]);
			if (hi < 0 || lo < 0)
				return -1;
			out[o++] = (char)(hi << 4 | lo);
			i += 3;
		}
	}
	return (ssize_t)o;
}
