/*
 * Refusals that are no news: what programs try as they go and do without when it fails. They are refused and recorded
 * like others, but no line on stderr speaks of them.
 */
#ifndef CORDON_QUIET_H
#define CORDON_QUIET_H

#include <stdbool.h>
#include <stddef.h>

/* A history of what was typed, which programs also do without reading. */
bool quiet_is_history(const char *path, size_t len);

/* A file or directory that a program keeps for its own comfort: compiled Python, a history of what was typed. */
bool quiet_is_comfort(const char *path, size_t len);

#endif
