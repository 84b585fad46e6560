/*
 * The address of a proxy as policies and HTTP_PROXY give it: http://[USER:PASSWORD@]HOST[:PORT][/]. Pure.
 */
#ifndef CORDON_PROXY_URL_H
#define CORDON_PROXY_URL_H

#include "policy/host.h"

#define PROXY_URL_AUTH_MAX 255

struct proxy_url {
	struct host_name host;
	uint16_t port;			   /* 80 when none was written */
	char auth[PROXY_URL_AUTH_MAX + 1]; /* USER:PASSWORD with %NN taken out, "" if there is none */
};

/* NULL, or a static text that says what is wrong; it never holds what was given. */
const char *proxy_url_parse(const char *text, struct proxy_url *out);

#endif
