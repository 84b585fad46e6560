#include "supervisor/datagram.h"

#include <errno.h>
#include <linux/in6.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "supervisor/lockdown.h"
#include "supervisor/path.h"
#include "supervisor/tell.h"
#include "supervisor/tracee.h"

OWN_CALLS(OWN_SUPERVISOR, OWN_IF(socket, ARG_IS(0, AF_INET), ARG_BITS(1, 0xf, SOCK_DGRAM)),
	  OWN_IF(socket, ARG_IS(0, AF_INET6), ARG_BITS(1, 0xf, SOCK_DGRAM)), OWN(close),
	  OWN_IF(ioctl, ARG_IS(1, SIOCGIFADDR)), OWN_IF(ioctl, ARG_IS(1, SIOCGIFDSTADDR)),
	  OWN_IF(ioctl, ARG_IS(1, SIOCGIFBRDADDR)), OWN_IF(ioctl, ARG_IS(1, SIOCGIFNETMASK)));

void datagram_conclude(struct call *c, uint64_t inode, const struct standin *st, int rc)
{
	if (rc == 0)
		rc = tracee_check(c);
	if (rc == -ESRCH) {
		call_gone(c);
		return;
	}
	if (rc == 0)
		standin_change(c->s, inode, st);
	call_result(c, rc);
}

bool datagram_name(struct call *c, uint64_t inode, bool peer)
{
	struct standin_addr *a;
	struct standin st;

	if (!standin_look(c->s, inode, &st))
		return false;
	a = peer ? &st.peer : &st.local;
	if (!a->len && peer) {
		call_error(c, ENOTCONN);
		return true;
	}
	if (!a->len)
		standin_no_address(st.family, a);
	tell_address(c, 1, 2, &a->a, a->len, sizeof(a->a));
	return true;
}

/*
 * Options of the protocols, and the one of sockets that is the internet's only, that say how to send or what to tell of what comes, with the values that they have at first. They
 * change nothing here and are remembered. Others (joining a group is one) the kernel does not know for a stand-in.
 */
static const struct option {
	int level, name, value;
	bool flag; /* 0 or 1 */
} options[] = {
	{SOL_SOCKET, SO_REUSEPORT, 0, true}, /* tools of BIND end without it */
	{IPPROTO_IP, IP_TOS, 0, false},
	{IPPROTO_IP, IP_TTL, 64, false},
	{IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_WANT, false},
	{IPPROTO_IP, IP_RECVERR, 0, true},
	{IPPROTO_IP, IP_PKTINFO, 0, true},
	{IPPROTO_IP, IP_RECVTTL, 0, true},
	{IPPROTO_IP, IP_RECVTOS, 0, true},
	{IPPROTO_IP, IP_FREEBIND, 0, true},
	{IPPROTO_IP, IP_MULTICAST_TTL, 1, false},
	{IPPROTO_IP, IP_MULTICAST_LOOP, 1, true},
	{IPPROTO_IP, IP_MULTICAST_ALL, 1, true},
	{IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 0, true},
	{IPPROTO_IPV6, IPV6_V6ONLY, 0, true},
	{IPPROTO_IPV6, IPV6_TCLASS, 0, false},
	{IPPROTO_IPV6, IPV6_UNICAST_HOPS, 64, false},
	{IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_WANT, false},
	{IPPROTO_IPV6, IPV6_RECVERR, 0, true},
	{IPPROTO_IPV6, IPV6_RECVPKTINFO, 0, true},
	{IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 0, true},
	{IPPROTO_IPV6, IPV6_RECVTCLASS, 0, true},
	{IPPROTO_IPV6, IPV6_DONTFRAG, 0, true},
	{IPPROTO_IPV6, IPV6_MULTICAST_HOPS, 1, false},
	{IPPROTO_IPV6, IPV6_MULTICAST_LOOP, 1, true},
	{IPPROTO_UDP, UDP_CORK, 0, true},
	{IPPROTO_UDP, UDP_SEGMENT, 0, false},
	{IPPROTO_UDP, UDP_GRO, 0, true},
};
#define N_OPTIONS (sizeof(options) / sizeof(*options))
_Static_assert(N_OPTIONS <= STANDIN_OPTIONS_MAX, "struct standin has room");

/* The row of the call's option, or -1. A socket of the older protocol has none of the newer. */
static int option_of(struct call *c, const struct standin *st)
{
	for (size_t i = 0; i < N_OPTIONS; i++)
		if (options[i].level == call_int(c, 1) && options[i].name == call_int(c, 2) &&
		    (st->family == AF_INET6 || options[i].level != IPPROTO_IPV6))
			return (int)i;
	return -1;
}

static bool told_as_datagram(struct call *c, const struct standin *st)
{
	const struct ucred nobody = {.pid = 0, .uid = (uid_t)-1, .gid = (gid_t)-1};
	int value;

	if (call_int(c, 1) != SOL_SOCKET)
		return false;
	switch (call_int(c, 2)) {
	case SO_TYPE:
		value = SOCK_DGRAM;
		break;
	case SO_DOMAIN:
		value = st->family;
		break;
	case SO_PROTOCOL:
		value = IPPROTO_UDP;
		break;
	case SO_PEERCRED:
		tell_option(c, 3, 4, &nobody, sizeof(nobody));
		return true;
	default:
		return false;
	}
	tell_option(c, 3, 4, &value, sizeof(value));
	return true;
}

bool datagram_getsockopt(struct call *c, uint64_t inode)
{
	struct standin st;
	int row, value;

	if (!standin_look(c->s, inode, &st))
		return false;
	if (told_as_datagram(c, &st))
		return true;
	row = option_of(c, &st);
	if (row < 0)
		return false;
	value = st.options_set & (1U << row) ? st.option[row] : options[row].value;
	tell_option(c, 3, 4, &value, sizeof(value));
	return true;
}

/* Options of IPv4 may also be given as one byte. */
static int copy_value(struct call *c, int *value)
{
	int len = call_int(c, 4), rc;
	unsigned char byte;

	*value = 0;
	if (len >= (int)sizeof(*value))
		return tracee_read(c, c->arg[3], value, sizeof(*value));
	if (len < 0 || call_int(c, 1) != IPPROTO_IP)
		return -EINVAL;
	if (len == 0)
		return 0;
	rc = tracee_read(c, c->arg[3], &byte, sizeof(byte));
	*value = byte;
	return rc;
}

bool datagram_setsockopt(struct call *c, uint64_t inode)
{
	struct standin st;
	int row, value, rc;

	if (!standin_look(c->s, inode, &st))
		return false;
	row = option_of(c, &st);
	if (row < 0)
		return false;
	rc = copy_value(c, &value);
	if (rc < 0) {
		path_copy_failed(c, rc);
		return true;
	}
	st.option[row] = options[row].flag ? value != 0 : value;
	st.options_set |= 1U << row;
	datagram_conclude(c, inode, &st, 0);
	return true;
}

/* An address of an interface: only a socket of the protocol itself tells. */
static int ask_interface(int family, unsigned long command, struct ifreq *ifr)
{
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc;

	if (fd < 0)
		return -errno;
	rc = ioctl(fd, command, ifr) < 0 ? -errno : 0;
	close(fd);
	return rc;
}

bool datagram_ioctl(struct call *c, uint64_t inode)
{
	struct standin st;
	struct ifreq ifr;
	int rc;

	if (!standin_look(c->s, inode, &st))
		return false;
	rc = tracee_read(c, c->arg[2], &ifr, sizeof(ifr));
	if (rc < 0) {
		path_copy_failed(c, rc);
		return true;
	}
	rc = ask_interface(st.family, (uint32_t)c->arg[1], &ifr);
	if (rc == 0)
		rc = tracee_write(c, c->arg[2], &ifr, sizeof(ifr));
	if (rc == -ESRCH)
		call_gone(c);
	else
		call_result(c, rc);
	return true;
}
