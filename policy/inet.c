/* Internet socket addresses: see inet.h. */
#include "policy/inet.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "policy/host.h"

/* What the kernel wants of a sockaddr_in6: it may end before the scope (RFC 2133). */
#define V6_MIN offsetof(struct sockaddr_in6, sin6_scope_id)

const uint8_t inet_loopback4[16] = {[10] = 0xff, 0xff, 127, [15] = 1};
const uint8_t inet_loopback6[16] = {[15] = 1};

static void parse_v4(const void *bytes, struct inet_addr *out)
{
	struct sockaddr_in in;

	memcpy(&in, bytes, sizeof(in));
	memcpy(out->addr, host_v4_prefix, sizeof(host_v4_prefix));
	memcpy(out->addr + sizeof(host_v4_prefix), &in.sin_addr, 4);
	out->port = ntohs(in.sin_port);
}

static void parse_v6(const void *bytes, size_t len, struct inet_addr *out)
{
	struct sockaddr_in6 in6 = {0};

	memcpy(&in6, bytes, len < sizeof(in6) ? V6_MIN : sizeof(in6));
	memcpy(out->addr, &in6.sin6_addr, 16);
	out->port = ntohs(in6.sin6_port);
	out->scope = in6.sin6_scope_id;
	out->v6 = true;
}

int inet_parse(const void *bytes, size_t len, int family, struct inet_addr *out)
{
	sa_family_t given;

	memset(out, 0, sizeof(*out));
	if (family != AF_INET && family != AF_INET6)
		return EAFNOSUPPORT;
	/* In the kernel's order: too short is told before another family. */
	if (len > sizeof(struct sockaddr_storage) ||
	    len < (family == AF_INET ? sizeof(struct sockaddr_in) : V6_MIN))
		return EINVAL;
	memcpy(&given, bytes, sizeof(given));
	if (given != family)
		return EAFNOSUPPORT;
	if (family == AF_INET)
		parse_v4(bytes, out);
	else
		parse_v6(bytes, len, out);
	return 0;
}

int inet_parse_binding(const void *bytes, size_t len, struct inet_addr *out)
{
	sa_family_t family = AF_UNSPEC;
	struct sockaddr_in in;

	if (len >= sizeof(family))
		memcpy(&family, bytes, sizeof(family));
	if (family != AF_UNSPEC || len < sizeof(in))
		return inet_parse(bytes, len, family, out);
	memcpy(&in, bytes, sizeof(in));
	in.sin_family = AF_INET;
	if (in.sin_addr.s_addr != htonl(INADDR_ANY))
		return inet_parse(bytes, len, family, out);
	return inet_parse(&in, sizeof(in), AF_INET, out);
}

socklen_t inet_make(const struct inet_addr *a, int family, struct sockaddr_storage *out)
{
	struct sockaddr_in6 in6 = {
		.sin6_family = AF_INET6, .sin6_port = htons(a->port), .sin6_scope_id = a->scope};
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(a->port)};

	memset(out, 0, sizeof(*out));
	if (family == AF_INET6) {
		memcpy(&in6.sin6_addr, a->addr, 16);
		memcpy(out, &in6, sizeof(in6));
		return sizeof(in6);
	}
	if (family != AF_INET || !host_is_v4(a->addr))
		return 0;
	memcpy(&in.sin_addr, a->addr + sizeof(host_v4_prefix), 4);
	memcpy(out, &in, sizeof(in));
	return sizeof(in);
}

bool inet_is_loopback(const uint8_t addr[16])
{
	return host_is_v4(addr) ? addr[12] == 127 : memcmp(addr, inet_loopback6, 16) == 0;
}

bool inet_is_any(const uint8_t addr[16])
{
	static const uint8_t none[16];

	return host_is_v4(addr) ? memcmp(addr + 12, none, 4) == 0 : memcmp(addr, none, 16) == 0;
}

bool inet_is_link_local(const uint8_t addr[16])
{
	return addr[0] == 0xfe && (addr[1] & 0xc0) == 0x80;
}
