/*
 * System calls as data. One row per call of sysc.def; the filter, the dispatch table, the names in audit
 * records and docs/syscalls.md follow from the rows.
 *
 * A row says what the BPF program does from register values alone: the conditions are tried in order, the
 * first that holds decides, else .action. Only the low 32 bits of an argument are looked at, since the
 * kernel ignores the high half of int arguments; of a pointer that must be NULL, both halves.
 */
#ifndef CORDON_SYSC_H
#define CORDON_SYSC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct call;

/* Zero is the refusal that every unlisted number gets. */
enum sysc_action {
	SYSC_ENOSYS = 0,
	SYSC_EPERM,
	SYSC_ERRNO, /* with .err */
	SYSC_ALLOW,
	SYSC_NOTIFY, /* the supervisor's .handle answers */
	SYSC_TRAP,   /* SIGSYS; only in the lists of cordon's own processes: lockdown.h */
};

/* What a session needs; picks the program. */
enum sysc_feature {
	FEATURE_READS = 1 << 0, /* read-only opens are decided by the supervisor */
	FEATURE_EXEC = 1 << 1,	/* execve is decided by the supervisor */
	FEATURE_IDENT = 1 << 2, /* the command starts with capabilities: changes of identity are seen */
	FEATURE_HIDE = 1 << 3,	/* what may not be read looks absent */
	/* The kernel has no scope for signals (Landlock ABI 6), so what makes it send them by itself is closed. It may have
	 * no Landlock at all, so the supervisor keeps strangers' /proc shut. */
	FEATURE_UNSCOPED = 1 << 4,
};
#define FEATURE_COMBINATIONS 32

#define SYSC_MAX_TERMS 3

/* Holds when (half & mask) == value, or != value with .differs. One that is all zero always holds. */
struct sysc_term {
	uint8_t arg;
	bool high; /* its upper half, else the lower one */
	bool differs;
	uint32_t mask;
	uint32_t value;
};

/* clang-format off */
#define ARG_BITS(a, m, v) {.arg = (a), .mask = (uint32_t)(m), .value = (uint32_t)(v)}
#define ARG_IS(a, v)      ARG_BITS(a, ~0U, v)
#define ARG_NONE(a, m)    ARG_BITS(a, m, 0)
#define ARG_ISNT(a, v)    {.arg = (a), .differs = true, .mask = ~0U, .value = (uint32_t)(v)}
#define ARG_ANY(a, m)     {.arg = (a), .differs = true, .mask = (uint32_t)(m)}
#define ARG_NULL(a)       ARG_IS(a, 0), {.arg = (a), .high = true, .mask = ~0U}
/* clang-format on */

/*
 * Holds when all its terms do. It exists only while all features of .needs are on and all of .needs_not are
 * off; with features and no term it is a condition on the features alone.
 */
struct sysc_when {
	struct sysc_term term[SYSC_MAX_TERMS];
	uint8_t needs;
	uint8_t needs_not;
	enum sysc_action action;
	int err; /* with SYSC_ERRNO */
};

/* clang-format off */
#define SYSC_IF(what, ...)              {.term = {__VA_ARGS__}, .action = (what)}
#define SYSC_IF_ERRNO(error, ...)       {.term = {__VA_ARGS__}, .action = SYSC_ERRNO, .err = (error)}
#define SYSC_IF_ON(needed, what, ...)   {.term = {__VA_ARGS__}, .needs = (needed), .action = (what)}
#define SYSC_IF_OFF(without, what, ...) {.term = {__VA_ARGS__}, .needs_not = (without), .action = (what)}
/* clang-format on */

/* In a row: SYSC_WHEN(SYSC_IF(SYSC_ALLOW, ARG_ANY(2, O_PATH)), SYSC_IF(...)), */
#define SYSC_WHEN(...)                                                                                       \
	.when = (const struct sysc_when[]){__VA_ARGS__},                                                     \
	.n_when = sizeof((const struct sysc_when[]){__VA_ARGS__}) / sizeof(struct sysc_when)

struct sysc {
	const char *name; /* as in unistd.h; the number follows from sysc.def */
	const char *op;	  /* word in audit records: see struct event */
	enum sysc_action action;
	int err;       /* with SYSC_ERRNO */
	uint8_t needs; /* features without which the row is SYSC_ALLOW */
	const struct sysc_when *when;
	size_t n_when;
	void (*handle)(struct call *c); /* SYSC_NOTIFY anywhere in the row: must be set */
	const char *doc;		/* one sentence for docs/syscalls.md */
};

/* The row of a number, or NULL (unknown: ENOSYS). */
const struct sysc *sysc_by_nr(int nr);
/* All rows, in the order of sysc.def. */
const struct sysc *sysc_row(size_t i);
size_t sysc_count(void);
/* The number of row i on this architecture, and the name that sysc.def gives it. */
int sysc_row_nr(size_t i);
const char *sysc_row_name(size_t i);

/*
 * What the filter must answer: the meaning of a row, evaluated directly. The programs are checked against
 * it when they are made. A NULL row is an unknown number. *err is the errno of a refusal, else 0.
 */
enum sysc_action sysc_action_for(const struct sysc *row, unsigned features, const uint64_t args[6], int *err);
/* Whether a condition takes part under these features. */
bool sysc_when_exists(const struct sysc_when *w, unsigned features);
/* True when no register decides under these features; the answer is then the same for all arguments. */
bool sysc_is_constant(const struct sysc *row, unsigned features);

#endif
