/*
 * The shape that all calls share which make, remove or re-attribute a directory entry or an object.
 */
#ifndef CORDON_CHANGE_H
#define CORDON_CHANGE_H

#include "supervisor/judge.h"

/* Performs the call on the judged entry or object. 0 (or a value) or -errno. */
typedef int change_entry_fn(struct call *c, struct entry *e, void *arg);
typedef int change_object_fn(struct call *c, const struct object *o, void *arg);

/* A new entry at the path argument `path`, relative to dirfd. Something there already: EEXIST. */
void change_make(struct call *c, int dirfd, int path, enum access a, change_entry_fn *act, void *arg);

/* An existing object. flags: RESOLVE_*. */
void change_object(struct call *c, int dirfd, int path, int flags, change_object_fn *act, void *arg);

/* An object by the caller's descriptor. o_path: whether an O_PATH descriptor will do (else EBADF). */
void change_descriptor(struct call *c, int fd, bool o_path, change_object_fn *act, void *arg);

/*
 * Takes session->names so that the entry cannot become another one between judgement and act: for reading, or, when only
 * the session's own objects may be touched there, for writing after making sure that it is still the judged one.
 * 0 or -errno; on success the caller unlocks.
 */
int change_lock(struct call *c, const struct entry *e, const struct entry_verdict *ev);

#endif
