#include "supervisor/gateway/ownaddr.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "policy/host.h"
#include "supervisor/lockdown.h"

OWN_CALLS(OWN_GATEWAY, OWN(sendto), OWN(recvfrom));

struct ownaddr {
	struct watch watch; /* the socket that tells of changes */
	int ask;
	bool stale;
	uint8_t addr[OWNADDR_MAX][16];
	size_t n;
};

/* That something changed is all that is read of it; what was lost for want of room says the same. */
static void on_change(struct watch *w, uint32_t events)
{
	struct ownaddr *o = (struct ownaddr *)w;
	char buf[4096];

	(void)events;
	while (recv(w->fd, buf, sizeof(buf), MSG_DONTWAIT) > 0)
		;
	o->stale = true;
}

struct ownaddr *ownaddr_new(struct loop *loop)
{
	struct sockaddr_nl groups = {.nl_family = AF_NETLINK,
				     .nl_groups = RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR};
	struct ownaddr *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->stale = true;
	o->ask = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_ROUTE);
	o->watch.fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_ROUTE);
	o->watch.ready = on_change;
	if (o->watch.fd >= 0 && bind(o->watch.fd, (struct sockaddr *)&groups, sizeof(groups)) == 0)
		loop_add(loop, &o->watch, EPOLLIN);
	return o;
}

static void add(struct ownaddr *o, const struct nlmsghdr *h)
{
	const struct ifaddrmsg *m = NLMSG_DATA(h);
	const struct rtattr *a = IFA_RTA(m);
	int len = (int)IFA_PAYLOAD(h);

	for (; RTA_OK(a, len); a = RTA_NEXT(a, len)) {
		/* Of an interface with a peer LOCAL is its own address; IPv6 mostly has ADDRESS only. */
		bool own =
			a->rta_type == IFA_LOCAL || (a->rta_type == IFA_ADDRESS && m->ifa_family == AF_INET6);
		size_t n = RTA_PAYLOAD(a);

		if (!own || (n != 4 && n != 16) || o->n == OWNADDR_MAX)
			continue;
		memcpy(o->addr[o->n], host_v4_prefix, sizeof(host_v4_prefix));
		memcpy(o->addr[o->n] + 16 - n, RTA_DATA(a), n);
		o->n++;
	}
}

/* True when more is to come. */
static bool read_part(struct ownaddr *o)
{
	union {
		struct nlmsghdr head;
		char bytes[32768];
	} buf;
	ssize_t n = recv(o->ask, &buf, sizeof(buf), MSG_DONTWAIT);

	if (n <= 0)
		return false;
	for (struct nlmsghdr *h = &buf.head; NLMSG_OK(h, n); h = NLMSG_NEXT(h, n)) {
		if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR)
			return false;
		if (h->nlmsg_type == RTM_NEWADDR && h->nlmsg_len >= NLMSG_LENGTH(sizeof(struct ifaddrmsg)))
			add(o, h);
	}
	return true;
}

size_t ownaddr_get(struct ownaddr *o, const uint8_t (**addr)[16])
{
	const struct {
		struct nlmsghdr head;
		struct ifaddrmsg m;
	} question = {
		{.nlmsg_len = sizeof(question),
		 .nlmsg_type = RTM_GETADDR,
		 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		{.ifa_family = AF_UNSPEC},
	};

	*addr = o->addr;
	if (!o->stale || o->ask < 0)
		return o->n;
	o->stale = false;
	o->n = 0;
	/* The kernel answers at once, a part for each recv(). */
	if (send(o->ask, &question, sizeof(question), MSG_DONTWAIT) == sizeof(question))
		while (read_part(o))
			;
	return o->n;
}
