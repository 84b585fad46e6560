/*
 * Unix sockets of the session itself.
 */
#include <sys/resource.h>
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
	rc = peer ? getpeername(s, (struct sockaddr *)&a, &len) : getsockname(s, (struct sockaddr *)&a, &len);
	say(" %s", peer ? "peer" : "name");
	result(rc);
	if (rc == 0) {
		char path[sizeof(a.sun_path) + 1] = {0};

		memcpy(path, a.sun_path, sizeof(a.sun_path));
		say(" family %d", a.sun_family);
		say(" '%s' len %u", path, len);
	}
}

/* The process that is told of. */
static void say_cred(int s)
{
	struct ucred cred = {0};
	socklen_t len = sizeof(cred);

	result(getsockopt(s, SOL_SOCKET, SO_PEERCRED, &cred, &len));
	say(" %s uid %d gid %d len %u",
	    cred.pid == getpid()    ? "self"
	    : cred.pid == getppid() ? "parent"
	    : cred.pid		    ? "other"
				    : "none",
	    (int)cred.uid, (int)cred.gid, len);
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

/* Directories that decide about group and mode of what is made in them. */
static void binds_in(const char *dir)
{
	static const mode_t masks[] = {0, 027};
	struct sockaddr_un a;
	char name[32];
	socklen_t len;

	snprintf(name, sizeof(name), "%s/s", dir);
	for (size_t u = 0; u < N(masks); u++) {
		int s = socket(AF_UNIX, SOCK_STREAM, 0);

		remove_all(name);
		umask(masks[u]);
		len = address(&a, name);
		say("bind(%s) umask %03o", name, masks[u]), result(bind(s, (struct sockaddr *)&a, len));
		umask(022);
		describe(name), done();
		close(s);
	}
}

static void binds_in_odd_directories(void)
{
	/* u::rw-,g::r--,m::rw-,o::---,g:4321:rw- as the kernel has it: version, then tag, permissions, id each. */
	static const struct {
		uint32_t version;
		struct {
			uint16_t tag, perm;
			uint32_t id;
		} entry[5];
	} acl = {2, {{1, 6, ~0U}, {4, 4, ~0U}, {8, 6, 4321}, {16, 6, ~0U}, {32, 0, ~0U}}};

	fresh("setgid", K_DIR), fresh("acl", K_DIR), fresh("closed", K_DIR);
	if (is_root)
		chown("setgid", 0, 54321);
	chmod("setgid", 02775), chmod("closed", 0555);
	say("default ACL"), result(setxattr("acl", "system.posix_acl_default", &acl, sizeof(acl), 0)), done();
	binds_in("setgid"), binds_in("acl"), binds_in("closed");
	chmod("closed", 0755);
}

static void binds(void)
{
	struct sockaddr_un a;
	socklen_t len;
	char path[sizeof(a.sun_path) + 1];
	int s;

	binds_of(SOCK_STREAM);
	binds_of(SOCK_SEQPACKET);
	binds_in_odd_directories();
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
	say("who listens"), say_cred(c), say(" itself"), say_cred(l), say(" who connected"), say_cred(s);
	done();
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
		say_name(s, true), say_name(s, false), done();
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

static void pairs_without_room(void *arg)
{
	int next = dup(0), sv[2] = {-7, -7};

	(void)arg;
	close(next);
	for (int room = 0; room < 3; room++) {
		setrlimit(RLIMIT_NOFILE, &(struct rlimit){(rlim_t)(next + room), 4096});
		say("socketpair with room for %d", room), result(socketpair(AF_UNIX, SOCK_DGRAM, 0, sv));
		setrlimit(RLIMIT_NOFILE, &(struct rlimit){4096, 4096});
		say(" the next is %s", dup(0) == next ? "the same" : "another"), close(next), done();
	}
}

/* A client and a server that are other processes, and another user where that can be. */
static void connect_as(void *arg)
{
	struct sockaddr_un a;
	socklen_t len = address(&a, "door");
	int s = socket(AF_UNIX, SOCK_STREAM, 0);

	if (is_root && (setgid(12345) < 0 || setuid(12345) < 0))
		die("setuid");
	if (connect(s, (struct sockaddr *)&a, len) < 0)
		say("connect %s", strerror(errno)), done();
	say("the server"), say_cred(s), say_name(s, true), say_name(s, false), done();
	nap_ms(100);
	(void)arg;
}

static void between_processes(void)
{
	struct sockaddr_un a;
	socklen_t len = address(&a, "door");
	int l = socket(AF_UNIX, SOCK_STREAM, 0), s;
	pid_t pid;

	bind(l, (struct sockaddr *)&a, len), listen(l, 1), chmod("door", 0777);
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		connect_as(NULL), fflush(stdout), _exit(0);
	s = accept(l, NULL, NULL);
	nap_ms(50);
	say("the client"), say_cred(s), say_name(s, false), say_name(s, true);
	struct ucred cred = {0};
	len = sizeof(cred);
	getsockopt(s, SOL_SOCKET, SO_PEERCRED, &cred, &len);
	say(" pid is %s", cred.pid == pid ? "right" : "wrong"), done();
	len = 5;
	say("half of it"), result(getsockopt(s, SOL_SOCKET, SO_PEERCRED, &cred, &len)), say(" %u", len);
	len = (socklen_t)-1;
	say(" less"), result(getsockopt(s, SOL_SOCKET, SO_PEERCRED, &cred, &len));
	say(" nowhere"), len = sizeof(cred), result(getsockopt(s, SOL_SOCKET, SO_PEERCRED, (void *)8, &len));
	result(getsockopt(s, SOL_SOCKET, SO_PEERCRED, &cred, (socklen_t *)8)), done();
	waitpid(pid, NULL, 0), close(s), close(l);
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
		say(" type %d", opt), say_cred(sv[0]), say_cred(sv[1]), describe_fd(sv[0]),
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
	in_child(pairs_without_room, NULL);
	say("socketpair with a protocol"), result(socketpair(AF_UNIX, SOCK_DGRAM, 5, sv)), done();
}

static void sockets(void)
{
	talk(SOCK_STREAM);
	talk_to_nothing(SOCK_STREAM);
	talk(SOCK_SEQPACKET);
	talk_to_nothing(SOCK_SEQPACKET);
	between_processes();
	pairs();
}

const struct section socket_sections[] = {{"binds", binds}, {"sockets", sockets}, {NULL, NULL}};
