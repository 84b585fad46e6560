/*
 * Forms of other tools that stand where one path belongs: lists by comma, blank, colon or semicolon, and braces. Taken
 * for a name they would protect nothing, so they are faults; a "\" in front makes the character part of a name.
 *
 * Pure.
 */
#ifndef CORDON_PATH_FORM_H
#define CORDON_PATH_FORM_H

#include <stdbool.h>
#include <stddef.h>

/* What is wrong with the text as one path, or NULL. word: it was a word of the shell, so that a blank or comma is part of a name
 * unless another path seems to begin behind it. */
const char *path_form_fault(const char *text, bool word);

/* True when the first byte of what is left of an absolute path has to be written with a "\" in front. */
bool path_form_separates(const char *s, size_t left);

#endif
