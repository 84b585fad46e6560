/* TCP: reaching a service of this machine that is none of the session, and being reached by others. */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/mman.h>

#include "attack.h"

#define SECRET "SECRET"

static struct sockaddr_in v4(const char *addr, int port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

	inet_pton(AF_INET, addr, &a.sin_addr);
	return a;
}

static int number(const char *name)
{
	return getenv(name) ? atoi(getenv(name)) : 0;
}

static int victim(void)
{
	return number("PORT");
}

/* Whether the socket is connected to a victim, which answers whoever writes something. */
static bool hears(int fd)
{
	struct pollfd p = {fd, POLLIN, 0};
	char buf[16] = "";

	if (send(fd, "hello", 5, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 || poll(&p, 1, 300) <= 0)
		return false;
	return recv(fd, buf, sizeof(buf) - 1, MSG_DONTWAIT) > 0 && strcmp(buf, SECRET) == 0;
}

static int listener(int port, int backlog, int *got)
{
	struct sockaddr_in a = v4("127.0.0.1", port);
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&a, len) < 0 || listen(fd, backlog) < 0) {
		close(fd);
		return -1;
	}
	if (got && getsockname(fd, (struct sockaddr *)&a, &len) == 0)
		*got = ntohs(a.sin_port);
	return fd;
}

/* One that shares its port. */
static int shared_listener(int port)
{
	struct sockaddr_in a = v4("127.0.0.1", port);
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one));
	return bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0 && listen(fd, 100) == 0 ? fd : -1;
}

/* Every way to write its address. */
static int plain(int argc, char **argv)
{
	static const char *const addrs[] = {"127.0.0.1",      "0.0.0.0", "::ffff:127.0.0.1",
					    "::ffff:0.0.0.0", "::",	 "::1"};
	bool won = false;

	for (size_t i = 0; i < sizeof(addrs) / sizeof(*addrs); i++)
		for (int nonblock = 0; nonblock < 2; nonblock++) {
			struct sockaddr_in a = v4(addrs[i], victim());
			struct sockaddr_in6 b = {.sin6_family = AF_INET6,
						 .sin6_port = htons((uint16_t)victim())};
			bool six = strchr(addrs[i], ':');
			int fd = socket(six ? AF_INET6 : AF_INET,
					SOCK_STREAM | (nonblock ? SOCK_NONBLOCK : 0), 0);

			inet_pton(AF_INET6, addrs[i], &b.sin6_addr);
			if (six)
				connect(fd, (struct sockaddr *)&b, sizeof(b));
			else
				connect(fd, (struct sockaddr *)&a, sizeof(a));
			usleep(nonblock ? 20000 : 0);
			won |= hears(fd);
			close(fd);
		}
	return won ? WON : LOST;
}

/* --- Addresses and descriptors that change meanwhile --- */

static struct sockaddr_in *flipping;
static int own_port, flipped_fd = 100;

static void flip(void *arg)
{
	flipping->sin_port = htons((uint16_t)own_port);
	flipping->sin_port = htons((uint16_t)victim());
}

static void flip_descriptor(void *arg)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	dup2(fd, flipped_fd);
	close(fd);
}

static void *answer_nobody(void *arg)
{
	for (;;)
		close(accept((int)(intptr_t)arg, NULL, NULL));
	return NULL;
}

static int race(void)
{
	double end = seconds() + patience();
	bool won = false;
	long tries = 0;

	do {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		if (connect(fd, (struct sockaddr *)flipping, sizeof(*flipping)) == 0)
			won = hears(fd);
		close(fd);
		tries++;
	} while (!won && goes_on(end, tries));
	tell_tries("connect", won, tries);
	return won ? WON : LOST;
}

static void begin_race(void)
{
	int l = listener(0, 1000, &own_port);
	pthread_t t;

	flipping = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (l < 0 || flipping == MAP_FAILED)
		broken("listener");
	*flipping = v4("127.0.0.1", own_port);
	pthread_create(&t, NULL, answer_nobody, (void *)(intptr_t)l);
}

static int flip_thread(int argc, char **argv)
{
	struct flipper f;
	int rc;

	begin_race();
	flipper_start(&f, flip, NULL);
	rc = race();
	flipper_end(&f);
	return rc;
}

static int flip_shared(int argc, char **argv)
{
	pid_t pid;
	int rc;

	begin_race();
	pid = fork();
	if (pid == 0)
		for (;;)
			flip(NULL);
	rc = race();
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return rc;
}

/* The number stands for another socket while its connect is decided; the address changes as well. */
static int flip_fd(int argc, char **argv)
{
	struct flipper f, g;
	double end = seconds() + patience();
	bool won = false;
	long tries = 0;

	begin_race();
	flip_descriptor(NULL);
	flipper_start(&f, flip, NULL);
	flipper_start(&g, flip_descriptor, NULL);
	do {
		int fd;

		connect(flipped_fd, (struct sockaddr *)flipping, sizeof(*flipping));
		fd = dup(flipped_fd);
		won = hears(fd);
		close(fd);
		tries++;
	} while (!won && goes_on(end, tries));
	flipper_end(&f);
	flipper_end(&g);
	tell_tries("connect", won, tries);
	return won ? WON : LOST;
}

/* --- Connects that are none --- */

static int fast_open(int argc, char **argv)
{
	struct sockaddr_in a = v4("127.0.0.1", victim());
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1, own, l = listener(0, 5, &own);
	bool won;

	sendto(fd, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL, (struct sockaddr *)&a, sizeof(a));
	won = hears(fd);
	close(fd);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &one, sizeof(one));
	connect(fd, (struct sockaddr *)&a, sizeof(a));
	won |= hears(fd);
	close(fd), close(l);
	return won ? WON : LOST;
}

/* A socket that was allowed once, and is taken apart and used again. */
static int second(int argc, char **argv)
{
	int own, l = listener(0, 5, &own), fd = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in a = v4("127.0.0.1", own), b = v4("127.0.0.1", victim());
	struct sockaddr none = {.sa_family = AF_UNSPEC};

	if (l < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		broken("own listener");
	connect(fd, &none, sizeof(none));
	connect(fd, (struct sockaddr *)&b, sizeof(b));
	return hears(fd) ? WON : LOST;
}

/* --- In another's place --- */

/* The victim waits for this port to be free, as a service that is started again. */
static int swap(int argc, char **argv)
{
	enum { MANY = 40 };
	struct sockaddr_in a = v4("127.0.0.1", number("WANTED"));
	int fd[MANY], l = listener(number("WANTED"), 0, NULL);
	double end = seconds() + 12;
	bool won = false;

	if (l < 0)
		broken("the wanted port");
	/* The first ones are taken, the others go on asking for seconds. */
	for (int i = 0; i < MANY; i++) {
		fd[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		connect(fd[i], (struct sockaddr *)&a, sizeof(a));
	}
	close(l);
	while (!won && seconds() < end)
		for (int i = 2; !won && i < MANY; i++)
			won = hears(fd[i]);
	return won ? WON : LOST;
}

/* The same with connects that begin while the one goes and the other comes. */
static void *connect_often(void *arg)
{
	struct sockaddr_in a = v4("127.0.0.1", number("WANTED"));
	bool *won = arg;

	while (!*won) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		if (connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0 && hears(fd))
			*won = true;
		close(fd);
	}
	return NULL;
}

static int swap_race(int argc, char **argv)
{
	double end = seconds() + patience();
	int l = listener(number("WANTED"), 100, NULL);
	static bool won;
	pthread_t t[3];

	if (l < 0)
		broken("the wanted port");
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, connect_often, &won);
	while (!won && seconds() < end) {
		usleep(20000);
		close(l);
		usleep(2000);
		l = listener(number("WANTED"), 100, NULL);
	}
	return won ? WON : LOST;
}

/* The port of a service that shares it, as it thinks, with its own workers. */
static int reuseport(int argc, char **argv)
{
	int fd = shared_listener(number("SHARED"));
	struct pollfd p = {fd, POLLIN, 0};

	return poll(&p, 1, 3000) == 1 && p.revents == POLLIN && accept(fd, NULL, NULL) >= 0 ? WON : LOST;
}

/* The other way round: a service joins the port that the session listens at, and gets what the session's own clients send. */
static int joined(int argc, char **argv)
{
	struct sockaddr_in a = v4("127.0.0.1", number("JOINED"));
	int fd = shared_listener(number("JOINED")), taken = 0, connected = 0;

	if (fd < 0)
		broken("a listener of its own");
	fcntl(fd, F_SETFL, O_NONBLOCK);
	usleep(1500000);
	for (int i = 0; i < 40; i++) {
		int c = socket(AF_INET, SOCK_STREAM, 0);

		connected += connect(c, (struct sockaddr *)&a, sizeof(a)) == 0;
	}
	for (int i = 0; i < 40; i++)
		taken += accept(fd, NULL, NULL) >= 0;
	return connected > taken ? WON : LOST;
}

static volatile int flipped = -1;

static void *flip_option(void *arg)
{
	for (int on = 0;; on = !on) {
		int fd = flipped;

		if (fd >= 0)
			setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
	}
	return NULL;
}

/* The option is off while it is looked at, and on while the socket is bound or begins to listen. */
static int reuseport_race(int argc, char **argv)
{
	struct sockaddr_in a = v4("127.0.0.1", number("SHARED"));
	double end = seconds() + patience();
	bool won = false;
	pthread_t t;

	pthread_create(&t, NULL, flip_option, NULL);
	while (!won && seconds() < end) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		flipped = fd;
		if (bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0)
			for (int i = 0; i < 2000 && !won; i++)
				won = listen(fd, 10) == 0;
		flipped = -1;
		close(fd);
	}
	return won ? WON : LOST;
}

/* A client outside comes by an address that is not of loopback. */
static int interfaces(int argc, char **argv)
{
	struct sockaddr_in a = v4("0.0.0.0", number("OPEN"));
	struct sockaddr_in6 b = {.sin6_family = AF_INET6, .sin6_port = a.sin_port};
	bool won = false;

	if (!number("LAN"))
		return SKIP;
	for (int how = 0; how < 3 && !won; how++) {
		int fd = socket(how == 1 ? AF_INET6 : AF_INET, SOCK_STREAM, 0), one = 1;
		struct pollfd p = {fd, POLLIN, 0};

		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		if (how == 2)
			setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "eth0", 5);
		if (how == 1)
			bind(fd, (struct sockaddr *)&b, sizeof(b));
		else
			bind(fd, (struct sockaddr *)&a, sizeof(a));
		listen(fd, 5);
		setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "", 0);
		won = poll(&p, 1, 700) == 1 && p.revents == POLLIN && accept(fd, NULL, NULL) >= 0;
		close(fd);
	}
	return won ? WON : LOST;
}

static const struct attack list[] = {
	{"plain", plain},     {"flip_thread", flip_thread},	  {"flip_shared", flip_shared},
	{"flip_fd", flip_fd}, {"fast_open", fast_open},		  {"second", second},
	{"swap", swap},	      {"swap_race", swap_race},		  {"reuseport", reuseport},
	{"joined", joined},   {"reuseport_race", reuseport_race}, {"interfaces", interfaces},
};

/* --- "serve": the services outside, until killed --- */

static void answer(int fd)
{
	char buf[16];
	int c;

	while ((c = accept(fd, NULL, NULL)) >= 0) {
		struct timeval t = {0, 200000};

		setsockopt(c, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
		if (read(c, buf, sizeof(buf)) > 0 && write(c, SECRET, strlen(SECRET)) < 0)
			perror("write");
		close(c);
	}
}

static void serve_wanted(void)
{
	for (;; usleep(1000))
		answer(listener(number("WANTED"), 100, NULL));
}

/* The service that shares a port, and its clients. */
static void serve_shared(void)
{
	struct sockaddr_in a = v4("127.0.0.1", number("SHARED"));
	int fd = shared_listener(number("SHARED"));

	if (fork() == 0)
		answer(fd);
	close(fd);
	for (;; usleep(10000)) {
		int c = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

		connect(c, (struct sockaddr *)&a, sizeof(a)), usleep(1000), close(c);
	}
}

/* Clients of whoever listens to the outside. */
static void visit(struct in_addr lan)
{
	struct sockaddr_in a = v4("0.0.0.0", number("OPEN"));

	for (a.sin_addr = lan;; usleep(10000)) {
		int c = socket(AF_INET, SOCK_STREAM, 0);

		connect(c, (struct sockaddr *)&a, sizeof(a)), close(c);
	}
}

static bool find_lan(struct in_addr *lan)
{
	struct ifaddrs *all, *i;
	bool found = false;

	if (getifaddrs(&all) < 0)
		return false;
	for (i = all; i && !found; i = i->ifa_next) {
		found = i->ifa_addr && i->ifa_addr->sa_family == AF_INET && !(i->ifa_flags & IFF_LOOPBACK) &&
			i->ifa_flags & IFF_UP;
		if (found)
			*lan = ((struct sockaddr_in *)i->ifa_addr)->sin_addr;
	}
	freeifaddrs(all);
	return found;
}

static int serve(void)
{
	struct in_addr lan;
	int port, l;

	signal(SIGPIPE, SIG_IGN);
	setpgid(0, 0);
	l = listener(0, 100, &port);
	if (l < 0)
		broken("port");
	printf("%d %d\n", port, find_lan(&lan));
	fflush(stdout);
	if (fork() == 0)
		serve_shared();
	if (fork() == 0 && find_lan(&lan))
		visit(lan);
	/* What is wanted is taken by the attack first, and what is joined. */
	if (fork() == 0)
		sleep(1), serve_wanted();
	if (fork() == 0)
		sleep(1), answer(shared_listener(number("JOINED")));
	answer(l);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "serve") == 0)
		return serve();
	return attack_main(list, sizeof(list) / sizeof(*list), argc, argv);
}
