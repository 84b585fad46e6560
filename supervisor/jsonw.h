/*
 * A writer of one JSON text on one line, for strings that may be any bytes.
 *
 * Strings are written as escaped text: a backslash byte is doubled, and every byte that is not part of a
 * character that is safe to show (controls, bytes that are not UTF-8, line separators, bidi controls) becomes
 * \xNN with two lower-case hex digits. That text is then a JSON string, so the file holds \\\\ and \\xNN.
 * Different bytes never give the same text, and jsonw_unescape() gives the bytes back. The same holds
 * for every string in the trail, so a reader needs one rule only.
 *
 * The writer owns its buffer. Errors (out of memory, longer than max) are sticky; ask jsonw_ok() once at
 * the end. Not for use by several threads. Commas are placed by the writer, nesting is up to the caller;
 * without an outer object it writes the members alone, as audit_emit_record() takes them.
 */
#ifndef CORDON_JSONW_H
#define CORDON_JSONW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct jsonw {
	char *buf;
	size_t len, cap, max;
	bool comma; /* the next key or array element needs one */
	bool failed;
};

void jsonw_init(struct jsonw *w, size_t max);
/* Empties it for the next text. Gives memory back when the last one was unusually long. */
void jsonw_reset(struct jsonw *w);
void jsonw_free(struct jsonw *w);
bool jsonw_ok(const struct jsonw *w);
/* NUL-terminated, valid until the next call; NULL when something failed. */
const char *jsonw_text(struct jsonw *w);

void jsonw_object_begin(struct jsonw *w);
void jsonw_object_end(struct jsonw *w);
void jsonw_array_begin(struct jsonw *w);
void jsonw_array_end(struct jsonw *w);
/* Ends the line; the next text follows without a comma. */
void jsonw_newline(struct jsonw *w);

/* key: a plain name of ours, never the workload's. */
void jsonw_key(struct jsonw *w, const char *key);

/* Values: after a key, or as elements of an array. */
void jsonw_bytes(struct jsonw *w, const char *bytes, size_t len);
void jsonw_uint(struct jsonw *w, uint64_t n);
void jsonw_int(struct jsonw *w, int64_t n);
void jsonw_bool(struct jsonw *w, bool b);
/* RFC 3339, UTC, microseconds. */
void jsonw_time(struct jsonw *w, const struct timespec *ts);

/* One string value made of several parts. */
void jsonw_string_begin(struct jsonw *w);
void jsonw_string_add(struct jsonw *w, const char *bytes, size_t len);
void jsonw_string_end(struct jsonw *w);

/* Key and value in one. A NULL string writes nothing. */
void jsonw_member_str(struct jsonw *w, const char *key, const char *str);
void jsonw_member_bytes(struct jsonw *w, const char *key, const char *bytes, size_t len);
void jsonw_member_uint(struct jsonw *w, const char *key, uint64_t n);

/* Members that were made by another writer. Raw control bytes become spaces, so that the line stays one. */
void jsonw_members(struct jsonw *w, const char *members, size_t len);

/* Length of the character at s when it is valid UTF-8 and safe to show, 0 when its first byte must be
 * escaped. len > 0. */
size_t jsonw_char_shown(const char *s, size_t len);

/* The bytes behind an escaped text; out holds len bytes and may be text itself. Returns how many, or -1
 * when the text is not one that the writer makes. */
ssize_t jsonw_unescape(const char *text, size_t len, char *out);

#endif
