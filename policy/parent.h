/*
 * Other proxies, as `parent_proxy` and variables like HTTPS_PROXY name them, and the hosts that NO_PROXY keeps from
 * them. Pure. Functions that can fail return NULL when all is well and else a static text that says what is wrong.
 */
#ifndef CORDON_PARENT_H
#define CORDON_PARENT_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/host.h"

#define PARENT_LOGIN_MAX 192

struct parent {
	struct host_name host;
	uint16_t port;					   /* 0: there is none */
	char authorization[PARENT_LOGIN_MAX / 3 * 4 + 16]; /* "Basic ...", or empty */
};

/* [http://][USER[:PASSWORD]@]HOST[:PORT][/] */
const char *parent_parse(const char *text, struct parent *out);

/* Does NO_PROXY name the host? Entries with commas or blanks between: *, HOST (it and all beneath), .HOST, *.HOST,
 * ADDRESS, ADDRESS/BITS, each but the first perhaps with :PORT. */
bool parent_is_skipped(const char *no_proxy, const struct host_name *host, uint16_t port);

#endif
