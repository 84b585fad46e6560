/*
 * Who asked, for a record: name, program and directory of a thread, and its process. Looked up only when something is
 * recorded. Callable from any thread.
 */
#ifndef CORDON_ASKER_H
#define CORDON_ASKER_H

#include <limits.h>

#include "supervisor/audit.h"
#include "supervisor/session.h"

/* Behind those of the event. */
struct asker {
	char comm[32], exe[PATH_MAX], cwd[PATH_MAX];
};

/* What is not known any more is left out. */
void asker_look(struct session *s, pid_t tid, struct asker *who, struct event *e);

#endif
