/* The list of faults: see faults.h. */
#include "policy/faults.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Length of the valid UTF-8 sequence at s that a terminal shows as text, or 0. C1 control characters,
 * which terminals may obey, count as none. */
static size_t utf8_text_len(const unsigned char *s, size_t left)
{
	size_t n = s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;

	if (n == 0 || n > left)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
	    (s[0] == 0xf4 && s[1] > 0x8f) || (s[0] == 0xc2 && s[1] < 0xa0))
		return 0;
	return n;
}

static char *escaped_copy(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t left = strlen(text);
	char *out = malloc(4 * left + 1), *w = out;

	if (!out)
		return NULL;
	while (left > 0) {
		size_t n = s[0] >= 0x20 && s[0] < 0x7f ? 1 : utf8_text_len(s, left);

		if (n == 0) {
			w += sprintf(w, "\\x%02x", s[0]);
			n = 1;
		} else {
			memcpy(w, s, n);
			w += n;
		}
		s += n;
		left -= n;
	}
	*w = '\0';
	return out;
}

static char *prefixed(const char *file, int line, const char *text)
{
	char *out = NULL;
	int n;

	if (!file)
		return strdup(text);
	if (line > 0)
		n = asprintf(&out, "%s:%d: %s", file, line, text);
	else
		n = asprintf(&out, "%s: %s", file, text);
	return n < 0 ? NULL : out;
}

void faults_add(struct faults *f, const char *file, int line, const char *fmt, ...)
{
	size_t kept = faults_kept(f);
	char *text = NULL, *whole;
	va_list ap;
	int n;

	/* Counted first: a fault that cannot be kept is still one. */
	f->count++;
	if (kept == FAULTS_KEPT)
		return;
	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	whole = prefixed(file, line, text);
	free(text);
	if (!whole)
		return;
	f->text[kept] = escaped_copy(whole);
	free(whole);
}

size_t faults_kept(const struct faults *f)
{
	size_t n = 0;

	while (n < FAULTS_KEPT && f->text[n])
		n++;
	return n;
}

void faults_free(struct faults *f)
{
	for (size_t i = 0; i < FAULTS_KEPT; i++)
		free(f->text[i]);
	memset(f, 0, sizeof(*f));
}
