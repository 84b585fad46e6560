/*
 * Inside of the build tool filter_gen, which makes the seccomp programs and docs/syscalls.md from the rows.
 * Not part of cordon.
 */
#ifndef CORDON_FILTER_GEN_H
#define CORDON_FILTER_GEN_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "supervisor/sysc.h"

struct gen_program {
	struct sock_filter code[BPF_MAXINSNS];
	size_t len;
};

/* What a seccomp program returns for an action. */
uint32_t gen_return(enum sysc_action action, int err);

/* Appends a row's conditions as instructions; the last is a return. False: does not fit. */
bool gen_row(struct gen_program *p, const struct sysc *row, unsigned features);

/* Looks for mistakes in the rows themselves. Returns their number, each told on stderr. */
unsigned gen_check_rows(void);
/* Compares a program with the rows by interpretation. Returns the number of differences, told on stderr. */
unsigned gen_check_program(const struct gen_program *p, unsigned features);

/* docs/syscalls.md */
void gen_doc(FILE *out);

#endif
