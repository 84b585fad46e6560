#include "supervisor/lockdown.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "supervisor/compat.h"
#include "supervisor/front.h"

#define THREAD (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD)

/* libc's own: memory, locks, times where the vdso has none, standard streams, its ways to end. */
OWN_CALLS(OWN_ALL, OWN(brk), OWN_IF(mmap, ARG_NONE(2, PROT_EXEC)), OWN_IF(mprotect, ARG_NONE(2, PROT_EXEC)),
	  OWN(munmap), OWN(mremap), OWN(madvise), OWN(futex), OWN(getrandom), OWN(clock_gettime),
	  OWN(gettimeofday), OWN(restart_syscall), OWN(rt_sigreturn), OWN(rt_sigprocmask), OWN(gettid),
	  OWN(getpid), OWN(tgkill), OWN(exit), OWN(exit_group), OWN(close), OWN(read), OWN(write),
	  OWN(writev));
/* Threads, files. */
OWN_CALLS(OWN_BOTH, OWN(sched_yield), OWN_ABSENT(clone3), OWN_IF(clone, ARG_BITS(0, THREAD, THREAD)),
	  OWN(set_robust_list), OWN(rseq), OWN(sched_getaffinity), OWN(clock_nanosleep), OWN(openat),
	  OWN(lseek), OWN(fstat), OWN(newfstatat));

bool lockdown_is_built(void)
{
#ifdef CORDON_NO_LOCKDOWN
	return false;
#else
	return true;
#endif
}

static int told = -1;

/* The kernel has not made the call, and this process is not to go on without it. */
static void on_forbidden(int sig, siginfo_t *info, void *context)
{
	struct front_message m = {FRONT_FORBIDDEN, info->si_syscall};

	(void)sig;
	(void)context;
	if (info->si_code != COMPAT_SYS_SECCOMP) /* sent by somebody */
		return;
	send(told, &m, sizeof(m), MSG_NOSIGNAL | MSG_DONTWAIT);
	_exit(125);
}

int lockdown_prepare(int sock)
{
	const struct sigaction sa = {.sa_sigaction = on_forbidden, .sa_flags = SA_SIGINFO};
	const struct rlimit none = {0, 0};
	sigset_t set;

	told = sock;
	setrlimit(RLIMIT_CORE, &none);
	sigemptyset(&set);
	sigaddset(&set, SIGSYS);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || sigaction(SIGSYS, &sa, NULL) < 0 ||
	    sigprocmask(SIG_UNBLOCK, &set, NULL) < 0)
		return -errno;
	return 0;
}

static int load(const struct sock_fprog *program, unsigned flags)
{
	long r;

	if (!lockdown_is_built())
		return 0;
	r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, program);
	/* With TSYNC: the number of a thread that cannot be brought along. */
	return r < 0 ? -errno : r > 0 ? -EBUSY : 0;
}

int lockdown_supervisor(void)
{
	return load(&lockdown_supervisor_program, SECCOMP_FILTER_FLAG_TSYNC);
}

int lockdown_front(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return load(&lockdown_front_program, 0);
}

int lockdown_gateway(void)
{
	return load(&lockdown_gateway_program, 0);
}
