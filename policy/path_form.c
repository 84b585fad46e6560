#include "policy/path_form.h"

#include <string.h>

#define ONE_PATH "one path in a line: repeat the key "
#define ONE_WORD                                                                                             \
	"one path in an option: repeat the option (a \"\\\" in front makes the character part of a name)"

static const struct separator {
	char c;
	const char *fault;
} separators[] = {
	{',', ONE_PATH "(\"\\,\" is the character)"},	  {';', ONE_PATH "(\"\\;\" is the character)"},
	{' ', ONE_PATH "(\"\\ \" is a blank in a name)"}, {'\t', ONE_PATH "(\"\\x09\" is a tab in a name)"},
	{':', ONE_PATH "(\"\\:\" is the character)"},
};

static const struct separator *find_separator(char c)
{
	for (size_t i = 0; i < sizeof(separators) / sizeof(*separators); i++)
		if (separators[i].c == c)
			return &separators[i];
	return NULL;
}

static bool begins_path(char c)
{
	return c && strchr("/~$*.", c);
}

bool path_form_separates(const char *s, size_t left)
{
	/* Behind the last byte a pattern may get a "/". */
	return find_separator(*s) && (*s != ':' || left == 1 || begins_path(s[1]));
}

/* Colons are common in the names of devices, so that one counts only between what looks like two paths. */
static bool parts_paths(const char *text, const char *colon)
{
	return !memchr(text, '/', (size_t)(colon - text)) || begins_path(colon[1]);
}

/* Behind the set or the variable that begins at s, else s itself. Their inside is no list. */
static const char *skip_group(const char *s)
{
	const char *from = s, *end;

	if (s[0] == '$' && s[1] == '{') {
		end = strchr(s, '}');
		return end ? end + 1 : s;
	}
	if (s[0] != '[')
		return s;
	s++;
	s += *s == '!' || *s == '^';
	s += *s == ']';
	s += strcspn(s, "]/");
	return *s == ']' ? s + 1 : from;
}

/* A word of the shell is one value: only what looks like two paths is a list. */
static bool parts_words(const char *at)
{
	return *at == ' ' || *at == '\t' ? at[1] && strchr("/~$", at[1]) : begins_path(at[1]);
}

static bool parts(const char *text, const char *at, bool word)
{
	return word ? parts_words(at) : *at != ':' || parts_paths(text, at);
}

static bool is_quoted(const char *text)
{
	size_t n = strlen(text);

	return n >= 2 && (text[0] == '"' || text[0] == '\'') && text[n - 1] == text[0];
}

const char *path_form_fault(const char *text, bool word)
{
	const char *after;
	bool brace = false;

	/* The whole in quotes is a fault of its own, with a better word for it. */
	if (is_quoted(text))
		return NULL;
	for (const char *s = text; *s; s++) {
		const struct separator *sep = find_separator(*s);

		if (*s == '\\' && s[1]) {
			s++;
			continue;
		}
		after = skip_group(s);
		if (after > s) {
			s = after - 1;
			continue;
		}
		brace |= *s == '{';
		if (*s == ',' && brace && strchr(s, '}'))
			return "'{a,b}' is no pattern here: write a line for each (\"\\{\" is the character)";
		if (sep && parts(text, s, word))
			return word ? ONE_WORD : sep->fault;
	}
	return NULL;
}
