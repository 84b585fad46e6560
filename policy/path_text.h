/*
 * Paths as people write them in a policy: text to absolute pattern and back.
 *
 * In the text: "~" and "~/x"; $NAME, ${NAME}, "$$" for a dollar; relative to the current directory, but a
 * leading "**" component followed by "/" stands at the root, so that "**" + "/.env" is at any depth;
 * "\" takes the next character's meaning away, "\xNN" is that byte. What is inserted (home, current
 * directory, variables) never acts as a pattern. Everything is lexical: symbolic links are not known here.
 *
 * Pure. Results are malloc'd.
 */
#ifndef CORDON_PATH_TEXT_H
#define CORDON_PATH_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#define PATH_TEXT_MAX 4095 /* bytes in an expanded path or pattern */

struct config_env;

struct path_text {
	char *path; /* literal: the very bytes; else a pattern in which "\" quotes the next byte */
	bool literal;
	bool dir_only;
};

/* False with a text in why (size bytes) when the text is at fault or memory is out. */
bool path_text_expand(const struct config_env *env, const char *text, struct path_text *out, char *why,
		      size_t size);

/* A text that expands to the same again; NULL when out of memory. Holds no control bytes and nothing that a
 * policy file could take for a comment. */
char *path_text_print(const char *path, bool literal, bool dir_only);

#endif
