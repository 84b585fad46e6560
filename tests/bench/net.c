/*
 * net rate|latency|connect [PORT]|lookup NAME|flow: the network over loopback, with the server in a child of its own.
 *
 * rate: MB/s through one connection. latency: nanoseconds for one byte there and back. connect: connects per second, each with
 * a new socket. lookup: nanoseconds for a question for an address by UDP, to the first server of resolv.conf.
 * flow: says "begin", waits for a line, lets 1 GB flow, says "end" and waits for another: to look at who works meanwhile.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <resolv.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GB	 1000000000L
#define CHUNK	 65536
#define PINGS	 20000
#define CONNECTS 2000
#define LOOKUPS	 2000

static struct sockaddr_in at = {.sin_family = AF_INET};
static char bytes[CHUNK];

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* --- The server --- */

/* All may wait at once, else the kernel drops some, who try again a second later. What is accepted inherits SO_LINGER: it is reset at its end, so that thousands of connects leave no port occupied. */
static int start_listener(int port)
{
	const struct linger reset = {1, 0};
	socklen_t len = sizeof(at);
	int l = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	at.sin_port = htons((uint16_t)port);
	if (l < 0 || setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    setsockopt(l, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)) < 0 ||
	    bind(l, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(l, 2 * CONNECTS) < 0 ||
	    getsockname(l, (struct sockaddr *)&at, &len) < 0)
		die("listener");
	return l;
}

/* answers: each byte is sent back. */
static void serve(int listener, int answers)
{
	for (;;) {
		int fd = accept(listener, NULL, NULL), on = 1;
		ssize_t n;

		if (fd < 0)
			exit(1);
		if (answers)
			setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		while ((n = read(fd, bytes, sizeof(bytes))) > 0)
			if (answers && write(fd, bytes, (size_t)n) != n)
				break;
		close(fd);
	}
}

static pid_t start_server(int port, int answers)
{
	int listener = start_listener(port);
	pid_t parent = getpid(), pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			exit(1);
		serve(listener, answers);
	}
	if (pid < 0)
		die("fork");
	close(listener);
	return pid;
}

static int connected(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
		die("connect");
	return fd;
}

/* --- What is measured --- */

static void send_all(int fd, long size)
{
	while (size > 0) {
		ssize_t n = write(fd, bytes, sizeof(bytes));

		if (n < 0)
			die("write");
		size -= n;
	}
}

static double rate(void)
{
	int fd = connected();
	double begin = now();

	send_all(fd, GB);
	return (double)GB / 1e6 / ((now() - begin) / 1e9);
}

static double latency(void)
{
	int fd = connected(), on = 1;
	double begin;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	begin = now();
	for (int i = 0; i < PINGS; i++)
		if (write(fd, "x", 1) != 1 || read(fd, bytes, 1) != 1)
			die("ping");
	return (now() - begin) / PINGS;
}

static double connects(void)
{
	double begin = now();

	for (int i = 0; i < CONNECTS; i++)
		close(connected());
	return CONNECTS / ((now() - begin) / 1e9);
}

static double lookup(const char *name)
{
	unsigned char question[512], answer[512];
	struct pollfd p = {.events = POLLIN};
	struct sockaddr_in server;
	double begin;
	int len;

	if (res_init() < 0 || _res.nscount < 1)
		die("resolv.conf");
	server = _res.nsaddr_list[0];
	len = res_mkquery(ns_o_query, name, ns_c_in, ns_t_a, NULL, 0, NULL, question, sizeof(question));
	p.fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (len < 0 || p.fd < 0 || connect(p.fd, (struct sockaddr *)&server, sizeof(server)) < 0)
		die("resolver");
	begin = now();
	for (int i = 0; i < LOOKUPS; i++) {
		question[0] = (unsigned char)(i >> 8);
		question[1] = (unsigned char)i;
		if (send(p.fd, question, (size_t)len, 0) != len || poll(&p, 1, 5000) != 1 ||
		    recv(p.fd, answer, sizeof(answer), 0) < len || memcmp(answer, question, 2) != 0 ||
		    ntohs(((HEADER *)answer)->ancount) == 0)
			die("lookup");
	}
	return (now() - begin) / LOOKUPS;
}

static void say_and_wait(const char *word)
{
	char line[16];

	puts(word);
	if (fflush(stdout) != 0 || read(0, line, sizeof(line)) < 0)
		die(word);
}

/* Prints no number. */
static double flow(void)
{
	int fd = connected();

	say_and_wait("begin");
	send_all(fd, GB);
	say_and_wait("end");
	return 0;
}

/* What is served to. */
static const struct test {
	const char *name;
	double (*measure)(void);
	int answers;
} tests[] = {{"rate", rate, 0}, {"latency", latency, 1}, {"connect", connects, 0}, {"flow", flow, 0}};

static double run(const struct test *t, int port)
{
	pid_t server = start_server(port, t->answers);
	double result = t->measure();

	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	return result;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	double result = -1;

	signal(SIGPIPE, SIG_IGN);
	if (strcmp(what, "lookup") == 0 && argc == 3)
		result = lookup(argv[2]);
	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++)
		if (strcmp(what, tests[i].name) == 0)
			result = run(&tests[i], argc == 3 ? atoi(argv[2]) : 0);
	if (result < 0)
		return 2;
	if (result > 0)
		printf("%.1f\n", result);
	return fflush(stdout) != 0;
}
