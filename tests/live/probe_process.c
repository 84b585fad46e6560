/*
 * Threads, forks, signals and tracing among a session's own processes.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>

#include "probe_calls.h"

static pthread_barrier_t barrier;

static void *own_cwd(void *arg)
{
	char name[16];
	int i = *(int *)arg, bad = 0;

	if (syscall(SYS_unshare, CLONE_FS) < 0)
		return (void *)(intptr_t)-1;
	snprintf(name, sizeof(name), "t%d", i);
	if (chdir(name) < 0)
		return (void *)(intptr_t)-2;
	umask(i % 2 ? 077 : 0);
	pthread_barrier_wait(&barrier);
	for (int n = 0; n < 50; n++) {
		int fd;

		snprintf(name, sizeof(name), "f%d", n);
		fd = (int)x_open(name, O_RDWR | O_CREAT | O_EXCL, 0666);
		if (fd < 0)
			bad++;
		else
			close(fd);
		bad += x_rename(name, "g") < 0;
		bad += x_mkdir("d", 0777) < 0;
		if (n < 49)
			bad += x_rmdir("d") < 0;
	}
	return (void *)(intptr_t)bad;
}

static void thread_cwds(void)
{
	enum { THREADS = 8 };
	pthread_t t[THREADS];
	int n[THREADS];
	char name[64];
	void *bad;

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		mkdir(name, 0755);
		n[i] = i;
	}
	/* Docker refuses the unshare; then all fail, in both runs. */
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, own_cwd, &n[i]))
			die("pthread_create");
	for (int i = 0; i < THREADS; i++) {
		pthread_join(t[i], &bad);
		say("thread %d: %d", i, (int)(intptr_t)bad), done();
		snprintf(name, sizeof(name), "t%d/g", i), describe(name);
		snprintf(name, sizeof(name), "t%d/d", i), describe(name), done();
	}
	describe("."), done();
}

static void *by_dirfd(void *arg)
{
	int dir = *(int *)arg, bad = 0;
	char name[32];

	for (int n = 0; n < 100; n++) {
		snprintf(name, sizeof(name), "%d-%d", dir, n);
		int fd = (int)x_openat(dir, name, O_RDWR | O_CREAT | O_EXCL, 0644);
		bad += fd < 0 || write(fd, name, strlen(name)) < 0;
		close(fd);
		if (n % 2)
			bad += x_unlinkat(dir, name, 0) < 0;
	}
	return (void *)(intptr_t)bad;
}

static void thread_dirfds(void)
{
	enum { THREADS = 6 };
	pthread_t t[THREADS];
	int dirs[THREADS];
	void *bad;

	for (int i = 0; i < THREADS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "dir%d", i % 3);
		mkdir(name, 0755);
		dirs[i] = open(name, i % 2 ? O_PATH | O_DIRECTORY : O_RDONLY | O_DIRECTORY);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, by_dirfd, &dirs[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], &bad), say("by descriptor %d: %d failed", i, (int)(intptr_t)bad), done();
	describe("dir0"), describe("dir1"), describe("dir2"), done();
	for (int i = 0; i < THREADS; i++)
		close(dirs[i]);
}

static void vforks(void)
{
	volatile int ok = 0;
	int status;

	fresh_file("f", "x", 0644);
	for (int i = 0; i < 30; i++) {
		pid_t pid = vfork();

		if (pid == 0) {
			int fd = (int)x_open("f", O_RDWR | O_TRUNC, 0);
			_exit(fd >= 0 && x_chmod("f", 0600 + (i & 7)) == 0 ? 7 : 8);
		}
		waitpid(pid, &status, 0);
		ok = ok + (WIFEXITED(status) && WEXITSTATUS(status) == 7);
	}
	say("vfork: %d of 30", ok), describe("f"), done();
	ok = 0;
	for (volatile int i = 0; i < 10; i++) {
		pid_t pid = vfork();

		if (pid == 0) {
			execl("/bin/sh", "sh", "-c", "echo more >> f", (char *)NULL);
			_exit(127);
		}
		waitpid(pid, &status, 0);
		ok = ok + (WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	say("vfork and exec: %d of 10", ok), describe("f"), done();
	say("system"),
		result(system("mkdir sub && cd sub && echo x > y && mv y z && chmod 600 z && ln -s z l && "
			      "cat l > copy")),
		describe("sub"), done();
	describe("sub/z"), describe("sub/copy"), done();
}

static void worker(void *arg)
{
	int i = *(int *)arg, bad = 0;
	char name[64];

	for (int n = 0; n < 10; n++) {
		snprintf(name, sizeof(name), "work/%d-%d", i, n);
		int fd = (int)x_open(name, O_RDWR | O_CREAT | O_EXCL, 0644);
		bad += fd < 0;
		close(fd);
		bad += n % 3 == 0 ? x_unlink(name) < 0 : 0;
	}
	/* All append to one file, all try to make one name. */
	int fd = (int)x_open("log", O_WRONLY | O_APPEND | O_CREAT, 0644);
	bad += write(fd, "line\n", 5) != 5;
	close(fd);
	fd = (int)x_open("once", O_WRONLY | O_CREAT | O_EXCL, 0644);
	_exit(bad ? 2 : fd >= 0);
}

static void forks(void)
{
	enum { PROCESSES = 60 };
	pid_t pid[PROCESSES];
	int status, first = 0, bad = 0;

	fresh("work", K_DIR);
	fflush(stdout);
	for (int i = 0; i < PROCESSES; i++) {
		pid[i] = fork();
		if (pid[i] == 0)
			worker(&i);
	}
	for (int i = 0; i < PROCESSES; i++) {
		waitpid(pid[i], &status, 0);
		first += status == 1 << 8;
		bad += status != 0 && status != 1 << 8;
	}
	say("%d processes, %d made the one name, %d failed", PROCESSES, first, bad), describe("log"), done();
	describe("work"), done();
}

/* A writer that was killed at every moment leaves no one stuck. */
static void killed(void)
{
	int status, ok = 0;

	for (int i = 0; i < 40; i++) {
		pid_t pid = fork();

		if (pid == 0)
			for (;;) {
				close((int)x_open("k", O_RDWR | O_CREAT, 0644));
				x_unlink("k");
			}
		nap_ms(i % 7);
		kill(pid, SIGKILL);
		ok += waitpid(pid, &status, 0) == pid && WIFSIGNALED(status);
	}
	say("killed %d of 40", ok), done();
	unlink("k");
	say("afterwards"), result(x_mkdir("alive", 0755)), done();
}

static volatile sig_atomic_t last, value, count;

static void note(int sig, siginfo_t *info, void *ctx)
{
	(void)ctx;
	last = sig;
	value = info->si_value.sival_int;
	count++;
}

static void sleeper(void *arg)
{
	(void)arg;
	for (;;)
		pause();
}

static pid_t start(void (*fn)(void *), void *arg)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		fn(arg);
		_exit(0);
	}
	return pid;
}

static void say_status(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		say(" waitpid %s", errno_name(errno));
	else if (WIFSIGNALED(status))
		say(" ended by %d", WTERMSIG(status));
	else
		say(" exit %d", WEXITSTATUS(status));
}

static void group_leader(void *arg)
{
	pid_t a;

	(void)arg;
	setpgid(0, 0);
	a = fork();
	if (a == 0)
		sleeper(NULL);
	signal(SIGUSR2, SIG_IGN);
	nap_ms(20);
	errno = 0;
	if (killpg(0, SIGUSR2) < 0)
		_exit(errno);
	int status;
	waitpid(a, &status, 0);
	_exit(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR2 ? 42 : 1);
}

static void signals(void)
{
	struct sigaction sa = {.sa_sigaction = note, .sa_flags = SA_SIGINFO | SA_RESTART};
	union sigval v = {.sival_int = 77};
	pid_t pid;
	int fd;

	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGRTMIN + 2, &sa, NULL);
	say("raise"), result(raise(SIGUSR1)), say(" got %d", last == SIGUSR1), done();
	say("kill self"), result(kill(getpid(), SIGUSR1)), say(" count %d", count), done();
	say("tgkill self"), result(syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR1)),
		say(" count %d", count), done();
	say("tkill self"), result(syscall(SYS_tkill, syscall(SYS_gettid), SIGUSR1)), say(" count %d", count),
		done();
	say("pthread_kill"), result(pthread_kill(pthread_self(), SIGUSR1)), say(" count %d", count), done();
	say("sigqueue self"), result(sigqueue(getpid(), SIGRTMIN + 2, v)), say(" value %d", value), done();
	say("kill self 0"), result(kill(getpid(), 0)), done();
	say("kill self 99"), result(kill(getpid(), 99)), done();
	say("kill 0 with 0"), result(kill(0, 0)), done();
	pid = start(sleeper, NULL);
	say("kill child 0"), result(kill(pid, 0)), done();
	say("sigqueue child"), result(sigqueue(pid, SIGTERM, v)), say_status(pid), done();
	say("kill the reaped child"), result(kill(pid, SIGTERM)), done();
	pid = start(sleeper, NULL);
	say("tgkill child"), result(syscall(SYS_tgkill, pid, pid, SIGINT)), say_status(pid), done();
	pid = start(sleeper, NULL);
	fd = (int)syscall(SYS_pidfd_open, pid, 0);
	say("pidfd_open"), result(fd < 0 ? -1 : 0);
	say(" pidfd_send_signal"), result(syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0)),
		say_status(pid), done();
	say("pidfd of the ended"), result(syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0)), done();
	close(fd);
	say("pidfd_send_signal by no pidfd"), result(syscall(SYS_pidfd_send_signal, 0, 0, NULL, 0)), done();
	say("pidfd_send_signal by 999"), result(syscall(SYS_pidfd_send_signal, 999, 0, NULL, 0)), done();
	pid = start(group_leader, NULL);
	say("killpg(0) in a group"), say_status(pid), done();
	pid = start(sleeper, NULL);
	setpgid(pid, pid);
	say("killpg child's group"), result(killpg(pid, SIGHUP)), say_status(pid), done();
	say("killpg of no group"), result(killpg(pid, SIGHUP)), done();
	pid = start(sleeper, NULL);
	kill(pid, SIGSTOP);
	int status;
	waitpid(pid, &status, WUNTRACED);
	say("stopped %d", WIFSTOPPED(status));
	kill(pid, SIGCONT);
	kill(pid, SIGTERM), say_status(pid), done();
}

static void traced(void *arg)
{
	(void)arg;
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	int fd = (int)x_open("traced", O_RDWR | O_CREAT, 0600);
	_exit(fd >= 0 && x_chmod("traced", 0640) == 0 ? 5 : 6);
}

static void own_group(void *arg)
{
	(void)arg;
	setpgid(0, 0);
	say("setpriority of the own group"), result(setpriority(PRIO_PGRP, 0, 19)), done();
}

static void tracing(void)
{
	struct rlimit r, old;
	int status, stops = 0;
	pid_t pid = start(traced, NULL);

	waitpid(pid, &status, 0);
	say("stopped %d", WIFSTOPPED(status)), done();
	say("options"), result(ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)PTRACE_O_TRACESYSGOOD)), done();
	/* Every call stops twice. */
	ptrace(PTRACE_SYSCALL, pid, NULL, NULL);
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		stops++;
		ptrace(PTRACE_SYSCALL, pid, NULL, NULL);
	}
	say("exit %d, %s stops", WIFEXITED(status) ? WEXITSTATUS(status) : -1, stops >= 5 ? "some" : "few"),
		describe("traced"), done();
	pid = start(sleeper, NULL);
	nap_ms(20);
	say("attach"), result(ptrace(PTRACE_ATTACH, pid, NULL, NULL)), done();
	waitpid(pid, &status, 0);
	char *volatile text = strdup("peeked!!");
	errno = 0;
	long word = ptrace(PTRACE_PEEKDATA, pid, text, NULL);
	say("peek %d", errno), say_bytes((char *)&word, sizeof(word)), done();
	struct iovec here = {&word, sizeof(word)}, there = {text, sizeof(word)};
	say("process_vm_readv"), result(process_vm_readv(pid, &here, 1, &there, 1, 0)), done();
	say("process_vm_writev"), result(process_vm_writev(pid, &here, 1, &there, 1, 0)), done();
	say("detach"), result(ptrace(PTRACE_DETACH, pid, NULL, NULL)), done();
	say("seize"), result(ptrace(PTRACE_SEIZE, pid, NULL, NULL)), done();
	say("prlimit get"), result(prlimit(pid, RLIMIT_NOFILE, NULL, &old)), done();
	r = (struct rlimit){10, old.rlim_max};
	say("prlimit set"), result(prlimit(pid, RLIMIT_NOFILE, &r, NULL)), done();
	say("prlimit look"), result(prlimit(pid, RLIMIT_NOFILE, NULL, &old)),
		say(" %lu", (unsigned long)old.rlim_cur), done();
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	say("sched_setaffinity"), result(sched_setaffinity(pid, sizeof(set), &set)), done();
	say("setpriority"), result(setpriority(PRIO_PROCESS, (id_t)pid, 5)), done();
	say("getpriority"), result(getpriority(PRIO_PROCESS, (id_t)pid)), done();
	in_child(own_group, NULL);
	kill(pid, SIGKILL);
	say("killed"), say_status(pid), done();
	say("prlimit of the reaped"), result(prlimit(pid, RLIMIT_NOFILE, NULL, &old)), done();
	say("PR_SET_DUMPABLE 0"), result(syscall(SYS_prctl, 4, 0, 0, 0, 0)), say(" get"),
		result(syscall(SYS_prctl, 3, 0, 0, 0, 0)), done();
	say("PR_SET_DUMPABLE 2"), result(syscall(SYS_prctl, 4, 2, 0, 0, 0)), done();
	say("PR_SET_DUMPABLE 1"), result(syscall(SYS_prctl, 4, 1, 0, 0, 0)), say(" get"),
		result(syscall(SYS_prctl, 3, 0, 0, 0, 0)), done();
	say("F_SETOWN self"), result(fcntl(0, F_SETOWN, getpid())), done();
}

/* Another user: what is made belongs to it, and what it may not do it may not do here either. Root only. */
static void as_other(void *arg)
{
	(void)arg;
	if (syscall(SYS_setgroups, 0, NULL) < 0 || syscall(SYS_setresgid, 1234, 1234, 1234) < 0 ||
	    syscall(SYS_setresuid, 1234, 1234, 1234) < 0)
		die("setresuid");
	say("create"), result(x_open("open/f", O_RDWR | O_CREAT, 0666) < 0 ? -1 : 0), describe("open/f"),
		done();
	say("mkdir"), result(x_mkdir("open/d", 0777)), describe("open/d"), done();
	say("create in root's"), result(x_open("shut/f", O_RDWR | O_CREAT, 0666)), done();
	say("read root's secret"), result(x_open("secret", O_RDONLY, 0)), done();
	say("write root's file"), result(x_open("f", O_RDWR, 0)), done();
	say("chmod root's file"), result(x_chmod("f", 0666)), done();
	say("chown own file"), result(x_chown("open/f", 0, 0)), done();
	say("unlink root's in open"), result(x_unlink("open/root")), done();
	say("unlink root's in sticky"), result(x_unlink("sticky/root")), done();
	say("rename root's in sticky"), result(x_rename("sticky/root", "sticky/mine")), done();
	say("symlink"), result(x_symlink("x", "open/l")), describe("open/l"), done();
	say("link root's file"), result(x_link("f", "open/hard")), done();
	say("utimensat NULL on root's"), result(x_utimensat(AT_FDCWD, "f", NULL, 0)), done();
	say("truncate root's"), result(x_truncate("f", 0)), done();
	say("fifo"), result(x_mknod("open/p", S_IFIFO | 0666, 0)), describe("open/p"), done();
	say("setgid directory"), result(x_mkdir("setgid/d", 0777)), describe("setgid/d"), done();
}

static void only_effective(void *arg)
{
	(void)arg;
	if (syscall(SYS_setresgid, -1, 1234, -1) < 0 || syscall(SYS_setresuid, -1, 1234, -1) < 0)
		die("setresuid");
	say("create, effective only"), result(x_open("open/e", O_RDWR | O_CREAT, 0666) < 0 ? -1 : 0),
		describe("open/e"), done();
	say("read root's secret"), result(x_open("secret", O_RDONLY, 0)), done();
	say("write root's file"), result(x_open("f", O_RDWR, 0)), done();
	if (syscall(SYS_setresuid, -1, 0, -1) < 0)
		die("back");
	say("root again"), result(x_open("secret", O_RDWR, 0) < 0 ? -1 : 0), done();
	syscall(SYS_setfsuid, 1234);
	say("fsuid only"), result(x_open("open/fs", O_RDWR | O_CREAT, 0666) < 0 ? -1 : 0),
		describe("open/fs"), done();
	say("read root's secret"), result(x_open("secret", O_RDONLY, 0)), done();
}

static void identity(void)
{
	umask(0);
	fresh("open", K_DIR), fresh("shut", K_DIR), fresh("sticky", K_DIR), fresh("setgid", K_DIR);
	fresh_file("secret", "x", 0600), fresh_file("f", "x", 0644), fresh_file("open/root", "x", 0644);
	fresh_file("sticky/root", "x", 0644);
	chmod("open", 0777), chmod("sticky", 01777), chmod("setgid", 02777), chmod("shut", 0700);
	if (!is_root) {
		say("as an ordinary user there is nothing to change to"), done();
		return;
	}
	in_child(as_other, NULL);
	in_child(only_effective, NULL);
	say("still root"), result(x_open("shut/root", O_RDWR | O_CREAT, 0600) < 0 ? -1 : 0),
		describe("shut/root"), done();
}

const struct section process_sections[] = {
	{"threadcwds", thread_cwds},
	{"threaddirs", thread_dirfds},
	{"vforks", vforks},
	{"forks", forks},
	{"killed", killed},
	{"signals", signals},
	{"tracing", tracing},
	{"identity", identity},
	{NULL, NULL},
};
