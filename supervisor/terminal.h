/*
 * Terminals as controlling terminals. A session leader without one that opens a terminal gets it as its own, which nobody
 * can do for another process. So the supervisor opens it without, and the caller is made to ask for it (TIOCSCTTY) before
 * it sees the descriptor.
 *
 * Where the caller cannot be held (a debugger has it, or the architecture is not x86-64) it gets the descriptor only.
 */
#ifndef CORDON_TERMINAL_H
#define CORDON_TERMINAL_H

#include "supervisor/call.h"
#include "supervisor/resolve.h"

/* True when the kernel would have made the terminal fd, opened with these flags, the caller's own. */
bool terminal_is_taken(struct call *c, const struct object *o, int fd, int flags);

/* Answers with the terminal (closes fd), as the caller's own. */
void terminal_give(struct call *c, int fd, int flags);

#endif
