/*
 * Walking a path component by component, and comparing and hashing components.
 *
 * A position is the offset just after a component, where the next '/' or the end of the path stands. The
 * root's position is 0, so that "/" and "/a" need no cases of their own; path_anchor() turns a position
 * into the length of the prefix, which is 1 for the root.
 */
#ifndef CORDON_COMPONENT_H
#define CORDON_COMPONENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline unsigned char ascii_fold(unsigned char c)
{
	return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

/* The position at which the path of that length ends. */
static inline size_t path_end(size_t len)
{
	return len == 1 ? 0 : len;
}

static inline size_t path_anchor(size_t pos)
{
	return pos ? pos : 1;
}

/* Gives the component after *pos and moves *pos behind it. False at the end. */
static inline bool component_next(const char *path, size_t end, size_t *pos, const char **name, size_t *len)
{
	const char *slash;

	if (*pos >= end)
		return false;
	*name = path + *pos + 1;
	slash = memchr(*name, '/', end - *pos - 1);
	*len = slash ? (size_t)(slash - *name) : end - *pos - 1;
	*pos += *len + 1;
	return true;
}

static inline bool component_equal(const char *a, const char *b, size_t len, bool caseless)
{
	if (!caseless)
		return memcmp(a, b, len) == 0;
	for (size_t i = 0; i < len; i++)
		if (ascii_fold(a[i]) != ascii_fold(b[i]))
			return false;
	return true;
}

static inline bool component_is_dots(const char *name, size_t len)
{
	return (len == 1 && name[0] == '.') || (len == 2 && name[0] == '.' && name[1] == '.');
}

static inline bool component_is_git(const char *name, size_t len)
{
	return len == 4 && component_equal(name, ".git", 4, true);
}

/* FNV-1a with a final mix. The keys of all tables come from the policy, so it needs no secret. */
static inline uint32_t component_hash(const char *name, size_t len, bool caseless)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = name[i];

		h = (h ^ (caseless ? ascii_fold(c) : c)) * 16777619u;
	}
	h ^= h >> 15;
	h *= 2246822519u;
	return h ^ h >> 13;
}

#endif
