/*
 * The text of /etc/resolv.conf: which servers are asked, and which suffixes programs put behind names. Pure. Lines that cannot be
 * read are left out, as libc does; so are servers with a scope (fe80::1%eth0), and what follows the bounds.
 */
#ifndef CORDON_RESOLVCONF_H
#define CORDON_RESOLVCONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/host.h"

#define RESOLVCONF_SERVERS_MAX 8
#define RESOLVCONF_SEARCH_MAX  32

struct resolvconf {
	uint8_t server[RESOLVCONF_SERVERS_MAX][16];
	size_t n_servers;
	struct host_name search[RESOLVCONF_SEARCH_MAX];
	size_t n_search;
};

/* host: the machine's own name, whose domain is searched where the file names none. Without servers: 127.0.0.1. */
void resolvconf_parse(const char *bytes, size_t len, const char *host, struct resolvconf *out);

/*
 * Whether the name is one that a search list made, perhaps: it ends in one of the suffixes. *whole: what stands before the
 * suffix has a dot itself, so it is rather a full name that was tried with the suffix first.
 */
bool resolvconf_is_search(const struct resolvconf *c, const struct host_name *name, bool *whole);

#endif
