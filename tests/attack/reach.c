/* TCP: what another session listens at, what a name is allowed at another port, and decisions under wear. */
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>

#include "attack.h"

#define SECRET "SECRET"

static struct sockaddr_in local(int port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return a;
}

static int victim(void)
{
	return getenv("PORT") ? atoi(getenv("PORT")) : 0;
}

static int listener(int *port)
{
	struct sockaddr_in a = local(0);
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, len) < 0 || listen(fd, 100) < 0 ||
	    getsockname(fd, (struct sockaddr *)&a, &len) < 0)
		broken("listener");
	*port = ntohs(a.sin_port);
	return fd;
}

/* Whether the victim speaks to whoever connects with this socket. */
static bool wins(int fd)
{
	struct sockaddr_in a = local(victim());
	struct pollfd p = {fd, POLLIN, 0};
	char buf[16] = "";

	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || poll(&p, 1, 20000) <= 0)
		return false;
	return recv(fd, buf, sizeof(buf) - 1, 0) > 0 && strcmp(buf, SECRET) == 0;
}

static bool wins_anew(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	bool won = wins(fd);

	close(fd);
	return won;
}

/* A connection within the session, which is allowed. */
static bool talks_to_itself(void)
{
	int port, l = listener(&port), c = socket(AF_INET, SOCK_STREAM, 0), s = -1;
	struct sockaddr_in a = local(port);
	bool talks = c >= 0 && connect(c, (struct sockaddr *)&a, sizeof(a)) == 0 &&
		     (s = accept(l, NULL, NULL)) >= 0;

	close(c), close(s), close(l);
	return talks;
}

static int plain(int argc, char **argv)
{
	return wins_anew() ? WON : LOST;
}

/* The names are looked up first, so that they lead to their addresses. */
static int named(int argc, char **argv)
{
	static const char *const names[] = {"a.test", "b.test", "a.test"};
	struct addrinfo *found;
	int n = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (getaddrinfo(names[i], NULL, NULL, &found) == 0)
			freeaddrinfo(found), n++;
	if (getenv("CONFINED") && n != 3)
		broken("the names lead nowhere");
	return wins_anew() ? WON : LOST;
}

/* --- Wear --- */

static int take(int *fds, int max)
{
	int n = 0;

	while (n < max && (fds[n] = socket(AF_INET, SOCK_STREAM, 0)) >= 0)
		n++;
	return n;
}

static void give(const int *fds, int n)
{
	while (n > 0)
		close(fds[--n]);
}

/* The first, the last and a new one of very many. */
static int kept(int argc, char **argv)
{
	static int fds[10000];
	struct rlimit l;
	bool won;
	int n;

	getrlimit(RLIMIT_NOFILE, &l);
	l.rlim_cur = l.rlim_max;
	setrlimit(RLIMIT_NOFILE, &l);
	n = take(fds, 10000);
	printf("# %d sockets\n", n);
	/* The supervisor has twice as many descriptors as sockets that it keeps. */
	if (n < 10000 && l.rlim_max > 20100)
		broken("10,000 sockets");
	if (n < 10)
		broken("sockets");
	/* Room for those that follow. */
	for (int i = 0; i < 4; i++)
		close(fds[--n]);
	if (!talks_to_itself())
		broken("the session's own listener");
	won = wins(fds[0]) | wins(fds[n - 1]) | wins_anew();
	give(fds, n);
	return won ? WON : LOST;
}

/* Each process has as many as it may, until the supervisor cannot have more; each tries with the oldest and a new one. */
static bool wins_with_all(int start, int end)
{
	static int fds[4096];
	int n = take(fds, 4096);
	bool won;
	char c;

	/* One has room again here, which the supervisor need not have. */
	if (n > 1)
		close(fds[--n]);
	if (write(end, "x", 1) != 1 || read(start, &c, 1) < 0)
		_exit(BROKEN);
	won = n > 0 && wins(fds[0]);
	won |= n > 1 && wins(fds[n - 1]);
	return won | wins_anew();
}

static int exhausted(int argc, char **argv)
{
	enum { PROCESSES = 8 };
	int ready[2], go[2], status, won = 0, lost = 0;
	char c;

	if (pipe(ready) < 0 || pipe(go) < 0)
		broken("pipe");
	for (int i = 0; i < PROCESSES; i++)
		if (fork() == 0) {
			close(go[1]);
			_exit(wins_with_all(go[0], ready[1]) ? WON : LOST);
		}
	for (int i = 0; i < PROCESSES; i++)
		if (read(ready[0], &c, 1) != 1)
			broken("a process");
	close(go[1]);
	while (wait(&status) > 0) {
		won += WIFEXITED(status) && WEXITSTATUS(status) == WON;
		lost += WIFEXITED(status) && WEXITSTATUS(status) == LOST;
	}
	printf("# %d won, %d lost\n", won, lost);
	if (won + lost != PROCESSES)
		broken("processes");
	/* What is over costs nothing any more. */
	if (!talks_to_itself())
		broken("the session's own listener");
	return won ? WON : LOST;
}

static const struct attack list[] = {
	{"other_session", plain}, {"other_port", named},    {"other_address", named},
	{"kept", kept},		  {"exhausted", exhausted},
};

/* "serve": the service, until killed. */
static int serve(void)
{
	int port, c, l = listener(&port);

	signal(SIGPIPE, SIG_IGN);
	printf("%d\n", port);
	fflush(stdout);
	for (;;) {
		c = accept(l, NULL, NULL);
		if (c >= 0 && send(c, SECRET, strlen(SECRET), 0) < 0)
			perror("send");
		close(c);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "serve") == 0)
		return serve();
	return attack_main(list, sizeof(list) / sizeof(*list), argc, argv);
}
