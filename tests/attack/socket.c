/*
 * Sockets. Outside there listens, on each of these, someone who answers "SECRET": the file $OUT/sock, the file
 * $IN/victim.sock (where the session may write), the abstract name $ABSTRACT, and TCP on loopback, port $PORT. $OUT/dgram is
 * a datagram socket whose messages go to the file $OUT/received.
 */
#include "attack.h"

#include <linux/netlink.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/prctl.h>

static socklen_t address(struct sockaddr_un *a, const char *name)
{
	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	if (strlen(name) >= sizeof(a->sun_path))
		broken("%s is too long", name);
	strcpy(a->sun_path, name);
	if (name[0] == '@') {
		a->sun_path[0] = '\0';
		return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
	}
	return sizeof(*a);
}

static bool hears(int fd)
{
	char buf[64] = "";
	ssize_t n;
	struct timeval t = {1, 0};

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
	if (send(fd, "hello", 5, MSG_NOSIGNAL) < 0)
		return false;
	n = read(fd, buf, sizeof(buf) - 1);
	return n > 0 && strstr(buf, "SECRET");
}

static bool reach(const char *name)
{
	struct sockaddr_un a;
	socklen_t len = address(&a, name);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	bool won;

	won = fd >= 0 && connect(fd, (struct sockaddr *)&a, len) == 0 && hears(fd);
	close(fd);
	return won;
}

static int plain(int argc, char **argv)
{
	char proc[64], path[PATH_MAX];
	int won = 0, fd;

	won += reach(out("sock"));
	won += reach("victim.sock");
	won += reach("./victim.sock");
	won += reach("/proc/self/cwd/victim.sock");
	won += reach(getenv("ABSTRACT"));
	symlink(out("sock"), "link");
	won += reach("link");
	rename("victim.sock", "mine");
	won += reach("mine");
	link("mine", "hardlink");
	won += reach("hardlink");
	fd = open("mine", O_PATH);
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	won += reach(proc);
	snprintf(path, sizeof(path), "/proc/self/root%s", out("sock"));
	if (strlen(path) < 100)
		won += reach(path);
	return won ? WON : LOST;
}

/* The socket file that is found after bind() is another one than was bound. */
static void flip_files(void *arg)
{
	syscall(SYS_renameat2, AT_FDCWD, "victim.sock", AT_FDCWD, "s", 2 /* RENAME_EXCHANGE */);
	syscall(SYS_renameat2, AT_FDCWD, "victim.sock", AT_FDCWD, "s", 1 /* RENAME_NOREPLACE */);
	syscall(SYS_renameat2, AT_FDCWD, "s", AT_FDCWD, "victim.sock", 1);
}

static int bind_race(int argc, char **argv)
{
	double end = seconds() + patience() * 2;
	struct sockaddr_un a;
	struct flipper f;
	bool won = false;

	address(&a, "s");
	flipper_start(&f, flip_files, NULL);
	while (!won && seconds() < end) {
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);

		bind(fd, (struct sockaddr *)&a, sizeof(a));
		won = reach("s") || reach("victim.sock");
		close(fd);
	}
	flipper_end(&f);
	return won ? WON : LOST;
}

static int own_abstract(const char *name, int type)
{
	struct sockaddr_un a;
	socklen_t len = address(&a, name);
	int fd = socket(AF_UNIX, type, 0);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&a, len) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* A socket of the session's own has the same name, but is of another type. */
static int other_type(int argc, char **argv)
{
	own_abstract(getenv("ABSTRACT"), SOCK_SEQPACKET);
	return reach(getenv("ABSTRACT")) ? WON : LOST;
}

/* The kernel's list of sockets is text, and a name may have line breaks. */
static int forged_line(int argc, char **argv)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), won = 0;
	char name[256];
	struct stat st;

	fstat(fd, &st);
	snprintf(name, sizeof(name), "@\na: 0 0 0 0 0 %lu %s", (unsigned long)st.st_ino, getenv("ABSTRACT"));
	if (strlen(name) < sizeof(((struct sockaddr_un *)0)->sun_path))
		own_abstract(name, SOCK_STREAM);
	won += reach(getenv("ABSTRACT"));
	/* The same in the name of a file. */
	own_abstract(name + 1, SOCK_STREAM);
	won += reach(getenv("ABSTRACT"));
	return won ? WON : LOST;
}

/* It also shows NUL as "@": $ABSTRACT with a real "@" in it looks like another. */
static int confused_name(int argc, char **argv)
{
	const char *victim = getenv("ABSTRACT_NUL");
	struct sockaddr_un a;
	socklen_t len = address(&a, victim);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	/* "@...@end" outside is bound with a NUL in place of the second "@". */
	own_abstract(victim, SOCK_STREAM);
	*strrchr(a.sun_path + 1, '@') = '\0';
	return connect(fd, (struct sockaddr *)&a, len) == 0 && hears(fd) ? WON : LOST;
}

/* The address changes between the look and the connection. */
static struct sockaddr_un flip_to;
static void flip_address(void *arg)
{
	strcpy(flip_to.sun_path, out("sock"));
	strcpy(flip_to.sun_path, "own.sock");
}

static int address_race(int argc, char **argv)
{
	double end = seconds() + patience() * 2;
	struct sockaddr_un a;
	struct flipper f;
	bool won = false;
	int own = socket(AF_UNIX, SOCK_STREAM, 0);

	address(&a, "own.sock");
	if (bind(own, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(own, 1000) < 0)
		broken("own.sock");
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (double e = seconds() + 5; seconds() < e;)
			close(accept(own, NULL, NULL));
		_exit(0);
	}
	flip_to.sun_family = AF_UNIX;
	flipper_start(&f, flip_address, NULL);
	while (!won && seconds() < end) {
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);

		won = connect(fd, (struct sockaddr *)&flip_to, sizeof(flip_to)) == 0 && hears(fd);
		close(fd);
	}
	flipper_end(&f);
	return won ? WON : LOST;
}

/* Every type, for a socket whose messages name their destination. */
static int datagrams(int argc, char **argv)
{
	struct sockaddr_un a;
	int won = 0;

	address(&a, out("dgram"));
	for (int type = 0; type < 16; type++)
		for (int bits = 0; bits < 4; bits++) {
			int t = type | (bits & 1 ? SOCK_CLOEXEC : 0) | (bits & 2 ? SOCK_NONBLOCK : 0),
			    pair[2];
			struct iovec io = {"attacked", 8};
			struct msghdr m = {
				.msg_name = &a, .msg_namelen = sizeof(a), .msg_iov = &io, .msg_iovlen = 1};
			int fd = socket(AF_UNIX, t, 0);

			if (fd >= 0)
				sendto(fd, "attacked", 8, MSG_NOSIGNAL, (struct sockaddr *)&a, sizeof(a));
			if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0)
				won += send(fd, "attacked", 8, MSG_NOSIGNAL) == 8;
			close(fd);
			if (socketpair(AF_UNIX, t, 0, pair) == 0) {
				sendto(pair[0], "attacked", 8, MSG_NOSIGNAL, (struct sockaddr *)&a,
				       sizeof(a));
				sendmsg(pair[0], &m, MSG_NOSIGNAL);
				connect(pair[0], (struct sockaddr *)&a, sizeof(a));
				send(pair[0], "attacked", 8, MSG_NOSIGNAL);
			}
		}
	for (int i = 0; i < 50 && !won; i++) {
		won = file_has(out("received"), "attacked");
		usleep(10000);
	}
	return won ? WON : LOST;
}

static int inet(int argc, char **argv)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_port = htons((uint16_t)atoi(getenv("PORT"))),
				.sin_addr = {htonl(INADDR_LOOPBACK)}};
	static const int protocols[] = {0, IPPROTO_TCP, 262 /* MPTCP */};
	int won = 0;

	for (size_t i = 0; i < 3; i++)
		for (int k = 0; k < 2; k++) {
			int fd = socket(AF_INET, SOCK_STREAM | (k ? SOCK_NONBLOCK : 0), protocols[i]);

			if (fd < 0)
				continue;
			connect(fd, (struct sockaddr *)&a, sizeof(a));
			usleep(k ? 20000 : 0);
			won += !k && hears(fd);
			close(fd);
			fd = socket(AF_INET, SOCK_STREAM, protocols[i]);
			sendto(fd, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL, (struct sockaddr *)&a, sizeof(a));
			won += hears(fd);
			close(fd);
		}
	return won ? WON : LOST;
}

static int families(int argc, char **argv)
{
	int won = 0;

	for (int family = 0; family < 50; family++)
		for (int type = 1; type < 7; type++)
			for (int protocol = 0; protocol < 20; protocol++) {
				int fd;

				if (family == AF_UNIX || family == AF_INET || family == AF_INET6)
					continue;
				fd = socket(family, type, protocol);
				if (fd >= 0 && !(family == AF_NETLINK && protocol == NETLINK_ROUTE)) {
					printf("# family %d type %d protocol %d\n", family, type, protocol);
					won++;
				}
				close(fd);
			}
	return won ? WON : LOST;
}

/* In a directory, and by a name, where nothing may be made. */
static int bind_elsewhere(int argc, char **argv)
{
	static const char *const names[] = {".bashrc", ".vscode", "repo/.git/hooks", NULL};
	int won = 0;

	mkdir("repo", 0755);
	mkdir("repo/.git", 0755);
	for (int i = 0; i < 4; i++) {
		const char *name = names[i] ? names[i] : out("new");
		struct sockaddr_un a;
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);

		address(&a, name);
		won += i != 2 && bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0;
		close(fd);
	}
	symlink(out("new2"), "dangling");
	{
		struct sockaddr_un a;
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);

		address(&a, "dangling");
		bind(fd, (struct sockaddr *)&a, sizeof(a));
	}
	return won || there(out("new2")) ? WON : LOST;
}

static const struct attack list[] = {
	{"plain", plain},
	{"bind_race", bind_race},
	{"other_type", other_type},
	{"forged_line", forged_line},
	{"confused_name", confused_name},
	{"address_race", address_race},
	{"datagrams", datagrams},
	{"inet", inet},
	{"families", families},
	{"bind_elsewhere", bind_elsewhere},
};

/* "serve": the listeners outside, until killed. */
static void answer(int fd)
{
	if (fork() == 0) {
		for (;;) {
			int c = accept(fd, NULL, NULL);
			char buf[64];
			struct timeval t = {1, 0};

			if (c < 0)
				_exit(0);
			setsockopt(c, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
			if (read(c, buf, sizeof(buf)) > 0 && write(c, "SECRET", 6) < 0)
				perror("write");
			close(c);
		}
	}
	close(fd);
}

static void serve_unix(const char *name, bool nul)
{
	struct sockaddr_un a;
	socklen_t len = address(&a, name);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (nul)
		*strrchr(a.sun_path + 1, '@') = '\0';
	if (bind(fd, (struct sockaddr *)&a, len) < 0 || listen(fd, 1000) < 0)
		broken("%s", name);
	answer(fd);
}

static int serve(void)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(in);
	struct sockaddr_un a;
	char buf[64], path[PATH_MAX];
	int fd, to;
	ssize_t n;

	signal(SIGPIPE, SIG_IGN);
	setpgid(0, 0);
	serve_unix(out("sock"), false);
	snprintf(path, sizeof(path), "%s/victim.sock", getenv("IN"));
	serve_unix(path, false);
	serve_unix(getenv("ABSTRACT"), false);
	serve_unix(getenv("ABSTRACT_NUL"), true);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(fd, (struct sockaddr *)&in, len) < 0 || listen(fd, 100) < 0 ||
	    getsockname(fd, (struct sockaddr *)&in, &len) < 0)
		broken("port");
	answer(fd);
	fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	address(&a, out("dgram"));
	to = open(out("received"), O_WRONLY | O_CREAT, 0644);
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		broken("dgram");
	printf("%d\n", ntohs(in.sin_port));
	fclose(stdout);
	while ((n = recv(fd, buf, sizeof(buf), 0)) >= 0)
		if (write(to, buf, (size_t)n) < 0)
			broken("received");
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "serve") == 0)
		return serve();

	return attack_main(list, sizeof(list) / sizeof(*list), argc, argv);
}
