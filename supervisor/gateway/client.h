/*
 * A program's connection to the proxy, and how the parts of the proxy share it:
 *
 *     proxy.c         listens, keeps count, reads; a slow or silent one is dropped
 *     proxy_http.c    HTTP: heads of requests, answers
 *     proxy_socks.c   SOCKS 5
 *     proxy_reach.c   the verdict, then the way to the host: resolve, connect, another proxy, relay
 *
 * A client is freed by client_close() only. A function that may call it says so: nothing of the client is looked at
 * after it.
 */
#ifndef CORDON_GATEWAY_CLIENT_H
#define CORDON_GATEWAY_CLIENT_H

#include "policy/http.h"
#include "policy/socks.h"
#include "supervisor/gateway/dial.h"
#include "supervisor/gateway/gateway.h"
#include "supervisor/gateway/relay.h"
#include "supervisor/proxyenv.h"

enum client_state {
	CLIENT_READS,  /* says what it wants */
	CLIENT_WAITS,  /* for an address, a connection */
	CLIENT_ASKS,   /* another proxy, which has not answered yet */
	CLIENT_RELAYS, /* is connected to its host */
	CLIENT_LEAVES, /* was answered; what it still sends is dropped */
};

enum socks_step { SOCKS_NOT, SOCKS_GREETING, SOCKS_LOGIN, SOCKS_REQUEST };

struct client {
	struct gateway *g;
	struct client *next, *prev; /* in the proxy's list of its state's kind */
	struct watch watch;
	struct timer timer;
	enum client_state state;

	char *in; /* HTTP_HEAD_MAX bytes: the request, and n_in - head that came after it. NULL once relayed */
	size_t n_in, head;
	struct http_scan scan;
	struct http_head request;
	enum socks_step socks;

	struct host_name host;
	uint16_t port;
	struct net_verdict verdict;
	bool tunnel; /* bytes of any kind, not one HTTP request */
	const struct parent *parent;

	bool resolving;
	struct dial dial;
	struct watch server; /* .fd -1: not connected */
	char *answer;	     /* HTTP_HEAD_MAX bytes of the other proxy's */
	size_t n_answer;
	struct relay relay;
};

/* What a program is told when it does not get what it wants. */
struct refusal {
	int status;
	enum socks_reply reply;
	const char *phrase; /* any text; NULL: that of the status */
	const char *error;  /* value of X-Proxy-Error, or NULL */
	const char *text;
};

/* proxy.c */
void client_close(struct client *c);
/* Nothing more is read: only its going away is seen. */
void client_wait(struct client *c);
/* Answers, drops what still comes, and closes. */
void client_leave(struct client *c, const char *answer, size_t len);
/* Compares in constant time. */
bool client_knows_token(const struct client *c, const char *password, size_t len);

/* proxy_http.c. All may close the client. */
void http_client_read(struct client *c);
void http_client_refuse(struct client *c, const struct refusal *r);

/* proxy_socks.c. The same. */
void socks_client_read(struct client *c);
void socks_client_refuse(struct client *c, const struct refusal *r);

/* proxy_reach.c. The same. host, port and tunnel are set. */
void client_reach(struct client *c);
/* Ends what is on its way to the host, and closes that connection. */
void client_unreach(struct client *c);

#endif
