/*
 * The addresses of this machine's interfaces, kept current by what the kernel tells of changes (rtnetlink). Allowed names may not
 * lead to them.
 */
#ifndef CORDON_GATEWAY_OWNADDR_H
#define CORDON_GATEWAY_OWNADDR_H

#include <stddef.h>
#include <stdint.h>

#include "supervisor/gateway/loop.h"

#define OWNADDR_MAX 1024

struct ownaddr;

/* Before the lockdown. NULL: out of memory. Where there is no rtnetlink it knows no address. */
struct ownaddr *ownaddr_new(struct loop *loop);
/* Asks the kernel where something changed. */
size_t ownaddr_get(struct ownaddr *o, const uint8_t (**addr)[16]);

#endif
