/*
 * Internet datagram sockets without a datagram: what they tell of themselves, connect and bind, options, waiting for what
 * does not come, and signals meanwhile. Only loopback is named, and addresses that nobody has.
 */
#include <arpa/inet.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "probe_calls.h"

union addr {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
	struct sockaddr_storage any;
};

/* "ADDRESS" as text; its length. */
static socklen_t address(union addr *a, const char *text, int port)
{
	memset(a, 0, sizeof(*a));
	if (strchr(text, ':')) {
		a->in6.sin6_family = AF_INET6;
		a->in6.sin6_port = htons((uint16_t)port);
		if (inet_pton(AF_INET6, text, &a->in6.sin6_addr) != 1)
			die(text);
		return sizeof(a->in6);
	}
	a->in.sin_family = AF_INET;
	a->in.sin_port = htons((uint16_t)port);
	if (inet_pton(AF_INET, text, &a->in.sin_addr) != 1)
		die(text);
	return sizeof(a->in);
}

/* Ports above 1024 that the kernel chooses are not said. */
static void say_name(int s, bool peer)
{
	char text[INET6_ADDRSTRLEN] = "?";
	union addr a;
	socklen_t len = sizeof(a);
	int rc, port;

	memset(&a, 0, sizeof(a));
	rc = peer ? getpeername(s, &a.sa, &len) : getsockname(s, &a.sa, &len);
	say(peer ? " peer" : " name"), result(rc);
	if (rc < 0)
		return;
	port = ntohs(a.in.sin_port);
	inet_ntop(a.sa.sa_family,
		  a.sa.sa_family == AF_INET ? (void *)&a.in.sin_addr : (void *)&a.in6.sin6_addr, text,
		  sizeof(text));
	say(" family %d %s %s", a.sa.sa_family, text, port > 10000 ? "port" : port ? "" : "no port");
	if (port && port <= 10000)
		say("%d", port);
	say(" len %u", len);
}

static void say_option(int s, int level, int name)
{
	int value = -7;
	socklen_t len = sizeof(value);

	result(getsockopt(s, level, name, &value, &len));
	say(" %d (%u)", value, len);
}

static int new_socket(int family)
{
	return socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

static void kinds(int family)
{
	static const int types[] = {SOCK_DGRAM, SOCK_DGRAM | SOCK_CLOEXEC, SOCK_DGRAM | SOCK_NONBLOCK,
				    SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, SOCK_DGRAM | 0x100};
	static const int protocols[] = {0, IPPROTO_UDP, IPPROTO_TCP};
	static const int names[] = {SO_TYPE, SO_DOMAIN, SO_PROTOCOL, SO_ERROR, SO_ACCEPTCONN, SO_BROADCAST};

	for (size_t t = 0; t < N(types); t++)
		for (size_t p = 0; p < N(protocols); p++) {
			int s = socket(family, types[t], protocols[p]), on = 1;

			say("socket(%d, %#x, %d)", family, types[t], protocols[p]);
			if (result(s < 0 ? -1 : 0) < 0) {
				done();
				continue;
			}
			say(" flags %#x %d", fcntl(s, F_GETFL) & (O_NONBLOCK | O_ACCMODE), fcntl(s, F_GETFD));
			for (size_t i = 0; i < N(names); i++)
				say_option(s, SOL_SOCKET, names[i]);
			setsockopt(s, SOL_SOCKET, SO_BROADCAST, &on, sizeof(on));
			say_option(s, SOL_SOCKET, SO_BROADCAST);
			say_name(s, false), say_name(s, true), done();
			close(s);
		}
}

static void options_of(int family)
{
	static const struct {
		int level, name;
	} list[] = {
		{SOL_SOCKET, SO_REUSEPORT},
		{IPPROTO_IP, IP_TOS},
		{IPPROTO_IP, IP_TTL},
		{IPPROTO_IP, IP_RECVERR},
		{IPPROTO_IP, IP_MTU_DISCOVER},
		{IPPROTO_IP, IP_PKTINFO},
		{IPPROTO_IP, IP_RECVTTL},
		{IPPROTO_IP, IP_MULTICAST_TTL},
		{IPPROTO_IP, IP_MULTICAST_LOOP},
		{IPPROTO_IPV6, IPV6_V6ONLY},
		{IPPROTO_IPV6, IPV6_RECVERR},
		{IPPROTO_IPV6, IPV6_RECVPKTINFO},
		{IPPROTO_IPV6, IPV6_TCLASS},
		{IPPROTO_IPV6, IPV6_MTU_DISCOVER},
		{IPPROTO_IPV6, IPV6_UNICAST_HOPS},
		{IPPROTO_UDP, UDP_CORK},
		{IPPROTO_UDP, UDP_SEGMENT},
	};
	const void *volatile one = (void *)1;
	int s = new_socket(family), v;

	for (size_t i = 0; i < N(list); i++) {
		if (family == AF_INET && list[i].level == IPPROTO_IPV6)
			continue;
		say("option %d %d", list[i].level, list[i].name);
		say_option(s, list[i].level, list[i].name);
		v = 2;
		say(" set"), result(setsockopt(s, list[i].level, list[i].name, &v, sizeof(v)));
		say_option(s, list[i].level, list[i].name);
		say(" short"), result(setsockopt(s, list[i].level, list[i].name, &v, 1));
		say(" at 1"), result(setsockopt(s, list[i].level, list[i].name, one, sizeof(v)));
		done();
	}
	close(s);
}

static void try_connect(int s, const union addr *a, socklen_t len, const char *what)
{
	say("connect to %s", what), result(connect(s, &a->sa, len));
	say_name(s, false), say_name(s, true), done();
}

static void connects(int family)
{
	static const char *const v4[] = {"127.0.0.1", "127.0.0.2", "0.0.0.0", "255.255.255.255"};
	static const char *const v6[] = {"::1", "::", "::ffff:127.0.0.1", "fe80::1"};
	int s = new_socket(family);
	const void *volatile one = (void *)1;
	union addr a;
	socklen_t len;

	for (size_t i = 0; i < N(v4); i++) {
		len = address(&a, v4[i], i ? 9 : 53), try_connect(s, &a, len, v4[i]);
		len = address(&a, v6[i], 80), try_connect(s, &a, len, v6[i]);
	}
	len = address(&a, family == AF_INET ? "127.0.0.1" : "::1", 7);
	try_connect(s, &a, 0, "no bytes");
	try_connect(s, &a, 1, "1 byte");
	try_connect(s, &a, 2, "2 bytes");
	try_connect(s, &a, 15, "15 bytes");
	try_connect(s, &a, len + 4, "more bytes");
	try_connect(s, &a, sizeof(a.any), "128 bytes");
	try_connect(s, &a, sizeof(a.any) + 1, "129 bytes");
	try_connect(s, &a, (socklen_t)-1, "-1 bytes");
	try_connect(s, one, len, "nowhere");
	a.sa.sa_family = AF_UNIX, try_connect(s, &a, len, "AF_UNIX");
	a.sa.sa_family = AF_UNSPEC, try_connect(s, &a, len, "AF_UNSPEC");
	close(s);
}

static void try_bind(int s, const union addr *a, socklen_t len, const char *what)
{
	say("bind to %s", what), result(bind(s, &a->sa, len));
	say_name(s, false), say_name(s, true), done();
}

static void binds(int family)
{
	const char *const list[] = {"0.0.0.0", "127.0.0.1", "192.0.2.77", "::", "::1", "2001:db8::77"};
	union addr a;
	socklen_t len;
	int s;

	for (size_t i = 0; i < N(list); i++)
		for (int port = 0; port < 4000; port += 3999) {
			s = new_socket(family);
			len = address(&a, list[i], port), try_bind(s, &a, len, list[i]);
			try_bind(s, &a, len, "the same again");
			len = address(&a, family == AF_INET ? "127.0.0.1" : "::1", 9);
			try_connect(s, &a, len, "loopback when bound");
			a.sa.sa_family = AF_UNSPEC, try_connect(s, &a, len, "AF_UNSPEC when bound");
			close(s);
		}
	s = new_socket(family);
	len = address(&a, family == AF_INET ? "127.0.0.1" : "::1", 9);
	connect(s, &a.sa, len), a.in.sin_port = 0, try_bind(s, &a, len, "loopback when connected");
	close(s);
	s = new_socket(family);
	try_bind(s, &a, 3, "3 bytes"), try_bind(s, &a, 15, "15 bytes"), try_bind(s, &a, 200, "200 bytes");
	a.sa.sa_family = AF_UNIX, try_bind(s, &a, len, "AF_UNIX");
	say("listen"), result(listen(s, 1)), done();
	close(s);
}

static ssize_t receive(int s, int how, int flags)
{
	char buf[64];
	struct iovec io = {buf, sizeof(buf)};
	union addr a;
	struct mmsghdr m[2] = {{{.msg_name = &a, .msg_namelen = sizeof(a), .msg_iov = &io, .msg_iovlen = 1}},
			       {{.msg_iov = &io, .msg_iovlen = 1}}};
	struct timespec t = {0, 1000};
	socklen_t len = sizeof(a);

	if (how == 0)
		return recvfrom(s, buf, sizeof(buf), flags, &a.sa, &len);
	if (how == 1)
		return recvmsg(s, &m[0].msg_hdr, flags);
	if (how == 2)
		return recvmmsg(s, m, 2, flags, NULL);
	if (how == 3)
		return recvmmsg(s, m, 2, flags | MSG_WAITFORONE, &t);
	return recv(s, buf, sizeof(buf), flags);
}
enum { HOWS = 5 };

static void waits(int family)
{
	struct timeval limit = {0, 30000};
	int s = new_socket(family), n = -1;
	struct pollfd p = {s, POLLIN | POLLOUT | POLLPRI, 0};

	say("poll"), result(poll(&p, 1, 0)), say(" %#x", p.revents), done();
	say("FIONREAD"), result(ioctl(s, FIONREAD, &n)), say(" %d", n), done();
	for (int how = 0; how < HOWS; how++) {
		say("%d: don't wait", how), result(receive(s, how, MSG_DONTWAIT));
		say(" peek"), result(receive(s, how, MSG_DONTWAIT | MSG_PEEK | MSG_TRUNC));
		if (how < HOWS - 1) /* recv() of a stand-in is not asked about */
			say(" errors"), result(receive(s, how, MSG_ERRQUEUE));
		fcntl(s, F_SETFL, O_RDWR | O_NONBLOCK);
		say(" O_NONBLOCK"), result(receive(s, how, 0));
		fcntl(s, F_SETFL, O_RDWR);
		setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
		say(" 30 ms"), result(receive(s, how, 0));
		limit.tv_usec = 0, setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
		limit.tv_usec = 30000;
		done();
	}
	close(s);
}

/* musl reads it all itself. */
static void wrong(int family)
{
	int s = new_socket(family);
	const void *volatile one = (void *)1;
	struct iovec io[2] = {{NULL, 0}, {NULL, (size_t)-1}};
	struct msghdr m = {.msg_iov = io, .msg_iovlen = 2};
	struct mmsghdr mm = {m, 0};
	struct timespec t = {0, 1000000000};

#ifndef __GLIBC__
	close(s);
	return;
#endif
	fcntl(s, F_SETFL, O_RDWR | O_NONBLOCK);
	say("recvmsg at 1"), result(recvmsg(s, (struct msghdr *)one, 0)), done();
	say("recvmsg of -1 bytes"), result(recvmsg(s, &m, 0)), done();
	m.msg_iovlen = 2000, say("recvmsg of 2000 pieces"), result(recvmsg(s, &m, 0)), done();
	m.msg_iovlen = 1, m.msg_iov = (struct iovec *)one;
	say("recvmsg of pieces at 1"), result(recvmsg(s, &m, 0)), done();
	m = (struct msghdr){.msg_name = &m, .msg_namelen = (socklen_t)-1};
	say("recvmsg with a name of -1"), result(recvmsg(s, &m, 0)), done();
	say("recvmmsg of none"), result(recvmmsg(s, &mm, 0, 0, NULL)), done();
	say("recvmmsg with a wrong limit"), result(recvmmsg(s, &mm, 1, 0, &t)), done();
	say("recvmmsg with a limit at 1"), result(recvmmsg(s, &mm, 1, 0, (struct timespec *)one)), done();
	say("recvmmsg at 1"), result(recvmmsg(s, (struct mmsghdr *)one, 1, 0, NULL)), done();
	close(s);
}

static volatile sig_atomic_t count;

static void on_signal(int sig)
{
	(void)sig;
	count++;
}

/* SA_RESTART begins again, but not with a time limit. */
static void interrupts(int family)
{
	for (int how = 0; how < HOWS; how++)
		for (int i = 0; i < 3; i++) {
			struct sigaction sa = {.sa_handler = on_signal, .sa_flags = i ? SA_RESTART : 0};
			struct timeval limit = {i < 2 ? 10 : 0, i < 2 ? 0 : 200000};
			struct itimerval timer = {{0, 30000}, {0, 30000}}, none = {0};
			int s = new_socket(family);

			sigaction(SIGALRM, &sa, NULL);
			if (i)
				setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
			count = 0;
			setitimer(ITIMER_REAL, &timer, NULL);
			say("%d, interrupted, %s, %s", how, i ? "SA_RESTART" : "no SA_RESTART",
			    i ? "limit" : "no limit");
			result(receive(s, how, 0));
			setitimer(ITIMER_REAL, &none, NULL);
			say(" %s", count ? "signalled" : "not signalled"), done();
			close(s);
		}
}

/* The descriptor in another process, at another number, and after exec's CLOEXEC is cleared. */
static void in_another(void *arg)
{
	int s = *(int *)arg, copy = fcntl(s, F_DUPFD, 100);

	say_name(copy, false), say_name(copy, true), say_option(copy, SOL_SOCKET, SO_TYPE);
	say(" moved"), result(receive(copy, 1, MSG_DONTWAIT)), done();
}

static void shares(int family)
{
	int s = new_socket(family), copy = dup(s);
	union addr a;
	socklen_t len = address(&a, family == AF_INET ? "127.0.0.1" : "::1", 9);

	say("connect"), result(connect(s, &a.sa, len)), say(" the copy:"), say_name(copy, true), done();
	say("a child:"), in_child(in_another, &s);
	close(s);
	say("the rest:"), say_name(copy, true), done();
	close(copy);
}

/* More than there are numbers for. */
static void many(int family)
{
	int s[100], good = 0;
	union addr a;
	socklen_t len = address(&a, family == AF_INET ? "127.0.0.1" : "::1", 9);

	for (int i = 0; i < 100; i++) {
		s[i] = new_socket(family);
		good += s[i] >= 0 && connect(s[i], &a.sa, len) == 0 && receive(s[i], 0, MSG_DONTWAIT) < 0;
	}
	say("%d of 100", good), say_name(s[99], true), done();
	for (int i = 0; i < 100; i++)
		close(s[i]);
}

/* With few numbers, none of them where stand-ins are. */
static void few_numbers(void *arg)
{
	int family = *(int *)arg, s, n = 0;

	setrlimit(RLIMIT_NOFILE, &(struct rlimit){40, 40});
	while ((s = new_socket(family)) >= 0)
		n++;
	say("with 40 numbers: %s", n > 20 && n < 40 ? "some" : "none"), result(s);
	say_name(20, false), done();
}

static void interfaces(int family)
{
	static const unsigned long commands[] = {SIOCGIFADDR,  SIOCGIFNETMASK, SIOCGIFBRDADDR, SIOCGIFDSTADDR,
						 SIOCGIFFLAGS, SIOCGIFINDEX,   SIOCGIFMTU};
	int s = new_socket(family);
	const void *volatile one = (void *)1;
	struct ifreq ifr;

	for (size_t i = 0; i < N(commands); i++) {
		memset(&ifr, 0, sizeof(ifr)), strcpy(ifr.ifr_name, "lo");
		say("%#lx of lo", commands[i]), result(ioctl(s, commands[i], &ifr));
		say_bytes((char *)&ifr.ifr_addr, 8);
		memset(&ifr, 0, sizeof(ifr)), strcpy(ifr.ifr_name, "none0");
		say(" of none"), result(ioctl(s, commands[i], &ifr));
		say(" at 1"), result(ioctl(s, commands[i], one)), done();
	}
	close(s);
}

static void datagrams(void)
{
	for (int i = 0; i < 2; i++) {
		int family = i ? AF_INET6 : AF_INET;

		kinds(family), options_of(family), connects(family), binds(family), waits(family);
		wrong(family), shares(family), many(family), in_child(few_numbers, &family);
		interfaces(family);
	}
}

static void dgramsignals(void)
{
	interrupts(AF_INET);
}

const struct section datagram_sections[] = {
	{"datagrams", datagrams}, {"dgramsignals", dgramsignals}, {NULL, NULL}};
