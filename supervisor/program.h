/*
 * What running a file would start: the file itself, or, for a script, the interpreter that its first line names, which may
 * be a script again; and the loader that the last of them asks for, which the kernel starts in its stead. Each of them is
 * judged.
 */
#ifndef CORDON_PROGRAM_H
#define CORDON_PROGRAM_H

#include <stdbool.h>

#include "supervisor/call.h"
#include "supervisor/resolve.h"

/* The rules about programs (see judge.h for the kinds). */
struct program {
	struct object script; /* what was named, when it is a script; else .fd is -1 */
	struct object
		end; /* what will run; .fd -1: not known (its name leads nowhere, its first line is not readable) */
	struct object loader; /* what that asks to be loaded by; .fd -1: nothing, or nothing that is there */
	bool unreadable; /* not even the caller may read it: its memory will be closed, to the supervisor as well */
};

/*
 * Judges what running o starts. o's name must be in slot 0; slot 1 is used. 0, JUDGE_GONE or an errno to answer, as
 * judge_object(). Takes over o; program_close() always.
 */
int program_judge(struct call *c, struct object *o, struct program *p);
void program_close(struct program *p);

/* Judges one object that runs, without asking what it starts. */
int program_judge_one(struct call *c, struct object *o);

/*
 * Judges one object as what a program asks to be loaded by. A loader of the system's that no rule refuses needs none that
 * allows it.
 */
int program_judge_loader(struct call *c, struct object *o);

/* Whether the session could have written it. */
bool program_may_be_own(const struct call *c, const struct object *o);

/* The interpreter that the first bytes of a script name, as the kernel reads them, into name (n + 1 bytes at most). False:
 * no script, or one that the kernel does not take. */
#define PROGRAM_HEAD 256
bool program_interpreter(const char head[PROGRAM_HEAD], char name[PROGRAM_HEAD]);

#endif
