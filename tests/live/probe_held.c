/*
 * Sockets that live where descriptors of a process do not show them: in messages, in threads with descriptors of their own, in
 * processes whose first thread has ended. Meanwhile somebody tries to bind what is taken, upon which the supervisor looks
 * what is still alive.
 */
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "probe_calls.h"

#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE 2
#endif

static struct sockaddr_in at(int s)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(a);

	if (s >= 0)
		getsockname(s, (struct sockaddr *)&a, &len);
	return a;
}

static int bound(void)
{
	int s = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in a = at(-1);

	if (s < 0 || bind(s, (struct sockaddr *)&a, sizeof(a)) < 0)
		die("bind");
	return s;
}

static int bind_again(struct sockaddr_in a)
{
	int s = socket(AF_INET, SOCK_STREAM, 0), rc = bind(s, (struct sockaddr *)&a, sizeof(a)), err = errno;

	close(s);
	errno = err;
	return rc;
}

/* The supervisor looks what is still alive. */
static void provoke(void)
{
	static int taken = -1;

	if (taken < 0)
		taken = bound();
	for (int i = 0; i < 3; i++)
		if (bind_again(at(taken)) == 0)
			die("not taken");
}

static void send_fd(int to, int fd)
{
	char bytes[CMSG_SPACE(sizeof(fd))] = {0}, x = 'x';
	struct iovec iov = {&x, 1};
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = bytes, .msg_controllen = sizeof(bytes)};
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);

	h->cmsg_level = SOL_SOCKET, h->cmsg_type = SCM_RIGHTS, h->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(h), &fd, sizeof(fd));
	if (sendmsg(to, &m, 0) != 1)
		die("sendmsg");
	close(fd);
}

static int receive_fd(int from)
{
	char bytes[CMSG_SPACE(sizeof(int))] = {0}, x;
	struct iovec iov = {&x, 1};
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = bytes, .msg_controllen = sizeof(bytes)};
	int fd;

	if (recvmsg(from, &m, 0) != 1 || !CMSG_FIRSTHDR(&m))
		die("recvmsg");
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

static void reach(int s)
{
	struct sockaddr_in a = at(s);
	int c = socket(AF_INET, SOCK_STREAM, 0);

	say(" connect"), result(connect(c, (struct sockaddr *)&a, sizeof(a)));
	close(c);
}

/* There and back by a message that waits meanwhile. */
static int by_message(int fd)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
		die("socketpair");
	send_fd(pair[0], fd);
	provoke();
	fd = receive_fd(pair[1]);
	close(pair[0]), close(pair[1]);
	return fd;
}

static void tcp_in_messages(void)
{
	int s = by_message(bound()), l;

	say("bound: listen"), result(listen(s, 5)), reach(s), done();
	l = by_message(s);
	say("listening:"), reach(l), done();
	s = by_message(socket(AF_INET, SOCK_STREAM, 0));
	struct sockaddr_in a = at(l);
	say("new: connect"), result(connect(s, (struct sockaddr *)&a, sizeof(a))), done();
	s = by_message(s);
	say("connected: again"), result(connect(s, (struct sockaddr *)&a, sizeof(a))), done();
	close(s), close(l);
}

static void unix_in_messages(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "s"}, got;
	socklen_t len = sizeof(got);
	int s = socket(AF_UNIX, SOCK_STREAM, 0), c;

	say("Unix: bind"), result(bind(s, (struct sockaddr *)&a, sizeof(a)));
	s = by_message(s);
	say(" listen"), result(listen(s, 5));
	s = by_message(s);
	c = socket(AF_UNIX, SOCK_STREAM, 0);
	say(" connect"), result(connect(c, (struct sockaddr *)&a, sizeof(a)));
	c = by_message(c);
	memset(&got, 0, sizeof(got));
	say(" peer"), result(getpeername(c, (struct sockaddr *)&got, &len)), say(" %s", got.sun_path);
	say(" again"), result(connect(c, (struct sockaddr *)&a, sizeof(a))), done();
	close(c), close(s);
}

/* In a socket that waits in another one itself, and in one that nobody accepted yet. */
static void deeper(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "d"};
	int outer[2], inner[2], s, l = socket(AF_UNIX, SOCK_STREAM, 0), c = socket(AF_UNIX, SOCK_STREAM, 0);

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, outer) < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, inner) < 0)
		die("socketpair");
	send_fd(inner[0], bound()), send_fd(outer[0], inner[1]), close(inner[0]);
	provoke();
	inner[1] = receive_fd(outer[1]), s = receive_fd(inner[1]);
	say("in a socket in a message: listen"), result(listen(s, 5)), reach(s), done();
	close(outer[0]), close(outer[1]), close(inner[1]);
	if (bind(l, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(l, 5) < 0 ||
	    connect(c, (struct sockaddr *)&a, sizeof(a)) < 0)
		die("listener");
	send_fd(c, s), close(c);
	provoke();
	c = accept(l, NULL, NULL), s = receive_fd(c);
	say("in a connection that was not accepted:"), reach(s), done();
	close(c), close(s), close(l);
}

/* What is thrown away is free for others, and what is closed. */
static void freed(void)
{
	struct sockaddr_in a;
	int pair[2], s = bound();

	a = at(s), close(s);
	say("closed: bind"), result(bind_again(a)), done();
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
		die("socketpair");
	s = bound(), a = at(s), send_fd(pair[0], s);
	say("in a message: bind"), result(bind_again(a));
	close(pair[1]), close(pair[0]);
	say(" thrown away: bind"), result(bind_again(a)), done();
}

static int errs[4];

static void use_socket(void)
{
	struct sockaddr_in a = at(-1);
	socklen_t len = sizeof(a);
	int s = socket(AF_INET, SOCK_STREAM, 0), c;

	errs[0] = bind(s, (struct sockaddr *)&a, sizeof(a)) < 0 ? errno : 0;
	for (int i = 0; i < 3; i++)
		bind_again(at(s));
	errs[1] = listen(s, 5) < 0 ? errno : 0;
	for (int i = 0; i < 3; i++)
		bind_again(at(s));
	getsockname(s, (struct sockaddr *)&a, &len);
	c = socket(AF_INET, SOCK_STREAM, 0);
	errs[2] = connect(c, (struct sockaddr *)&a, sizeof(a)) < 0 ? errno : 0;
	close(c), close(s);
}

static void say_use(const char *what)
{
	say("%s: bind %s, ", what, errno_name(errs[0])), say("listen %s, ", errno_name(errs[1])),
		say("connect %s", errno_name(errs[2])), done();
}

static void *part_by_unshare(void *arg)
{
	(void)arg;
	errs[3] = unshare(CLONE_FILES) < 0 ? errno : 0;
	use_socket();
	return NULL;
}

static void *part_by_close_range(void *arg)
{
	(void)arg;
	errs[3] = syscall(SYS_close_range, 1000, 1001, CLOSE_RANGE_UNSHARE) < 0 ? errno : 0;
	use_socket();
	return NULL;
}

/* It has no descriptors of others, and no library either but for single calls: its thread is not the library's. */
static int born_apart(void *arg)
{
	use_socket();
	__atomic_store_n((int *)arg, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_exit, 0);
	return 0;
}

static void threads(void)
{
	static _Alignas(16) char stack[65536];
	static int over;
	pthread_t t;

	pthread_create(&t, NULL, part_by_unshare, NULL), pthread_join(t, NULL);
	say("unshare %s ", errno_name(errs[3])), say_use("thread");
	pthread_create(&t, NULL, part_by_close_range, NULL), pthread_join(t, NULL);
	say("close_range %s ", errno_name(errs[3])), say_use("thread");
	int rc = clone(born_apart, stack + sizeof(stack), CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD,
		       &over);
	say("clone %s ", rc < 0 ? errno_name(errno) : "made one,");
	while (rc > 0 && !__atomic_load_n(&over, __ATOMIC_SEQ_CST))
		nap_ms(10);
	say_use("thread");
}

static void *outlive(void *arg)
{
	(void)arg;
	nap_ms(200);
	use_socket();
	say_use("its first thread has ended");
	fflush(stdout);
	_exit(0);
}

static void without_first(void)
{
	pthread_t t;
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		pthread_create(&t, NULL, outlive, NULL);
		pthread_exit(NULL);
	}
	waitpid(pid, &status, 0);
	say("status %x", status), done();
}

static void held(void)
{
	without_first(), tcp_in_messages(), unix_in_messages(), deeper(), freed(), threads();
}

const struct section held_sections[] = {{"held", held}, {NULL, NULL}};
