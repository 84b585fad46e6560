/*
 * What programs believe of their own "dumpable" mark (prctl). The kernel lets nobody look into a process without it, so
 * the supervisor keeps it set, and a program that takes it away is told that it is gone.
 *
 * The mark belongs to a program's memory: forked children begin with their parent's, exec begins with a new one. Any
 * worker may call these.
 */
#ifndef CORDON_DUMPABLE_H
#define CORDON_DUMPABLE_H

#include <stdbool.h>
#include <sys/types.h>

struct member_stat;
struct session;

/* As member_stat(), with what the kernel shows to those only who may look into the process. */
bool dumpable_look(const struct session *s, pid_t pid, struct member_stat *st);
/* pid: of a process, not of a thread; st: from dumpable_look(), while that could see. */
void dumpable_set(pid_t pid, const struct member_stat *st, bool dumpable);
/* False: the program has been told that it is not dumpable. */
bool dumpable_get(const struct session *s, pid_t pid);

#endif
