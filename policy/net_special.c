/* Addresses to which a name has no business to lead: see net.h. */
#include <string.h>

#include "policy/inet.h"
#include "policy/net_private.h"

/* IPv4 prefixes are counted from the front of the mapped form, as those of host_net_matches(). */
#define V4(a, b, c, d, bits)                                                                                 \
	{                                                                                                    \
		{[10] = 0xff, 0xff, a, b, c, d}, 96 + (bits), 0, 0                                           \
	}
#define V6(bits, ...)                                                                                        \
	{                                                                                                    \
		{__VA_ARGS__}, bits, 0, 0                                                                    \
	}

/* In this order: what is told is the first that holds. */
static const struct {
	struct host_net net;
	enum net_special special;
} specials[] = {
	/* Clouds tell machines their secrets there: AWS and most others, Alibaba, Azure, Oracle; then AWS and Google by IPv6. */
	{V4(169, 254, 169, 254, 32), NET_METADATA},
	{V4(100, 100, 100, 200, 32), NET_METADATA},
	{V4(168, 63, 129, 16, 32), NET_METADATA},
	{V4(192, 0, 0, 192, 32), NET_METADATA},
	{V6(32, 0xfd, 0x00, 0x0e, 0xc2), NET_METADATA},
	{V6(128, 0xfd, 0x20, 0x00, 0xce, [14] = 0x02, 0x54), NET_METADATA},
	{V4(0, 0, 0, 0, 8), NET_UNSPECIFIED},
	{V6(128, 0), NET_UNSPECIFIED},
	{V4(127, 0, 0, 0, 8), NET_LOOPBACK},
	{V6(128, [15] = 1), NET_LOOPBACK},
	{V4(169, 254, 0, 0, 16), NET_LINK_LOCAL},
	{V6(10, 0xfe, 0x80), NET_LINK_LOCAL},
	{V6(10, 0xfe, 0xc0), NET_LINK_LOCAL}, /* site-local, which RFC 3879 took back */
	{V4(224, 0, 0, 0, 4), NET_MULTICAST},
	{V6(8, 0xff), NET_MULTICAST},
	{V4(255, 255, 255, 255, 32), NET_BROADCAST},
	{V4(240, 0, 0, 0, 4), NET_RESERVED},
	{V6(32, 0x20, 0x01), NET_RESERVED}, /* Teredo, whose relays unpack IPv4 */
};

/* Forms of IPv6 addresses that carry an IPv4 address, and where. */
static const struct {
	struct host_net net;
	unsigned at;
} carriers[] = {
	{V6(96, 0), 12},			    /* v4-compatible, ::a.b.c.d */
	{V6(96, [8] = 0xff, 0xff), 12},		    /* translated, ::ffff:0:a.b.c.d */
	{V6(96, 0x00, 0x64, 0xff, 0x9b), 12},	    /* NAT64 */
	{V6(48, 0x00, 0x64, 0xff, 0x9b, 0, 1), 12}, /* of a site's own, by prefixes of 96 bits (RFC 8215) */
	{V6(16, 0x20, 0x02), 2},		    /* 6to4 */
};

bool net_carries_v4(const uint8_t addr[16], uint8_t v4[16])
{
	/* Those two are of ::/96 and no IPv4 address. */
	if (host_is_v4(addr) || inet_is_any(addr) || inet_is_loopback(addr))
		return false;
	for (size_t i = 0; i < sizeof(carriers) / sizeof(*carriers); i++)
		if (host_net_matches(&carriers[i].net, addr, 0)) {
			memcpy(v4, host_v4_prefix, sizeof(host_v4_prefix));
			memcpy(v4 + 12, addr + carriers[i].at, 4);
			return true;
		}
	return false;
}

static enum net_special classify(const uint8_t addr[16], const uint8_t (*own)[16], size_t n)
{
	for (size_t i = 0; i < sizeof(specials) / sizeof(*specials); i++)
		if (host_net_matches(&specials[i].net, addr, 0))
			return specials[i].special;
	for (size_t i = 0; i < n; i++)
		if (memcmp(own[i], addr, 16) == 0)
			return NET_OWN;
	return NET_ORDINARY;
}

enum net_special net_special(const uint8_t addr[16], const uint8_t (*own)[16], size_t n)
{
	enum net_special s = classify(addr, own, n);
	uint8_t v4[16];

	if (s == NET_ORDINARY && net_carries_v4(addr, v4))
		s = classify(v4, own, n);
	return s;
}

const char *net_special_name(enum net_special s)
{
	switch (s) {
	case NET_ORDINARY:
		break;
	case NET_UNSPECIFIED:
		return "an unspecified address";
	case NET_LOOPBACK:
		return "a loopback address";
	case NET_LINK_LOCAL:
		return "a link-local address";
	case NET_MULTICAST:
		return "a multicast address";
	case NET_BROADCAST:
		return "the broadcast address";
	case NET_METADATA:
		return "a cloud metadata address, where machines are told their secrets";
	case NET_OWN:
		return "an address of this machine";
	case NET_RESERVED:
		return "a reserved address";
	case NET_NOT_LOOPBACK:
		return "no loopback address";
	}
	return "an address that deny_domain names";
}
