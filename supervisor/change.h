/*
 * The shape that all calls share which make, remove or re-attribute a directory entry or an object.
 */
#ifndef CORDON_CHANGE_H
#define CORDON_CHANGE_H

#include "supervisor/judge.h"

/* Performs the call on the judged entry or object. 0 (or a value) or -errno. */
typedef int change_entry_fn(struct call *c, struct entry *e, void *arg);
typedef int change_object_fn(struct call *c, const struct object *o, void *arg);

/* A new entry at the path argument `path`, relative to dirfd. type: S_IFDIR, S_IFLNK, or 0 for all else. Something there
 * already: EEXIST. */
void change_make(struct call *c, int dirfd, int path, mode_t type, change_entry_fn *act, void *arg);

/* An existing object. flags: RESOLVE_*. */
void change_object(struct call *c, int dirfd, int path, int flags, change_object_fn *act, void *arg);

/* An object by the caller's descriptor. o_path: whether an O_PATH descriptor will do (else EBADF). */
void change_descriptor(struct call *c, int fd, bool o_path, change_object_fn *act, void *arg);

/*
 * Takes session->names: shared by changes of single entries, exclusive for what must not meet any other change. 0 or an
 * errno (a call that hangs on a dead file system may hold it).
 *
 * A verdict on an entry holds only while its directory keeps its name, so: lock, look again, judge, act, unlock.
 */
int change_lock(struct call *c, bool exclusive);
void change_unlock(struct call *c);

/*
 * That for one entry up to the judgement. check: the kernel's own reasons against it, from what is there now; an errno or 0.
 * Exclusive when wanted, and always where only the session's own objects may be touched: what was judged must still
 * be there. Returns what judge_entry() does; with 0 the lock is held.
 */
int change_judge(struct call *c, enum access a, struct entry *e, struct entry_verdict *ev, bool exclusive,
		 int (*check)(const struct entry *e, int arg), int arg);

/* After judging one of the two names of a rename or link: the record is of that operation, and its path the name that was
 * refused, so the new one where that is what it is about. */
void change_name_both(struct call *c, const struct bytes *from, const struct bytes *to, bool about_new);

/* A check for new entries. */
int change_check_absent(const struct entry *e, int arg);

/* For the caller these directories of procfs have no closed door, and then its kernel says what it cannot do (EPERM). The
 * supervisor's own attempt is that of another process (EACCES). */
bool change_is_held(const struct call *c, const struct entry *e);

#endif
