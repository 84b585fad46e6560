/*
 * The proxy of `proxy_env`: HTTP (CONNECT, and http:// in the request line) and SOCKS 5 on one port of loopback, for
 * whoever knows the session's token. It reaches what the policy lets a program reach directly, and by the same verdicts.
 */
#ifndef CORDON_GATEWAY_PROXY_H
#define CORDON_GATEWAY_PROXY_H

#include "supervisor/gateway/gateway.h"

/* Serves g->proxy_listener. NULL with errno. */
struct proxy *proxy_new(struct gateway *g);

#endif
