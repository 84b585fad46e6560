/*
 * After an entry was made or moved: is it where it was judged? The lock on names (change.h) is this session's. Another
 * session that may write in the same directories can rename one of them between judgement and act. So the name of the
 * directory is asked for once more, and where it is another by now the entry is judged under that; what is refused is undone.
 * Who renames looks again as well, at what is in the directory that moved (sysc/rename.c). So where a new entry and a rename
 * meet, one of the two sees the other: the entry was made before the rename's second look, or its directory had the new
 * name before the entry was made.
 *
 * To be called by the worker with session->names held as for the act.
 */
#ifndef CORDON_SETTLE_H
#define CORDON_SETTLE_H

#include "supervisor/judge.h"

/* e was just made; ev: what judge_entry() said of it before, and says now. Returns what judge_entry() does; if not 0, the
 * entry is gone again. */
int settle_made(struct call *c, enum access a, struct entry *e, struct entry_verdict *ev);

/* Whether the directory has another name than the one in *dir. Of a name that is longer than the kernel tells: true. */
bool settle_has_moved(const struct call *c, const struct object *dir);

/* As settle_made(), without taking anything back. */
int settle_judge(struct call *c, enum access a, struct entry *e, struct entry_verdict *ev);

/*
 * What a rename brought to e goes aside, to a name that no rule knows: undone-RANDOM in the directory first, where it came from,
 * or beside it. Not back to its old name: what others made in it since was judged by the new one. The call's event is the refusal,
 * and gets a message that says so. False: it is still there.
 */
bool settle_set_aside(struct call *c, const struct entry *e, const struct object *first);

#endif
