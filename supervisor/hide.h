/*
 * hide = yes: what a deny_read rule covers looks absent (ENOENT), to all calls that take a path. The names remain in
 * listings, and calls that only look go on in the kernel after the answer, so this deceives programs that search,
 * and is no secrecy.
 *
 * A directory above something that may be read nevertheless is visible itself, else nobody would get there.
 * Called by workers, for the call that they serve. With --log-only nothing is hidden, only recorded.
 */
#ifndef CORDON_HIDE_H
#define CORDON_HIDE_H

#include "supervisor/resolve.h"

/* True when the object looks absent; the refusal is then in the call's event. */
bool hide_object(struct call *c, struct object *o);

/* The same for what is at an entry, by its name. */
bool hide_entry(struct call *c, const struct entry *e);

/* Says nothing on stderr of what was hidden: for calls by which programs look around. */
void hide_silently(struct call *c);

#endif
