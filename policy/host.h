/*
 * Host names, addresses and ports in the one spelling that rules and requests are compared in.
 *
 * Addresses are 16 bytes, IPv4 as v4-mapped IPv6. Functions that can fail return NULL when all is well and else
 * a static text that says what is wrong; outputs are then undefined. Pure, no locks, no allocation.
 */
#ifndef CORDON_HOST_H
#define CORDON_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOST_LEN_MAX 253
/* Enough for any text that the formatting functions make. */
#define HOST_TEXT_SIZE (HOST_LEN_MAX + 16)

struct host_name {
	char text[HOST_LEN_MAX + 1]; /* lower case, no trailing dot; an IP literal without brackets */
	bool is_ip;
	uint8_t addr[16]; /* only if is_ip */
};

/* An entry of allow_domain or deny_domain: NAME, *.NAME, IPv4, [IPv6] or *, each with an optional :PORT. */
struct host_entry {
	struct host_name name; /* of "*.a.b": "a.b"; of "*": empty */
	bool wildcard;	       /* strictly beneath the name */
	bool any;	       /* "*" */
	uint16_t port;	       /* 0: any */
};

/* allow_ip */
struct host_net {
	uint8_t addr[16];
	unsigned prefix;
	uint16_t port_lo, port_hi; /* 0,0: any */
};

/* What stands before the four bytes of an IPv4 address. */
extern const uint8_t host_v4_prefix[12];

/* Canonical form of a name or an IP literal in any spelling (127.1, 0x7f000001, [::1], ::1). */
const char *host_canonicalise(const char *text, size_t len, struct host_name *out);

/* A number from 1 to 65535 without a sign or zeros in front. */
const char *host_parse_port(const char *text, size_t len, uint16_t *port);
const char *host_parse_entry(const char *text, bool deny, struct host_entry *out);
/* ADDR or ADDR:PORT; an IPv6 ADDR stands in brackets. Without a port *port is left as it is. */
const char *host_parse_addr(const char *text, uint8_t addr[16], uint16_t *port);
/* ADDR[/PREFIX][:PORT[-PORT]] */
const char *host_parse_net(const char *text, struct host_net *out);
/* HOST:PORT:ADDR[:PORT] */
const char *host_parse_resolve(const char *text, struct host_name *host, uint16_t *port, uint8_t addr[16],
			       uint16_t *to_port);

/* Text that parses to the same again. All return buf, which holds HOST_TEXT_SIZE bytes. */
char *host_format_entry(const struct host_entry *e, char *buf);
char *host_format_addr(const uint8_t addr[16], bool brackets, char *buf);
char *host_format_net(const struct host_net *net, char *buf);

bool host_is_v4(const uint8_t addr[16]);
/* localhost and all beneath it, which lead to loopback whatever a server says. */
bool host_is_localhost(const struct host_name *name);
bool host_entry_equal(const struct host_entry *a, const struct host_entry *b);
/* A wildcard never matches an IP literal. */
bool host_entry_matches(const struct host_entry *e, const struct host_name *name, uint16_t port);
/* An IPv6 network never holds an IPv4 address, though 16 bytes of "[::]/0" would. */
bool host_net_matches(const struct host_net *net, const uint8_t addr[16], uint16_t port);

#endif
