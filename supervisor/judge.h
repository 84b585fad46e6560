/*
 * The decision for one object of a call: what kind of object it is, then the policy, then what the policy leaves
 * to facts of the session (created here, hard links, sealed objects). Fills the call's audit event.
 *
 * Returns 0: go on. JUDGE_GONE: the caller is no longer waiting; answer with call_gone(). Else the errno to
 * answer; the refusal is already in the event. With --log-only a refusal is recorded and 0 returned.
 */
#ifndef CORDON_JUDGE_H
#define CORDON_JUDGE_H

#include "policy/policy.h"
#include "supervisor/call.h"
#include "supervisor/resolve.h"

#define JUDGE_GONE (-1)

/* An existing object. bits: the access mode it is wanted with (O_RDONLY, O_WRONLY, O_RDWR) for ACCESS_READ and
 * ACCESS_WRITE; what a descriptor could do already is not refused for objects without a name. */
int judge_object(struct call *c, enum access a, struct object *o, int accmode);

/* A directory entry. The last verdict's allow_own rule is needed by created_note(). */
struct entry_verdict {
	bool in_own_area; /* allowed by allow_own: the new object is to be remembered */
};
int judge_entry(struct call *c, enum access a, const struct entry *e, struct entry_verdict *ev);

/* Only whether the object lies where no access at all is: in what /proc keeps of strangers, in another mount namespace. */
int judge_place(struct call *c, const struct object *o);

/* A refusal by the policy, which the verdict tells. native: the kernel's own errno, if it would have refused, else 0. */
int judge_refuse_by(struct call *c, const struct request *q, const struct verdict *v, int native);

/* A refusal that no path rule makes. rule: static text such as "process isolation (built-in)". message: the human
 * line, or NULL for none. Returns err, or 0 under --log-only. */
int judge_refuse(struct call *c, const char *op, const char *rule, int err, const char *message);

/* Answers a non-zero result of the above. */
void judge_answer(struct call *c, int rc);

/* Remembers a new entry where that matters: in an allow_own area, and a .git anywhere. */
void judge_note_created(struct call *c, const struct entry *e, const struct entry_verdict *ev);

/* True of what changes something. */
bool judge_is_write(enum access a);

/* True when the object, or a directory above it down from the first stop bytes of its name, was created by this
 * session. dir: O_PATH of its parent; self: its statx or NULL. */
bool judge_is_created(const struct session *s, int dir, const struct statx *self, const char *name,
		      size_t len, size_t stop);

#endif
