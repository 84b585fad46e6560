/*
 * Carries bytes between two connected sockets until both directions have ended. What one side does not take makes the
 * other wait: at most RELAY_CHUNK bytes are held in each direction, and none of an idle one. An end is passed on as an end, a
 * reset as a reset.
 *
 * What a program sends may be limited to one HTTP request, so that no second one goes where the first was allowed to.
 */
#ifndef CORDON_GATEWAY_RELAY_H
#define CORDON_GATEWAY_RELAY_H

#include "policy/http.h"
#include "supervisor/gateway/loop.h"

#define RELAY_CHUNK 65536

enum relay_limit {
	RELAY_NOTHING, /* more: the request is complete */
	RELAY_ALL,
	RELAY_LENGTH,  /* .left bytes */
	RELAY_CHUNKED, /* to the end of .chunks */
	RELAY_WAITS,   /* for the answer: all if it is 101, else nothing */
};

enum relay_side { RELAY_PROGRAM, RELAY_SERVER };

/* Bytes from one side to the other. */
struct relay_flow {
	enum relay_limit limit;
	uint64_t left;
	struct http_chunks chunks;
	char *held;
	size_t n_held, at;
	bool ended; /* the side that sends has no more */
	bool told;  /* the other one knows */
};

struct relay_end {
	struct watch watch;
	struct relay *relay;
	bool watched;
	uint32_t events;
};

struct relay {
	struct loop *loop;
	struct relay_flow from[2];
	/* reset: it ended because of an error. Called once, as the last thing that is done with the relay; the sockets are
	 * not watched any more, and still open. */
	void (*done)(struct relay *r, bool reset);

	struct relay_end end[2];
	char status[13]; /* the first bytes of an answer that is waited for */
	size_t n_status;
};

/* Before relay_begin(): bytes that come first in that direction. limited: as if the side had sent them. False: out of
 * memory, or they break the limit. */
bool relay_put(struct relay *r, enum relay_side from, const char *bytes, size_t n, bool limited);
/* loop, done and limits are set. */
void relay_begin(struct relay *r, int program, int server);
/* Forgets what it holds, and the sockets; done is not called any more. */
void relay_cancel(struct relay *r);

#endif
