/*
 * Changes of identity that are under way. For the moment of such a change the kernel shuts the process (sysc/process.c opens
 * it again). Its threads change one by one and share its memory, as do a child of vfork and its parent: so changes of one
 * memory are made one after another, and who finds a process shut waits for those of its own. What takes long in one
 * holds up nobody else. Any worker may call these.
 */
#ifndef CORDON_IDCHANGE_H
#define CORDON_IDCHANGE_H

#include <stdbool.h>
#include <sys/types.h>

struct session;

struct idchange {
	pid_t tgid, ppid;
	unsigned long long stack; /* of its memory; 0 where the kernel does not tell */
	struct idchange *next;
};

/*
 * The caller fills in whose it is, and keeps it until idchange_end(). False: another of the same memory takes too long; then
 * there is nothing to end.
 */
bool idchange_begin(struct idchange *ch);
void idchange_end(struct idchange *ch);

/* Waits, for no longer than that, until no change of the memory of thread tid is under way. */
void idchange_wait(const struct session *s, pid_t tid);

#endif
