/*
 * Answers of calls that tell a value and its length: getsockname, getpeername, getsockopt.
 */
#ifndef CORDON_TELL_H
#define CORDON_TELL_H

#include <stddef.h>
#include <sys/socket.h>

#include "supervisor/call.h"

/*
 * Answers with a value and its length, of which the caller has room for a part. value, length: the arguments that point there.
 * from has size bytes; len is what the kernel would tell. An address's length is told in full, an option's as far as it
 * was copied.
 */
void tell_address(struct call *c, int value, int length, const void *from, socklen_t len, size_t size);
void tell_option(struct call *c, int value, int length, const void *from, socklen_t len);

#endif
