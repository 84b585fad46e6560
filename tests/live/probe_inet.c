/*
 * TCP sockets of the session itself, towards listeners of its own and towards nobody.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>

#include "probe_calls.h"

union addr {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	char bytes[160];
};

/* "127.0.0.1", "::1": the family is that of the text. */
static socklen_t address(union addr *a, const char *text, int port)
{
	memset(a, 0, sizeof(*a));
	if (strchr(text, ':')) {
		a->in6.sin6_family = AF_INET6;
		a->in6.sin6_port = htons((uint16_t)port);
		inet_pton(AF_INET6, text, &a->in6.sin6_addr);
		return sizeof(a->in6);
	}
	a->in.sin_family = AF_INET;
	a->in.sin_port = htons((uint16_t)port);
	inet_pton(AF_INET, text, &a->in.sin_addr);
	return sizeof(a->in);
}

static int port_of(int s)
{
	union addr a;
	socklen_t len = sizeof(a);

	return getsockname(s, &a.sa, &len) < 0 ? 0 : ntohs(a.in.sin_port);
}

/* Ports differ from run to run: only whether it is the one that is meant. */
static void say_end(int s, bool peer, int port)
{
	union addr a;
	socklen_t len = sizeof(a);
	char text[64] = "";
	int rc = peer ? getpeername(s, &a.sa, &len) : getsockname(s, &a.sa, &len), got;

	say(" %s", peer ? "peer" : "name"), result(rc);
	if (rc < 0)
		return;
	inet_ntop(a.sa.sa_family, a.sa.sa_family == AF_INET ? (void *)&a.in.sin_addr : &a.in6.sin6_addr, text,
		  sizeof(text));
	got = ntohs(a.in.sin_port);
	say(" %s port %s len %u", text, got == 0 ? "0" : got == port ? "right" : "other", len);
}

static int listener(const char *text, int backlog)
{
	union addr a;
	socklen_t len = address(&a, text, 0);
	int s = socket(a.sa.sa_family, SOCK_STREAM, 0);

	if (s < 0 || bind(s, &a.sa, len) < 0 || listen(s, backlog) < 0)
		die("listener");
	return s;
}

static void reach(const char *text, int port)
{
	union addr a;
	socklen_t len = address(&a, text, port);
	int c = socket(a.sa.sa_family, SOCK_STREAM, 0);

	say("connect %s", text), result(connect(c, &a.sa, len)), done();
	close(c);
}

static bool has_v6(void)
{
	union addr a;
	socklen_t len = address(&a, "::1", 0);
	int s = socket(AF_INET6, SOCK_STREAM, 0);
	bool has = s >= 0 && bind(s, &a.sa, len) == 0;

	close(s);
	return has;
}

static void say_poll(int s, int ms)
{
	struct pollfd p = {s, POLLIN | POLLOUT, 0};
	int n = poll(&p, 1, ms), err = -1;
	socklen_t len = sizeof(err);

	say(" poll %d %x", n, p.revents);
	getsockopt(s, SOL_SOCKET, SO_ERROR, &err, &len);
	say(" error %s", err ? errno_name(err) : "0");
}

static void exchange(int c, int l)
{
	int s = accept4(l, NULL, NULL, SOCK_CLOEXEC);
	char buf[8] = "";

	say(" accept"), result(s < 0 ? -1 : 0);
	say(" send"), result(send(c, "hello", 5, MSG_NOSIGNAL));
	say(" recv"), result(recv(s, buf, sizeof(buf), 0)), say(" %s", buf);
	shutdown(s, SHUT_WR), say(" end"), result(recv(c, buf, sizeof(buf), 0));
	close(s);
}

/* All families against all listeners. */
static void talks(void)
{
	static const char *const at[] = {"127.0.0.1", "0.0.0.0", "127.0.0.7",
					 "::1",	      "::",	 "::ffff:127.0.0.1"};
	static const char *const to[] = {"127.0.0.1", "0.0.0.0", "127.0.0.7",	     "::1",
					 "::",	      "::7",	 "::ffff:127.0.0.1", "::ffff:0.0.0.0"};
	union addr a;
	socklen_t len;

	for (size_t i = 0; i < N(at); i++) {
		int l = strchr(at[i], ':') && !has_v6() ? -1 : listener(at[i], 5), port = port_of(l);

		for (size_t k = 0; l >= 0 && k < N(to); k++)
			for (int nonblock = 0; nonblock < 2; nonblock++) {
				int c = socket(strchr(to[k], ':') ? AF_INET6 : AF_INET,
					       SOCK_STREAM | (nonblock ? SOCK_NONBLOCK : 0), 0);

				if (strcmp(to[k], "::7") == 0) /* none of this machine */
					continue;
				len = address(&a, to[k], port);
				say("%s to %s%s", at[i], to[k], nonblock ? " at once" : "");
				int rc = connect(c, &a.sa, len);
				result(rc);
				if (rc < 0 && errno == EINPROGRESS)
					say_poll(c, 1000), rc = 0;
				say_end(c, true, port);
				fcntl(c, F_SETFL, 0);
				if (getpeername(c, &a.sa, &len) == 0)
					exchange(c, l);
				done(), close(c);
			}
		close(l);
	}
}

/* Addresses that are none. */
static void odd_addresses(void)
{
	union addr a;
	int l = listener("127.0.0.1", 5), c = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t len = address(&a, "127.0.0.1", port_of(l));
	const void *volatile one = (void *)1;

	for (socklen_t n = 0; n <= 20; n++)
		if (n < 2 || n > 7)
			say("connect of %u bytes", n), result(connect(c, &a.sa, n)), done(), close(c),
				c = socket(AF_INET, SOCK_STREAM, 0);
	say("of 200 bytes"), result(connect(c, &a.sa, 200)), say(" -1"),
		result(connect(c, &a.sa, (socklen_t)-1));
	say(" at 1"), result(connect(c, one, len)), say(" of none"), result(connect(999, &a.sa, len)), done();
	a.sa.sa_family = AF_UNIX, say("of AF_UNIX"), result(connect(c, &a.sa, len));
	a.sa.sa_family = AF_INET6, say(" AF_INET6"), result(connect(c, &a.sa, len));
	a.sa.sa_family = 77, say(" 77"), result(connect(c, &a.sa, len)), done();
	len = address(&a, "127.0.0.1", 0), say("port 0"), result(connect(c, &a.sa, len)), done();
	close(c), close(l);
	if (!has_v6())
		return;
	l = listener("::1", 5), c = socket(AF_INET6, SOCK_STREAM, 0);
	len = address(&a, "::1", port_of(l));
	for (socklen_t n = 8; n <= 28; n += 4)
		say("v6 connect of %u bytes", n), result(connect(c, &a.sa, n)), done(), close(c),
			c = socket(AF_INET6, SOCK_STREAM, 0);
	len = address(&a, "127.0.0.1", port_of(l)), say("v4 on v6"), result(connect(c, &a.sa, sizeof(a.in6)));
	say(" short"), result(connect(c, &a.sa, len)), done();
	close(c), close(l);
}

/* States: what a second call says. */
static void again(void)
{
	union addr a, none;
	int l = listener("127.0.0.1", 5), c = socket(AF_INET, SOCK_STREAM, 0), port = port_of(l);
	socklen_t len = address(&a, "127.0.0.1", port), nlen = address(&none, "127.0.0.1", 1);

	say("not connected"), say_end(c, true, port), say_end(c, false, port), done();
	say("refused"), result(connect(c, &none.sa, nlen)), say_end(c, true, port), done();
	say("then connected"), result(connect(c, &a.sa, len)), exchange(c, l), say_end(c, true, port), done();
	say("again"), result(connect(c, &a.sa, len)), say(" bind"), result(bind(c, &none.sa, nlen));
	say(" listen"), result(listen(c, 1)), done();
	say("a listener: connect"), result(connect(l, &a.sa, len)), say(" bind"),
		result(bind(l, &none.sa, nlen));
	say(" listen"), result(listen(l, 9)), say_end(l, false, port), done();
	close(c), c = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	say("at once, refused"), result(connect(c, &none.sa, nlen)), say_poll(c, 1000);
	say(" again"), result(connect(c, &none.sa, nlen)), say_poll(c, 1000), done();
	say("then connected"), result(connect(c, &a.sa, len)), say_poll(c, 1000);
	say(" again"), result(connect(c, &a.sa, len)), say(" again"), result(connect(c, &a.sa, len)), done();
	close(c), close(l);
	c = socket(AF_INET, SOCK_STREAM, 0);
	say("connect to who is gone"), result(connect(c, &a.sa, len)), done();
	close(c), c = socket(AF_INET, SOCK_STREAM, 0);
	say("listen without bind"), result(listen(c, 1)), say_end(c, false, 0), done();
	close(c);
}

static void binds(void)
{
	static const char *const at[] = {"127.0.0.1", "0.0.0.0", "127.9.9.9", "192.0.2.77", "::1", "::"};
	union addr a;
	socklen_t len;

	for (size_t i = 0; i < N(at); i++) {
		int s, t, port;

		len = address(&a, at[i], 0);
		if (a.sa.sa_family == AF_INET6 && !has_v6())
			continue;
		s = socket(a.sa.sa_family, SOCK_STREAM, 0), t = socket(a.sa.sa_family, SOCK_STREAM, 0);
		say("bind %s", at[i]), result(bind(s, &a.sa, len));
		port = port_of(s), say_end(s, false, port), say(" again"), result(bind(s, &a.sa, len)),
		done();
		len = address(&a, at[i], port);
		say(" the same"), result(bind(t, &a.sa, len)), close(s);
		/* Whoever looks for a free port closes it and hands the number on. */
		say(" when it is closed"), result(bind(t, &a.sa, len)), say(" listen"), result(listen(t, 1)),
			done();
		close(t);
		s = socket(a.sa.sa_family, SOCK_STREAM, 0), say(" anew"), result(bind(s, &a.sa, len));
		say(" short"), result(bind(s, &a.sa, 7)), say(" family"), a.sa.sa_family = 77;
		result(bind(s, &a.sa, len)), done(), close(s);
	}
	for (int reuse = 0; reuse < 2; reuse++) {
		int s = socket(AF_INET, SOCK_STREAM, 0), t = socket(AF_INET, SOCK_STREAM, 0), one = 1;

		setsockopt(s, SOL_SOCKET, SO_REUSEPORT, &one, reuse * (int)sizeof(one));
		setsockopt(t, SOL_SOCKET, SO_REUSEPORT, &one, reuse * (int)sizeof(one));
		len = address(&a, "127.0.0.1", 0), bind(s, &a.sa, len), listen(s, 1);
		len = address(&a, "127.0.0.1", port_of(s));
		say("SO_REUSEPORT %d", reuse), result(bind(t, &a.sa, len)), say(" listen"),
			result(listen(t, 1));
		done(), close(s), close(t);
	}
}

/* Listeners beside each other: of one port at all addresses of each family, and several of one address. */
static void beside(void)
{
	int l[3], on = 1, port = 0;
	union addr a;
	socklen_t len;

	if (has_v6()) {
		l[0] = listener("0.0.0.0", 5), port = port_of(l[0]);
		l[1] = socket(AF_INET6, SOCK_STREAM, 0), len = address(&a, "::", port);
		setsockopt(l[1], IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
		say("the other family: bind"), result(bind(l[1], &a.sa, len));
		say(" listen"), result(listen(l[1], 5)), done();
		reach("127.0.0.1", port), reach("::1", port);
		close(l[0]), close(l[1]);
	}
	for (size_t i = 0; i < N(l); i++) {
		l[i] = socket(AF_INET, SOCK_STREAM, 0), len = address(&a, "127.0.0.1", i ? port : 0);
		setsockopt(l[i], SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
		say("shared: bind"), result(bind(l[i], &a.sa, len));
		say(" listen"), result(listen(l[i], 20)), done();
		port = port_of(l[i]);
	}
	for (int i = 0; i < 8; i++)
		reach("127.0.0.1", port);
	for (size_t i = 0; i < N(l); i++)
		close(l[i]);
}

static void inet(void)
{
	talks(), odd_addresses(), again(), binds(), beside();
}

/* --- What waits: towards a listener that takes no more --- */

static volatile sig_atomic_t signals;
static void on_signal(int sig)
{
	signals++;
}

struct full {
	pthread_t thread;
	int l, taken[9], n;
	union addr a;
	socklen_t len;
};

static void fill_at(struct full *f, const char *at)
{
	f->l = listener(at, 1); /* with 0 every request would be answered by a cookie */
	f->len = address(&f->a, at, port_of(f->l));
	for (f->n = 0; f->n < 8; f->n++) {
		struct pollfd p;

		f->taken[f->n] = socket(f->a.sa.sa_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
		connect(f->taken[f->n], &f->a.sa, f->len);
		p = (struct pollfd){f->taken[f->n], POLLOUT, 0};
		if (poll(&p, 1, 50) == 0)
			break;
	}
	say(f->n ? "full" : "empty"), done();
}

static void fill(struct full *f)
{
	fill_at(f, "127.0.0.1");
}

static void *accept_all(void *arg)
{
	while (accept(*(int *)arg, NULL, NULL) >= 0)
		; /* kept open, so that nothing is to be read */
	return NULL;
}

/* From now on there is room for everybody. */
static void make_room(struct full *f)
{
	pthread_create(&f->thread, NULL, accept_all, &f->l);
}

static void end(struct full *f)
{
	shutdown(f->l, SHUT_RDWR), pthread_join(f->thread, NULL);
	for (int i = 0; i <= f->n; i++)
		close(f->taken[i]);
	close(f->l);
}

/* A child that connects, and is signalled meanwhile. */
static void signalled(int flags, long timeout_ms)
{
	struct full f;
	pid_t pid;

	fill(&f);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		struct sigaction sa = {.sa_handler = on_signal, .sa_flags = flags};
		struct timeval tv = {timeout_ms / 1000, timeout_ms % 1000 * 1000};
		int c = socket(AF_INET, SOCK_STREAM, 0);

		sigaction(SIGUSR1, &sa, NULL);
		if (timeout_ms)
			setsockopt(c, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
		say("connect with %s", flags ? "SA_RESTART" : "no flag"), result(connect(c, &f.a.sa, f.len));
		say(" signals %d", (int)signals), done();
		if (errno == EINTR)
			say("again"), result(connect(c, &f.a.sa, f.len)), done();
		fflush(stdout), _exit(0);
	}
	nap_ms(200), kill(pid, SIGUSR1), nap_ms(200);
	make_room(&f);
	waitpid(pid, NULL, 0);
	end(&f);
}

static void *connect_thread(void *arg)
{
	int *c = arg;
	union addr a;
	socklen_t len = address(&a, "127.0.0.1", c[1]);

	return (void *)(intptr_t)(connect(c[0], &a.sa, len) < 0 ? errno : 0);
}

/* Two threads and a child wait for one socket, which has two numbers; a third is killed. */
static void together(void)
{
	struct full f;
	int c[2], d[2];
	pthread_t t[2];
	void *rc;
	pid_t pid;

	fill(&f);
	c[0] = socket(AF_INET, SOCK_STREAM, 0), d[0] = dup(c[0]);
	c[1] = d[1] = ntohs(f.a.in.sin_port);
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		connect(socket(AF_INET, SOCK_STREAM, 0), &f.a.sa, f.len), _exit(0);
	pthread_create(&t[0], NULL, connect_thread, c), nap_ms(50);
	pthread_create(&t[1], NULL, connect_thread, d), nap_ms(100);
	int status;
	kill(pid, SIGKILL), waitpid(pid, &status, 0), say("killed %x", status), done();
	make_room(&f);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], &rc), say("thread: %s", errno_name((int)(intptr_t)rc)), done();
	say("send by the other number"), result(send(d[0], "x", 1, MSG_NOSIGNAL)), done();
	close(c[0]), close(d[0]);
	end(&f);
}

static void late(void)
{
	struct full f;
	struct timeval tv = {0, 100000};
	struct epoll_event e = {.events = EPOLLOUT | EPOLLET};
	int c = socket(AF_INET, SOCK_STREAM, 0), n = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0),
	    ep = epoll_create1(0);

	fill(&f);
	epoll_ctl(ep, EPOLL_CTL_ADD, n, &e), epoll_wait(ep, &e, 1, 0);
	setsockopt(c, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
	say("SO_SNDTIMEO"), result(connect(c, &f.a.sa, f.len)), say(" again"),
		result(connect(c, &f.a.sa, f.len));
	done();
	say("at once"), result(connect(n, &f.a.sa, f.len)), say(" again"), result(connect(n, &f.a.sa, f.len));
	say(" epoll %d", epoll_wait(ep, &e, 1, 100)), say_poll(n, 0), done();
	make_room(&f);
	nap_ms(4500); /* the kernel asks again after 1 and 3 s */
	say("epoll %d", epoll_wait(ep, &e, 1, 0)), say_poll(n, 0);
	say(" again"), result(connect(n, &f.a.sa, f.len)), result(connect(n, &f.a.sa, f.len)), done();
	close(c), close(n), close(ep);
	end(&f);
}

static int wait_by_select(int s, int seconds)
{
	struct timeval tv = {seconds, 0};
	fd_set r, w;

	FD_ZERO(&r);
	FD_ZERO(&w);
	FD_SET(s, &r);
	FD_SET(s, &w);
	int n = select(s + 1, &r, &w, NULL, &tv);
	say("select %d%s%s", n, n > 0 && FD_ISSET(s, &r) ? " r" : "", n > 0 && FD_ISSET(s, &w) ? " w" : "");
	return n;
}

/* Waits while there comes to be room. */
static void watched(void)
{
	for (int v6 = 0; v6 <= has_v6(); v6++) {
		struct full f;
		int c = socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

		fill_at(&f, v6 ? "::1" : "127.0.0.1");
		say("begin"), result(connect(c, &f.a.sa, f.len)), say(" ");
		make_room(&f);
		wait_by_select(c, 20), say_poll(c, 0), say_end(c, true, ntohs(f.a.in.sin_port));
		say(" send"), result(send(c, "x", 1, MSG_NOSIGNAL)), done();
		close(c), end(&f);
	}
}

/* A connect in flight, which a child has as well. */
static void forked(void)
{
	struct full f;
	int c = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), status;
	pid_t pid;

	fill(&f);
	say("begin"), result(connect(c, &f.a.sa, f.len)), say(" "), wait_by_select(c, 0), say_poll(c, 0),
		done();
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		nap_ms(4500);
		bool sent = wait_by_select(c, 20) == 1 && send(c, "x", 1, MSG_NOSIGNAL) == 1;

		close(c); /* it goes on for the other */
		_exit(sent ? 0 : 1);
	}
	make_room(&f);
	nap_ms(4500);
	wait_by_select(c, 20), say_poll(c, 0), say_end(c, true, ntohs(f.a.in.sin_port)), done();
	waitpid(pid, &status, 0), say("child %x", status), done();
	say("send"), result(send(c, "y", 1, MSG_NOSIGNAL)), say_poll(c, 0), done();
	close(c);
	end(&f);
}

static void inet_waits(void)
{
	late(), watched(), forked(), signalled(0, 0), signalled(SA_RESTART, 0), signalled(SA_RESTART, 20000),
		together();
}

const struct section inet_sections[] = {{"inet", inet}, {"inetwaits", inet_waits}, {NULL, NULL}};
