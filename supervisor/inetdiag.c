#include "supervisor/inetdiag.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "policy/host.h"
#include "policy/inet.h"
#include "supervisor/lockdown.h"
#include "supervisor/nlquery.h"
#include "supervisor/proctcp.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(close));

struct inetdiag {
	pthread_mutex_t lock;
	int diag, route;   /* -1: the kernel does not tell */
	unsigned loopback; /* the interface */
	bool tried, works; /* the kernel may know the question and not TCP */
};

struct question {
	struct nlmsghdr head;
	struct inet_diag_req_v2 req;
};

/* As attributes that follow each other: the sizes are multiples of RTA_ALIGNTO. */
struct route_question {
	struct nlmsghdr head;
	struct rtmsg msg;
	struct rtattr device_attr;
	int32_t device; /* 0: any */
	struct rtattr attr;
	uint8_t addr[16];
};

union answer {
	struct nlmsghdr head;
	char bytes[16384];
};

struct inetdiag *inetdiag_new(void)
{
	struct inetdiag *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	pthread_mutex_init(&d->lock, NULL);
	d->diag = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	d->route = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_ROUTE);
	d->loopback = if_nametoindex("lo");
	return d;
}

void inetdiag_free(struct inetdiag *d)
{
	if (!d)
		return;
	if (d->diag >= 0)
		close(d->diag);
	if (d->route >= 0)
		close(d->route);
	free(d);
}

int inetdiag_loopback(const struct inetdiag *d)
{
	return (int)d->loopback;
}

bool inetdiag_is_local(struct inetdiag *d, const uint8_t addr[16], int device)
{
	bool v4 = host_is_v4(addr), local = false;
	size_t len = v4 ? 4 : 16;
	struct route_question q = {
		.head = {.nlmsg_type = RTM_GETROUTE, .nlmsg_flags = NLM_F_REQUEST},
		.msg = {.rtm_family = v4 ? AF_INET : AF_INET6, .rtm_dst_len = (unsigned char)(len * 8)},
		.device_attr = {.rta_len = RTA_LENGTH(sizeof(int32_t)), .rta_type = RTA_OIF},
		.device = device,
		.attr = {.rta_len = (unsigned short)RTA_LENGTH(len), .rta_type = RTA_DST},
	};
	union answer a;
	ssize_t n;

	if (!device && (inet_is_loopback(addr) || inet_is_any(addr)))
		return true;
	memcpy(q.addr, addr + 16 - len, len);
	q.head.nlmsg_len = (uint32_t)(offsetof(struct route_question, addr) + len);
	pthread_mutex_lock(&d->lock);
	n = d->route >= 0 ? nlquery(d->route, &q.head, &a, sizeof(a)) : -1;
	pthread_mutex_unlock(&d->lock);
	if (n >= (ssize_t)NLMSG_LENGTH(sizeof(struct rtmsg)) && a.head.nlmsg_type == RTM_NEWROUTE)
		local = ((struct rtmsg *)NLMSG_DATA(&a.head))->rtm_type == RTN_LOCAL;
	return local;
}

static void fill(struct question *q, int family, const struct inet_end *here, const struct inet_end *there)
{
	size_t at = family == AF_INET ? 12 : 0;

	memset(q, 0, sizeof(*q));
	q->head.nlmsg_len = sizeof(*q);
	q->head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
	q->head.nlmsg_flags = NLM_F_REQUEST;
	q->req.sdiag_family = (uint8_t)family;
	q->req.sdiag_protocol = IPPROTO_TCP;
	q->req.idiag_states = ~0U;
	q->req.id.idiag_cookie[0] = q->req.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
	q->req.id.idiag_sport = htons(here->port);
	memcpy(q->req.id.idiag_src, here->addr + at, 16 - at);
	if (there) {
		q->req.id.idiag_dport = htons(there->port);
		memcpy(q->req.id.idiag_dst, there->addr + at, 16 - at);
	}
}

/* One socket. 1: it is in *m; 0: there is none; -1: the kernel does not tell. */
static int ask_one(struct inetdiag *d, struct question *q, struct inet_diag_msg *m)
{
	union answer a;
	ssize_t n;

	if (d->diag < 0)
		return -1;
	pthread_mutex_lock(&d->lock);
	n = nlquery(d->diag, &q->head, &a, sizeof(a));
	pthread_mutex_unlock(&d->lock);
	if (n < 0 || !NLMSG_OK(&a.head, n))
		return -1;
	if (a.head.nlmsg_type == NLMSG_ERROR && a.head.nlmsg_len >= NLMSG_LENGTH(sizeof(struct nlmsgerr)))
		return ((struct nlmsgerr *)NLMSG_DATA(&a.head))->error == -ENOENT ? 0 : -1;
	if (a.head.nlmsg_type != SOCK_DIAG_BY_FAMILY || a.head.nlmsg_len < NLMSG_LENGTH(sizeof(*m)))
		return -1;
	memcpy(m, NLMSG_DATA(&a.head), sizeof(*m));
	return 1;
}

/* "There is none" is also what a kernel without the module says; a question for all of them tells the two apart. */
bool inetdiag_knows_tcp(struct inetdiag *d)
{
	const struct inet_end none = {.port = 0};
	struct question q;
	union answer a;
	ssize_t n;

	if (d->diag < 0)
		return false;
	pthread_mutex_lock(&d->lock);
	if (!d->tried) {
		fill(&q, AF_INET, &none, NULL);
		q.head.nlmsg_flags |= NLM_F_DUMP;
		q.req.idiag_states = 1 << TCP_LISTEN;
		n = nlquery(d->diag, &q.head, &a, sizeof(a));
		d->works = n > 0 && NLMSG_OK(&a.head, n) && a.head.nlmsg_type != NLMSG_ERROR;
		d->tried = true;
	}
	pthread_mutex_unlock(&d->lock);
	return d->works;
}

enum inet_answer inetdiag_listener(struct inetdiag *d, const struct inet_end *to, const struct inet_own *own)
{
	struct inet_socket found;
	struct inet_diag_msg m;
	struct question q;
	int n = -1;

	if (inetdiag_knows_tcp(d)) {
		fill(&q, host_is_v4(to->addr) ? AF_INET : AF_INET6, to, NULL);
		if (inet_is_loopback(to->addr))
			q.req.id.idiag_if = d->loopback;
		n = ask_one(d, &q, &m);
	}
	if (n < 0)
		return proctcp_listener(to, own);
	if (n == 0 || m.idiag_state != TCP_LISTEN)
		return INET_NOBODY;
	found.inode = m.idiag_inode;
	found.cookie = m.id.idiag_cookie[0] | (uint64_t)m.id.idiag_cookie[1] << 32;
	return own->is(&found, own->arg) ? INET_SOCKET : INET_UNKNOWN;
}

enum inet_answer inetdiag_connected(struct inetdiag *d, const struct inet_end *here,
				    const struct inet_end *there, uint64_t *inode)
{
	struct inet_diag_msg m;
	struct question q;
	int n = -1;

	if (inetdiag_knows_tcp(d)) {
		fill(&q, host_is_v4(here->addr) ? AF_INET : AF_INET6, here, there);
		if (inet_is_loopback(here->addr))
			q.req.id.idiag_if = d->loopback;
		n = ask_one(d, &q, &m);
	}
	if (n < 0)
		return proctcp_connected(here, there, inode);
	/* Where there is no such connection the kernel goes on to who listens. */
	if (n == 0 || m.idiag_state == TCP_LISTEN)
		return INET_NOBODY;
	*inode = m.idiag_inode;
	return INET_SOCKET;
}
