/*
 * One question of a program, from its bytes to the answer's: refused names are answered here, allowed ones looked up, and the
 * supervisor is told what is about to be answered before the asker is.
 */
#ifndef CORDON_GATEWAY_QUERY_H
#define CORDON_GATEWAY_QUERY_H

#include "supervisor/gateway/gateway.h"

/* More questions at a time have no answer but SERVFAIL, so that memory is bounded. */
#define QUERIES_MAX 2048

struct query;

/* Who asks: a channel or a connection. */
struct peer {
	struct gateway *g;
	uint32_t channel; /* its number, 0: a connection */
	bool whole;	  /* answers may be of any length */
	struct query *queries;
	unsigned n; /* of them */
	/* Must not free the peer. */
	void (*answer)(struct peer *p, const uint8_t *msg, size_t len);
};

/* The answer may come before this returns, or later. False: it is no question, and there will be none. */
bool query_ask(struct peer *p, const uint8_t *msg, size_t len);
/* The peer is going. */
void query_forget(struct peer *p);

#endif
