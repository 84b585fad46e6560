/*
 * A list of faults found in what the user gave (policy files, flags), so that all of them can be
 * told at once instead of one per run.
 *
 * The list owns the texts. Not for use by several threads. Allocation failure is remembered as a
 * fault (faults_count() is then never 0), so a caller that checks the count fails closed.
 */
#ifndef CORDON_FAULTS_H
#define CORDON_FAULTS_H

#include <stddef.h>

/* At most this many faults are kept; faults_count() goes on counting. */
#define FAULTS_KEPT 100

struct faults {
	char *text[FAULTS_KEPT];
	size_t count;
};

/* Adds "FILE:LINE: TEXT" (or "FILE: TEXT" when line is 0, or "TEXT" when file is NULL). Control bytes
 * in the formatted text are shown as \xNN. */
void faults_add(struct faults *f, const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static inline size_t faults_count(const struct faults *f)
{
	return f->count;
}

/* Number of texts that can be read from f->text. */
size_t faults_kept(const struct faults *f);

void faults_free(struct faults *f);

#endif
