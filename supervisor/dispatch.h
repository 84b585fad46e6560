/*
 * From a received notification to its answer: takes the caller's identity if it is not the command's first one,
 * runs the row's handler, and makes sure that exactly one answer is given.
 */
#ifndef CORDON_DISPATCH_H
#define CORDON_DISPATCH_H

#include "supervisor/call.h"

void dispatch(struct call *c);

/* Writes a record of what was found out after the answer. */
void call_report(struct call *c);

/* Answers a blocking operation that failed with EINTR because the caller has a signal: the kernel handles the signal
 * and restarts or interrupts the call as it would have done by itself. */
void call_restart(struct call *c);

#endif
