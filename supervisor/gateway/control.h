/*
 * The gateway's end of the control socket (orders.h): orders in, reports out, in order. What the socket does not take at
 * once waits in a queue; the supervisor reads whenever there is something.
 */
#ifndef CORDON_GATEWAY_CONTROL_H
#define CORDON_GATEWAY_CONTROL_H

#include "supervisor/gateway/orders.h"
#include "supervisor/gateway/gateway.h"

/* Orders go to the parts of g. The loop ends when the supervisor is gone. NULL: out of memory. */
struct control *control_new(struct gateway *g);

/* Sends a report without waiting for anything. */
void control_report(struct control *l, const struct report *r);

/* Sends a report (CHECK, BIND) and calls done once the supervisor has dealt with it. False: out of memory, nothing was
 * sent, done is not called. */
typedef void control_done(void *arg);
bool control_ask(struct control *l, struct report *r, control_done *done, void *arg);
/* Done is not called any more for this argument. */
void control_forget(struct control *l, const void *arg);

#endif
