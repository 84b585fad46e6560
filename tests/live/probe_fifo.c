/*
 * Opens that wait: FIFOs. They hold up no one else, end with a signal as they should, and with their caller.
 */
#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#include "probe_calls.h"

static volatile sig_atomic_t got;

static void on_signal(int sig)
{
	(void)sig;
	got++;
}

static void handle(int sig, int flags)
{
	struct sigaction a = {.sa_handler = on_signal, .sa_flags = flags};

	sigaction(sig, &a, NULL);
}

static void tell(int fd, char c)
{
	if (write(fd, &c, 1) != 1)
		die("tell");
}

/* Opens the other end until it is there. */
static int open_other(const char *name, int flags)
{
	int fd = -1;

	for (int i = 0; i < 2000 && fd < 0; i++) {
		fd = (int)x_open(name, flags | O_NONBLOCK, 0);
		if (fd < 0)
			nap_ms(2);
	}
	return fd;
}

static void *reader(void *arg)
{
	static char buf[16];
	int fd = (int)x_open(arg, O_RDONLY, 0);

	memset(buf, 0, sizeof(buf));
	if (fd < 0)
		return (void *)errno_name(errno);
	if (read(fd, buf, sizeof(buf) - 1) < 0)
		return (void *)errno_name(errno);
	close(fd);
	return buf;
}

static void by_thread(void)
{
	pthread_t t;
	void *res;
	int fd, done_opens = 0;

	fresh("fifo", K_FIFO), fresh_file("f", "x", 0644);
	pthread_create(&t, NULL, reader, "fifo");
	nap_ms(30);
	for (int i = 0; i < 200; i++) {
		fd = (int)x_open("f", O_RDWR, 0);
		done_opens += fd >= 0;
		close(fd);
	}
	say("opens while a thread waits: %d", done_opens), done();
	fd = open_other("fifo", O_WRONLY);
	/* Its number depends on whether the waiting open has one already. */
	say("the other end"), result(write(fd, "data", 4)), done();
	close(fd);
	pthread_join(t, &res);
	say("the thread read %s", (char *)res), done();
}

static void flags_section(void)
{
	static const int flags[] = {O_RDONLY | O_NONBLOCK,
				    O_WRONLY | O_NONBLOCK,
				    O_RDWR,
				    O_RDWR | O_NONBLOCK,
				    3,
				    O_RDWR | O_CREAT,
				    O_RDWR | O_TRUNC,
				    O_RDWR | O_APPEND,
				    O_RDONLY | O_NONBLOCK | O_DIRECTORY,
				    O_WRONLY | O_NONBLOCK | O_CREAT | O_EXCL};

	for (int peer = 0; peer < 2; peer++)
		for (size_t i = 0; i < N(flags); i++) {
			int r = -1, fd;

			fresh("fifo", K_FIFO);
			if (peer)
				r = (int)x_open("fifo", O_RDONLY | O_NONBLOCK, 0);
			say("open(fifo%s, %#x)", peer ? " with a reader" : "", flags[i]);
			fd = (int)result(x_open("fifo", flags[i], 0600));
			if (fd >= 0) {
				char c;
				ssize_t n = write(fd, "w", 1);

				describe_fd(fd);
				say(" w%s", n < 0 ? errno_name(errno) : "+");
				fcntl(fd, F_SETFL, O_NONBLOCK);
				n = read(fd, &c, 1);
				say(" r%s", n < 0 ? errno_name(errno) : n == 0 ? "0" : "+");
				close(fd);
			}
			if (r >= 0)
				close(r);
			done();
		}
}

/* Until pid is found asleep ten times in a row: it waits for something. */
static void wait_blocked(pid_t pid)
{
	char name[64], buf[512], *p;
	int seen = 0;

	snprintf(name, sizeof(name), "/proc/%d/stat", pid);
	for (int i = 0; i < 1000 && seen < 10; i++) {
		int fd = open(name, O_RDONLY | O_CLOEXEC);
		ssize_t n = fd < 0 ? -1 : read(fd, buf, sizeof(buf) - 1);

		if (fd >= 0)
			close(fd);
		buf[n > 0 ? n : 0] = '\0';
		p = strrchr(buf, ')');
		seen = p && (p[2] == 'S' || p[2] == 'D' || p[2] == 't' || p[2] == 'T') ? seen + 1 : 0;
		nap_ms(3);
	}
}

/* A child that waits in open; its exit status says how that ended. */
struct waiter {
	const char *name;
	int flags, sig, sa_flags, times;
	int ready;
};

static void *wait_in_open(void *arg)
{
	const struct waiter *w = arg;
	int fd, tries = 0;

	if (w->sig)
		handle(w->sig, w->sa_flags);
	tell(w->ready, 'r');
	do {
		fd = (int)x_open(w->name, w->flags, 0);
	} while (fd < 0 && errno == EINTR && ++tries < w->times);
	_exit(fd >= 0 ? 100 + got : errno == EINTR ? 200 + got : errno);
}

static pid_t start_waiter(struct waiter *w)
{
	int p[2];
	char c;
	pid_t pid;

	if (pipe(p) < 0)
		die("pipe");
	w->ready = p[1];
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		wait_in_open(w);
	close(p[1]);
	if (read(p[0], &c, 1) != 1)
		die("child");
	close(p[0]);
	wait_blocked(pid);
	return pid;
}

static void say_end(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	if (WIFSIGNALED(status))
		say(" ended by signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status) >= 200)
		say(" EINTR after %d signals", WEXITSTATUS(status) - 200);
	else if (WEXITSTATUS(status) >= 100)
		say(" opened after %d signals", WEXITSTATUS(status) - 100);
	else
		say(" %s", errno_name(WEXITSTATUS(status)));
}

static void signals_section(void)
{
	static const struct {
		const char *label;
		int sa_flags;
	} how[] = {{"no SA_RESTART", 0}, {"SA_RESTART", SA_RESTART}};
	struct waiter w = {.name = "fifo", .flags = O_RDONLY};
	pid_t pid;
	int fd;

	for (size_t i = 0; i < N(how); i++)
		for (int write = 0; write < 2; write++) {
			fresh("fifo", K_FIFO);
			w.flags = write ? O_WRONLY : O_RDONLY;
			w.sig = SIGUSR1;
			w.sa_flags = how[i].sa_flags;
			pid = start_waiter(&w);
			kill(pid, SIGUSR1);
			say("a signal, %s, %s:", how[i].label, write ? "writer" : "reader");
			if (how[i].sa_flags) {
				nap_ms(100);
				fd = open_other("fifo", write ? O_RDONLY : O_WRONLY);
				say_end(pid);
				close(fd);
			} else {
				say_end(pid);
			}
			done();
		}
	/* Ignored and blocked signals change nothing. */
	fresh("fifo", K_FIFO);
	w = (struct waiter){.name = "fifo", .flags = O_RDONLY};
	signal(SIGUSR2, SIG_IGN);
	pid = start_waiter(&w);
	signal(SIGUSR2, SIG_DFL);
	kill(pid, SIGUSR2), kill(pid, SIGWINCH), kill(pid, SIGCHLD);
	nap_ms(100);
	fd = open_other("fifo", O_WRONLY);
	say("ignored signals:"), say_end(pid), done();
	close(fd);
	/* Stopped and continued. */
	fresh("fifo", K_FIFO);
	pid = start_waiter(&w);
	kill(pid, SIGSTOP);
	int status;
	say("stopped: %d", waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status)), done();
	kill(pid, SIGCONT);
	nap_ms(60);
	fd = open_other("fifo", O_WRONLY);
	say("stopped and continued:"), say_end(pid), done();
	close(fd);
	/* Ended. */
	static const int deadly[] = {SIGKILL, SIGTERM, SIGINT};
	for (size_t i = 0; i < N(deadly); i++) {
		fresh("fifo", K_FIFO);
		pid = start_waiter(&w);
		kill(pid, deadly[i]);
		say("signal %d:", deadly[i]), say_end(pid);
		/* None reads any more, soon. */
		int fd_left = 0;
		for (int n = 0; n < 200 && fd_left >= 0; n++) {
			fd_left = (int)x_open("fifo", O_WRONLY | O_NONBLOCK, 0);
			if (fd_left >= 0)
				close(fd_left), nap_ms(10);
		}
		say(" writer"), result(fd_left), done();
	}
	/* An alarm of its own. */
	fresh("fifo", K_FIFO);
	handle(SIGALRM, 0);
	struct itimerval tv = {{0, 20000}, {0, 100000}}, off = {{0, 0}, {0, 0}};
	got = 0;
	setitimer(ITIMER_REAL, &tv, NULL);
	say("an alarm:"), result(x_open("fifo", O_RDONLY, 0));
	setitimer(ITIMER_REAL, &off, NULL);
	say(" %s", got ? "came" : "did not come"), done();
	signal(SIGALRM, SIG_DFL);
	alarm(40);
}

static void *thread_waits(void *arg)
{
	int fd = (int)x_open("fifo", O_RDONLY, 0);

	*(int *)arg = fd < 0 ? errno : 0;
	if (fd >= 0)
		close(fd);
	return NULL;
}

/* A signal aimed at one thread of several. */
static void to_thread(void)
{
	pthread_t t[2];
	int rc[2], fd;

	fresh("fifo", K_FIFO);
	handle(SIGUSR1, 0);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, thread_waits, &rc[i]);
	nap_ms(100);
	pthread_kill(t[0], SIGUSR1);
	pthread_join(t[0], NULL);
	say("the thread with the signal: %s", rc[0] ? errno_name(rc[0]) : "opened"), done();
	fd = open_other("fifo", O_WRONLY);
	pthread_join(t[1], NULL);
	say("the other: %s", rc[1] ? errno_name(rc[1]) : "opened"), done();
	close(fd);
}

/* Many at once, more than any pool of helpers holds. */
static void crowd(void)
{
	enum { MANY = 40 };
	pid_t pid[MANY];
	char name[16];
	int fd, ok = 0, status;

	for (int i = 0; i < MANY; i++) {
		struct waiter w = {.name = name, .flags = O_RDONLY};

		snprintf(name, sizeof(name), "fifo%d", i);
		fresh(name, K_FIFO);
		pid[i] = start_waiter(&w);
	}
	fresh_file("f", "x", 0644);
	for (int i = 0; i < 50; i++) {
		fd = (int)x_open("f", O_RDWR, 0);
		ok += fd >= 0;
		close(fd);
	}
	say("%d wait, %d opens went on", MANY, ok), done();
	ok = 0;
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "fifo%d", i);
		if (i % 2) {
			kill(pid[i], SIGKILL);
		} else {
			fd = open_other(name, O_WRONLY);
			close(fd);
		}
		waitpid(pid[i], &status, 0);
		ok += i % 2 ? WIFSIGNALED(status) : WIFEXITED(status) && WEXITSTATUS(status) == 100;
	}
	say("%d ended as they should", ok), done();
}

/* Two processes that open the ends in turn, as shells do. */
static void shell_like(void)
{
	int status, fd;
	char buf[32] = "";
	pid_t pid;

	fresh("fifo", K_FIFO);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		fd = (int)x_open("fifo", O_WRONLY | O_CREAT | O_TRUNC, 0666);
		_exit(fd >= 0 && write(fd, "through", 7) == 7 ? 0 : 1);
	}
	fd = (int)x_open("fifo", O_RDONLY, 0);
	say("read"), result(read(fd, buf, sizeof(buf) - 1)), say(" %s", buf);
	waitpid(pid, &status, 0);
	say(" writer's status %d", status), done();
	say("end"), result(read(fd, buf, 1)), done();
	close(fd);
}

static void fifos(void)
{
	by_thread();
	flags_section();
	shell_like();
}

static void fifo_signals(void)
{
	signals_section();
	to_thread();
	crowd();
}

/* A process of two threads: one waits in open, the other for signals, which it may have blocked. */
struct pair {
	struct waiter w;
	bool leader; /* it is the one that opens */
	bool blocked;
};

static void *stand_by(void *arg)
{
	sigset_t all;

	sigfillset(&all);
	if (((struct pair *)arg)->blocked)
		pthread_sigmask(SIG_BLOCK, &all, NULL);
	for (;;)
		pause();
	return NULL;
}

static void wait_threads(pid_t pid)
{
	char name[64];
	struct dirent *e;
	DIR *d;

	snprintf(name, sizeof(name), "/proc/%d/task", pid);
	if (!(d = opendir(name)))
		die("task");
	while ((e = readdir(d)))
		if (atoi(e->d_name) > 0)
			wait_blocked(atoi(e->d_name));
	closedir(d);
}

static pid_t start_pair(struct pair *p)
{
	pthread_t t;
	pid_t pid;
	int fd[2];
	char c;

	fresh("fifo", K_FIFO);
	if (pipe(fd) < 0)
		die("pipe");
	p->w.ready = fd[1];
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		pthread_create(&t, NULL, p->leader ? stand_by : wait_in_open, p);
		p->leader ? wait_in_open(p) : stand_by(p);
	}
	close(fd[1]);
	if (read(fd[0], &c, 1) != 1)
		die("child");
	close(fd[0]);
	wait_threads(pid);
	return pid;
}

/* The signal goes to the process; which thread takes it is the kernel's choice. */
static void to_process(struct pair p, const char *label)
{
	bool ends = !(p.w.sa_flags & SA_RESTART) && (p.leader || p.blocked);
	pid_t pid = start_pair(&p);
	int fd = -1;

	kill(pid, SIGUSR1);
	say("to a process, %s, %s opens%s:", label, p.leader ? "its leader" : "another thread",
	    p.blocked ? ", the other blocks it" : "");
	if (!ends) {
		nap_ms(150);
		fd = open_other("fifo", O_WRONLY);
	}
	say_end(pid), done();
	close(fd);
}

static void stop_pair(struct pair p, int sig)
{
	int status, seen = 0, fd;
	pid_t pid = start_pair(&p);

	kill(pid, sig);
	for (int i = 0; i < 500 && !seen; i++) {
		seen = waitpid(pid, &status, WNOHANG | WUNTRACED) == pid;
		nap_ms(10);
	}
	say("signal %d stops both: %d", sig, seen && WIFSTOPPED(status) ? WSTOPSIG(status) : -1);
	kill(pid, SIGCONT);
	nap_ms(100);
	fd = open_other("fifo", O_WRONLY);
	say_end(pid), done();
	close(fd);
}

static void pairs(void)
{
	for (int i = 0; i < 8; i++) {
		struct pair p = {{"fifo", O_RDONLY, SIGUSR1, i & 1 ? SA_RESTART : 0, 0, 0}, i & 2, i & 4};

		to_process(p, i & 1 ? "SA_RESTART" : "no SA_RESTART");
	}
	for (int i = 0; i < 4; i++) {
		struct pair p = {{"fifo", O_RDONLY, 0, 0, 0, 0}, i & 1, i & 2};
		pid_t pid;

		stop_pair(p, SIGSTOP);
		pid = start_pair(&p);
		kill(pid, SIGTERM);
		say("SIGTERM:"), say_end(pid), done();
	}
}

const struct section fifo_sections[] = {
	{"fifos", fifos}, {"fifosignals", fifo_signals}, {"fifopairs", pairs}, {NULL, NULL}};
