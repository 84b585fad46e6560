/*
 * The proxy for programs: whether there is one, through which others it reaches out, and the variables by which programs
 * find it.
 *
 * `proxy_env` decides; where nothing was written there is one if cordon itself was started with variables of a proxy, since
 * programs would go there, where any name can be had.
 */
#ifndef CORDON_PROXYENV_H
#define CORDON_PROXYENV_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/config.h"
#include "policy/parent.h"

struct proxyenv {
	bool on;
	struct parent plain, tunnel; /* for http:// and for all else */
	const char *no_proxy;	     /* hosts that are reached without them */
};

/* From the policy and the environment, whose strings it keeps. Says what is to be known about it, unless quiet. False,
 * with a line: the policy asks for what cannot be had. */
bool proxyenv_init(struct proxyenv *p, const struct config *c, bool quiet);

/* More variables than there are. */
#define PROXYENV_MAX 32

/* Calls set for each variable that leads to the proxy; false as soon as that is. */
bool proxyenv_each(uint16_t port, const char *token,
		   bool (*set)(void *arg, const char *name, const char *value), void *arg);

#endif
