/*
 * Building one line of text in a caller's buffer. Never overruns, always NUL-terminated; what does not fit is
 * left out whole, so that no escape and no character is cut in half.
 */
#ifndef CORDON_TEXT_H
#define CORDON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text {
	char *buf;
	size_t size, len;
	bool cut; /* something was left out */
};

/* size must not be 0. */
void text_init(struct text *t, char *buf, size_t size);

void text_add(struct text *t, const char *s);
void text_add_number(struct text *t, int n);

/* Adds at most max bytes of text for the n bytes of s, "..." in place of the rest. Bytes that a terminal
 * may obey, or that are not valid UTF-8, are shown as \xNN. */
void text_add_shown(struct text *t, const char *s, size_t n, size_t max);

/* Adds an absolute path in such a way that a policy file takes it for that very path. */
void text_add_quoted(struct text *t, const char *path, size_t n);

#endif
