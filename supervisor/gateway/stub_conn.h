/*
 * The stub's TCP connections: questions and answers behind their lengths, several at a time, in any order. A connection that
 * nobody has announced says nothing and hears nothing until somebody does; after a while it is closed.
 */
#ifndef CORDON_GATEWAY_STUB_CONN_H
#define CORDON_GATEWAY_STUB_CONN_H

#include "supervisor/gateway/gateway.h"

/* A name, a type and some options of EDNS; there is nothing longer to ask. */
#define STUB_QUESTION_MAX 4096

struct conns;

struct conns *conns_new(struct gateway *g);
/* Takes over fd, whose other end is at this port. */
void conns_add(struct conns *c, int fd, uint16_t port, bool expected);
/* The one from this port, if it is there already, is the session's. */
bool conns_expect(struct conns *c, uint16_t port);

#endif
