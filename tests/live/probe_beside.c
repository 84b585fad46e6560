/*
 * Beside a stranger: locks and leases of a process that is outside in both runs. The section "stranger" is that process. The
 * script starts it first, with the FIFOs ask and tell beside it; it does as it is asked with the file ../beside/f.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/time.h>

#include "probe_calls.h"

#define LEASED	"../beside/f"
#define HOLD_MS 40

/* What the stranger holds, what a lease was asked to become, and when it was given up. */
static struct {
	int fd, broken, hold;
	double given_up;
} own = {.fd = -1};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int lock_as(int fd, int cmd, short type)
{
	struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_start = 5, .l_len = 10};

	return fcntl(fd, cmd, &l);
}

static int take_lease(int flags, int type)
{
	own.broken = -1, own.given_up = 0, own.fd = open(LEASED, flags | O_CLOEXEC);
	return fcntl(own.fd, F_SETLEASE, type);
}

static int let_go(void)
{
	int rc = own.fd < 0 ? 0 : close(own.fd);

	own.fd = own.broken = -1;
	return rc;
}

/* Whose lock keeps the stranger from his, by the number that the asker has. */
static void tell_holder(int to, pid_t asker)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd = open(LEASED, O_RDWR | O_CLOEXEC);

	fcntl(fd, F_GETLK, &l), close(fd);
	dprintf(to, "%s%s\n",
		l.l_type == F_UNLCK   ? "none"
		: l.l_type == F_RDLCK ? "read"
				      : "write",
		l.l_type == F_UNLCK ? ""
		: l.l_pid == asker  ? " yours"
		: l.l_pid < 0	    ? " nobody's"
				    : " another's");
}

static int obey(int c)
{
	switch (c) {
	case 'r':
		return take_lease(O_RDONLY, F_RDLCK);
	case 'w':
		return take_lease(O_RDWR, F_WRLCK);
	case 'h': /* until it is let go */
		own.hold = 1;
		return take_lease(O_RDWR, F_WRLCK);
	case 'c':
		own.hold = 0;
		return let_go();
	}
	own.fd = own.fd < 0 ? open(LEASED, O_RDWR | O_CLOEXEC) : own.fd;
	return c == 'p'	  ? lock_as(own.fd, F_SETLK, F_WRLCK)
	       : c == 'o' ? lock_as(own.fd, F_OFD_SETLK, F_WRLCK)
	       : c == 'q' ? lock_as(own.fd, F_SETLK, F_RDLCK)
			  : flock(own.fd, LOCK_EX | LOCK_NB);
}

/* A lease is to be given up. */
static void give_up(void)
{
	own.broken = fcntl(own.fd, F_GETLEASE);
	if (!own.hold)
		nap_ms(HOLD_MS), own.given_up = now(), fcntl(own.fd, F_SETLEASE, F_UNLCK);
}

static void answer(int to, const char *line)
{
	if (line[0] == 'g')
		tell_holder(to, atoi(line + 1));
	else if (line[0] == 's')
		dprintf(to, "%f %s\n", own.given_up,
			own.broken < 0		? "kept"
			: own.broken == F_UNLCK ? "broken"
						: "shared");
	else
		dprintf(to, "%s\n", obey(line[0]) < 0 ? errno_name(errno) : "done");
}

static void stranger(void)
{
	struct signalfd_siginfo info;
	struct pollfd p[2];
	char line[64];
	sigset_t set;
	ssize_t n;
	int to;

	sigemptyset(&set), sigaddset(&set, SIGIO), sigprocmask(SIG_BLOCK, &set, NULL);
	p[0] = (struct pollfd){open("../ask", O_RDONLY), POLLIN, 0}, to = open("../tell", O_WRONLY);
	p[1] = (struct pollfd){signalfd(-1, &set, 0), POLLIN, 0};
	while (poll(p, 2, -1) > 0) {
		if (p[1].revents & POLLIN) {
			read(p[1].fd, &info, sizeof(info)), give_up();
		} else {
			n = read(p[0].fd, line, sizeof(line) - 1);
			if (n <= 0)
				return;
			line[n] = '\0', answer(to, line);
		}
	}
}

static int ask_fd, tell_fd;

/* Asks the stranger, and says what he answers. */
static void ask(char what, const char *label)
{
	char line[64];
	ssize_t n;

	dprintf(ask_fd, "%c%d", what, getpid());
	n = read(tell_fd, line, sizeof(line));
	say(" %s: %.*s", label, n > 0 ? (int)n - 1 : 0, line);
}

/* What became of the lease, and whether what returned then had waited for that. */
static void ask_lease(double returned)
{
	char line[64] = "", *state;
	double given_up;

	dprintf(ask_fd, "s");
	read(tell_fd, line, sizeof(line) - 1);
	given_up = strtod(line, &state);
	say("%.*s%s", (int)strcspn(state, "\n"), state,
	    given_up == 0	   ? ""
	    : returned >= given_up ? ", waited"
				   : ", at once");
}

static int try_open(int flags)
{
	int fd = (int)x_open("f", flags, 0600);

	return fd < 0 ? -1 : close(fd);
}

static int by_link(void)
{
	int rc = x_link("f", "l");

	x_unlink("l");
	return rc;
}

static int by_rename(void)
{
	int rc = x_rename("f", "m");

	x_rename("m", "f");
	return rc;
}

static int by_shrink(void)
{
	return x_truncate("f", 3);
}

static int by_mode(void)
{
	return x_chmod("f", 0644);
}

static int by_attribute(void)
{
	return x_setxattr("f", "user.x", "1", 1, 0);
}

static int by_times(void)
{
	return x_utimensat(AT_FDCWD, "f", NULL, 0);
}

static int by_path(void)
{
	return try_open(O_PATH);
}

/* What breaks a lease, and is it waited for. */
static void breaking(void)
{
	static const int flags[] = {O_RDONLY,
				    O_WRONLY,
				    O_RDWR,
				    O_RDONLY | O_NONBLOCK,
				    O_RDWR | O_NONBLOCK,
				    O_WRONLY | O_TRUNC,
				    O_WRONLY | O_APPEND,
				    O_RDWR | O_CREAT,
				    O_RDWR | O_CREAT | O_EXCL,
				    O_RDONLY | O_TRUNC,
				    O_WRONLY | O_TRUNC | O_NONBLOCK};
	static const struct {
		const char *name;
		int (*fn)(void);
	} acts[] = {{"truncate", by_shrink}, {"link", by_link},		 {"rename", by_rename},
		    {"chmod", by_mode},	     {"setxattr", by_attribute}, {"times", by_times},
		    {"O_PATH", by_path}};
	double returned;

	for (int kind = 0; kind < 2; kind++) {
		for (size_t i = 0; i < N(flags) + N(acts); i++) {
			ask("rw"[kind], kind ? "write lease" : "read lease");
			if (i < N(flags))
				say(" open %#x", flags[i]), result(try_open(flags[i]));
			else
				say(" %s", acts[i - N(flags)].name), result(acts[i - N(flags)].fn());
			returned = now(), nap_ms(20), say(":"), ask_lease(returned), ask('c', "let go"),
			done();
		}
	}
}

static volatile sig_atomic_t count;

static void on_signal(int sig)
{
	(void)sig;
	count++;
}

static void every_30ms(bool on)
{
	struct itimerval t = {{0, 30000}, {0, 30000}}, none = {{0, 0}, {0, 0}};

	setitimer(ITIMER_REAL, on ? &t : &none, NULL);
}

static void *let_go_later(void *arg)
{
	(void)arg;
	nap_ms(100);
	dprintf(ask_fd, "c");
	return NULL;
}

/* A lease that is held on to: who waits is interrupted, killed, stopped, and others are not held up. */
static void interrupting(void)
{
	for (int i = 0; i < 4; i++) {
		struct sigaction sa = {.sa_handler = on_signal, .sa_flags = i & 1 ? SA_RESTART : 0};
		pthread_t t;
		char line[8];

		ask('h', "lease"), sigaction(SIGALRM, &sa, NULL), count = 0;
		/* SIGALRM is to go to who waits. */
		sigset_t set;
		sigemptyset(&set), sigaddset(&set, SIGALRM), pthread_sigmask(SIG_BLOCK, &set, NULL);
		if (i & 1)
			pthread_create(&t, NULL, let_go_later, NULL);
		pthread_sigmask(SIG_UNBLOCK, &set, NULL);
		every_30ms(true);
		if (i & 2)
			say(" truncate"), result(x_truncate("f", 3));
		else
			say(" open"), result(try_open(O_RDWR));
		every_30ms(false);
		say("%s %s", i & 1 ? ", SA_RESTART" : "", count ? "signalled" : "not signalled");
		if (i & 1)
			pthread_join(t, NULL), read(tell_fd, line, sizeof(line));
		else
			ask('c', "let go");
		done();
	}
}

static void ending(void)
{
	int status;
	pid_t pid;

	for (int i = 0; i < 2; i++) {
		ask('h', "lease"), fflush(stdout), pid = fork();
		if (pid == 0) {
			signal(SIGALRM, SIG_DFL);
			i ? x_truncate("f", 3) : try_open(O_RDWR);
			_exit(0);
		}
		nap_ms(60);
		say(" meanwhile"), result(x_mkdir("d", 0700)), result(x_rmdir("d"));
		kill(pid, i ? SIGTERM : SIGKILL), waitpid(pid, &status, 0);
		say(" killed %#x", status), nap_ms(60), ask('c', "let go"), done();
	}
}

static void leases(void)
{
	breaking(), interrupting(), ending();
}

static void say_holder(int fd, int cmd)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	if (fcntl(fd, cmd, &l) < 0)
		say(" getlk %s", errno_name(errno));
	else if (l.l_type == F_UNLCK)
		say(" none");
	else
		say(" %s %s", l.l_type == F_RDLCK ? "read" : "write",
		    l.l_pid == getpid() ? "mine"
		    : l.l_pid < 0	? "nobody's"
					: "another's");
}

/* The stranger's lock against ours. */
static void against(void)
{
	static const struct {
		char what;
		const char *name;
	} kinds[] = {{'p', "record lock"}, {'q', "read lock"}, {'o', "OFD lock"}, {'f', "flock"}};

	for (size_t i = 0; i < N(kinds); i++) {
		int fd = (int)x_open("f", O_RDWR, 0), reader = (int)x_open("f", O_RDONLY, 0);

		ask(kinds[i].what, kinds[i].name);
		say(" set"), result(lock_as(fd, F_SETLK, F_WRLCK)), say_holder(fd, F_GETLK);
		say(" read"), result(lock_as(reader, F_SETLK, F_RDLCK)), say(" OFD"),
			result(lock_as(fd, F_OFD_SETLK, F_WRLCK)), say_holder(fd, F_OFD_GETLK);
		say(" flock"), result(flock(fd, LOCK_EX | LOCK_NB)), say(" shared"),
			result(flock(reader, LOCK_SH | LOCK_NB));
		close(fd), close(reader), ask('c', "let go"), done();
	}
}

static void held_child(void *arg)
{
	int fd = *(int *)arg;

	ask('g', "by the parent"), say_holder(fd, F_GETLK), say(" inherited"),
		result(lock_as(fd, F_SETLK, F_WRLCK)), done();
	ask('g', "of the child"), done();
	close(fd);
}

/* Our lock as the stranger sees it, and when it is lost. */
static void held(void)
{
	int fd = (int)x_open("f", O_RDWR, 0), other;

	say("record lock"), result(lock_as(fd, F_SETLK, F_WRLCK)), ask('g', "seen"), ask('p', "his"),
		ask('c', "-");
	done(), in_child(held_child, &fd);
	ask('g', "after the child"), other = dup(fd), close(other), ask('g', "after close of a duplicate"),
				     done();
	say("again"), result(lock_as(fd, F_SETLK, F_RDLCK)), ask('g', "seen"), ask('q', "his"), ask('c', "-");
	other = (int)x_open("f", O_RDONLY, 0), close(other), ask('g', "after close of another open"), done();
	say("OFD lock"), result(lock_as(fd, F_OFD_SETLK, F_WRLCK)), ask('g', "seen"), ask('p', "his"),
		ask('c', "-");
	other = (int)x_open("f", O_RDONLY, 0), close(other), ask('g', "after close of another open");
	other = dup(fd), close(fd), ask('g', "after close of one duplicate"), close(other),
	ask('g', "of all"), done();
	fd = (int)x_open("f", O_RDWR, 0);
	say("flock"), result(flock(fd, LOCK_SH)), ask('f', "his"), ask('c', "-"), other = dup(fd), close(fd);
	ask('f', "his after close of one duplicate"), ask('c', "-"), close(other), ask('f', "of all"),
		ask('c', "-"), done();
	fd = (int)x_open("f", O_WRONLY | O_TRUNC, 0), lock_as(fd, F_SETLK, F_WRLCK), x_unlink("f");
	say("removed while locked"), ask('g', "seen"), close(fd), done();
	fresh_file("f", "some content to be locked", 0644);
}

static void waiting(void)
{
	for (int i = 0; i < 3; i++) {
		int fd = (int)x_open("f", O_RDWR, 0);
		pthread_t t;
		char line[8];

		ask(i == 2 ? 'f' : 'p', "lock"), pthread_create(&t, NULL, let_go_later, NULL);
		say(" waited for"), result(i == 2   ? flock(fd, LOCK_EX)
					   : i == 1 ? lock_as(fd, F_OFD_SETLKW, F_WRLCK)
						    : lock_as(fd, F_SETLKW, F_WRLCK));
		pthread_join(t, NULL), read(tell_fd, line, sizeof(line)), close(fd), done();
	}
}

static void beside(void)
{
	fresh_file("f", "some content to be locked", 0644);
	ask_fd = (int)x_open("../ask", O_WRONLY, 0), tell_fd = (int)x_open("../tell", O_RDONLY, 0);
	if (ask_fd < 0 || tell_fd < 0)
		die("no stranger");
	against(), held(), waiting(), leases();
}

const struct section beside_sections[] = {{"stranger", stranger}, {"beside", beside}, {NULL, NULL}};
