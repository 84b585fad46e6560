/*
 * From a received notification to its answer: takes the caller's identity if it is not the command's first one,
 * runs the row's handler, and makes sure that exactly one answer is given.
 */
#ifndef CORDON_DISPATCH_H
#define CORDON_DISPATCH_H

#include "supervisor/call.h"

void dispatch(struct call *c);

/* The same from there on for a call that was put aside: crew_take_up(). */
void dispatch_again(struct call *c, void (*job)(struct call *c, void *arg), void *arg);

/* Writes a record of what was found out after the answer. */
void call_report(struct call *c);

#endif
