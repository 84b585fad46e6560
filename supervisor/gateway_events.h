/*
 * What the gateway says of names and of the proxy's connections, as records of the audit trail and lines on stderr. Main loop
 * only. What it names is checked: false, when no gateway of ours would say it.
 */
#ifndef CORDON_GATEWAY_EVENTS_H
#define CORDON_GATEWAY_EVENTS_H

#include <stdbool.h>

#include "supervisor/gateway/orders.h"
#include "supervisor/session.h"

/* The names table learns it, too. */
bool gateway_events_bind(struct session *s, const struct report_bind *b);
bool gateway_events_tell(struct session *s, const struct report_event *e);

#endif
