/*
 * What the gateway says of names and of the proxy's connections, as records of the audit trail and lines on stderr. Main loop
 * only. What it names is checked: false, when no gateway of ours would say it.
 */
#ifndef CORDON_GATEWAY_EVENTS_H
#define CORDON_GATEWAY_EVENTS_H

#include <stdbool.h>

#include "supervisor/gateway/orders.h"
#include "supervisor/session.h"

/* The names table learns it, too. channel: the inode of the program's end, 0: it did not ask by one. */
bool gateway_events_bind(struct session *s, uint32_t channel, const struct report_bind *b);
/* A program wrote to a stand-in that is connected to no name server. */
void gateway_events_stray(struct session *s, uint32_t channel);
bool gateway_events_tell(struct session *s, const struct report_event *e);

#endif
