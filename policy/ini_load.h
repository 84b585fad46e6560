/*
 * Reads text in INI form with inih, behind a shell that refuses everything inih would read differently
 * from what the writer sees: cut lines and names, inline comments, continuation lines, ":" for "=",
 * text after "]", NUL bytes. What reaches the sink is exactly what stands in the file.
 *
 * Pure, no globals, any number of threads. All faults of the text are added with file:line; the
 * sink is called for the good lines also when others are at fault, so it must only collect.
 */
#ifndef CORDON_INI_LOAD_H
#define CORDON_INI_LOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/faults.h"

enum {
	INI_TEXT_MAX = 1 << 20, /* bytes in a text */
	INI_LINE_MAX = 20000,	/* bytes in a line: a path of 4095 bytes with each written as \xNN fits */
	INI_NAME_MAX = 49,	/* bytes in the name of a section or key: inih cuts longer ones */
};

struct ini_sink {
	/* A section header. False: the settings in this section are not to be reported. */
	bool (*section)(void *arg, int line, const char *section);
	/* A setting. No argument is empty; value has no blanks at its ends. Borrowed for the call. */
	void (*setting)(void *arg, int line, const char *section, const char *key, const char *value);
};

void ini_load(const char *name, const char *bytes, size_t len, const struct ini_sink *sink, void *arg,
	      struct faults *f);

/* Why a value cannot stand in a file, or NULL if it can. Static text. */
const char *ini_value_fault(const char *value);

#endif
