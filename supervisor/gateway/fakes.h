/*
 * Addresses that stand for refused names: one of 240.0.0.0/4 each, where no host is. A program that connects there is refused by
 * name, and does not believe that the network is broken. Bounded: the oldest name's address is given away.
 */
#ifndef CORDON_GATEWAY_FAKES_H
#define CORDON_GATEWAY_FAKES_H

#include "policy/host.h"

#define FAKES_MAX 16384

struct fakes;

struct fakes *fakes_new(void);
/* False: out of memory. */
bool fakes_addr(struct fakes *f, const struct host_name *name, uint8_t addr[16]);
void fakes_free(struct fakes *f);

#endif
