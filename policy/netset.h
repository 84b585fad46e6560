/*
 * Many networks, asked for those that hold an address: by a few binary searches, one for each length of prefix that
 * occurs. Pure, immutable once made.
 */
#ifndef CORDON_NETSET_H
#define CORDON_NETSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/host.h"

struct netset;

/* nets: borrowed, for as long as the set lives. NULL when out of memory. */
struct netset *netset_new(const struct host_net *nets, size_t n);
void netset_free(struct netset *s);

/* Calls fn with the index of each network that holds the address, whatever its ports: the narrower first, then one with
 * ports, then the earlier, until it returns true. Returns whether it did. */
bool netset_each(const struct netset *s, const uint8_t addr[16], bool (*fn)(size_t i, void *arg), void *arg);

#endif
