/*
 * Devices are not files: only a fixed list can be used without a rule, plus the terminals of the session itself.
 */
#ifndef CORDON_DEVICE_H
#define CORDON_DEVICE_H

#include <stdbool.h>

#include "supervisor/call.h"
#include "supervisor/resolve.h"

/* null, zero, full, random, urandom, tty, ptmx, by number. */
bool device_is_builtin(const struct statx *st);
bool device_is_tty(const struct statx *st); /* /dev/tty */
bool device_is_ptmx(const struct statx *st);

/*
 * What /dev/tty stands for to the caller: its controlling terminal. 0: pinned in *o, to be judged as any terminal, since
 * a new session may have taken one of others by opening it for reading. 1: the one that cordon
 * was started on (usertty.h). Else -errno.
 */
int device_pin_tty(struct call *c, int slot, struct object *o);

/* Remembers the slave of a pseudo-terminal that the session just opened the master of. */
void device_note_pty(struct call *c, int master);

/* True for a slave remembered by it, as long as it is still that one. st: with STATX_CTIME. */
bool device_is_own_pty(const struct session *s, const struct statx *st);
/* To be called after the session changed mode or owner of the object pinned by fd; before: as it was. */
void device_pty_changed(const struct session *s, const struct statx *before, int fd);

#endif
