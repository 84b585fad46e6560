/*
 * Other processes. $VICTIM is one of the same user, outside, in a process group of its own; $ADDRESS is readable in its
 * memory. With $CONFINED the supervisor and the process that the user started are tried, too.
 */
#include "attack.h"

#include <linux/kcmp.h>
#include <linux/sockios.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>

static pid_t victim;

/* Each returns whether it worked, with errno when not. */
typedef bool try_fn(pid_t pid);

static int signal_for(pid_t pid)
{
	return pid == victim ? SIGTERM : SIGWINCH;
}

static bool try_kill(pid_t pid)
{
	return kill(pid, signal_for(pid)) == 0;
}
static bool try_kill_group(pid_t pid)
{
	pid_t group = getpgid(pid);

	return group > 1 && kill(-group, signal_for(pid)) == 0 && !getenv("CONFINED");
}
static bool try_tkill(pid_t pid)
{
	return syscall(SYS_tkill, pid, signal_for(pid)) == 0;
}
static bool try_tgkill(pid_t pid)
{
	return syscall(SYS_tgkill, pid, pid, signal_for(pid)) == 0;
}
static bool try_sigqueue(pid_t pid)
{
	return sigqueue(pid, signal_for(pid), (union sigval){0}) == 0;
}
static bool try_tgsigqueue(pid_t pid)
{
	siginfo_t info = {.si_code = SI_QUEUE, .si_pid = getpid()};

	info.si_signo = signal_for(pid);
	return syscall(SYS_rt_tgsigqueueinfo, pid, pid, signal_for(pid), &info) == 0;
}
static bool try_pidfd(pid_t pid)
{
	return syscall(SYS_pidfd_open, pid, 0) >= 0;
}
static bool try_pidfd_proc(pid_t pid)
{
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "/proc/%d", pid);
	fd = open(name, O_RDONLY | O_DIRECTORY);
	return fd >= 0 && syscall(SYS_pidfd_send_signal, fd, signal_for(pid), NULL, 0) == 0;
}
/* Signals that a descriptor sends when there is something to read. */
static bool own_and_fire(pid_t pid, int how)
{
	struct {
		int type;
		pid_t pid;
	} ex = {1 /* F_OWNER_PID */, pid};
	int p[2], rc;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, p) < 0)
		broken("socketpair");
	rc = how == 0	? fcntl(p[0], F_SETOWN, pid)
	     : how == 1 ? fcntl(p[0], 15 /* F_SETOWN_EX */, &ex)
	     : how == 2 ? ioctl(p[0], FIOSETOWN, &pid)
	     : how == 3 ? ioctl(p[0], SIOCSPGRP, &pid)
			: fcntl(p[0], F_SETOWN, -getpgid(pid));
	if (rc == 0)
		rc = fcntl(p[0], F_SETSIG, signal_for(pid));
	if (rc == 0)
		rc = fcntl(p[0], F_SETFL, O_ASYNC);
	if (rc == 0 && write(p[1], "x", 1) != 1)
		broken("write");
	return rc == 0;
}
static bool try_setown(pid_t pid)
{
	return own_and_fire(pid, 0);
}
static bool try_setown_ex(pid_t pid)
{
	return own_and_fire(pid, 1);
}
static bool try_fiosetown(pid_t pid)
{
	return own_and_fire(pid, 2);
}
static bool try_siocspgrp(pid_t pid)
{
	return own_and_fire(pid, 3);
}
static bool try_setown_group(pid_t pid)
{
	return own_and_fire(pid, 4);
}

static bool try_seize(pid_t pid)
{
	return ptrace(PTRACE_SEIZE, pid, 0, 0) == 0;
}
static bool try_attach(pid_t pid)
{
	return ptrace(PTRACE_ATTACH, pid, 0, 0) == 0;
}
static bool try_vm(pid_t pid, bool write)
{
	char buf[8] = "";
	struct iovec l = {buf, 8}, r = {(void *)strtoul(getenv("ADDRESS"), NULL, 16), 8};

	if (process_vm_readv(pid, &l, 1, &r, 1, 0) != 8 && !write)
		return false;
	return !write || process_vm_writev(pid, &l, 1, &r, 1, 0) == 8;
}
static bool try_vm_read(pid_t pid)
{
	return try_vm(pid, false);
}
static bool try_kcmp(pid_t pid)
{
	return syscall(SYS_kcmp, getpid(), pid, KCMP_VM, 0, 0) >= 0;
}
static bool try_robust(pid_t pid)
{
	void *head;
	size_t len;

	return syscall(SYS_get_robust_list, pid, &head, &len) == 0;
}
static bool try_prlimit(pid_t pid)
{
	struct rlimit lim;

	return prlimit(pid, RLIMIT_CORE, NULL, &lim) == 0 && prlimit(pid, RLIMIT_CORE, &lim, NULL) == 0;
}
static bool try_affinity(pid_t pid)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 && sched_setaffinity(pid, sizeof(set), &set) == 0;
}
static bool try_scheduler(pid_t pid)
{
	struct sched_param p = {0};

	return sched_setscheduler(pid, SCHED_BATCH, &p) == 0;
}
static bool try_param(pid_t pid)
{
	struct sched_param p = {0};

	return sched_setparam(pid, &p) == 0;
}
static bool try_attr(pid_t pid)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} a = {48, SCHED_BATCH, 0, 1, 0, 0, 0, 0};

	return syscall(SYS_sched_setattr, pid, &a, 0) == 0;
}
static bool try_nice(pid_t pid)
{
	return setpriority(PRIO_PROCESS, (id_t)pid, 3) == 0;
}
static bool try_nice_group(pid_t pid)
{
	return setpriority(PRIO_PGRP, (id_t)getpgid(pid), 3) == 0;
}
static bool try_ioprio(pid_t pid)
{
	return syscall(SYS_ioprio_set, 1, pid, 3 << 13) == 0;
}
static bool try_pidfd_getfd(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0) {
		char name[32];

		snprintf(name, sizeof(name), "/proc/%d", pid);
		fd = open(name, O_RDONLY | O_DIRECTORY);
	}
	return syscall(SYS_pidfd_getfd, fd, 0, 0) >= 0;
}

/* Something of it can be seen: bytes, or names in a directory. */
static bool shows(int fd)
{
	char buf[4096];
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, buf, sizeof(buf));
	if (n < 0)
		n = pread(fd, buf, 16, (off_t)strtoul(getenv("ADDRESS"), NULL, 16));
	if (n < 0 && errno == EISDIR) {
		n = syscall(SYS_getdents64, fd, buf, sizeof(buf));
		n = n > 48 ? n : 0; /* "." and ".." */
	}
	close(fd);
	return n > 0;
}

/* Files of /proc/PID. */
static bool try_proc(pid_t pid)
{
	static const char *const names[] = {
		"environ",   "mem",	"maps",	  "auxv",	  "fd/0",    "root/etc/passwd", "cwd",
		"root",	     "exe",	"io",	  "task/%d/mem",  "syscall", "task/%d/environ", "smaps",
		"map_files", "pagemap", "ns/net", "task/%d/fd/0", "stack",   "personality"};
	static const char *const writes[] = {"oom_score_adj", "comm",	    "coredump_filter",
					     "timerslack_ns", "clear_refs", "mem"};
	const char *const prefixes[] = {"/proc", "/proc/self/root/proc", "/proc/self/..",
					"/proc/self/task/../..", getenv("PROC") ? getenv("PROC") : "/proc"};
	char leaf[64], name[PATH_MAX];
	int got = 0;

	for (size_t k = 0; k < sizeof(prefixes) / sizeof(*prefixes); k++) {
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
			/* There a link stands for the path that it shows, which is free to all. */
			if (k == 4 && getenv("PROC") &&
			    strstr("fd/0 root/etc/passwd cwd root exe ns/net task/%d/fd/0", names[i]))
				continue;
			snprintf(leaf, sizeof(leaf), names[i], pid);
			snprintf(name, sizeof(name), "%s/%d/%s", prefixes[k], pid, leaf);
			if (shows(open(name, O_RDONLY | O_NONBLOCK)) && ++got)
				printf("# %s can be read\n", name);
		}
		for (size_t i = 0; i < sizeof(writes) / sizeof(*writes); i++) {
			snprintf(name, sizeof(name), "%s/%d/%s", prefixes[k], pid, writes[i]);
			if (open(name, O_WRONLY) >= 0 && ++got)
				printf("# %s can be written\n", name);
		}
	}
	return got > 0;
}

/* The same below a directory that the descriptor was opened of. */
static bool try_proc_dirfd(pid_t pid)
{
	char name[64];
	int dir, got = 0;

	snprintf(name, sizeof(name), "/proc/%d", pid);
	dir = open(name, O_PATH | O_DIRECTORY);
	got += shows(openat(dir, "environ", O_RDONLY));
	got += shows(openat(dir, "cwd", O_RDONLY));
	got += openat(dir, "cwd/x", O_WRONLY | O_CREAT, 0644) >= 0;
	if (fchdir(dir) == 0) {
		got += shows(open("mem", O_RDONLY));
		got += shows(open("./task/../environ", O_RDONLY));
	}
	return got > 0;
}

static const struct {
	const char *name;
	try_fn *fn;
} tries[] = {
	{"kill", try_kill},
	{"kill_group", try_kill_group},
	{"tkill", try_tkill},
	{"tgkill", try_tgkill},
	{"sigqueue", try_sigqueue},
	{"tgsigqueue", try_tgsigqueue},
	{"pidfd_open", try_pidfd},
	{"pidfd_proc", try_pidfd_proc},
	{"setown", try_setown},
	{"setown_ex", try_setown_ex},
	{"fiosetown", try_fiosetown},
	{"siocspgrp", try_siocspgrp},
	{"setown_group", try_setown_group},
	{"seize", try_seize},
	{"attach", try_attach},
	{"vm_read", try_vm_read},
	{"kcmp", try_kcmp},
	{"robust_list", try_robust},
	{"prlimit", try_prlimit},
	{"affinity", try_affinity},
	{"scheduler", try_scheduler},
	{"param", try_param},
	{"sched_attr", try_attr},
	{"nice", try_nice},
	{"nice_group", try_nice_group},
	{"ioprio", try_ioprio},
	{"pidfd_getfd", try_pidfd_getfd},
	{"proc", try_proc},
	{"proc_dirfd", try_proc_dirfd},
};

static pid_t parent_of(pid_t pid)
{
	char name[32], buf[512], *p;
	int fd, ppid = 0;
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/%d/stat", pid);
	fd = open(name, O_RDONLY);
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	buf[n > 0 ? n : 0] = '\0';
	p = strrchr(buf, ')');
	if (p)
		sscanf(p + 1, " %*c %d", &ppid);
	return ppid;
}

static int on_each(int argc, char **argv)
{
	int won = 0, err = 0;
	pid_t pids[4] = {victim};

	if (getenv("CONFINED")) {
		pids[1] = getppid();
		pids[2] = parent_of(getppid());
	}
	for (size_t i = 0; i < sizeof(tries) / sizeof(*tries); i++) {
		if (strcmp(tries[i].name, argv[1]) != 0)
			continue;
		for (int k = 0; k < 3 && (k == 0 || pids[k] > 1); k++) {
			errno = 0;
			if (tries[i].fn(pids[k])) {
				printf("# %s on %d (%s)\n", argv[1], pids[k],
				       k == 0	? "victim"
				       : k == 1 ? "supervisor"
						: "front");
				won++;
			} else {
				err = errno;
			}
		}
		if (!won && !getenv("CONFINED") && (err == EPERM || err == ENOSYS || err == EACCES)) {
			printf("# not possible here\n");
			return SKIP;
		}
		return won ? WON : LOST;
	}
	broken("no try %s", argv[1]);
}

static bool victim_is_gone(void)
{
	char name[32];

	snprintf(name, sizeof(name), "/proc/%d/stat", victim);
	return !there(name) || parent_of(victim) == 0 || file_has(name, ") Z ");
}

/* "My own group" is another one by the time that the kernel looks. */
static void flip_group(void *arg)
{
	setpgid(0, victim);
	setpgid(0, getpid());
}

static int group_race(int argc, char **argv)
{
	double end = seconds() + patience() * 2;
	bool nice = strcmp(argv[0], "nice_race") == 0;
	struct flipper f;
	bool won = false;

	signal(SIGUSR1, SIG_IGN);
	if (setpgid(0, 0) < 0)
		broken("setpgid");
	if (setpgid(0, victim) < 0) {
		printf("# not in the same session\n");
		return SKIP;
	}
	setpgid(0, 0);
	flipper_start(&f, flip_group, NULL);
	while (!won && seconds() < end) {
		if (nice)
			setpriority(PRIO_PGRP, 0, 5);
		else
			kill(0, SIGUSR1);
		won = nice ? getpriority(PRIO_PROCESS, (id_t)victim) == 5 : victim_is_gone();
	}
	flipper_end(&f);
	return won ? WON : LOST;
}

/* The number of a descriptor stands for a child of one's own, and for the victim. */
static int number, stands_for[2];
static void flip_number(void *arg)
{
	dup2(stands_for[1], number);
	dup2(stands_for[0], number);
}

static int pidfd_race(int argc, char **argv)
{
	double end = seconds() + patience() * 2;
	pid_t child = fork();
	struct flipper f;
	char name[32];

	if (child == 0)
		for (signal(SIGTERM, SIG_IGN);;)
			pause();
	usleep(50000);
	snprintf(name, sizeof(name), "/proc/%d", victim);
	stands_for[0] = (int)syscall(SYS_pidfd_open, child, 0);
	stands_for[1] = open(name, O_RDONLY | O_DIRECTORY);
	number = dup(stands_for[0]);
	if (stands_for[0] < 0 || stands_for[1] < 0)
		broken("descriptors");
	flipper_start(&f, flip_number, NULL);
	while (!victim_is_gone() && seconds() < end)
		for (int i = 0; i < 50; i++)
			syscall(SYS_pidfd_send_signal, number, SIGTERM, NULL, 0);
	flipper_end(&f);
	kill(child, SIGKILL);
	return victim_is_gone() ? WON : LOST;
}

/* The kernel writes the file, in a directory where the process may not. */
static int core_file(int argc, char **argv)
{
	struct rlimit lim = {RLIM_INFINITY, RLIM_INFINITY};
	pid_t pid;

	if (!file_has("/proc/sys/kernel/core_pattern", "core") ||
	    file_has("/proc/sys/kernel/core_pattern", "/") ||
	    file_has("/proc/sys/kernel/core_pattern", "|")) {
		printf("# core files go elsewhere\n");
		return SKIP;
	}
	if (chdir(getenv("OUT")) < 0)
		broken("chdir");
	setrlimit(RLIMIT_CORE, &lim);
	getrlimit(RLIMIT_CORE, &lim);
	if (!getenv("CONFINED") && lim.rlim_cur == 0) {
		printf("# no core files here\n");
		return SKIP;
	}
	pid = fork();
	if (pid == 0)
		abort();
	waitpid(pid, NULL, 0);
	return there("core") || system("ls core.* >/dev/null 2>&1") == 0 ? WON : LOST;
}

static int tty_input(int argc, char **argv)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave;

	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
		broken("pty");
	if (setsid() < 0 && fork() == 0)
		setsid();
	slave = open(ptsname(master), O_RDWR);
	ioctl(slave, TIOCSCTTY, 0);
	if (ioctl(slave, TIOCSTI, "x") == 0)
		return WON;
	if (!getenv("CONFINED")) {
		printf("# TIOCSTI is off\n");
		return SKIP;
	}
	return LOST;
}

static const struct attack list[] = {
	{"on", on_each},	   {"kill_race", group_race},
	{"nice_race", group_race}, {"pidfd_race", pidfd_race},
	{"core_file", core_file},  {"tty_input", tty_input},
};

int main(int argc, char **argv)
{
	victim = getenv("VICTIM") ? atoi(getenv("VICTIM")) : 0;
	return attack_main(list, sizeof(list) / sizeof(*list), argc, argv);
}
