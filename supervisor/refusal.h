/*
 * Refusals in the event of a call, and what --log-only makes of them. For who judges; handlers call judge_refuse() (judge.h)
 * where --log-only may let through what is refused, else refusal_firm(). By the worker that has the call.
 */
#ifndef CORDON_REFUSAL_H
#define CORDON_REFUSAL_H

#include "supervisor/call.h"

/* Names what was to be done, and to what, unless that is known already (bytes NULL: to nothing with a name). */
void refusal_begin(struct call *c, const char *op, const char *name, size_t len);

/* The event, whose rule and message are there, is a refusal. Returns err, or 0 under --log-only. */
int refusal_made(struct call *c, int err);

/* Before the record: of what --log-only let pass, and the kernel did not refuse, the message says that it would be. */
void refusal_word(struct call *c);

/* A refusal of what nobody could let through, so --log-only neither. The arguments are those of judge_refuse(). Returns err. */
int refusal_firm(struct call *c, const char *op, const char *rule, int err, const char *message);

#endif
