/*
 * Packets to an address of this machine that leave it by another device than loopback. $IN has the file "left" as soon as one
 * of TCP did: who watches is outside.
 */
#include "attack.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>

#ifndef SO_BINDTOIFINDEX
#define SO_BINDTOIFINDEX 62
#endif

/* --- Outside --- */

static int watch(void)
{
	int s = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, htons(ETH_P_ALL));
	unsigned lo = if_nametoindex("lo");
	unsigned char b[128];

	if (s < 0)
		broken("a packet socket");
	puts("ready"), fflush(stdout);
	for (;;) {
		struct sockaddr_ll from;
		socklen_t len = sizeof(from);
		ssize_t n = recvfrom(s, b, sizeof(b), 0, (struct sockaddr *)&from, &len);

		if (n >= 20 && (unsigned)from.sll_ifindex != lo && from.sll_pkttype == PACKET_OUTGOING &&
		    b[b[0] >> 4 == 6 ? 6 : 9] == IPPROTO_TCP)
			close(open("left", O_WRONLY | O_CREAT, 0644));
	}
}

/* --- Inside --- */

static struct sockaddr_in6 v6(const char *text, unsigned scope)
{
	struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_scope_id = scope};

	inet_pton(AF_INET6, text, &a.sin6_addr);
	return a;
}

/* Whether a packet leaves, within a second. */
static int left(void)
{
	for (int i = 0; i < 50; i++) {
		if (access("left", F_OK) == 0)
			return WON;
		usleep(20000);
	}
	return LOST;
}

/* Listens at the address, and is the socket of a client; *a: where to. */
static int pair(struct sockaddr_in6 *a)
{
	int l = socket(AF_INET6, SOCK_STREAM, 0), fd = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, 0);
	socklen_t len = sizeof(*a);

	if (bind(l, (struct sockaddr *)a, sizeof(*a)) < 0 || listen(l, 5) < 0 ||
	    getsockname(l, (struct sockaddr *)a, &len) < 0)
		broken("a listener of its own");
	return fd;
}

/* Ties it before the connect or after, by name or number. */
static int tie(bool after, bool number, const char *where)
{
	struct sockaddr_in6 a = v6(where, 0);
	int fd = pair(&a), index = (int)if_nametoindex("d0");

	for (int now = 0; now < 2; now++)
		if (now != after)
			connect(fd, (struct sockaddr *)&a, sizeof(a)), usleep(20000);
		else if (number)
			setsockopt(fd, SOL_SOCKET, SO_BINDTOIFINDEX, &index, sizeof(index));
		else
			setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "d0", 3);
	send(fd, "secret", 6, MSG_NOSIGNAL | MSG_DONTWAIT);
	return left();
}

static int connected(int argc, char **argv)
{
	return tie(true, false, "::1") == WON || tie(true, true, "::1") == WON ? WON : LOST;
}

static int tied(int argc, char **argv)
{
	return tie(false, false, "fd99::1") == WON || tie(false, true, "::1") == WON ? WON : LOST;
}

/* A bind to a link-local address ties, too. Towards: the session's own listener, nobody, the stub. */
static int link_bound(int argc, char **argv)
{
	struct sockaddr_in6 from = v6("fe80::77:1", if_nametoindex("d0")), to = v6("fd99::1", 0);
	int fd = pair(&to);

	for (int i = 0; i < 3; i++) {
		if (bind(fd, (struct sockaddr *)&from, sizeof(from)) < 0)
			broken("a bind to a link-local address");
		connect(fd, (struct sockaddr *)&to, sizeof(to));
		fd = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, 0);
		to.sin6_port = htons(i == 0 ? 9 : 53);
	}
	return left();
}

/* The scope of a link-local address of one device names another. */
static int scope(int argc, char **argv)
{
	struct sockaddr_in6 a = v6("::", 0);
	int fd = pair(&a);

	a.sin6_scope_id = if_nametoindex("d1");
	inet_pton(AF_INET6, "fe80::77:1", &a.sin6_addr);
	connect(fd, (struct sockaddr *)&a, sizeof(a));
	return left();
}

static volatile int racing = -1;

static void *bind_often(void *arg)
{
	struct sockaddr_in6 from = v6("fe80::77:1", if_nametoindex("d0"));

	for (;;)
		if (racing >= 0)
			bind(racing, (struct sockaddr *)&from, sizeof(from));
	return NULL;
}

/* The bind comes while the connect is decided. */
static int race(int argc, char **argv)
{
	struct sockaddr_in6 to = v6("fd99::1", 0);
	double end = seconds() + patience();
	long tries = 0;
	pthread_t t;

	close(pair(&to));
	pthread_create(&t, NULL, bind_often, NULL);
	do {
		int fd = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, 0);

		racing = fd;
		connect(fd, (struct sockaddr *)&to, sizeof(to));
		racing = -1;
		close(fd);
		tries++;
	} while (access("left", F_OK) < 0 && goes_on(end, tries));
	return left();
}

/* The listener, too, is not to be reached by a device that it is tied to while it begins to listen. */
static int listening(int argc, char **argv)
{
	double end = seconds() + patience();
	bool won = false;
	long tries = 0;
	pthread_t t;

	pthread_create(&t, NULL, bind_often, NULL);
	do {
		int fd = socket(AF_INET6, SOCK_STREAM, 0);
		char device[16] = "";
		socklen_t len = sizeof(device);

		racing = fd;
		if (listen(fd, 5) == 0)
			won = getsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device, &len) == 0 &&
			      strcmp(device, "d0") == 0;
		racing = -1;
		close(fd);
		tries++;
	} while (!won && goes_on(end, tries));
	return won ? WON : LOST;
}

static const struct attack list[] = {
	{"connected", connected}, {"tied", tied}, {"link_bound", link_bound},
	{"scope", scope},	  {"race", race}, {"listening", listening},
};

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "watch") == 0)
		return watch();
	return attack_main(list, sizeof(list) / sizeof(*list), argc, argv);
}
