/*
 * Calls that are closed inside, each with the errno that it must give.
 *
 *     closed calls             prints a line for each: "ok NAME" or "NAME: what it gave"
 *     closed stranger PID OP   one call on a process outside; prints the errno's name
 *     closed list              the names of those
 */
#include <linux/audit.h>
#include <linux/fs.h>
#include <linux/sched.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <termios.h>

#include "probe.h"

static void must(const char *name, int want, long rc)
{
	int err = rc < 0 ? errno : 0;

	if (err == want)
		printf("ok %s\n", name);
	else
		printf("%s: %s instead of %s\n", name, err ? strerrorname_np(err) : "0",
		       strerrorname_np(want));
}

#define ALWAYS(call, want) must(#call, want, syscall(SYS_##call, 0, 0, 0, 0, 0, 0))

static void always(void)
{
	ALWAYS(mount, EPERM);
	ALWAYS(umount2, EPERM);
	ALWAYS(pivot_root, EPERM);
	must("chroot", EPERM, chroot("."));
	ALWAYS(setns, EPERM);
	ALWAYS(fsopen, EPERM);
	ALWAYS(fsconfig, EPERM);
	ALWAYS(fsmount, EPERM);
	ALWAYS(fspick, EPERM);
	ALWAYS(move_mount, EPERM);
	ALWAYS(open_tree, EPERM);
	ALWAYS(mount_setattr, EPERM);
	ALWAYS(open_by_handle_at, EPERM);
	ALWAYS(pidfd_getfd, EPERM);
	ALWAYS(process_madvise, EPERM);
	ALWAYS(bpf, EPERM);
	ALWAYS(perf_event_open, EPERM);
	ALWAYS(userfaultfd, EPERM);
	ALWAYS(fanotify_init, EPERM);
	ALWAYS(fanotify_mark, EPERM);
	ALWAYS(add_key, EPERM);
	ALWAYS(request_key, EPERM);
	ALWAYS(keyctl, EPERM);
	ALWAYS(swapon, EPERM);
	ALWAYS(swapoff, EPERM);
	ALWAYS(sethostname, EPERM);
	ALWAYS(setdomainname, EPERM);
	ALWAYS(init_module, EPERM);
	ALWAYS(finit_module, EPERM);
	ALWAYS(delete_module, EPERM);
	ALWAYS(kexec_load, EPERM);
	ALWAYS(acct, EPERM);
	ALWAYS(quotactl, EPERM);
	ALWAYS(settimeofday, EPERM);
	ALWAYS(clock_settime, EPERM);
	ALWAYS(syslog, EPERM);
	ALWAYS(reboot, EPERM);
	ALWAYS(clone3, ENOSYS);
	ALWAYS(io_uring_setup, ENOSYS);
	ALWAYS(io_uring_enter, ENOSYS);
	ALWAYS(io_uring_register, ENOSYS);
#ifdef SYS_iopl
	ALWAYS(iopl, EPERM);
	ALWAYS(ioperm, EPERM);
	ALWAYS(uselib, ENOSYS);
#endif
	must("call 9999", ENOSYS, syscall(9999));
	must("call 600", ENOSYS, syscall(600));
}

static void by_flags(void)
{
	static const struct {
		const char *name;
		int flag;
	} spaces[] = {{"NEWUSER", CLONE_NEWUSER},    {"NEWNS", CLONE_NEWNS},   {"NEWPID", CLONE_NEWPID},
		      {"NEWNET", CLONE_NEWNET},	     {"NEWIPC", CLONE_NEWIPC}, {"NEWUTS", CLONE_NEWUTS},
		      {"NEWCGROUP", CLONE_NEWCGROUP}};
	char name[32];
	int flags = 0;

	for (size_t i = 0; i < N(spaces); i++) {
		snprintf(name, sizeof(name), "unshare %s", spaces[i].name);
		must(name, EPERM, unshare(spaces[i].flag));
		snprintf(name, sizeof(name), "clone %s", spaces[i].name);
		must(name, EPERM, syscall(SYS_clone, spaces[i].flag | SIGCHLD, 0, 0, 0, 0));
	}
	must("ioctl TIOCSTI", EPERM, ioctl(0, TIOCSTI, "x"));
	must("ioctl TIOCCONS", EPERM, ioctl(0, TIOCCONS, 0));
	must("ioctl TIOCLINUX", EPERM, ioctl(0, TIOCLINUX, "\4"));
	must("ioctl FIOSETOWN", EPERM, ioctl(0, FIOSETOWN, &flags));
	must("ioctl SIOCSPGRP", EPERM, ioctl(0, SIOCSPGRP, &flags));
	must("ioctl of type f", ENOTTY, ioctl(0, _IOW('f', 99, int), &flags));
	must("fcntl F_SETOWN_EX", EPERM, fcntl(0, F_SETOWN_EX, &flags));
	must("fcntl F_SETLEASE", EAGAIN, fcntl(0, F_SETLEASE, F_RDLCK));
	must("prctl PR_SCHED_CORE", EPERM, prctl(62, 0, 0, 0, 0));
	must("setpriority of a user", EPERM, setpriority(PRIO_USER, 0, 5));
}

static void sockets(void)
{
	static const struct {
		const char *name;
		int family, type, protocol, want;
	} all[] = {
		{"AF_INET raw", AF_INET, SOCK_RAW, IPPROTO_ICMP, EAFNOSUPPORT},
		{"AF_PACKET", AF_PACKET, SOCK_RAW, 0, EAFNOSUPPORT},
		{"AF_VSOCK", AF_VSOCK, SOCK_STREAM, 0, EAFNOSUPPORT},
		{"AF_ALG", AF_ALG, SOCK_SEQPACKET, 0, EAFNOSUPPORT},
		{"AF_BLUETOOTH", AF_BLUETOOTH, SOCK_RAW, 0, EAFNOSUPPORT},
		{"AF_CAN", AF_CAN, SOCK_RAW, 1, EAFNOSUPPORT},
		{"AF_KEY", AF_KEY, SOCK_RAW, 2, EAFNOSUPPORT},
		{"MPTCP", AF_INET, SOCK_STREAM, 262, EPROTONOSUPPORT},
		{"SCTP", AF_INET, SOCK_STREAM, IPPROTO_SCTP, EPROTONOSUPPORT},
		{"netlink audit", AF_NETLINK, SOCK_RAW, 9, EPROTONOSUPPORT},
		{"netlink netfilter", AF_NETLINK, SOCK_RAW, 12, EPROTONOSUPPORT},
		{"Unix datagram", AF_UNIX, SOCK_DGRAM, 0, EPROTONOSUPPORT},
		{"Unix raw", AF_UNIX, SOCK_RAW, 0, EPROTONOSUPPORT},
	};
	int pair[2], s, x = 0;
	socklen_t len = sizeof(x);

	for (size_t i = 0; i < N(all); i++)
		must(all[i].name, all[i].want, socket(all[i].family, all[i].type, all[i].protocol));
	must("socketpair AF_INET", EOPNOTSUPP, socketpair(AF_INET, SOCK_STREAM, 0, pair));
	s = socket(AF_UNIX, SOCK_STREAM, 0);
	must("SO_PEERPIDFD", ENOPROTOOPT, getsockopt(s, SOL_SOCKET, 77, &x, &len));
	must("SO_PASSPIDFD", ENOPROTOOPT, setsockopt(s, SOL_SOCKET, 76, &x, sizeof(x)));
	must("IP_OPTIONS", EPERM, setsockopt(s, IPPROTO_IP, IP_OPTIONS, &x, sizeof(x)));
	must("IPV6_RTHDR", EPERM, setsockopt(s, IPPROTO_IPV6, IPV6_RTHDR, &x, sizeof(x)));
	must("MSG_FASTOPEN", EOPNOTSUPP, sendto(s, "x", 1, MSG_FASTOPEN, NULL, 0));
	close(s);
}

#ifdef __x86_64__
/* The calls of other ABIs, in a child: what a kernel without them does with it is none of ours. */
static long other_abi(int which)
{
	long rc = 0;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (which == 0)
			__asm__ volatile("int $0x80" : "=a"(rc) : "a"(20L) : "memory"); /* getpid */
		else
			rc = syscall(0x40000000 | SYS_getpid) < 0 ? -errno : 0;
		_exit(rc < 0 && rc > -200 ? (int)-rc : 0);
	}
	waitpid(pid, &status, 0);
	errno = WIFEXITED(status) ? WEXITSTATUS(status) : ENOSYS;
	return errno ? -1 : 0;
}
#endif

static int calls(void)
{
	always();
	by_flags();
	sockets();
#ifdef __x86_64__
	must("int 0x80", ENOSYS, other_abi(0));
	must("x32", ENOSYS, other_abi(1));
#endif
	return 0;
}

static pid_t them;
static union sigval no_value;
static siginfo_t info = {.si_code = SI_QUEUE};
static struct rlimit limit = {10, 10};
static struct sched_param param;
static char memory[16];
static struct iovec here = {memory, 1}, there = {memory, 1};
static cpu_set_t cpus;

#define STRANGER(name, expr)                                                                                 \
	static long on_##name(void)                                                                          \
	{                                                                                                    \
		return (long)(expr);                                                                         \
	}
STRANGER(kill, kill(them, SIGTERM))
STRANGER(kill0, kill(them, 0))
STRANGER(killgroup, kill(-them, SIGTERM))
STRANGER(tkill, syscall(SYS_tkill, them, SIGTERM))
STRANGER(tgkill, syscall(SYS_tgkill, them, them, SIGTERM))
STRANGER(sigqueue, sigqueue(them, SIGTERM, no_value))
STRANGER(tgsigqueue, syscall(SYS_rt_tgsigqueueinfo, them, them, SIGTERM, &info))
STRANGER(pidfd_open, syscall(SYS_pidfd_open, them, 0))
STRANGER(pidfd_send_signal, ({
		 char p[32];
		 snprintf(p, sizeof(p), "/proc/%d", them);
		 syscall(SYS_pidfd_send_signal, open(p, O_RDONLY | O_DIRECTORY), SIGTERM, NULL, 0);
	 }))
STRANGER(ptrace_attach, ptrace(PTRACE_ATTACH, them, NULL, NULL))
STRANGER(ptrace_seize, ptrace(PTRACE_SEIZE, them, NULL, NULL))
STRANGER(process_vm_readv, process_vm_readv(them, &here, 1, &there, 1, 0))
STRANGER(process_vm_writev, process_vm_writev(them, &here, 1, &there, 1, 0))
STRANGER(kcmp, syscall(SYS_kcmp, getpid(), them, 0, 0, 0))
STRANGER(prlimit, prlimit(them, RLIMIT_CPU, &limit, NULL))
STRANGER(prlimit_get, prlimit(them, RLIMIT_CPU, NULL, &limit))
STRANGER(sched_setaffinity, sched_setaffinity(them, sizeof(cpus), &cpus))
STRANGER(sched_setscheduler, sched_setscheduler(them, SCHED_BATCH, &param))
STRANGER(sched_setparam, sched_setparam(them, &param))
STRANGER(sched_setattr, syscall(SYS_sched_setattr, them, memory, 0))
STRANGER(migrate_pages, syscall(SYS_migrate_pages, them, 0, NULL, NULL))
STRANGER(move_pages, syscall(SYS_move_pages, them, 0, NULL, NULL, NULL, 0))
STRANGER(get_robust_list, syscall(SYS_get_robust_list, them, memory, memory + 8))
STRANGER(setpriority, setpriority(PRIO_PROCESS, (id_t)them, 10))
STRANGER(setpriority_group, setpriority(PRIO_PGRP, (id_t)them, 10))
STRANGER(ioprio_set, syscall(SYS_ioprio_set, 1, them, 2 << 13 | 7))
STRANGER(setown, fcntl(0, F_SETOWN, them))

static const struct {
	const char *name, *call, *op;
	long (*fn)(void);
} strangers[] = {
#define ROW(name, call, op)                                                                                  \
	{                                                                                                    \
#name, call, op, on_##name                                                                   \
	}
	ROW(kill, "kill", "signal"),
	ROW(kill0, "kill", "signal"),
	ROW(killgroup, "kill", "signal"),
	ROW(tkill, "tkill", "signal"),
	ROW(tgkill, "tgkill", "signal"),
	ROW(sigqueue, "rt_sigqueueinfo", "signal"),
	ROW(tgsigqueue, "rt_tgsigqueueinfo", "signal"),
	ROW(pidfd_open, "pidfd_open", "signal"),
	ROW(pidfd_send_signal, "pidfd_send_signal", "signal"),
	ROW(ptrace_attach, "ptrace", "trace"),
	ROW(ptrace_seize, "ptrace", "trace"),
	ROW(process_vm_readv, "process_vm_readv", "trace"),
	ROW(process_vm_writev, "process_vm_writev", "trace"),
	ROW(kcmp, "kcmp", "trace"),
	ROW(prlimit, "prlimit64", "trace"),
	ROW(prlimit_get, "prlimit64", "trace"),
	ROW(sched_setaffinity, "sched_setaffinity", "trace"),
	ROW(sched_setscheduler, "sched_setscheduler", "trace"),
	ROW(sched_setparam, "sched_setparam", "trace"),
	ROW(sched_setattr, "sched_setattr", "trace"),
	ROW(migrate_pages, "migrate_pages", "trace"),
	ROW(move_pages, "move_pages", "trace"),
	ROW(get_robust_list, "get_robust_list", "trace"),
	ROW(setpriority, "setpriority", "trace"),
	ROW(setpriority_group, "setpriority", "trace"),
	ROW(ioprio_set, "ioprio_set", "trace"),
	ROW(setown, "fcntl", "signal"),
};

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "calls") == 0)
		return calls();
	if (argc == 2 && strcmp(argv[1], "list") == 0) {
		for (size_t i = 0; i < N(strangers); i++)
			printf("%s %s %s\n", strangers[i].name, strangers[i].call, strangers[i].op);
		return 0;
	}
	if (argc != 4)
		return 98;
	them = atoi(argv[2]);
	for (size_t i = 0; i < N(strangers); i++)
		if (strcmp(argv[3], strangers[i].name) == 0) {
			puts(strangers[i].fn() < 0 ? strerrorname_np(errno) : "0");
			return 0;
		}
	return 98;
}
