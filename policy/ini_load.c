/*
 * The strict shell around inih: see ini_load.h.
 *
 * inih asks the reader for one line at a time and calls the handler, which gets no line number, before it
 * asks for the next. So the reader knows the line of every call. It checks the line, cuts it into key
 * and value itself and hands inih a tidied one; the handler then requires that inih saw the same
 * section, key and value. inih splits lines over 199 bytes, so a longer value goes as a short stand-in
 * and the sink gets the shell's own copy. A line at fault goes as an empty one.
 */
#include "policy/ini_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ini.h>

#define STAND_IN "+"

struct shell {
	const char *name;
	const char *bytes;
	size_t len, pos;
	int line;
	const struct ini_sink *sink;
	void *arg;
	struct faults *f;
	char section[INI_NAME_MAX + 1];
	bool in_section, skip_section;
	/* The setting that inih must report before it asks for the next line. */
	bool awaited;
	char key[INI_NAME_MAX + 1];
	const char *fed; /* the value that inih was given */
	char text[INI_LINE_MAX + 1], *value;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static char *skip_blanks(char *s)
{
	while (is_blank(*s))
		s++;
	return s;
}

static void cut_blanks(char *s)
{
	size_t n = strlen(s);

	while (n > 0 && is_blank(s[n - 1]))
		n--;
	s[n] = '\0';
}

static const char *control_fault(const char *s)
{
	for (; *s; s++)
		if (((unsigned char)*s < 0x20 && *s != '\t') || *s == 0x7f)
			return "a control byte; in a path write it as \\xNN";
	return NULL;
}

const char *ini_value_fault(const char *v)
{
	const char *why = control_fault(v);

	if (why)
		return why;
	if (!*v)
		return "the value is missing";
	if (is_blank(*v) || is_blank(v[strlen(v) - 1]))
		return "a value cannot begin or end with a blank";
	if (*v == ';' || *v == '#')
		return "a value cannot begin with ';' or '#'";
	for (v++; *v; v++)
		if (is_blank(v[-1]) && (*v == ';' || (*v == '#' && (!v[1] || is_blank(v[1])))))
			return "a comment must stand on a line of its own (in a path write \\; or \\# for "
			       "the character)";
	return NULL;
}

#define FAULT(s, ...) faults_add((s)->f, (s)->name, (s)->line, __VA_ARGS__)

/* Takes the next line, without its end, into s->text. False at the end of the text. */
static bool next_line(struct shell *s, bool *ok)
{
	const char *start = s->bytes + s->pos, *end;
	size_t n;

	if (s->pos >= s->len)
		return false;
	s->line++;
	end = memchr(start, '\n', s->len - s->pos);
	n = end ? (size_t)(end - start) : s->len - s->pos;
	s->pos += n + (end ? 1 : 0);
	if (n > 0 && start[n - 1] == '\r')
		n--;
	*ok = false;
	if (memchr(start, '\0', n))
		FAULT(s, "a NUL byte");
	else if (n > INI_LINE_MAX)
		FAULT(s, "the line is longer than %d bytes", INI_LINE_MAX);
	else if (s->line == 1 && n >= 3 && memcmp(start, "\xef\xbb\xbf", 3) == 0)
		FAULT(s, "a byte order mark; save the file as UTF-8 without it");
	else
		*ok = true;
	if (*ok) {
		memcpy(s->text, start, n);
		s->text[n] = '\0';
	}
	return true;
}

/* False when the line is not to reach inih. */
static bool take_section(struct shell *s)
{
	char *name = s->text + 1, *end = strchr(name, ']');

	/* Whatever is wrong with the header: what follows does not belong to the section before it. */
	s->in_section = s->skip_section = true;
	if (!end) {
		FAULT(s, "a section header without ']'");
		return false;
	}
	if (*skip_blanks(end + 1)) {
		FAULT(s, "text after the ']' of a section header");
		return false;
	}
	*end = '\0';
	if (!*name) {
		FAULT(s, "a section header without a name");
		return false;
	}
	if (end - name > INI_NAME_MAX) {
		FAULT(s, "the name of the section is longer than %d bytes", INI_NAME_MAX);
		return false;
	}
	if (control_fault(name)) {
		FAULT(s, "%s", control_fault(name));
		return false;
	}
	strcpy(s->section, name);
	s->skip_section = !s->sink->section(s->arg, s->line, name);
	return !s->skip_section;
}

/* Cuts s->text into s->key and s->value. */
static bool take_setting(struct shell *s)
{
	char *sep = strchr(s->text, '='), *colon = strchr(s->text, ':');
	const char *why;

	if (colon && (!sep || colon < sep)) {
		FAULT(s, "':' after a key; write 'key = value'");
		return false;
	}
	if (!sep) {
		FAULT(s, "a line without '='");
		return false;
	}
	*sep = '\0';
	cut_blanks(s->text);
	s->value = skip_blanks(sep + 1);
	cut_blanks(s->value);
	if (!*s->text) {
		FAULT(s, "the key is missing before '='");
		return false;
	}
	if (strlen(s->text) > INI_NAME_MAX) {
		FAULT(s, "the key is longer than %d bytes", INI_NAME_MAX);
		return false;
	}
	why = control_fault(s->text);
	if (!why)
		why = ini_value_fault(s->value);
	if (why) {
		FAULT(s, "%s: %s", s->text, why);
		return false;
	}
	strcpy(s->key, s->text);
	if (!s->in_section)
		FAULT(s, "'%s' stands before any [section]", s->key);
	return s->in_section && !s->skip_section;
}

/* Decides what inih is to see of the line in s->text. */
static void feed(struct shell *s, char *out, size_t size)
{
	const char *first = skip_blanks(s->text);
	int n = 0;

	*out = '\0';
	if (!*first || *first == ';' || *first == '#') {
		n = 0;
	} else if (first != s->text) {
		FAULT(s, "an indented line; settings and sections begin in the first column");
	} else if (*first == '[') {
		if (take_section(s))
			n = snprintf(out, size, "[%s]\n", s->section);
	} else if (take_setting(s)) {
		s->awaited = true;
		s->fed = s->value;
		n = snprintf(out, size, "%s = %s\n", s->key, s->value);
		if ((size_t)n >= size) {
			s->fed = STAND_IN;
			n = snprintf(out, size, "%s = %s\n", s->key, s->fed);
		}
	}
	if (n == 0)
		n = snprintf(out, size, "\n");
	/* A library built with an absurdly short line would cut it: then nothing may be read with it. */
	if ((size_t)n >= size)
		FAULT(s, "this build of inih cannot read lines of %d bytes", n);
}

static void check_awaited(struct shell *s)
{
	if (s->awaited)
		FAULT(s, "%s: inih reads this line in another way", s->key);
	s->awaited = false;
}

static char *shell_read(char *str, int num, void *stream)
{
	struct shell *s = stream;
	bool ok;

	check_awaited(s);
	if (num <= 0 || !next_line(s, &ok))
		return NULL;
	if (ok)
		feed(s, str, (size_t)num);
	else
		snprintf(str, (size_t)num, "\n");
	return str;
}

static int shell_handle(void *user, const char *section, const char *key, const char *value)
{
	struct shell *s = user;

	/* A mismatch leaves the line awaited, which the next read tells. */
	if (s->awaited && value && !strcmp(section, s->section) && !strcmp(key, s->key) &&
	    !strcmp(value, s->fed)) {
		s->awaited = false;
		s->sink->setting(s->arg, s->line, s->section, s->key, s->value);
	}
	return 1;
}

void ini_load(const char *name, const char *bytes, size_t len, const struct ini_sink *sink, void *arg,
	      struct faults *f)
{
	size_t before = faults_count(f);
	struct shell *s;
	int rc;

	if (len > INI_TEXT_MAX) {
		faults_add(f, name, 0, "larger than %d bytes", INI_TEXT_MAX);
		return;
	}
	s = calloc(1, sizeof(*s));
	if (!s) {
		faults_add(f, name, 0, "out of memory");
		return;
	}
	*s = (struct shell){.name = name, .bytes = bytes, .len = len, .sink = sink, .arg = arg, .f = f};
	rc = ini_parse_stream(shell_read, s, shell_handle, s);
	check_awaited(s);
	if (rc != 0 && faults_count(f) == before)
		faults_add(f, name, rc > 0 ? rc : 0, "inih cannot read this");
	if (s->pos < s->len && faults_count(f) == before)
		faults_add(f, name, s->line, "inih stopped reading here");
	free(s);
}
