/*
 * Interfaces by name, as in the scope of an address (fe80::1%eth0). Any thread.
 */
#ifndef CORDON_IFINDEX_H
#define CORDON_IFINDEX_H

#include <stdint.h>

/* scope: a name or a number. 0: "", or there is none of that name now. */
uint32_t ifindex_of(const char *scope);

#endif
