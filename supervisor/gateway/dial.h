/*
 * Connecting to one of several addresses: one after the other, with little patience for all but the last. Nothing is
 * tried twice. One thread, nothing blocks.
 */
#ifndef CORDON_GATEWAY_DIAL_H
#define CORDON_GATEWAY_DIAL_H

#include "supervisor/gateway/gateway.h"

struct dial {
	struct loop *loop;
	struct dial_to {
		uint8_t addr[16];
		uint16_t port;
	} to[GATEWAY_ADDRS_MAX];
	size_t n;
	/* fd: connected, non-blocking and the callee's; or -errno of the last attempt. */
	void (*done)(struct dial *d, int fd);

	struct watch watch;
	struct timer timer;
	size_t at;
	int err;
};

/* loop, to, n and done are set, the rest zero. Calls done once, perhaps before it returns. */
void dial_begin(struct dial *d);
/* Done is not called any more. */
void dial_cancel(struct dial *d);

#endif
