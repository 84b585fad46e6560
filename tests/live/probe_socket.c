/*
 * Unix sockets of the session itself.
 */
#include <sys/socket.h>
#include <sys/un.h>

#include "probe_calls.h"

static socklen_t address(struct sockaddr_un *a, const char *path)
{
	size_t n = strlen(path);

	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	memcpy(a->sun_path, path, n);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + 1);
}

static void say_name(int s, bool peer)
{
	struct sockaddr_un a;
	socklen_t len = sizeof(a);
	int rc;

	memset(&a, 0, sizeof(a));
	/* The other side of a connection shows the way by which the supervisor bound and connected. */
	rc = peer ? getpeername(s, (struct sockaddr *)&a, &len) : getsockname(s, (struct sockaddr *)&a, &len);
	say(" %s", peer ? "peer" : "name");
	result(rc);
	if (rc == 0) {
		char path[sizeof(a.sun_path) + 1] = {0};

		memcpy(path, a.sun_path, sizeof(a.sun_path));
		say(" family %d", a.sun_family);
		if (strrchr(path, '/'))
			say(" '%s'", strrchr(path, '/') + 1);
		else
			say(" '%s'", path);
	}
}

static void binds_of(int type)
{
	static const char *const names[] = {"s", "./s2",   "d/s", "d/../s3", "none/s",
					    "f", "dangle", "s/",  "\xff\n"};
	static const mode_t masks[] = {0, 022, 077};
	struct sockaddr_un a;
	socklen_t len;

	fresh("d", K_DIR), fresh("f", K_FILE), fresh("dangle", K_DANGLE);
	for (size_t u = 0; u < N(masks); u++)
		for (size_t n = 0; n < N(names); n++) {
			int s = socket(AF_UNIX, type, 0);

			remove_all(names[n][0] == 'f' || strcmp(names[n], "dangle") == 0 ? "s" : names[n]);
			say("bind(%d, ", type), say_path(names[n]), say(") umask %03o", masks[u]);
			umask(masks[u]);
			len = address(&a, names[n]);
			result(bind(s, (struct sockaddr *)&a, len));
			umask(022);
			describe(names[n]), say_name(s, false);
			say(" again"), result(bind(s, (struct sockaddr *)&a, len));
			close(s);
			s = socket(AF_UNIX, type, 0);
			say(" another"), result(bind(s, (struct sockaddr *)&a, len));
			close(s);
			done();
		}
	describe("."), done();
}

static void binds(void)
{
	struct sockaddr_un a;
	socklen_t len;
	char path[sizeof(a.sun_path) + 1];
	int s;

	binds_of(SOCK_STREAM);
	binds_of(SOCK_SEQPACKET);
	memset(path, 'p', sizeof(path));
	for (size_t n = sizeof(a.sun_path) - 2; n <= sizeof(a.sun_path); n++) {
		memset(&a, 0, sizeof(a));
		a.sun_family = AF_UNIX;
		memcpy(a.sun_path, path, n);
		s = socket(AF_UNIX, SOCK_STREAM, 0);
		len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
		say("bind of %zu bytes", n), result(bind(s, (struct sockaddr *)&a, len));
		len = sizeof(a);
		say(" name"), result(getsockname(s, (struct sockaddr *)&a, &len)), say(" len %u", len),
			done();
		close(s);
	}
	s = socket(AF_UNIX, SOCK_STREAM, 0);
	say("bind of nothing but the family"),
		result(bind(s, (struct sockaddr *)&a, sizeof(a.sun_family)) == 0 ? 0 : -1), done();
	close(s);
	s = socket(AF_UNIX, SOCK_STREAM, 0);
	len = address(&a, "wrong");
	a.sun_family = AF_INET;
	say("bind of the wrong family"), result(bind(s, (struct sockaddr *)&a, len)), done();
	say("bind of 1 byte"), result(bind(s, (struct sockaddr *)&a, 1)), done();
	const void *volatile one = (void *)1;
	say("bind at 1"), result(bind(s, one, len)), done();
	say("bind of 200 bytes"), result(bind(s, (struct sockaddr *)&a, 200)), done();
	say("bind of -1 bytes"), result(bind(s, (struct sockaddr *)&a, (socklen_t)-1)), done();
	close(s);
	a.sun_family = AF_UNIX;
	say("bind of no descriptor"), result(bind(999, (struct sockaddr *)&a, len)), done();
	s = open(".", O_RDONLY);
	say("bind of a directory"), result(bind(s, (struct sockaddr *)&a, len)), done();
	say("listen on a directory"), result(listen(s, 1)), done();
	close(s);
}

static void talk(int type)
{
	struct sockaddr_un a;
	socklen_t len = address(&a, "listener");
	int l = socket(AF_UNIX, type | SOCK_CLOEXEC, 0), c, s;
	char buf[16] = "";

	remove_all("listener");
	say("connect before bind"), c = socket(AF_UNIX, type, 0),
				    result(connect(c, (struct sockaddr *)&a, len)), done();
	say("bind"), result(bind(l, (struct sockaddr *)&a, len)), describe_fd(l), done();
	say("connect before listen"), result(connect(c, (struct sockaddr *)&a, len)), done();
	say("listen"), result(listen(l, 5)), done();
	say("listen again"), result(listen(l, 7)), done();
	say("connect"), result(connect(c, (struct sockaddr *)&a, len)), say_name(c, true), say_name(c, false),
		done();
	say("connect again"), result(connect(c, (struct sockaddr *)&a, len)), done();
	s = accept4(l, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	say("accept"), result(s < 0 ? -1 : 0), describe_fd(s), say_name(s, false), say_name(s, true), done();
	say("send"), result(send(c, "hello", 5, 0)), done();
	say("recv"), result(recv(s, buf, sizeof(buf), 0)), say(" %s", buf), done();
	struct ucred cred = {0};
	socklen_t clen = sizeof(cred);
	say("SO_PEERCRED of the accepted"), result(getsockopt(s, SOL_SOCKET, SO_PEERCRED, &cred, &clen));
	say(" uid %u gid %u", cred.uid, cred.gid), done();
	close(c), close(s);
	/* Bound on both sides. */
	c = socket(AF_UNIX, type, 0);
	remove_all("client");
	len = address(&a, "client");
	say("bind the client"), result(bind(c, (struct sockaddr *)&a, len)), done();
	len = address(&a, "./listener");
	say("connect"), result(connect(c, (struct sockaddr *)&a, len)), say_name(c, true), done();
	s = accept(l, (struct sockaddr *)&a, (memset(&a, 0, sizeof(a)), len = sizeof(a), &len));
	say("accepted from '%s'", strrchr(a.sun_path, '/') ? strrchr(a.sun_path, '/') + 1 : a.sun_path),
		say_name(s, true), done();
	close(c), close(s), close(l);
}

static void talk_to_nothing(int type)
{
	struct sockaddr_un a;
	socklen_t len;
	int c, s;

	c = socket(AF_UNIX, type, 0);
	len = address(&a, "listener");
	say("connect after close"), result(connect(c, (struct sockaddr *)&a, len)), done();
	len = address(&a, "none");
	say("connect to nothing"), result(connect(c, (struct sockaddr *)&a, len)), done();
	fresh("f", K_FILE);
	len = address(&a, "f");
	say("connect to a file"), result(connect(c, (struct sockaddr *)&a, len)), done();
	fresh("loop", K_LOOP);
	len = address(&a, "loop");
	say("connect to a loop"), result(connect(c, (struct sockaddr *)&a, len)), done();
	len = address(&a, "f/x");
	say("connect below a file"), result(connect(c, (struct sockaddr *)&a, len)), done();
	close(c);
	s = socket(AF_UNIX, type, 0);
	say("listen unbound"), result(listen(s, 1)), done();
	close(s);
	say("accept on nothing"), result(accept(999, NULL, NULL)), done();
	int opt = 0;
	socklen_t olen = sizeof(opt);
	s = socket(AF_UNIX, type | SOCK_NONBLOCK, 0);
	getsockopt(s, SOL_SOCKET, SO_TYPE, &opt, &olen);
	say("SO_TYPE %d", opt), describe_fd(s), done();
	close(s);
}

static void pairs(void)
{
	static const int types[] = {SOCK_STREAM,
				    SOCK_SEQPACKET,
				    SOCK_DGRAM,
				    SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
				    SOCK_STREAM | SOCK_CLOEXEC,
				    SOCK_DGRAM | 0x40};

	for (size_t t = 0; t < N(types); t++) {
		char buf[16] = "";
		int sv[2] = {-1, -1}, opt = 0;
		socklen_t len = sizeof(opt);

		say("socketpair(%#x)", types[t]);
		if (result(socketpair(AF_UNIX, types[t], 0, sv)) < 0) {
			done();
			continue;
		}
		getsockopt(sv[0], SOL_SOCKET, SO_TYPE, &opt, &len);
		/* A datagram pair is a seqpacket pair inside. */
		say(" type %d", opt == SOCK_SEQPACKET ? types[t] & 0xf : opt), describe_fd(sv[0]),
			describe_fd(sv[1]), done();
		say("send two"), result(send(sv[0], "one", 3, 0)), result(send(sv[0], "two!", 4, 0)), done();
		say("recv"), result(recv(sv[1], buf, sizeof(buf), 0)), say(" %s", buf), done();
		say("recv rest"), result(recv(sv[1], buf, 2, MSG_DONTWAIT | MSG_PEEK)), done();
		say_name(sv[0], false), say_name(sv[0], true), done();
		close(sv[0]), close(sv[1]);
	}
	int sv[2];
	say("socketpair of AF_INET"), result(socketpair(AF_INET, SOCK_STREAM, 0, sv)), done();
	const void *volatile one = (void *)1;
	say("socketpair at 1"), result(socketpair(AF_UNIX, SOCK_DGRAM, 0, (int *)one)), done();
	say("the next descriptor"), result(dup(0)), done();
	say("socketpair with a protocol"), result(socketpair(AF_UNIX, SOCK_DGRAM, 5, sv)), done();
}

static void sockets(void)
{
	talk(SOCK_STREAM);
	talk_to_nothing(SOCK_STREAM);
	talk(SOCK_SEQPACKET);
	talk_to_nothing(SOCK_SEQPACKET);
	pairs();
}

const struct section socket_sections[] = {{"binds", binds}, {"sockets", sockets}, {NULL, NULL}};
