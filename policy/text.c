#include "policy/text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "policy/path_form.h"

#define UNIT_MAX 5

void text_init(struct text *t, char *buf, size_t size)
{
	*t = (struct text){.buf = buf, .size = size};
	buf[0] = '\0';
}

static void add_bytes(struct text *t, const char *s, size_t n)
{
	/* Once cut, nothing more: a short piece must not follow what was left out. */
	if (t->cut || n >= t->size - t->len) {
		t->cut = true;
		return;
	}
	memcpy(t->buf + t->len, s, n);
	t->len += n;
	t->buf[t->len] = '\0';
}

void text_add(struct text *t, const char *s)
{
	add_bytes(t, s, strlen(s));
}

void text_add_number(struct text *t, int n)
{
	char digits[16];

	snprintf(digits, sizeof(digits), "%d", n);
	text_add(t, digits);
}

/* The code point of the valid UTF-8 sequence at s, its length in *n. *n is 1 for a byte that starts none. */
static uint32_t read_utf8(const unsigned char *s, size_t left, size_t *n)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t len = s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
	uint32_t c = len ? s[0] & (0x7f >> len) : s[0];

	*n = 1;
	if (len > left)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (len && (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)))
		return 0;
	*n = len ? len : 1;
	return c;
}

/* C1 controls, line separators and what turns the direction of writing are for the terminal, not the reader. */
static bool is_shown(uint32_t c, size_t n)
{
	if (n == 1)
		return c >= 0x20 && c < 0x7f;
	return c >= 0xa0 && c != 0x61c && c != 0x200e && c != 0x200f && !(c >= 0x2028 && c <= 0x202e) &&
	       !(c >= 0x2066 && c <= 0x2069) && c != 0xfeff;
}

/* Moves one character, or one byte as \xNN, to out. Returns its length there, the bytes taken in *n. */
static size_t show_unit(const char *s, size_t left, char out[UNIT_MAX], size_t *n)
{
	uint32_t c = read_utf8((const unsigned char *)s, left, n);

	if (is_shown(c, *n)) {
		memcpy(out, s, *n);
		return *n;
	}
	*n = 1;
	return snprintf(out, UNIT_MAX, "\\x%02x", (unsigned char)*s);
}

void text_add_shown(struct text *t, const char *s, size_t n, size_t max)
{
	static const char dots[] = "...";
	size_t end = t->len + max;
	size_t taken;

	for (size_t i = 0; i < n; i += taken) {
		char out[UNIT_MAX];
		size_t len = show_unit(s + i, n - i, out, &taken);
		bool last = i + taken == n;

		if (t->len + len + (last ? 0 : strlen(dots)) > end) {
			text_add(t, dots);
			return;
		}
		add_bytes(t, out, len);
	}
}

static bool needs_backslash(const char *path, size_t i, size_t n)
{
	char c = path[i];

	/* These are shown by their number. */
	if (c == '\t' || (c == ' ' && i + 1 == n))
		return false;
	return strchr("*?[\\", c) || path_form_separates(path + i, n - i) ||
	       (c == '#' && i && path[i - 1] == ' ');
}

void text_add_quoted(struct text *t, const char *path, size_t n)
{
	size_t taken;

	for (size_t i = 0; i < n; i += taken) {
		char out[UNIT_MAX];
		size_t len = show_unit(path + i, n - i, out, &taken);
		char c = path[i];

		if (c == '$')
			text_add(t, "$");
		else if (needs_backslash(path, i, n))
			text_add(t, "\\");
		if (c == ' ' && i + 1 == n)
			text_add(t, "\\x20");
		else
			add_bytes(t, out, len);
	}
}
