#include "policy/leaf.h"

#include <ctype.h>
#include <string.h>

#define RANDOM 6 /* characters that mkstemp(3) fills in */
#define NUMBER 16

static bool ends_with(const char *leaf, size_t n, const char *end)
{
	size_t len = strlen(end);

	return n > len && memcmp(leaf + n - len, end, len) == 0;
}

static bool has_known_end(const char *leaf, size_t n)
{
	static const char *const ends[] = {".lock", ".tmp", ".temp", ".swp", ".part", ".new", "~"};

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (ends_with(leaf, n, ends[i]))
			return true;
	return false;
}

/* Letters of both cases or digits among them, changing more often than words do. */
static bool is_random(const char *s, size_t n)
{
	unsigned changes = 0;

	for (size_t i = 0; i < n; i++) {
		if (!isalnum((unsigned char)s[i]))
			return false;
		if (i && (!isupper((unsigned char)s[i]) != !isupper((unsigned char)s[i - 1]) ||
			  !isdigit((unsigned char)s[i]) != !isdigit((unsigned char)s[i - 1])))
			changes++;
	}
	return changes >= 2;
}

/* With the dashes of a UUID. */
static bool is_number(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isxdigit((unsigned char)s[i]) && s[i] != '-')
			return false;
	return n >= NUMBER;
}

bool leaf_is_passing(const char *leaf, size_t n)
{
	return has_known_end(leaf, n) || is_number(leaf, n) ||
	       (n >= RANDOM && is_random(leaf + n - RANDOM, RANDOM));
}
