/*
 * Internet socket addresses, from the bytes that a program hands to connect() and bind(). Pure.
 */
#ifndef CORDON_INET_H
#define CORDON_INET_H

#include <stdbool.h>
#include <stddef.h>
#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>

struct inet_addr {
	uint8_t addr[16]; /* IPv4 as v4-mapped */
	uint16_t port;	  /* host byte order */
	uint32_t scope;	  /* sin6_scope_id */
	bool v6;	  /* written as a sockaddr_in6 */
};

/*
 * For a socket of this family (AF_INET or AF_INET6). 0 or the errno that the kernel gives for such bytes: EINVAL (too short),
 * EAFNOSUPPORT (another family). AF_UNSPEC is EAFNOSUPPORT here: its callers look for it before.
 */
int inet_parse(const void *bytes, size_t len, int family, struct inet_addr *out);

/* An address to bind to. Of any family: the kernel takes AF_UNSPEC for AF_INET here where the address is 0.0.0.0. */
int inet_parse_binding(const void *bytes, size_t len, struct inet_addr *out);

/* The address as a sockaddr for a socket of this family. Returns its length, 0 when it has none (an IPv6 address for AF_INET). */
socklen_t inet_make(const struct inet_addr *a, int family, struct sockaddr_storage *out);

/* Where a sockaddr_in has its port, and a sockaddr_in6 as well; in network byte order. */
static inline in_port_t *inet_port(struct sockaddr_storage *a)
{
	return &((struct sockaddr_in *)a)->sin_port;
}

/* 127.0.0.1 and ::1 */
extern const uint8_t inet_loopback4[16], inet_loopback6[16];

bool inet_is_loopback(const uint8_t addr[16]);
bool inet_is_any(const uint8_t addr[16]);
/* Of IPv6: fe80::/10. */
bool inet_is_link_local(const uint8_t addr[16]);

#endif
