/*
 * The stub: answers the questions to DNS that the session's programs ask, over channels (one message each) and over TCP.
 */
#ifndef CORDON_GATEWAY_STUB_H
#define CORDON_GATEWAY_STUB_H

#include "supervisor/gateway/gateway.h"

/* Begins to listen. NULL: out of memory. */
struct stub *stub_new(struct gateway *g);
/* The other end of a program's seqpacket pair, which reports call by this number. Takes over fd. */
void stub_channel(struct stub *s, int fd, uint32_t number);
/* A connection to a listener that comes from this port of loopback is the session's. */
void stub_expect(struct stub *s, uint16_t port);

#endif
