/*
 * Programs that wear the supervisor down. Each ends with 0 when the session still works as it should, and fast enough.
 */
#include "attack.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* A file can be made and removed, soon. */
static double worst;
static bool works(void)
{
	double start = seconds();
	int fd, rc;

	/* The last signals of a storm may still be on their way. */
	do
		fd = open("probe", O_WRONLY | O_CREAT | O_EXCL, 0644);
	while (fd < 0 && errno == EINTR);
	if (fd >= 0)
		close(fd);
	do
		rc = rename("probe", "probe2");
	while (rc < 0 && errno == EINTR);
	while (rc == 0 && unlink("probe2") < 0)
		rc = errno == EINTR ? 0 : -1;
	if (seconds() - start > worst)
		worst = seconds() - start;
	if (fd < 0 || rc < 0)
		printf("# a file could not be made: %s\n", strerror(errno));
	return fd >= 0 && rc == 0;
}

static int end(bool ok)
{
	printf("# slowest %.3f s\n", worst);
	return ok && works() && worst < 3 ? 0 : 1;
}

static void *open_fifo(void *arg)
{
	for (;;) {
		int fd = open(arg, O_WRONLY);

		if (fd >= 0)
			close(fd);
		else
			usleep(1000);
	}
	return NULL;
}

/* Threads, and processes, that hang in opening FIFOs. */
static int fifos(int argc, char **argv)
{
	pthread_t t;
	pid_t pids[8];
	bool ok = true;

	for (int i = 0; i < 8; i++) {
		char name[16];

		snprintf(name, sizeof(name), "fifo%d", i);
		mkfifo(name, 0644);
		pids[i] = fork();
		if (pids[i] == 0) {
			for (int k = 0; k < 64; k++)
				pthread_create(&t, NULL, open_fifo, name);
			pause();
		}
	}
	usleep(300000);
	for (int i = 0; i < 50; i++) {
		ok = works() && ok;
		usleep(10000);
	}
	for (int i = 0; i < 8; i++)
		kill(pids[i], SIGKILL);
	while (wait(NULL) > 0)
		;
	return end(ok);
}

static int many_descriptors(int argc, char **argv)
{
	struct rlimit lim;
	bool ok = true;
	int n;

	getrlimit(RLIMIT_NOFILE, &lim);
	lim.rlim_cur = lim.rlim_max < 10000 ? lim.rlim_max : 10000;
	setrlimit(RLIMIT_NOFILE, &lim);
	for (n = 0; open("/etc/passwd", O_RDONLY) >= 0; n++)
		;
	for (int i = 3; i < n; i++)
		close(i);
	for (n = 0; n < 10000 && socket(AF_UNIX, SOCK_STREAM, 0) >= 0; n++)
		;
	printf("# %d sockets\n", n);
	for (int i = 3; i < n; i++)
		close(i);
	ok = works();
	lim.rlim_cur = 16;
	setrlimit(RLIMIT_NOFILE, &lim);
	for (n = 0; open("/etc/passwd", O_RDONLY) >= 0; n++)
		;
	if (errno != EMFILE)
		broken("expected EMFILE");
	for (int i = 3; i < 16; i++)
		close(i);
	return end(ok);
}

/* One that the supervisor cannot look into: another user's, or one whose program nobody may read. */
static pid_t start_shut(char **argv)
{
	pid_t pid = fork();
	int from, to;
	char buf[4096];
	ssize_t n;

	if (pid)
		return pid;
	if (geteuid() == 0)
		for (;;)
			pause();
	from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	to = open("shut", O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
	while ((n = read(from, buf, sizeof(buf))) > 0)
		if (write(to, buf, (size_t)n) != n)
			_exit(1);
	fchmod(to, 0111);
	close(to);
	execl("shut", argv[0], "dead_sockets", "wait", NULL);
	_exit(1);
}

/* More sockets, made and closed, than the supervisor may have descriptors. */
static int dead_sockets(int argc, char **argv)
{
	pid_t shut, maker;
	int status;

	if (argc > 1)
		for (;;)
			pause();
	shut = start_shut(argv);
	usleep(300000);
	maker = fork();
	if (maker == 0) {
		if (geteuid() == 0 && setresuid(1234, 1234, 1234) < 0)
			_exit(1);
		for (int i = 0; i < 2000; i++) {
			int fd = socket(AF_UNIX, SOCK_STREAM, 0);

			if (fd < 0)
				_exit(1);
			close(fd);
		}
		_exit(0);
	}
	waitpid(maker, &status, 0);
	if (waitpid(shut, NULL, WNOHANG) != 0)
		broken("the process that is shut");
	kill(shut, SIGKILL);
	return end(status == 0 && works());
}

static int hits;
static void on_signal(int sig)
{
	hits++;
}

static int signal_storm(int argc, char **argv)
{
	struct sigaction sa = {.sa_handler = on_signal};
	pid_t self = getpid(), pid;
	int wrong = 0;

	sigaction(SIGUSR1, &sa, NULL);
	pid = fork();
	if (pid == 0)
		for (;;)
			kill(self, SIGUSR1);
	for (int i = 0; i < 3000; i++) {
		int fd, rc;

		do
			fd = open("storm", O_WRONLY | O_CREAT, 0644);
		while (fd < 0 && errno == EINTR);
		wrong += fd < 0;
		close(fd);
		/* None is done twice: an interrupted one was not done at all. */
		do
			rc = mkdir("d", 0755);
		while (rc < 0 && errno == EINTR);
		wrong += rc < 0;
		do
			rc = rmdir("d");
		while (rc < 0 && errno == EINTR);
		wrong += rc < 0;
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	printf("# %d signals, %d wrong answers\n", hits, wrong);
	return end(wrong == 0 && hits > 10);
}

/* Callers that die at any moment of their calls. */
static int killed_callers(int argc, char **argv)
{
	double stop = seconds() + 1.5;
	bool ok = true;

	mkfifo("fifo", 0644);
	for (int n = 0; seconds() < stop; n++) {
		pid_t pid = fork();

		if (pid == 0) {
			pthread_t t;

			for (int k = 0; k < 3; k++)
				pthread_create(&t, NULL, open_fifo, k ? "fifo" : "file");
			for (;;) {
				close(open("victim", O_WRONLY | O_CREAT, 0644));
				rename("victim", "victim2");
				unlink("victim2");
				chmod("fifo", 0600 + n % 0100);
				close(socket(AF_UNIX, SOCK_STREAM, 0));
			}
		}
		usleep((useconds_t)(n * 137 % 3000));
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		if (n % 50 == 0)
			ok = works() && ok;
	}
	return end(ok);
}

/* No more processes: the supervisor cannot start threads either. */
static int no_processes(int argc, char **argv)
{
	pid_t pids[2000];
	bool ok = true;
	int n;

	mkfifo("fifo", 0644);
	for (n = 0; n < 2000; n++) {
		pids[n] = fork();
		if (pids[n] < 0)
			break;
		if (pids[n] == 0) {
			open("fifo", O_WRONLY);
			pause();
			_exit(0);
		}
	}
	printf("# %d processes\n", n);
	for (int i = 0; i < 20; i++) {
		ok = works() && ok;
		usleep(10000);
	}
	while (n > 0)
		kill(pids[--n], SIGKILL);
	while (wait(NULL) > 0)
		;
	return end(ok);
}

static void count_signal(int sig)
{
	(void)sig;
}

/* No room for signals that wait: timers cannot be made, real-time signals not be sent, and others lose what they say. Calls
 * that wait are interrupted all the same. */
static int no_signals(int argc, char **argv)
{
	struct sigaction act = {.sa_handler = count_signal};
	union sigval value = {0};
	bool ok = true;

	mkfifo("fifo", 0644), sigaction(SIGUSR1, &act, NULL), signal(SIGRTMIN, SIG_IGN);
	for (int i = 0; i < 20; i++) {
		pid_t parent = getpid(), pid = fork();

		if (pid == 0) {
			usleep(30000);
			sigqueue(parent, SIGRTMIN, value);
			for (int k = 0; k < 100 && kill(parent, SIGUSR1) == 0; k++)
				usleep(20000);
			_exit(0);
		}
		ok = open("fifo", O_WRONLY) < 0 && errno == EINTR && works() && ok;
		kill(pid, SIGKILL), waitpid(pid, NULL, 0);
	}
	return end(ok);
}

/* clang-format off */
/* Not called with rubbish: they end, block or change this program itself, or reach other processes. */
static const int skip[] = {
	SYS_exit, SYS_exit_group, SYS_rt_sigreturn, SYS_execve, SYS_execveat, SYS_munmap, SYS_mprotect, SYS_brk, SYS_mremap,
	SYS_rt_sigsuspend, SYS_rt_sigtimedwait, SYS_kill, SYS_tkill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo,
	SYS_clone, SYS_ptrace, SYS_seccomp, SYS_prctl, SYS_ppoll, SYS_pselect6, SYS_wait4, SYS_waitid, SYS_futex,
	SYS_nanosleep, SYS_clock_nanosleep, SYS_read, SYS_readv, SYS_setitimer, SYS_mmap, SYS_shutdown, SYS_close_range,
	SYS_epoll_pwait, SYS_timer_create, SYS_timer_settime, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_setrlimit,
	SYS_prlimit64, SYS_dup3, SYS_flock, SYS_io_getevents, SYS_set_robust_list, SYS_rseq, SYS_landlock_restrict_self,
	SYS_mlockall, SYS_madvise, SYS_setuid, SYS_setgid, SYS_setresuid, SYS_setresgid, SYS_setreuid, SYS_setregid,
	SYS_capset, SYS_setgroups, SYS_remap_file_pages, SYS_unshare, SYS_personality, SYS_vhangup, SYS_recvmmsg,
	SYS_accept, SYS_accept4, SYS_pause, SYS_fork, SYS_vfork, SYS_dup2, SYS_close, SYS_alarm, SYS_poll, SYS_select,
	SYS_epoll_wait, SYS_arch_prctl, 449, 455, 454, 462, 441, 453, SYS_setsid, SYS_setpgid, SYS_mq_timedreceive,
	SYS_fchdir, SYS_chdir,
};
/* clang-format on */

static bool is_skipped(int nr)
{
	for (size_t i = 0; i < sizeof(skip) / sizeof(*skip); i++)
		if (skip[i] == nr)
			return true;
	return false;
}

static char *edge, *map;

/* All calls once, with one of some interesting values for each argument. */
static void call_all(uint64_t seed)
{
	for (int nr = 0; nr < 470; nr++) {
		uint64_t a[6];
		const uint64_t values[12] = {0,
					     1,
					     (uint64_t)-1,
					     (uint64_t)-100,
					     (uint64_t)(uintptr_t)edge - 1,
					     (uint64_t)(uintptr_t)edge - 7,
					     (uint64_t)(uintptr_t)edge,
					     (uint64_t)(uintptr_t)map,
					     0xffff800000000000ULL,
					     0x7fffffffffffULL,
					     seed,
					     4096};

		if (is_skipped(nr))
			continue;
		for (int i = 0; i < 6; i++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			a[i] = values[seed % 12];
		}
		syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	}
}

/* Every call of the table with arguments that point nowhere, at the end of a page, or to rubbish. */
static int garbage(int argc, char **argv)
{
	map = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED || munmap(map + 4096, 4096) < 0)
		broken("mmap");
	memset(map, 'a', 4096);
	edge = map + 4096;
	for (uint64_t round = 1; round <= 8; round++) {
		pid_t pid = fork();
		int status;

		if (pid == 0) {
			call_all(88172645463325252ULL * round);
			_exit(0);
		}
		for (int i = 0; i < 80 && waitpid(pid, &status, WNOHANG) == 0; i++)
			usleep(10000);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	return end(true);
}

/* Long paths, deep directories, rings of links. */
static int long_paths(int argc, char **argv)
{
	static char path[8192];
	char a[16], b[16], *p;
	bool ok = true;
	int depth = 0;

	for (int len = 4090; len < 4100; len++) {
		memset(path, '/', sizeof(path));
		strcpy(path + len - 7, "newfile");
		close(open(path, O_WRONLY | O_CREAT, 0644));
		memset(path, 'a', sizeof(path));
		path[len] = '\0';
		open(path, O_WRONLY | O_CREAT, 0644);
		mkdir(path, 0755);
		rename(path, "x");
		rename("x", path);
		symlink(path, "l");
		truncate(path, 1);
		unlink(path);
	}
	for (int i = 0; i < 100; i++) {
		snprintf(a, sizeof(a), "r%d", i);
		snprintf(b, sizeof(b), "r%d", (i + 1) % 100);
		symlink(b, a);
		snprintf(a, sizeof(a), "c%d", i);
		snprintf(b, sizeof(b), "c%d", i + 1);
		symlink(b, a);
	}
	for (int i = 0; i < 100; i++) {
		snprintf(a, sizeof(a), "r%d", i);
		ok = open(a, O_WRONLY | O_CREAT, 0644) < 0 && errno == ELOOP && ok;
		snprintf(a, sizeof(a), "c%d", i);
		close(open(a, O_WRONLY | O_CREAT, 0644));
	}
	/* Deeper than a path can say, and then under a name with other rules, so that all of it is looked at. */
	if (mkdir("top", 0755) < 0 || chdir("top") < 0)
		broken("top");
	while (depth < 2300 && mkdir("d", 0755) == 0 && chdir("d") == 0)
		depth++;
	printf("# %d deep\n", depth);
	if (chdir(getenv("IN")) < 0)
		broken("chdir");
	mkdir("bottom", 0755);
	strcpy(path, "bottom");
	for (p = path + strlen(path); p - path < 3900; p += 2) {
		strcpy(p, "/d");
		if (mkdir(path, 0755) < 0)
			break;
	}
	strcpy(p, "/t");
	rename("top", path);
	rename("bottom", "q");
	rename("q", "bottom");
	rename("top", "q");
	return end(ok);
}

/* As many arguments as exec takes, and more, in a few processes at once. */
static int long_arguments(int argc, char **argv)
{
	enum { MANY = 20000, LONG = 100 };
	static char text[LONG + 1];
	static char *list[MANY + 2];
	bool ok = true;

	if (argc > 2)
		return 0;
	memset(text, 'a', LONG);
	list[0] = argv[0];
	list[1] = (char *)"long_arguments";
	for (int count = 10; count < MANY; count *= 6) {
		int status;
		pid_t pid;

		for (int i = 2; i < count; i++)
			list[i] = text;
		list[count] = NULL;
		pid = fork();
		if (pid == 0) {
			execv("/proc/self/exe", list);
			_exit(errno == E2BIG ? 0 : 1);
		}
		waitpid(pid, &status, 0);
		ok = ok && status == 0 && works();
	}
	return end(ok);
}

static const struct attack list[] = {
	{"fifos", fifos},
	{"many_descriptors", many_descriptors},
	{"dead_sockets", dead_sockets},
	{"signal_storm", signal_storm},
	{"killed_callers", killed_callers},
	{"no_processes", no_processes},
	{"no_signals", no_signals},
	{"garbage", garbage},
	{"long_paths", long_paths},
	{"long_arguments", long_arguments},
};
ATTACK_MAIN(list)
