/* The lists of cordon's own processes: what they hold, and what happens to a call that they do not. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/bpf_sim.h"
#include "supervisor/front.h"
#include "supervisor/lockdown.h"

#ifdef __x86_64__
#define NATIVE AUDIT_ARCH_X86_64
#else
#define NATIVE AUDIT_ARCH_AARCH64
#endif
#define THREAD (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD)

static uint32_t answer(const struct sock_fprog *p, uint32_t arch, int nr, uint64_t a0, uint64_t a1,
		       uint64_t a2)
{
	struct seccomp_data d = {.nr = nr, .arch = arch, .args = {a0, a1, a2}};
	uint32_t r;

	assert_int_equal(bpf_sim(p, &d, false, &r), BPF_OK);
	return r;
}

#define SUPERVISOR(nr, a0, a1, a2) answer(&lockdown_supervisor_program, NATIVE, nr, a0, a1, a2)
#define FRONT(nr, a0, a1, a2)	   answer(&lockdown_front_program, NATIVE, nr, a0, a1, a2)
#define GATEWAY(nr, a0, a1, a2)	   answer(&lockdown_gateway_program, NATIVE, nr, a0, a1, a2)
#define ALLOWED			   SECCOMP_RET_ALLOW
#define TRAPS			   SECCOMP_RET_TRAP

static void test_never(void **state)
{
	static const int never[] = {SYS_execve,
				    SYS_execveat,
				    SYS_mount,
				    SYS_umount2,
				    SYS_setns,
				    SYS_unshare,
				    SYS_chroot,
				    SYS_pivot_root,
				    SYS_bpf,
				    SYS_io_uring_setup,
				    SYS_finit_module,
				    SYS_keyctl,
				    SYS_perf_event_open,
				    SYS_memfd_secret,
				    SYS_chdir,
				    SYS_fchdir,
				    SYS_umask,
				    SYS_setsid,
				    SYS_setuid,
				    SYS_setrlimit,
				    SYS_pkey_mprotect,
				    SYS_sendmmsg,
				    SYS_accept4,
				    SYS_prctl,
				    SYS_seccomp,
				    SYS_personality,
				    SYS_process_madvise,
				    1023,
				    -1};

	(void)state;
	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
		assert_int_equal(SUPERVISOR(never[i], 0, 0, 0), TRAPS);
		assert_int_equal(FRONT(never[i], 0, 0, 0), TRAPS);
		/* It accepts. */
		assert_true(never[i] == SYS_accept4 || GATEWAY(never[i], 0, 0, 0) == TRAPS);
	}
	assert_int_equal(SUPERVISOR(SYS_rt_sigaction, SIGSYS, 0, 0), TRAPS);
	assert_int_equal(SUPERVISOR(SYS_prctl, PR_SET_DUMPABLE, 1, 0), TRAPS);
	assert_int_equal(answer(&lockdown_supervisor_program, AUDIT_ARCH_I386, SYS_read, 0, 0, 0), TRAPS);
	assert_int_equal(SUPERVISOR(SYS_read | 0x40000000, 0, 0, 0), TRAPS);
}

static void test_arguments(void **state)
{
	(void)state;
	assert_int_equal(SUPERVISOR(SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE), ALLOWED);
	assert_int_equal(SUPERVISOR(SYS_mmap, 0, 4096, PROT_READ | PROT_EXEC), TRAPS);
	assert_int_equal(SUPERVISOR(SYS_mprotect, 0, 4096, PROT_WRITE), ALLOWED);
	assert_int_equal(SUPERVISOR(SYS_mprotect, 0, 4096, PROT_EXEC), TRAPS);
	assert_int_equal(SUPERVISOR(SYS_clone, THREAD | CLONE_SYSVSEM | CLONE_SETTLS, 0, 0), ALLOWED);
	assert_int_equal(SUPERVISOR(SYS_clone, SIGCHLD, 0, 0), TRAPS);
	assert_int_equal(SUPERVISOR(SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD, 0, 0), TRAPS);
	assert_int_equal(SUPERVISOR(SYS_clone3, 0, 0, 0), SECCOMP_RET_ERRNO | ENOSYS);
	assert_int_equal(SUPERVISOR(SYS_ptrace, PTRACE_DETACH, 1, 0), ALLOWED);
	assert_int_equal(SUPERVISOR(SYS_ptrace, PTRACE_POKETEXT, 1, 0), TRAPS);
	assert_int_equal(SUPERVISOR(SYS_socket, AF_UNIX, SOCK_STREAM, 0), ALLOWED);
	assert_int_equal(SUPERVISOR(SYS_socket, AF_INET, SOCK_STREAM, 0), ALLOWED);
	assert_int_equal(SUPERVISOR(SYS_socket, AF_INET6, SOCK_DGRAM, 0), ALLOWED);
	assert_int_equal(SUPERVISOR(SYS_socket, AF_INET, SOCK_RAW, 0), TRAPS);
	assert_int_equal(SUPERVISOR(SYS_socket, AF_PACKET, SOCK_DGRAM, 0), TRAPS);
	assert_int_equal(SUPERVISOR(SYS_socket, AF_NETLINK, SOCK_RAW, NETLINK_ROUTE), ALLOWED);
	assert_int_equal(SUPERVISOR(SYS_socket, AF_NETLINK, SOCK_RAW, NETLINK_AUDIT), TRAPS);
	assert_int_equal(SUPERVISOR(SYS_ioctl, 3, SECCOMP_IOCTL_NOTIF_RECV, 0), ALLOWED);
	assert_int_equal(SUPERVISOR(SYS_ioctl, 0, TIOCSTI, 0), TRAPS);
	assert_int_equal(SUPERVISOR(SYS_mknodat, 3, 0, S_IFIFO | 0600), ALLOWED);
	assert_int_equal(SUPERVISOR(SYS_mknodat, 3, 0, S_IFBLK | 0600), TRAPS);
	assert_int_equal(SUPERVISOR(SYS_prlimit64, 1, 7, 0), ALLOWED);
	assert_int_equal(SUPERVISOR(SYS_prlimit64, 1, 7, 4096), TRAPS);
	assert_int_equal(SUPERVISOR(SYS_prlimit64, 1, 7, 0x100000000), TRAPS);
	assert_int_equal(FRONT(SYS_kill, 1, SIGKILL, 0), ALLOWED);
	assert_int_equal(FRONT(SYS_socket, AF_UNIX, SOCK_STREAM, 0), TRAPS);
	assert_int_equal(FRONT(SYS_process_vm_readv, 1, 0, 0), TRAPS);
	assert_int_equal(FRONT(SYS_ptrace, PTRACE_DETACH, 1, 0), TRAPS);
}

/* The gateway reads what strangers send: no files, no processes, no threads. */
static void test_gateway(void **state)
{
	static const int absent[] = {
		SYS_openat,	SYS_openat2, SYS_clone,	    SYS_clone3,	   SYS_kill,
		SYS_ptrace,	SYS_dup3,    SYS_pwrite64,  SYS_fchmod,	   SYS_unlinkat,
		SYS_ftruncate,	SYS_capset,  SYS_listen,    SYS_prlimit64, SYS_process_vm_readv,
		SYS_getdents64, SYS_statx,   SYS_newfstatat};

	(void)state;
	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
		assert_int_equal(GATEWAY(absent[i], 0, 0, 0), TRAPS);
	assert_int_equal(GATEWAY(SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE), ALLOWED);
	assert_int_equal(GATEWAY(SYS_mmap, 0, 4096, PROT_READ | PROT_EXEC), TRAPS);
	assert_int_equal(GATEWAY(SYS_mprotect, 0, 4096, PROT_EXEC), TRAPS);
	assert_int_equal(GATEWAY(SYS_recvmsg, 0, 0, 0), ALLOWED);
}

/* What constant answers cost: the kernel must see that no argument is looked at. */
static void test_constant(void **state)
{
	static const int hot[] = {SYS_openat, SYS_openat2,	    SYS_statx,
				  SYS_close,  SYS_process_vm_readv, SYS_futex};
	uint32_t r;

	(void)state;
	for (size_t i = 0; i < sizeof(hot) / sizeof(hot[0]); i++) {
		struct seccomp_data d = {.nr = hot[i], .arch = NATIVE};

		assert_int_equal(bpf_sim(&lockdown_supervisor_program, &d, true, &r), BPF_OK);
		assert_int_equal(r, ALLOWED);
	}
}

enum who { FIRST_THREAD, EARLIER_THREAD, LATER_THREAD };

static pthread_barrier_t locked;

static void *call_chroot(void *arg)
{
	if (*(enum who *)arg == EARLIER_THREAD)
		pthread_barrier_wait(&locked);
	syscall(SYS_chroot, "/");
	return NULL;
}

static void *nothing(void *arg)
{
	return arg;
}

/* A process that locks itself down and then makes a call that is not stated. */
static void __attribute__((noreturn)) offender(int sock, enum who who)
{
	pthread_t t;

	pthread_barrier_init(&locked, NULL, 2);
	if (lockdown_prepare(sock) < 0)
		_exit(1);
	/* As in a session one thread exists before: with the first one, libc sets signal handlers of its own. */
	if (pthread_create(&t, NULL, who == EARLIER_THREAD ? call_chroot : nothing, &who) != 0)
		_exit(1);
	if (lockdown_supervisor() < 0)
		_exit(2);
	/* What it may do, it can. */
	free(malloc(1 << 20));
	if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0)
		_exit(3);
	if (who == LATER_THREAD && pthread_create(&t, NULL, call_chroot, &who) != 0)
		_exit(4);
	if (who == FIRST_THREAD)
		call_chroot(&who);
	if (who == EARLIER_THREAD)
		pthread_barrier_wait(&locked);
	pthread_join(t, NULL);
	_exit(5);
}

static void test_ends(void **state)
{
	(void)state;
	if (!lockdown_is_built())
		skip();
	for (enum who who = FIRST_THREAD; who <= LATER_THREAD; who++) {
		struct front_message m = {0};
		int pair[2], status;
		pid_t pid;

		assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
		pid = fork();
		if (pid == 0)
			offender(pair[1], who);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 125);
		assert_int_equal(recv(pair[0], &m, sizeof(m), MSG_DONTWAIT), sizeof(m));
		assert_int_equal(m.kind, FRONT_FORBIDDEN);
		assert_int_equal(m.value, SYS_chroot);
		close(pair[0]);
		close(pair[1]);
	}
}

/* Without the handler, as a thread that blocks SIGSYS is, the kernel ends the process. */
static void test_blocked(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	if (!lockdown_is_built())
		skip();
	pid = fork();
	if (pid == 0) {
		sigset_t all;

		if (lockdown_prepare(-1) < 0 || lockdown_supervisor() < 0)
			_exit(1);
		sigfillset(&all);
		sigprocmask(SIG_SETMASK, &all, NULL);
		syscall(SYS_chroot, "/");
		_exit(2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSYS);
	assert_false(WCOREDUMP(status));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_never),	cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_gateway), cmocka_unit_test(test_constant),
		cmocka_unit_test(test_ends),	cmocka_unit_test(test_blocked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
