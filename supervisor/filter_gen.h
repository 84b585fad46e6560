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

#define GEN_NUMBERS 1024

/* What a program is made from and checked against. */
struct gen_set {
	const char *name; /* for messages */
	unsigned features;
	enum sysc_action otherwise; /* the answer to a number without a row, and to foreign ones */
	size_t n;
	const struct sysc *row[GEN_NUMBERS];
	int nr[GEN_NUMBERS];
	const struct sysc *by_nr[GEN_NUMBERS];
};

void gen_set_add(struct gen_set *set, int nr, const struct sysc *row);
/* The rows of one of cordon's own processes (enum own_process). Returns the number of faults, each told on stderr. */
unsigned gen_own(struct gen_set *set, int process);
/* Which module states which call, a line each. */
void gen_own_list(FILE *out);

/* What a seccomp program returns for an action. */
uint32_t gen_return(enum sysc_action action, int err);

/* Appends a row's conditions as instructions; the last is a return. False: does not fit. */
bool gen_row(struct gen_program *p, const struct sysc *row, unsigned features);

/* Looks for mistakes in the rows themselves. Returns their number, each told on stderr. */
unsigned gen_check_rows(void);
/* Compares a program with the rows by interpretation. Returns the number of differences, told on stderr. */
unsigned gen_check_program(const struct gen_program *p, const struct gen_set *set);

/* docs/syscalls.md */
void gen_doc(FILE *out);

#endif
