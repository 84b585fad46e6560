/*
 * The text of /etc/resolv.conf: which servers are asked and how, and which suffixes programs put behind names. Pure. Lines that
 * cannot be read are left out, as libc does, and so is what follows the bounds. Options that are not here are those of whoever
 * asks (ndots, edns0, no-aaaa, single-request).
 */
#ifndef CORDON_RESOLVCONF_H
#define CORDON_RESOLVCONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/host.h"

#define RESOLVCONF_SERVERS_MAX 8
#define RESOLVCONF_SEARCH_MAX  32

/* As long as the kernel has them. */
#define RESOLVCONF_SCOPE_SIZE 16
/* As libc has it. */
#define RESOLVCONF_TIMEOUT_MAX	30
#define RESOLVCONF_ATTEMPTS_MAX 5

struct resolvconf_server {
	uint8_t addr[16];
	char scope[RESOLVCONF_SCOPE_SIZE]; /* the interface, by name or number; "": none */
};

struct resolvconf {
	struct resolvconf_server server[RESOLVCONF_SERVERS_MAX];
	size_t n_servers;
	unsigned timeout, attempts; /* seconds; tries of all servers. 0: not said */
	bool rotate, use_vc;
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
