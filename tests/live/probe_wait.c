/*
 * Opens that wait, cut short by timers, stopped and continued, several on one FIFO, with peers that come and go.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/time.h>

#include "probe_calls.h"

static volatile sig_atomic_t count;

static void on_signal(int sig)
{
	(void)sig;
	count++;
}

static void handle(int flags)
{
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = flags};

	sigaction(SIGRTMIN + 1, &sa, NULL);
	count = 0;
}

/* To this thread or to the process, every 30 ms. */
static timer_t start_timer(bool thread)
{
	struct itimerspec t = {{0, 30 * 1000 * 1000}, {0, 30 * 1000 * 1000}};
	struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 1};
	timer_t id;

	if (thread) {
		e.sigev_notify = 4; /* SIGEV_THREAD_ID */
		((int *)&e)[4] = (int)syscall(SYS_gettid);
	}
	if (timer_create(CLOCK_MONOTONIC, &e, &id) < 0 || timer_settime(id, 0, &t, NULL) < 0)
		die("timer");
	return id;
}

static void *open_both(void *arg)
{
	nap_ms(120);
	*(int *)arg = (int)x_open("p", O_RDWR, 0);
	return NULL;
}

static void timers(void)
{
	for (int i = 0; i < 4; i++) {
		int flags = i & 1 ? SA_RESTART : 0, other = -1, fd;
		pthread_t t;
		timer_t id;

		remove_all("p"), fresh("p", K_FIFO), handle(flags);
		if (flags)
			pthread_create(&t, NULL, open_both, &other);
		id = start_timer(i & 2);
		say("a timer to %s, %s:", i & 2 ? "the thread" : "the process",
		    flags ? "SA_RESTART" : "no SA_RESTART");
		fd = (int)x_open("p", O_RDONLY, 0), result(fd < 0 ? -1 : 0), timer_delete(id);
		say(" %s", count ? "signalled" : "not signalled"), done();
		if (flags)
			pthread_join(t, NULL);
		close(fd), close(other);
	}
}

enum { MANY = 6 };

static void *reader(void *arg)
{
	char c = 0;
	int fd = (int)x_open("p", O_RDONLY, 0);

	*(int *)arg = fd < 0 ? -errno : read(fd, &c, 1) == 1 ? c : 0;
	close(fd);
	return NULL;
}

static void *writer(void *arg)
{
	int fd = (int)x_open("p", O_WRONLY, 0);
	char c = 'w';

	*(int *)arg = fd < 0 ? -errno : (int)write(fd, &c, 1);
	/* Until all have what they wait for. */
	nap_ms(60), close(fd);
	return NULL;
}

static void crowded(void)
{
	pthread_t r[MANY], w[MANY];
	int got[MANY], put[MANY], sum = 0;

	remove_all("p"), fresh("p", K_FIFO);
	for (int i = 0; i < MANY; i++)
		pthread_create(&r[i], NULL, reader, &got[i]);
	nap_ms(40);
	for (int i = 0; i < MANY; i++)
		pthread_create(&w[i], NULL, writer, &put[i]);
	for (int i = 0; i < MANY; i++)
		pthread_join(r[i], NULL), pthread_join(w[i], NULL), sum += (got[i] == 'w') + put[i];
	say("%d readers and writers of one FIFO: %d", MANY, sum), done();
}

/* A peer that is gone again when the open returns. */
static void fleeting(void *arg)
{
	(void)arg;
	for (int i = 0; i < 20; i++)
		close((int)x_open("p", O_WRONLY, 0));
}

static void peers(void)
{
	int fd, ended = 0;
	pid_t pid;
	char c;

	remove_all("p"), fresh("p", K_FIFO), fflush(stdout);
	pid = fork();
	if (pid == 0)
		fleeting(NULL), _exit(0);
	while (waitpid(pid, NULL, WNOHANG) == 0) {
		fd = (int)x_open("p", O_RDONLY | O_NONBLOCK, 0);
		while (fd >= 0 && read(fd, &c, 1) < 0)
			nap_ms(1);
		close(fd);
		ended++;
	}
	say("peers that come and go: %s", ended > 0 ? "met" : "missed"), done();
}

static void stopped(void)
{
	int status, fd;
	pid_t pid;

	for (int i = 0; i < 5; i++) {
		remove_all("p"), fresh("p", K_FIFO), fflush(stdout);
		pid = fork();
		if (pid == 0) {
			char b = 0;

			fd = (int)x_open("p", O_RDONLY, 0);
			_exit(fd >= 0 && read(fd, &b, 1) == 1 ? b : 1);
		}
		nap_ms(20), kill(pid, i % 2 ? SIGTSTP : SIGSTOP);
		waitpid(pid, &status, WUNTRACED), say("stopped %d", WIFSTOPPED(status) != 0);
		if (i < 4) {
			kill(pid, SIGCONT), waitpid(pid, &status, WCONTINUED),
				say(" continued %d", WIFCONTINUED(status) != 0);
			fd = (int)x_open("p", O_WRONLY, 0), result(write(fd, "*", 1)), close(fd);
		} else {
			kill(pid, SIGKILL);
		}
		waitpid(pid, &status, 0), say(" ended %#x", status), done();
	}
}

static void waits(void)
{
	timers(), crowded(), peers(), stopped();
}

static volatile int idle_tid;

static void *idle(void *arg)
{
	idle_tid = (int)syscall(SYS_gettid);
	for (;;)
		pause();
	return arg;
}

static void *change_often(void *arg)
{
	for (;;)
		syscall(SYS_setresuid, -1, -1, -1);
	return arg;
}

/* An exec that waits for a thread that is dead, and whose tracer does not ask for it. */
static void exec_without_end(int to_tracer, int ready)
{
	pthread_t t;

	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	pthread_create(&t, NULL, idle, NULL);
	while (!idle_tid)
		nap_ms(1);
	write(to_tracer, (const void *)&idle_tid, sizeof(idle_tid));
	nap_ms(200);
	for (int i = 0; i < MANY; i++)
		pthread_create(&t, NULL, change_often, NULL);
	nap_ms(50), write(ready, "r", 1);
	execl("/proc/self/exe", "probe", "mark", (char *)NULL);
	_exit(1);
}

static void another_user(void *arg)
{
	(void)arg;
	say("setuid"), result(syscall(SYS_setuid, 1234));
	say(" open"), result(x_open("made", O_CREAT | O_WRONLY, 0600) < 0 ? -1 : 0), done();
}

/* Meanwhile others become who they like, and are themselves. */
static void exec_waits(void)
{
	int to_tracer[2], ready[2], tid;
	pid_t tracer, waiting;
	char c;

	fflush(stdout);
	if (pipe(to_tracer) < 0 || pipe(ready) < 0 || chmod(".", 0777) < 0)
		die("exec_waits");
	tracer = fork();
	if (tracer == 0) {
		read(to_tracer[0], &tid, sizeof(tid));
		ptrace(PTRACE_SEIZE, tid, 0, 0);
		for (;;)
			pause();
	}
	waiting = fork();
	if (waiting == 0)
		exec_without_end(to_tracer[1], ready[1]);
	read(ready[0], &c, 1), nap_ms(200);
	in_child(another_user, NULL);
	/* In this order, or it would begin. */
	kill(waiting, SIGKILL), kill(tracer, SIGKILL);
	waitpid(tracer, NULL, 0), waitpid(waiting, NULL, 0);
}

const struct section wait_sections[] = {{"waits", waits}, {"execwaits", exec_waits}, {NULL, NULL}};
