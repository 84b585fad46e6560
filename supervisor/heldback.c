#include "supervisor/heldback.h"

#include <errno.h>
#include <linux/in6.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "supervisor/lockdown.h"

OWN_CALLS(OWN_SUPERVISOR, OWN_IF(setsockopt, ARG_IS(1, IPPROTO_IP), ARG_IS(2, IP_TTL)),
	  OWN_IF(setsockopt, ARG_IS(1, IPPROTO_IPV6), ARG_IS(2, IPV6_UNICAST_HOPS)),
	  OWN_IF(setsockopt, ARG_IS(1, IPPROTO_IP), ARG_IS(2, IP_MINTTL)),
	  OWN_IF(setsockopt, ARG_IS(1, IPPROTO_IPV6), ARG_IS(2, IPV6_MINHOPCOUNT)));

#define MOST 255

/* A socket of IPv6 may speak IPv4 as well. */
static int set_both(int fd, int family, int v4_option, int v6_option, int value)
{
	if (setsockopt(fd, IPPROTO_IP, v4_option, &value, sizeof(value)) < 0)
		return -errno;
	if (family == AF_INET6 && setsockopt(fd, IPPROTO_IPV6, v6_option, &value, sizeof(value)) < 0)
		return -errno;
	return 0;
}

int heldback_mark(int fd, int family)
{
	return set_both(fd, family, IP_TTL, IPV6_UNICAST_HOPS, MOST);
}

bool heldback_begin(int fd, int family)
{
	return set_both(fd, family, IP_MINTTL, IPV6_MINHOPCOUNT, MOST) == 0;
}

void heldback_end(int fd, int family)
{
	set_both(fd, family, IP_MINTTL, IPV6_MINHOPCOUNT, 0);
}
