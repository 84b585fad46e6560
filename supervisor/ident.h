/*
 * Acting as the caller. As long as no process of the session has changed its identity, every caller is what the command
 * was at its start and so is the supervisor: nothing to do. Once one has (su, gosu, setpriv, a package manager's
 * download user), each call is served by a thread that took the caller's real and effective ids, groups and
 * effective capabilities, with the raw calls that change one thread only. The saved id stays, to come back and to keep
 * the thread out of the caller's reach. File system ids alone would not do: peers, /proc and the memory
 * of the caller look at the real ones.
 */
#ifndef CORDON_IDENT_H
#define CORDON_IDENT_H

#include <stdbool.h>

#include "supervisor/call.h"

/* Fills s->identity from the calling thread. 0 or -errno. */
int ident_initial(struct session *s);

/* 0, or -errno when the caller's identity cannot be taken: then nothing may be done for it. */
int ident_assume(struct call *c);
void ident_drop(struct call *c);
/* True while this thread is another than the command was at its start. */
bool ident_is_assumed(void);

/*
 * To look into the caller the kernel wants its real user as file system user, and at least the capabilities that it
 * has permitted; the caller may use less. Raises what can be raised between the two; false when that is nothing.
 */
bool ident_look_begin(void);
void ident_look_end(void);

/*
 * For a look at another member: this thread becomes whoever that is, and then again who it was. False: it cannot; then there
 * is nothing to end. ident_look_begin() may come in between.
 */
bool ident_other_begin(struct session *s, pid_t pid);
void ident_other_end(struct session *s);

/* A new thread is whoever its maker was at that moment: ident_of_maker() in the maker, the result to
 * ident_begin_thread() in the new one, which makes it itself. */
unsigned ident_of_maker(void);
void ident_begin_thread(const struct session *s, unsigned maker);

/* At the end, with no call at hand: for this thread to remove what uid made. False when it cannot be uid. */
bool ident_begin_user(uid_t uid);
void ident_end_user(void);

#endif
