/*
 * What a client of SOCKS 5 says (RFC 1928, RFC 1929). Pure, no allocation.
 *
 * Each function takes all bytes that have come since the message began and returns its length, 0 when more is wanted, or -1:
 * malformed, or of another version.
 */
#ifndef CORDON_SOCKS_H
#define CORDON_SOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/host.h"

/* More than the longest message, which is that of user and password. */
#define SOCKS_MESSAGE_MAX 513

#define SOCKS_VERSION	       5
#define SOCKS_LOGIN_VERSION    1
#define SOCKS_METHOD_PASSWORD  2
#define SOCKS_METHOD_NONE_GOOD 0xff

enum socks_reply {
	SOCKS_DONE = 0,
	SOCKS_FAILED = 1,
	SOCKS_REFUSED = 2,
	SOCKS_NET_UNREACHABLE = 3,
	SOCKS_HOST_UNREACHABLE = 4,
	SOCKS_CONNECTION_REFUSED = 5,
	SOCKS_TIMED_OUT = 6,
	SOCKS_NO_SUCH_COMMAND = 7,
	SOCKS_NO_SUCH_ADDRESS = 8,
};

/* *password: the client can log in by user and password. */
int socks_parse_greeting(const uint8_t *bytes, size_t len, bool *password);

struct socks_login {
	const uint8_t *password;
	size_t len;
};
int socks_parse_login(const uint8_t *bytes, size_t len, struct socks_login *out);

struct socks_request {
	enum socks_reply reply; /* SOCKS_DONE; else what is to be answered, and host and port are not there */
	struct host_name host;
	uint16_t port;
};
int socks_parse_request(const uint8_t *bytes, size_t len, struct socks_request *out);

#define SOCKS_REPLY_LEN 10
/* The answer to a request. It tells no address, as none is of use for CONNECT. */
void socks_make_reply(enum socks_reply reply, uint8_t out[SOCKS_REPLY_LEN]);

#endif
