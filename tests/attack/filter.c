/*
 * The system call filter: other ABIs, odd numbers and arguments, filters inside, tracers, a supervisor that dies.
 */
#include "attack.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>

static bool made(void)
{
	struct stat st;

	if (stat(out("file"), &st) == 0 && (st.st_mode & 0777) == 0606)
		return true;
	return there(out("new")) || there(out("dir")) || !there(out("file"));
}

static int verdict(void)
{
	return made() ? WON : LOST;
}

#ifdef __x86_64__
/* int 0x80 with 32-bit numbers and a path below 4 GB. */
static int i386(int argc, char **argv)
{
	char *low = mmap((void *)0x10000000, 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	long rc;

	if (low == MAP_FAILED)
		broken("mmap");
	strcpy(low, out("new"));
	__asm__ volatile("int $0x80"
			 : "=a"(rc)
			 : "a"(5L), "b"(low), "c"(O_WRONLY | O_CREAT), "d"(0644)
			 : "memory");
	if (!made() && !getenv("CONFINED")) {
		printf("# no 32-bit calls in this kernel\n");
		return SKIP;
	}
	return verdict();
}

static int x32(int argc, char **argv)
{
	syscall(0x40000000 | SYS_open, out("new"), O_WRONLY | O_CREAT, 0644);
	syscall(0x40000000 | SYS_mkdir, out("dir"), 0755);
	if (!made() && !getenv("CONFINED")) {
		printf("# no x32 calls in this kernel\n");
		return SKIP;
	}
	return verdict();
}
#else
static int i386(int argc, char **argv)
{
	printf("# not on this machine\n");
	return SKIP;
}
#define x32 i386
#endif

/* The kernel uses 32 bits of the number and of int arguments, whatever stands above. */
static int high_bits(int argc, char **argv)
{
	long junk = (long)(0xdeadbeefUL << 32);

	syscall(junk | SYS_openat, (long)AT_FDCWD, out("new"), (long)(O_WRONLY | O_CREAT), 0644L);
	syscall(SYS_openat, junk | (uint32_t)AT_FDCWD, out("new"), junk | O_WRONLY | O_CREAT, 0644L);
	syscall(junk | SYS_mkdirat, junk | (uint32_t)AT_FDCWD, out("dir"), 0755L);
	syscall(SYS_unlinkat, junk | (uint32_t)AT_FDCWD, out("file"), junk);
	return verdict();
}

/* Flags that the filter allows, joined by such that it must not. */
static int flags(int argc, char **argv)
{
	close(open(out("new"), O_RDONLY | O_CREAT, 0644));
	close(open(out("new"), O_CREAT, 0644));
	close(open(out("new"), O_PATH | O_CREAT | O_RDWR, 0644));
	close(open(out("new"), 3 | O_CREAT, 0644));
	close(open(getenv("OUT"), O_TMPFILE | O_RDWR, 0600));
	close(open(out("file"), O_RDONLY | O_TRUNC));
	close(open(out("file"), 3 | O_TRUNC));
	close(open(out("file"), O_PATH | O_TRUNC | O_RDWR));
	return made() || !file_has(out("file"), "original") ? WON : LOST;
}

static int namespaces(int argc, char **argv)
{
	static const unsigned long kinds[] = {CLONE_NEWUSER, CLONE_NEWUSER | CLONE_NEWNS,
					      CLONE_NEWNS,   CLONE_NEWPID,
					      CLONE_NEWNET,  CLONE_NEWIPC,
					      CLONE_NEWUTS,  CLONE_NEWCGROUP};
	struct clone_args args = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
	int won = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		for (int high = 0; high < 2; high++) {
			unsigned long f = kinds[i] | (high ? 0xdeadbeefUL << 32 : 0);
			long pid = fork();
			int status;

			if (pid == 0)
				_exit(syscall(SYS_unshare, f) == 0);
			waitpid((pid_t)pid, &status, 0);
			won += WIFEXITED(status) && WEXITSTATUS(status) == 1;
			pid = syscall(SYS_clone, f | SIGCHLD, 0L, 0L, 0L, 0L);
			if (pid == 0)
				_exit(0);
			if (pid > 0) {
				won++;
				waitpid((pid_t)pid, NULL, 0);
			}
		}
	if (syscall(SYS_clone3, &args, sizeof(args)) == 0)
		_exit(0);
	won += errno != ENOSYS && errno != EPERM;
	if (!won && !getenv("CONFINED")) {
		printf("# not possible here\n");
		return SKIP;
	}
	return won ? WON : LOST;
}

static int forbidden(int argc, char **argv)
{
	static const long numbers[] = {SYS_mount,
				       SYS_umount2,
				       SYS_pivot_root,
				       SYS_chroot,
				       SYS_setns,
				       SYS_bpf,
				       SYS_perf_event_open,
				       SYS_keyctl,
				       SYS_add_key,
				       SYS_acct,
				       SYS_swapon,
				       SYS_reboot,
				       SYS_init_module,
				       SYS_kexec_load,
				       SYS_quotactl,
				       SYS_userfaultfd,
				       SYS_fanotify_init,
				       425,
				       426,
				       427,
				       428,
				       429,
				       430,
				       431,
				       432,
				       433,
				       438,
				       440,
				       442,
				       443,
				       448,
				       467,
				       1000,
				       -1 & 0x3fffffff};
	int won = 0;

	/* Garbage arguments: what the kernel itself would say is EFAULT, EINVAL or EBADF, not a refusal. */
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		errno = 0;
		if (syscall(numbers[i], -1L, -1L, -1L, -1L, -1L) >= 0 ||
		    (errno != EPERM && errno != ENOSYS)) {
			printf("# call %ld: %s\n", numbers[i], strerror(errno));
			won++;
		}
	}
	return won ? WON : LOST;
}

/* A filter of the program's own, for a call that cordon decides. */
static int load(uint32_t action, long nr, unsigned filter_flags)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {4, code};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, filter_flags, &prog);
}

static int filter_allow(int argc, char **argv)
{
	load(SECCOMP_RET_ALLOW, SYS_openat, 0);
	load(SECCOMP_RET_LOG, SYS_openat, 0);
	close(open(out("new"), O_WRONLY | O_CREAT, 0644));
	return verdict();
}

/* A listener of the program's own, that lets the kernel go on. Without a supervisor that watches, this is the end of it. */
static int own_listener(void)
{
	int listener = load(SECCOMP_RET_USER_NOTIF, SYS_fchmodat, SECCOMP_FILTER_FLAG_NEW_LISTENER), status;
	struct seccomp_notif n = {0};
	struct seccomp_notif_resp r = {.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
	pid_t pid;

	if (listener < 0)
		return LOST;
	pid = fork();
	if (pid == 0) {
		/* Nothing else than cordon's own decision refuses this one. */
		syscall(SYS_fchmodat, AT_FDCWD, out("file"), 0606);
		_exit(0);
	}
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &n) == 0) {
		r.id = n.id;
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &r);
	}
	waitpid(pid, &status, 0);
	return verdict();
}

static int listener(int argc, char **argv)
{
	return own_listener();
}

/* The same after the supervisor was killed: the script does that when "ready" is there, and looks for the outcome. */
static int orphan_listener(int argc, char **argv)
{
	pid_t supervisor = getppid();

	if (fork() > 0) {
		for (int i = 0; i < 500 && !there("done"); i++)
			usleep(10000);
		return verdict();
	}
	prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
	setsid();
	write_file("ready", "x");
	if (getenv("CONFINED"))
		while (kill(supervisor, 0) == 0 || errno == EPERM)
			usleep(10000);
	/* What it decided is now refused. */
	own_listener();
	mkdir(out("dir"), 0755);
	chmod(out("file"), 0606);
	mkdir("done", 0755);
	_exit(0);
}

#ifdef __x86_64__
/* A tracer changes what the call is, or its arguments, when the tracee stops at it. */
static bool stop_and_change(int request, bool by_filter, bool memory)
{
	static char shared[2][PATH_MAX];
	struct user_regs_struct regs;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		strcpy(shared[0], "harmless");
		strcpy(shared[1], out("dir"));
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		if (by_filter)
			load(SECCOMP_RET_TRACE, SYS_getppid, 0);
		for (int i = 0; i < 5; i++) {
			syscall(SYS_mkdir, shared[0], 0755L);
			syscall(SYS_getppid, shared[1], 0755L);
		}
		_exit(0);
	}
	waitpid(pid, &status, 0);
	ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL);
	for (int i = 0; i < 200; i++) {
		if (ptrace(request, pid, 0, 0) < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
			break;
		if (ptrace(PTRACE_GETREGS, pid, 0, &regs) < 0)
			break;
		if (regs.orig_rax == SYS_getppid && !memory) {
			strcpy(shared[1], out("dir"));
			regs.orig_rax = SYS_mkdir;
			ptrace(PTRACE_SETREGS, pid, 0, &regs);
		} else if (regs.orig_rax == SYS_mkdir && memory) {
			for (size_t k = 0; k < PATH_MAX; k += 8) {
				long word;

				memset(&word, 0, sizeof(word));
				if (k <= strlen(out("dir")))
					memcpy(&word, out("dir") + k, strnlen(out("dir") + k, 8));
				if (k > strlen(out("dir")) ||
				    ptrace(PTRACE_POKEDATA, pid, (long)regs.rdi + (long)k, word) < 0)
					break;
			}
		} else if (regs.orig_rax == SYS_mkdir) {
			regs.rdi = (unsigned long)shared[1];
			ptrace(PTRACE_SETREGS, pid, 0, &regs);
		}
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return made();
}

static int tracer(int argc, char **argv)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(ptrace(PTRACE_TRACEME, 0, 0, 0) < 0);
	if (waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) != 0 && !getenv("CONFINED")) {
		printf("# no ptrace here\n");
		return SKIP;
	}
	stop_and_change(PTRACE_SYSCALL, false, false);
	stop_and_change(PTRACE_SYSCALL, false, true);
	stop_and_change(PTRACE_SYSEMU, false, false);
	stop_and_change(PTRACE_CONT, true, false);
	stop_and_change(PTRACE_SYSCALL, true, false);
	return verdict();
}
#else
#define tracer i386
#endif

/* Signals while a call waits for its answer: it is made again, with another path. */
static char flipping[PATH_MAX];
static char names[2][PATH_MAX];
static void on_alarm(int sig)
{
	static volatile int n;

	n = !n;
	strcpy(flipping, names[n]);
}

static int signals(int argc, char **argv)
{
	struct sigaction sa = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
	struct itimerspec its = {{0, 20000}, {0, 20000}};
	double end = seconds() + patience();
	timer_t t;

	strcpy(names[0], "harmless");
	strcpy(names[1], out("new"));
	strcpy(flipping, names[0]);
	sigaction(SIGALRM, &sa, NULL);
	timer_create(CLOCK_MONOTONIC, &ev, &t);
	timer_settime(t, 0, &its, NULL);
	while (seconds() < end && !made()) {
		close(open(flipping, O_WRONLY | O_CREAT, 0644));
		mkdir(flipping, 0755);
		unlink("harmless");
		rmdir("harmless");
	}
	timer_delete(t);
	return verdict();
}

static int personality_tricks(int argc, char **argv)
{
	personality(0xffffffff);
	personality(PER_LINUX32 | ADDR_NO_RANDOMIZE | READ_IMPLIES_EXEC | ADDR_COMPAT_LAYOUT);
	prctl(PR_SET_SECCOMP, 0, 0, 0, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	close(open(out("new"), O_WRONLY | O_CREAT, 0644));
	if (made())
		return WON;
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	mkdir(out("dir"), 0755);
	return verdict();
}

/* A container's root may be someone else, and comes back. */
static int identities(int argc, char **argv)
{
	if (geteuid() != 0) {
		printf("# not root\n");
		return SKIP;
	}
	for (int i = 0; i < 3; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			if (i == 0 && setresuid(1000, 1000, 0) < 0)
				_exit(1);
			if (i == 1 && (setgid(1000) < 0 || setuid(1000) < 0))
				_exit(1);
			if (i == 2)
				syscall(SYS_setfsuid, 1000);
			/* A file of the session's, that uid 1000 may not write. */
			close(open("rootfile", O_WRONLY | O_TRUNC));
			chmod("rootfile", 0666);
			mkdir(out("dir"), 0755);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	if (!getenv("CONFINED"))
		mkdir(out("dir"), 0755);
	return made() || (getenv("CONFINED") && !file_has("rootfile", "original")) ? WON : LOST;
}

static const struct attack list[] = {
	{"i386", i386},
	{"x32", x32},
	{"high_bits", high_bits},
	{"flags", flags},
	{"namespaces", namespaces},
	{"forbidden", forbidden},
	{"filter_allow", filter_allow},
	{"listener", listener},
	{"orphan_listener", orphan_listener},
	{"tracer", tracer},
	{"signals", signals},
	{"personality", personality_tricks},
	{"identities", identities},
};
ATTACK_MAIN(list)
