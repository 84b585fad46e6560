/*
 * Signals by descriptors: pidfds of processes and of threads, directories of /proc, and what says who sent them.
 */
#include <pthread.h>
#include <signal.h>

#include "probe_calls.h"

#define THREAD	       O_EXCL /* PIDFD_THREAD, Linux 6.9 */
#define TO_GROUP       4      /* PIDFD_SIGNAL_PROCESS_GROUP, the same */
#define SELF_THREAD    -10000 /* Linux 6.14 */
#define SELF_PROCESS   -10001
#define NOT_AN_ADDRESS ((siginfo_t *)16)

static long send_by(int fd, int sig, siginfo_t *info, unsigned flags)
{
	return syscall(SYS_pidfd_send_signal, fd, sig, info, flags);
}

static void block(int sig)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

/* Takes one that waits for this thread, and says what it carries. */
static void take(int sig)
{
	const struct timespec soon = {2, 0};
	siginfo_t info;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	if (sigtimedwait(&set, &info, &soon) != sig)
		say(" none");
	else
		say(" got %d code %d value %d", info.si_signo, info.si_code,
		    info.si_code == SI_QUEUE ? info.si_value.sival_int : 0);
}

/* For the whole process each of its threads sees it. */
static bool waits(int sig)
{
	sigset_t set;

	return sigpending(&set) == 0 && sigismember(&set, sig);
}

static struct {
	pthread_barrier_t barrier;
	pid_t tid;
} other;

static void *wait_for_it(void *arg)
{
	(void)arg;
	other.tid = (pid_t)syscall(SYS_gettid);
	for (int i = 0; i < 3; i++)
		pthread_barrier_wait(&other.barrier);
	say(" other %s", waits(SIGUSR1) ? "has it" : "has not");
	if (waits(SIGUSR1))
		take(SIGUSR1);
	pthread_barrier_wait(&other.barrier);
	return NULL;
}

/* Sends by the descriptor that make() gives; what each of two threads has of it then. */
static void send_to_thread(const char *what, int (*make)(void), unsigned flags)
{
	pthread_t t;
	int fd;

	block(SIGUSR1);
	pthread_barrier_init(&other.barrier, NULL, 2);
	if (pthread_create(&t, NULL, wait_for_it, NULL))
		die("pthread_create");
	pthread_barrier_wait(&other.barrier);
	fd = make();
	say("%s, flags %u:", what, flags), result(fd < 0 && fd > -100 ? -1 : 0);
	say(" send"), result(send_by(fd, SIGUSR1, NULL, flags));
	say(" first %s", waits(SIGUSR1) ? "has it" : "has not");
	pthread_barrier_wait(&other.barrier);
	pthread_barrier_wait(&other.barrier);
	pthread_barrier_wait(&other.barrier);
	pthread_join(t, NULL);
	if (waits(SIGUSR1))
		take(SIGUSR1);
	done();
	close(fd);
}

static int of_other(void)
{
	return (int)syscall(SYS_pidfd_open, other.tid, THREAD);
}
static int of_first(void)
{
	return (int)syscall(SYS_pidfd_open, getpid(), THREAD);
}
static int of_process(void)
{
	return (int)syscall(SYS_pidfd_open, getpid(), 0);
}
static int no_leader(void)
{
	return (int)syscall(SYS_pidfd_open, other.tid, 0);
}
static int self_thread(void)
{
	return SELF_THREAD;
}
static int self_process(void)
{
	return SELF_PROCESS;
}
static int self_process_once(void)
{
	return -20000; /* so in 6.15 */
}
static int of_directory(void)
{
	return open("/proc/self", O_RDONLY);
}
static int of_thread_directory(void)
{
	char name[32];

	snprintf(name, sizeof(name), "/proc/%d", other.tid);
	return open(name, O_RDONLY);
}

static void pidfd_threads(void)
{
	static const struct {
		const char *name;
		int (*make)(void);
	} all[] = {{"of the other", of_other},
		   {"of the first", of_first},
		   {"of the process", of_process},
		   {"of one that is no leader", no_leader},
		   {"self, thread", self_thread},
		   {"self, process", self_process},
		   {"self, process, as before", self_process_once},
		   {"/proc/self", of_directory},
		   {"/proc of the other", of_thread_directory}};

	for (size_t i = 0; i < N(all); i++)
		for (unsigned flags = 0; flags < 3; flags++)
			send_to_thread(all[i].name, all[i].make, flags);
}

static void ends(void *arg)
{
	(void)arg;
}

static void pidfd_kinds(void)
{
	static const char *const names[] = {"/proc/self",
					    "/proc/self/",
					    "/proc/self/status",
					    "/proc/self/fd",
					    "/proc/self/ns",
					    "/proc/self/task",
					    "/proc/thread-self",
					    "/proc",
					    "/proc/1/stat",
					    "/proc/sys",
					    "/proc/self/root",
					    ".",
					    "f"};
	static const unsigned flags[] = {0, 1, 2, 3, 8, 0x80000000U};
	char name[32];
	int fd, p[2];
	pid_t pid;

	fresh_file("f", "x", 0644);
	for (size_t i = 0; i < N(names); i++) {
		fd = (int)x_open(names[i], O_RDONLY, 0);
		say("by %s", names[i]), result(send_by(fd, 0, NULL, 0)), done();
		close(fd);
		fd = (int)x_open(names[i], O_PATH, 0);
		say("by O_PATH of %s", names[i]), result(send_by(fd, 0, NULL, 0)), done();
		close(fd);
	}
	if (pipe(p) == 0)
		say("by a pipe"), result(send_by(p[0], 0, NULL, 0)), done(), close(p[0]), close(p[1]);
	for (size_t i = 0; i < N(flags); i++) {
		say("by none, flags %#x", flags[i]), result(send_by(-1, 0, NULL, flags[i])), done();
		say("by 999, flags %#x", flags[i]), result(send_by(999, 0, NULL, flags[i])), done();
	}
	pid = fork();
	if (pid == 0)
		for (;;)
			pause();
	snprintf(name, sizeof(name), "/proc/%d", pid);
	fd = open(name, O_RDONLY);
	say("by a child's directory"), result(send_by(fd, SIGKILL, NULL, 0)), done();
	waitpid(pid, NULL, 0);
	say("when it is gone"), result(send_by(fd, 0, NULL, 0)), done();
	close(fd);
	in_child(ends, NULL);
}

/* A process of a group of its own that takes what it is sent. */
static pid_t receiver(int sig)
{
	pid_t pid;

	block(sig);
	fflush(stdout);
	pid = fork();
	if (pid)
		return pid;
	setpgid(0, 0);
	take(sig), done();
	fflush(stdout);
	_exit(0);
}

/* What it got, then how it was sent. */
static void send_info(const char *what, siginfo_t *info, int sig)
{
	pid_t pid = receiver(sig);
	int fd = (int)syscall(SYS_pidfd_open, pid, 0), first, second;

	setpgid(pid, pid);
	first = send_by(fd, sig, info, 0) < 0 ? errno : 0;
	second = send_by(fd, 0, NULL, TO_GROUP) < 0 ? errno : 0;
	kill(pid, sig);
	waitpid(pid, NULL, 0);
	say("%s: %s, its group: %s", what, errno_name(first), errno_name(second)), done();
	close(fd);
}

static void pidfd_infos(void)
{
	siginfo_t queued = {.si_signo = SIGUSR2, .si_code = SI_QUEUE}, claims = queued, wrong = queued;

	queued.si_value.sival_int = 7;
	queued.si_pid = getpid();
	claims.si_code = SI_USER;
	wrong.si_signo = SIGUSR1;
	send_info("no info", NULL, SIGUSR2);
	send_info("queued", &queued, SIGUSR2);
	send_info("as by kill", &claims, SIGUSR2);
	send_info("another signal", &wrong, SIGUSR2);
	send_info("no address", NOT_AN_ADDRESS, SIGUSR2);
	say("no address, by 999"), result(send_by(999, 0, NOT_AN_ADDRESS, 0)), done();
}

/* Whose signal it says it is. */
static void take_from(const char *what, pid_t expected, int sig)
{
	const struct timespec soon = {2, 0};
	siginfo_t info = {0};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	say("%s: %s", what, sigtimedwait(&set, &info, &soon) == sig ? "got" : "none");
	say(" code %d, pid %s, uid %s", info.si_code, info.si_pid == expected ? "right" : "wrong",
	    info.si_uid == getuid() ? "right" : "wrong"),
		done();
}

static void senders(void)
{
	union sigval v = {.sival_int = 3};
	pid_t self = getpid();

	block(SIGUSR1);
	setpgid(0, 0);
	kill(self, SIGUSR1), take_from("kill", self, SIGUSR1);
	syscall(SYS_tkill, self, SIGUSR1), take_from("tkill", self, SIGUSR1);
	syscall(SYS_tgkill, self, self, SIGUSR1), take_from("tgkill", self, SIGUSR1);
	sigqueue(self, SIGUSR1, v), take_from("sigqueue", self, SIGUSR1);
	kill(-getpgrp(), SIGUSR1), take_from("kill of the own group by its number", self, SIGUSR1);
}

const struct section signal_sections[] = {
	{"pidfdthreads", pidfd_threads},
	{"pidfdkinds", pidfd_kinds},
	{"pidfdinfos", pidfd_infos},
	{"senders", senders},
	{NULL, NULL},
};
