/*
 * Datagrams: sending to an address of one's choice, which a service outside would note as $OUT/got. After these, programs that
 * wear down what stands in for datagram sockets: they end with 0 when it still works.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/uio.h>

#include "attack.h"

static struct sockaddr_in victim(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(getenv("PORT")))};

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return a;
}

static struct sockaddr_in resolver(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(53)};

	inet_pton(AF_INET, "192.0.2.53", &a.sin_addr);
	return a;
}

static int udp(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0)
		broken("socket");
	return fd;
}

static int arrived(void)
{
	for (int i = 0; i < 50; i++, usleep(10000))
		if (there(out("got")))
			return WON;
	return LOST;
}

static int by_sendto(int argc, char **argv)
{
	struct sockaddr_in a = victim();

	sendto(udp(), "x", 1, 0, (struct sockaddr *)&a, sizeof(a));
	return arrived();
}

/* control: IP_PKTINFO, which names an interface and a source. */
static struct msghdr message(struct sockaddr_in *a, bool control)
{
	static char buf[CMSG_SPACE(sizeof(struct in_pktinfo))];
	static struct iovec iov = {"x", 1};
	struct msghdr m = {.msg_name = a, .msg_namelen = sizeof(*a), .msg_iov = &iov, .msg_iovlen = 1};
	struct cmsghdr *c;

	if (!control)
		return m;
	m.msg_control = buf;
	m.msg_controllen = sizeof(buf);
	c = CMSG_FIRSTHDR(&m);
	*c = (struct cmsghdr){CMSG_LEN(sizeof(struct in_pktinfo)), IPPROTO_IP, IP_PKTINFO};
	*(struct in_pktinfo *)CMSG_DATA(c) = (struct in_pktinfo){.ipi_spec_dst = a->sin_addr};
	return m;
}

static int by_sendmsg(int argc, char **argv)
{
	struct sockaddr_in a = victim();
	struct msghdr m = message(&a, false);

	sendmsg(udp(), &m, 0);
	return arrived();
}

static int by_sendmmsg(int argc, char **argv)
{
	struct sockaddr_in a = victim();
	struct mmsghdr m = {.msg_hdr = message(&a, false)};

	sendmmsg(udp(), &m, 1, 0);
	return arrived();
}

static int pktinfo(int argc, char **argv)
{
	struct sockaddr_in a = victim();
	struct msghdr m = message(&a, true);

	sendmsg(udp(), &m, 0);
	return arrived();
}

static int connected(int argc, char **argv)
{
	struct sockaddr_in a = victim();
	int fd = udp();

	connect(fd, (struct sockaddr *)&a, sizeof(a));
	write(fd, "x", 1);
	return arrived();
}

/* First where one may ask, then elsewhere. */
static int second(int argc, char **argv)
{
	struct sockaddr_in a = victim(), b = resolver();
	struct sockaddr none = {.sa_family = AF_UNSPEC};
	int fd = udp();

	connect(fd, (struct sockaddr *)&b, sizeof(b));
	connect(fd, &none, sizeof(none));
	connect(fd, (struct sockaddr *)&a, sizeof(a));
	send(fd, "x", 1, MSG_NOSIGNAL);
	sendto(fd, "x", 1, MSG_NOSIGNAL, (struct sockaddr *)&a, sizeof(a));
	return arrived();
}

static int mapped(int argc, char **argv)
{
	struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_port = victim().sin_port};
	int fd = socket(AF_INET6, SOCK_DGRAM, 0);

	if (fd < 0)
		return SKIP;
	inet_pton(AF_INET6, "::ffff:127.0.0.1", &a.sin6_addr);
	sendto(fd, "x", 1, 0, (struct sockaddr *)&a, sizeof(a));
	return arrived();
}

/* --- Wearing down --- */

/* Of a name that is not there: the stub answers by itself. */
static const char question[] = "\1\2\1\0\0\1\0\0\0\0\0\0\6single\0\0\1\0\1";
#define QUESTION (sizeof(question) - 1)

static int asker(int flags)
{
	struct sockaddr_in a = resolver();
	int fd = socket(AF_INET, SOCK_DGRAM | flags, 0);

	if (fd >= 0)
		connect(fd, (struct sockaddr *)&a, sizeof(a));
	return fd;
}

static bool answered(void)
{
	int fd = asker(0);
	struct pollfd p = {fd, POLLIN, 0};
	char buf[512];
	bool ok = fd >= 0 && send(fd, question, QUESTION, 0) > 0 && poll(&p, 1, 5000) == 1 &&
		  recv(fd, buf, sizeof(buf), 0) >= (ssize_t)QUESTION && memcmp(buf, question, 2) == 0;

	if (!ok)
		printf("# a question has no answer: %s\n", strerror(errno));
	close(fd);
	return ok;
}

static int source[2], raced = 970;

static void flip_descriptor(void *arg)
{
	dup2(source[0], raced);
	dup2(source[1], raced);
}

static struct iovec flipped;
static char room[3][4096];

/* One whole iovec or the other; halves of both name no more than the middle one. */
static void flip_room(void *arg)
{
	flipped = (struct iovec){room[1], 16};
	flipped = (struct iovec){room[1] + 100, 3000};
	flipped = (struct iovec){NULL, 3000};
}

/* The number, and what it is to be written to, change while the supervisor receives. */
static int race_receive(int argc, char **argv)
{
	static const char clean[sizeof(room[0])];
	struct flipper f, g;
	int pair[2];
	double until = seconds() + patience();
	long tries = 0;

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, pair) < 0)
		broken("socketpair");
	source[0] = asker(SOCK_NONBLOCK);
	source[1] = pair[0];
	dup2(source[0], raced);
	flipper_start(&f, flip_descriptor, NULL);
	flipper_start(&g, flip_room, NULL);
	do {
		struct sockaddr_storage from;
		struct msghdr m = {.msg_name = &from, .msg_iov = &flipped, .msg_iovlen = 1};
		struct mmsghdr mm = {.msg_hdr = m};
		socklen_t len = sizeof(from);

		m.msg_namelen = mm.msg_hdr.msg_namelen = sizeof(from);
		send(source[0], question, QUESTION, MSG_DONTWAIT);
		send(pair[1], question, QUESTION, MSG_DONTWAIT);
		recvmsg(raced, &m, MSG_DONTWAIT);
		recvmmsg(raced, &mm, 1, MSG_DONTWAIT, NULL);
		recvfrom(raced, room[1], 100, MSG_DONTWAIT, (struct sockaddr *)&from, &len);
	} while (goes_on(until, ++tries));
	flipper_end(&f);
	flipper_end(&g);
	if (memcmp(room[0], clean, sizeof(clean)) != 0 || memcmp(room[2], clean, sizeof(clean)) != 0) {
		printf("# written beside\n");
		return 1;
	}
	return answered() ? 0 : 1;
}

/* Questions until no more go, whose answers nobody reads; others are answered. */
static int full_channel(int argc, char **argv)
{
	int fd[20];
	bool ok = true;

	for (int i = 0; i < 20; i++) {
		fd[i] = asker(SOCK_NONBLOCK);
		for (int n = 0; n < 5000; n++)
			send(fd[i], question, QUESTION, MSG_DONTWAIT | MSG_NOSIGNAL);
		ok &= answered();
	}
	for (int i = 0; i < 20; i++)
		close(fd[i]);
	return ok && answered() ? 0 : 1;
}

/* 12 processes want 900 each, and keep what they get. */
static int many(int argc, char **argv)
{
	pid_t pids[12];
	int got = 0, n, fds[2];

	if (pipe(fds) < 0)
		broken("pipe");
	for (int i = 0; i < 12; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			for (n = 0; n < 900 && socket(AF_INET, SOCK_DGRAM, 0) >= 0;)
				n++;
			write(fds[1], &n, sizeof(n));
			pause();
		}
		if (read(fds[0], &n, sizeof(n)) != sizeof(n))
			broken("read");
		got += n;
	}
	printf("# %d of 10800\n", got);
	if (socket(AF_UNIX, SOCK_STREAM, 0) < 0 || !write_file("file", "x"))
		broken("other calls");
	for (int i = 0; i < 12; i++)
		kill(pids[i], SIGKILL), waitpid(pids[i], NULL, 0);
	return got > 0 && got <= 1024 && answered() ? 0 : 1;
}

static const struct attack list[] = {
	{"sendto", by_sendto}, {"sendmsg", by_sendmsg},	       {"sendmmsg", by_sendmmsg},
	{"pktinfo", pktinfo},  {"connected", connected},       {"second", second},
	{"mapped", mapped},    {"race_receive", race_receive}, {"full_channel", full_channel},
	{"many", many},
};

/* --- "serve": notes what comes, until killed --- */

static int serve(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET};
	socklen_t len = sizeof(a);
	int fd = udp();
	char buf[16];

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, (struct sockaddr *)&a, len) < 0 || getsockname(fd, (struct sockaddr *)&a, &len) < 0)
		broken("bind");
	printf("%d\n", ntohs(a.sin_port));
	fflush(stdout);
	while (recv(fd, buf, sizeof(buf), 0) >= 0)
		write_file(out("got"), "x");
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "serve") == 0)
		return serve();
	return attack_main(list, sizeof(list) / sizeof(*list), argc, argv);
}
