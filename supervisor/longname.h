/*
 * Canonical names of more than PATH_MAX bytes. A tree may be deeper than any path (mkdir and chdir, step by step), and
 * the kernel then names nothing in it. The name of a directory can still be had: from it upwards, by finding each
 * directory in its parent, to one that the kernel names, or to the one that was asked for last. Of a file only the parent that it was reached by is known.
 *
 * Directories may be renamed meanwhile, so the name can be one that never was there as a whole. No harm is in that: a
 * session cannot bring a directory under other rules by a rename (sysc/rename.c), so each name that a part of it had is
 * judged alike.
 *
 * Reading needs what the caller's "pwd" would need: every directory on the way must be readable. Any worker.
 */
#ifndef CORDON_LONGNAME_H
#define CORDON_LONGNAME_H

#include "supervisor/call.h"

/* Of a directory; a last component of NAME_MAX fits in as well. */
#define LONGNAME_MAX (256 * 1024)

/* Reads the name of the directory dir into c->name[slot], which is replaced by room enough until longname_release().
 * Its length, or -errno: -ENAMETOOLONG also where it cannot be found. */
int longname_read(struct call *c, int slot, int dir);

/* At the end of a call. */
void longname_release(struct call *c);

#endif
