/*
 * What running a file would start: the file itself, or, for a script, the interpreter that its first line names, which may
 * be a script again. Each of them is judged.
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

/* The interpreter that the first bytes of a script name, as the kernel reads them, into name (n + 1 bytes at most). False:
 * no script, or one that the kernel does not take. */
#define PROGRAM_HEAD 256
bool program_interpreter(const char head[PROGRAM_HEAD], char name[PROGRAM_HEAD]);

/*
 * True for a dynamic loader and its like: a shared object with no interpreter of its own, which runs any file that it is
 * given. Also true when the file cannot be understood. fd: open for reading.
 */
bool program_is_loader(int fd);

#endif
