/* Shared by the files that implement net.h. */
#ifndef CORDON_NET_PRIVATE_H
#define CORDON_NET_PRIVATE_H

#include "policy/net.h"

/* Looks into an IPv6 form that carries an IPv4 address: v4 gets that one, as v4-mapped. False: it carries none. */
bool net_carries_v4(const uint8_t addr[16], uint8_t v4[16]);

#endif
