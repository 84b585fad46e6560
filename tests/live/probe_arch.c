/*
 * What the processor and the kernel do beside calls: the vsyscall page, which the kernel emulates, restartable sequences, and
 * calls by other doors.
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/rseq.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>

#include "probe_calls.h"

#ifdef __x86_64__
#define VSYSCALL(n) (0xffffffffff600000UL + (n)*0x400UL)

typedef long vsyscall_fn(void *a, void *b, void *c);

static long vsyscall(int n, void *a, void *b)
{
	return ((vsyscall_fn *)VSYSCALL(n))(a, b, NULL);
}

struct attempt {
	int n;
	void *a, *b;
};

static void call_it(void *arg)
{
	const struct attempt *t = arg;

	_exit(vsyscall(t->n, t->a, t->b) < 0 ? 1 : 0);
}

static void look_at_it(void *arg)
{
	_exit(**(volatile char **)arg);
}

static void jump_into(void *arg)
{
	(*(vsyscall_fn **)arg)(NULL, NULL, NULL);
	_exit(0);
}

/* A filter of one's own holds for it, too. */
static void refuse_time(void *arg)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_time, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 33),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {N(code), code};

	(void)arg;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		_exit(99);
	_exit((int)-vsyscall(1, NULL, NULL));
}

static void vsyscalls(void)
{
	struct timeval tv = {0, 0}, then;
	struct attempt bad[] = {
		{0, (void *)1, NULL}, {1, (void *)8, NULL}, {2, (void *)8, NULL}, {3, NULL, NULL}};
	char *page = (char *)VSYSCALL(0), *middle = page + 5, *end = page + 0xc00, *kernel = page - 4096;
	unsigned cpu = 999, node = 999;
	struct attempt one = {1, NULL, NULL};
	int status = in_child(call_it, &one);

	say("time: %#x", status), done();
	if (status)
		return;
	gettimeofday(&then, NULL), say("gettimeofday"), result(vsyscall(0, &tv, NULL));
	say(" %s", tv.tv_sec - then.tv_sec < 60 ? "now" : "another time");
	say(" getcpu"), result(vsyscall(2, &cpu, &node)),
		say(" %s", cpu < 999 && node < 999 ? "known" : "unknown"), done();
	for (size_t i = 0; i < N(bad); i++)
		say("%d with a bad address: %#x", bad[i].n, in_child(call_it, &bad[i])), done();
	say("read %#x", in_child(look_at_it, &page)), say(" middle %#x", in_child(jump_into, &middle));
	say(" end %#x", in_child(jump_into, &end)), say(" before %#x", in_child(jump_into, &kernel));
	say(" refused %#x", in_child(refuse_time, NULL)), done();
}

#define SIGNATURE 0x53053053 /* as libc has it */

static struct {
	struct rseq area;
	struct rseq_cs section;
} sequence __attribute__((aligned(32)));

/* 1: the sequence came to its end. 0: it was begun again, once. *rc: what mkdir said. */
static int in_sequence(const char *name, long *rc)
{
	int ended;

	__asm__ volatile("	leaq 1f(%%rip), %%rax\n"
			 "	movq %%rax, 8(%3)\n"	 /* start_ip */
			 "	movq $2f - 1f, 16(%3)\n" /* post_commit_offset */
			 "	leaq 4f(%%rip), %%rax\n"
			 "	movq %%rax, 24(%3)\n" /* abort_ip */
			 "	movq %3, 8(%2)\n"     /* rseq_cs */
			 "	movl %4, %%eax\n"
			 "	movl $0700, %%esi\n"
			 "1:	syscall\n"
			 "	nop\n"
			 "2:	movl $1, %0\n"
			 "	jmp 5f\n"
			 "	.byte 0x0f, 0xb9, 0x3d\n"
			 "	.long 0x53053053\n"
			 "4:	movl $0, %0\n"
			 "5:	movq %%rax, %1\n"
			 : "=&r"(ended), "=m"(*rc)
			 : "r"(&sequence.area), "r"(&sequence.section), "i"(SYS_mkdir), "D"(name)
			 : "rax", "rcx", "r11", "rsi", "memory", "cc");
	return ended;
}

/* A call in a sequence (which the kernel's documentation forbids) that came to its end was made; of one that was begun again
 * nothing is known, but that it was not made later. */
static int odd_ends(void)
{
	char name[32];
	int odd = 0;
	long rc;

	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "r%d", i), rc = -1;
		if (in_sequence(name, &rc))
			odd += rc != 0 || x_rmdir(name) < 0;
		else
			x_rmdir(name);
		odd += access(name, F_OK) == 0;
	}
	return odd;
}

static void tick(int sig)
{
	(void)sig;
}

static void sequences_child(void *arg)
{
	struct sigaction sa = {.sa_handler = tick, .sa_flags = SA_RESTART};
	struct itimerval t = {{0, 3000}, {0, 3000}};

	(void)arg;
	/* In place of libc's. */
	for (uintptr_t len = 32; len <= 64; len += 32)
		for (intptr_t at = -4096; at <= 4096; at += 32)
			if (syscall(SYS_rseq, (char *)__builtin_thread_pointer() + at, len, 1, SIGNATURE) ==
			    0)
				break;
	say("rseq"), result(syscall(SYS_rseq, &sequence.area, 32, 0, SIGNATURE));
	sigaction(SIGALRM, &sa, NULL), setitimer(ITIMER_REAL, &t, NULL);
	say(" odd ends %d", odd_ends()), done();
}

static void sequences(void)
{
	int status = in_child(sequences_child, NULL);

	say("ended %#x", status), done();
}
#else
static void vsyscalls(void)
{
	say("none on this architecture"), done();
}

static void sequences(void)
{
	vsyscalls();
}
#endif

static void arch(void)
{
	vsyscalls(), sequences();
}

const struct section arch_sections[] = {{"arch", arch}, {NULL, NULL}};
