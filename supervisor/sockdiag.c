#include "supervisor/sockdiag.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "supervisor/nlquery.h"
#include "supervisor/procunix.h"

struct sockdiag {
	pthread_mutex_t lock;
	int fd; /* -1: the kernel does not tell */
};

struct question {
	struct nlmsghdr head;
	struct unix_diag_req req;
};

union answer {
	struct nlmsghdr head;
	char bytes[1024];
};

struct sockdiag *sockdiag_new(void)
{
	struct sockdiag *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	pthread_mutex_init(&d->lock, NULL);
	d->fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	return d;
}

static uint64_t peer_in(union answer *answer, ssize_t n)
{
	struct nlmsghdr *h = &answer->head;
	struct unix_diag_msg *m = NLMSG_DATA(h);
	struct rtattr *a = (struct rtattr *)(m + 1);
	int len;

	if (n < 0 || !NLMSG_OK(h, n) || h->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
	    h->nlmsg_len < NLMSG_LENGTH(sizeof(*m)))
		return 0;
	len = (int)(h->nlmsg_len - NLMSG_LENGTH(sizeof(*m)));
	for (; RTA_OK(a, len); a = RTA_NEXT(a, len))
		if (a->rta_type == UNIX_DIAG_PEER && RTA_PAYLOAD(a) == sizeof(uint32_t))
			return *(uint32_t *)RTA_DATA(a);
	return 0;
}

uint64_t sockdiag_other_end(struct sockdiag *d, uint64_t inode)
{
	struct question q = {
		.head = {.nlmsg_len = sizeof(q),
			 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			 .nlmsg_flags = NLM_F_REQUEST},
		.req = {.sdiag_family = AF_UNIX,
			.udiag_states = ~0U,
			.udiag_ino = (uint32_t)inode,
			.udiag_show = UDIAG_SHOW_PEER,
			.udiag_cookie = {~0U, ~0U}},
	};
	union answer answer;
	uint64_t peer = 0;

	if (d->fd < 0)
		return 0;
	pthread_mutex_lock(&d->lock);
	peer = peer_in(&answer, nlquery(d->fd, &q.head, &answer, sizeof(answer)));
	pthread_mutex_unlock(&d->lock);
	return peer;
}

struct wanted {
	const char *shown;
	bool there;
};

static bool is_wanted(uint64_t inode, const char *shown, void *arg)
{
	struct wanted *w = arg;

	(void)inode;
	w->there = strcmp(shown, w->shown) == 0;
	return !w->there;
}

bool sockdiag_has_abstract(const struct sockaddr_un *a, socklen_t len)
{
	char shown[sizeof(a->sun_path) + 1];
	size_t n = len - offsetof(struct sockaddr_un, sun_path);
	struct wanted w = {.shown = shown};

	for (size_t i = 0; i < n; i++)
		shown[i] = a->sun_path[i] ? a->sun_path[i] : '@';
	shown[n] = '\0';
	return !procunix_each(is_wanted, &w) || w.there;
}
