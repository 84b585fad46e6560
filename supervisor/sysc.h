/*
 * System calls as data. One row per call of sysc.def; the filter, the dispatch table, the names in audit
 * records and docs/syscalls.md follow from the rows.
 *
 * A row says what the BPF program does from register values alone: the conditions are tried in order, the
 * first that holds decides, else .action. Only the low 32 bits of an argument are looked at, since the
 * kernel ignores the high half of int arguments.
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
	SYSC_ERRNO,  /* with .err */
	SYSC_ALLOW,
	SYSC_NOTIFY, /* the supervisor's .handle answers */
};

/* What a session needs; picks the program. A condition or row that names features holds only when all
 * of them are on. */
enum sysc_feature {
	FEATURE_READS = 1 << 0, /* read-only opens are decided by the supervisor */
	FEATURE_EXEC = 1 << 1,  /* execve is decided by the supervisor */
	FEATURE_IDENT = 1 << 2, /* the command starts with capabilities: changes of identity are seen */
	FEATURE_HIDE = 1 << 3,  /* what may not be read looks absent */
};
#define FEATURE_COMBINATIONS 16

#define SYSC_MAX_WHEN 16

/*
 * Holds when (arg & mask) == value, or != value with .differs set (then mask must be all ones or value
 * 0). needs: features that must all be on for the condition to exist.
 */
struct sysc_when {
	uint8_t arg;
	bool differs;
	uint8_t needs;
	uint32_t mask;
	uint32_t value;
	enum sysc_action action;
	int err;
};

struct sysc {
	const char *name;    /* as in unistd.h */
	int nr;              /* set by the table from SYS_name, or a number newer than the headers */
	const char *op;      /* word in audit records: see struct event */
	enum sysc_action action;
	int err;             /* with SYSC_ERRNO */
	uint8_t needs;       /* features without which the row is SYSC_ALLOW */
	struct sysc_when when[SYSC_MAX_WHEN];
	uint8_t n_when;
	void (*handle)(struct call *c); /* SYSC_NOTIFY anywhere in the row: must be set */
	const char *doc;     /* one sentence for docs/syscalls.md */
};

/* The row of a number, or NULL (unknown: ENOSYS). */
const struct sysc *sysc_by_nr(int nr);
/* All rows, in the order of sysc.def. */
const struct sysc *sysc_row(size_t i);
size_t sysc_count(void);

#endif
