#include "supervisor/ifindex.h"

#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "supervisor/lockdown.h"

/* libc's function would ask by a socket of a kind that the lists do not have. */
OWN_CALLS(OWN_SUPERVISOR, OWN_IF(socket, ARG_IS(0, AF_INET6), ARG_BITS(1, 0xf, SOCK_DGRAM)), OWN(close),
	  OWN_IF(ioctl, ARG_IS(1, SIOCGIFINDEX)));
OWN_CALLS(OWN_GATEWAY, OWN_IF(socket, ARG_IS(0, AF_INET6)), OWN(close),
	  OWN_IF(ioctl, ARG_IS(1, SIOCGIFINDEX)));

uint32_t ifindex_of(const char *scope)
{
	struct ifreq ifr = {.ifr_ifindex = 0};
	char *end;
	unsigned long number = strtoul(scope, &end, 10);
	int fd, rc;

	if (end != scope && !*end)
		return (uint32_t)number;
	if (!*scope || strlen(scope) >= sizeof(ifr.ifr_name))
		return 0;
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", scope);
	fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	rc = ioctl(fd, SIOCGIFINDEX, &ifr);
	close(fd);
	return rc < 0 ? 0 : (uint32_t)ifr.ifr_ifindex;
}
