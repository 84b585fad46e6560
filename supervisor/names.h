/*
 * Which names led to which address: what the gateway's stub handed out to the session, and /etc/hosts. A connect to an
 * address is decided by these names. Bounded (the least recently used pair goes); thread-safe.
 */
#ifndef CORDON_NAMES_H
#define CORDON_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/host.h"

#define NAMES_HOSTS "/etc/hosts"
#define NAMES_MAX   16384

struct hostfile;
struct names;

/* hosts: borrowed. NULL when out of memory. */
struct names *names_new(struct hostfile *hosts);
/* The stub hands out addr for the name. refused: the address stands for a name that is refused. False: it is not kept,
 * as memory is out. */
bool names_bind(struct names *t, const struct host_name *name, const uint8_t addr[16], bool refused);
/* Calls fn for each name that leads to the address, the latest first, then those of /etc/hosts (as it was within the
 * last second), until fn returns true. Returns whether one did. refused: as bound. No call back into this module. */
bool names_each(struct names *t, const uint8_t addr[16],
		bool (*fn)(const struct host_name *name, bool refused, void *arg), void *arg);
/* Looks at /etc/hosts now. True when it changed: who found no name may find one. */
bool names_look_again(struct names *t);
void names_free(struct names *t);

#endif
