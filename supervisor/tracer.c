#include "supervisor/tracer.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "supervisor/caps.h"
#include "supervisor/crew.h"
#include "supervisor/lockdown.h"
#include "supervisor/tracee.h"

#define OWN_REQUEST(request) OWN_IF(ptrace, ARG_IS(0, request))
OWN_CALLS(OWN_BOTH, OWN(wait4));
OWN_CALLS(OWN_SUPERVISOR, OWN(kill), OWN(tgkill), OWN_REQUEST(PTRACE_SEIZE), OWN_REQUEST(PTRACE_INTERRUPT),
	  OWN_REQUEST(PTRACE_DETACH), OWN_REQUEST(PTRACE_KILL), OWN_REQUEST(PTRACE_GETEVENTMSG));

/* How long to wait for news before it is asked whether the caller is still there: its death may go unreported, when
 * another thread of its process runs exec. */
#define ASK_MS 100
/* An injected call begins and ends within this time, or the caller is not doing what it was told. */
#define INJECT_MS 5000

struct tracer {
	pthread_mutex_t lock;
	struct tracer_hold *held;
};

struct tracer *tracer_new(void)
{
	struct tracer *t = calloc(1, sizeof(*t));

	if (t)
		pthread_mutex_init(&t->lock, NULL);
	return t;
}

static int event_of(int status)
{
	return WIFSTOPPED(status) ? status >> 16 : 0;
}

/* Without the marks of an event or of a system call it may be the stop of a child that nobody traces. */
static bool is_plain_stop(int status)
{
	return WIFSTOPPED(status) && event_of(status) == 0 && WSTOPSIG(status) != (SIGTRAP | 0x80);
}

/* A stop for job control, perhaps. */
static bool is_job_stop(int status)
{
	int sig = WSTOPSIG(status);

	return is_plain_stop(status) &&
	       (sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU);
}

/* Under t->lock. An exec ends all other threads of the process, some of them without a word. */
static bool hand_over(struct tracer *t, pid_t pid, int status)
{
	bool exec = event_of(status) == PTRACE_EVENT_EXEC, dead = !WIFSTOPPED(status), found = false;

	for (struct tracer_hold *h = t->held; h; h = h->next) {
		if (h->pid != pid && !((exec || dead) && h->tgid == pid))
			continue;
		if (dead) {
			h->over = true;
		} else {
			h->status = status;
			h->has_status = true;
		}
		pthread_cond_signal(&h->news);
		found = true;
	}
	return found;
}

pid_t tracer_reap(struct tracer *t, int *status)
{
	bool handed;
	pid_t pid;

	do {
		/* Under the lock, so that the number of one who is dead by now cannot be another's when it is looked up. */
		if (t)
			pthread_mutex_lock(&t->lock);
		pid = waitpid(-1, status, WNOHANG | WUNTRACED | __WALL);
		handed = t && pid > 0 && hand_over(t, pid, *status);
		if (t)
			pthread_mutex_unlock(&t->lock);
	} while (pid > 0 && handed && WIFSTOPPED(*status) && !is_job_stop(*status));
	return pid;
}

static void enlist(struct tracer_hold *h)
{
	struct tracer *t = h->s->tracer;
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&h->news, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_lock(&t->lock);
	h->next = t->held;
	t->held = h;
	pthread_mutex_unlock(&t->lock);
}

static void delist(struct tracer_hold *h)
{
	struct tracer *t = h->s->tracer;
	struct tracer_hold **p;

	pthread_mutex_lock(&t->lock);
	for (p = &t->held; *p != h; p = &(*p)->next)
		;
	*p = h->next;
	pthread_mutex_unlock(&t->lock);
	pthread_cond_destroy(&h->news);
	h->attached = false;
}

static int request(enum __ptrace_request what, pid_t pid, uintptr_t addr, uintptr_t data)
{
	return ptrace(what, pid, (void *)addr, (void *)data) < 0 ? -errno : 0;
}

struct seizure {
	pid_t tid;
	uintptr_t options;
};

static int seize_now(void *arg)
{
	const struct seizure *z = arg;

	return request(PTRACE_SEIZE, z->tid, 0, z->options);
}

/* Had it been done just before it was given up, only its tracer may ask this. */
static int seize_once(struct seizure *z)
{
	int rc;

	if (crew_abandonable(seize_now, z, &rc))
		return rc;
	return request(PTRACE_INTERRUPT, z->tid, 0, 0) == 0 ? 0 : -EINTR;
}

static int seize(struct call *c, uintptr_t options)
{
	struct seizure z = {c->tid, options};
	int rc;

	if (!crew_block_begin(c))
		return -EAGAIN;
	rc = seize_once(&z);
	if (rc == -EPERM && caps_ptrace(1)) {
		rc = seize_once(&z);
		caps_ptrace(0);
	}
	return crew_block_end(c) == CREW_GONE && rc == -EINTR ? -ESRCH : rc;
}

/* Most callers are their process's first thread, which is quick to ask. */
static pid_t process_of(struct call *c)
{
	struct tracee_status st;

	if (syscall(SYS_tgkill, c->tid, c->tid, 0) == 0 || errno == EPERM)
		return c->tid;
	return tracee_status(c->s, c->tid, &st) == 0 ? st.tgid : -1;
}

int tracer_hold(struct call *c, struct tracer_hold *h, bool fatal)
{
	uintptr_t options = PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD | (fatal ? PTRACE_O_EXITKILL : 0);
	int rc;

	memset(h, 0, sizeof(*h));
	h->s = c->s;
	h->tid = h->pid = c->tid;
	h->tgid = process_of(c);
	if (h->tgid < 0)
		return -ESRCH;
	enlist(h);
	rc = seize(c, options);
	if (rc < 0) {
		delist(h);
		/* Of one that is just ending it is the same errno. */
		return tracee_check(c) < 0 ? -ESRCH : rc;
	}
	h->attached = true;
	/* Only now is it certain that this number was the caller's. */
	if (tracee_check(c) < 0) {
		tracer_release(h);
		return -ESRCH;
	}
	/* The caller waits for its answer and only death wakes it; the stop is taken when it is on its way back. */
	request(PTRACE_INTERRUPT, h->pid, 0, 0);
	return 0;
}

static bool is_traced_by_us(struct session *s, pid_t pid)
{
	struct tracee_status st;

	return tracee_status(s, pid, &st) == 0 && st.tracer == gettid();
}

/* Stopped or not. Whatever is asked by ptrace of one that runs disturbs it. */
static bool is_ours(struct tracer_hold *h)
{
	return is_traced_by_us(h->s, h->pid) || is_traced_by_us(h->s, h->tgid);
}

static void deadline_in(struct timespec *t, int ms)
{
	clock_gettime(CLOCK_MONOTONIC, t);
	t->tv_nsec += ms * 1000000L;
	t->tv_sec += t->tv_nsec / 1000000000L;
	t->tv_nsec %= 1000000000L;
}

/* Waits for a status. 1: there is one. 0: none came in time. -1: it is gone. */
static int wait_news(struct tracer_hold *h, int ms, int *status)
{
	struct tracer *t = h->s->tracer;
	struct timespec until;
	int rc = 0;

	deadline_in(&until, ms);
	pthread_mutex_lock(&t->lock);
	while (!h->has_status && !h->over && rc == 0)
		rc = pthread_cond_timedwait(&h->news, &t->lock, &until);
	rc = h->has_status ? 1 : h->over ? -1 : 0;
	*status = h->status;
	h->has_status = false;
	pthread_mutex_unlock(&t->lock);
	return rc;
}

static bool is_standing(pid_t pid)
{
	unsigned long message;

	return request(PTRACE_GETEVENTMSG, pid, 0, (uintptr_t)&message) == 0;
}

bool tracer_stands(const struct tracer_hold *h)
{
	return h->attached && is_standing(h->pid);
}

/* After an exec the caller is the one with the number of the process. */
static bool stopped_as(struct tracer_hold *h, bool exec)
{
	pid_t pid = exec ? h->tgid : h->pid;

	if (!is_standing(pid))
		return false;
	pthread_mutex_lock(&h->s->tracer->lock);
	h->pid = pid;
	pthread_mutex_unlock(&h->s->tracer->lock);
	return true;
}

/* Waits until the caller stands still: 0 with the status, -ESRCH when it is gone, -ETIMEDOUT after ms (0: never). */
static int await_stop(struct tracer_hold *h, int ms, int *status)
{
	for (int waited = 0; ms == 0 || waited < ms; waited += ASK_MS) {
		int rc = wait_news(h, ASK_MS, status);

		h->stopped = rc == 1 && stopped_as(h, event_of(*status) == PTRACE_EVENT_EXEC);
		if (h->stopped)
			return 0;
		if (rc < 0 || !is_ours(h)) {
			h->attached = false;
			return -ESRCH;
		}
	}
	return -ETIMEDOUT;
}

enum tracer_stop tracer_wait(struct tracer_hold *h)
{
	int status;

	if (!h->attached || await_stop(h, 0, &status) < 0)
		return TRACER_GONE;
	if (event_of(status) == PTRACE_EVENT_EXEC)
		return TRACER_EXEC;
	if (is_plain_stop(status))
		h->deliver = WSTOPSIG(status);
	return TRACER_STOPPED;
}

static uint64_t signal_bit(int sig)
{
	return 1ULL << (sig - 1);
}

void tracer_release(struct tracer_hold *h)
{
	if (h->attached && !h->stopped) {
		request(PTRACE_INTERRUPT, h->pid, 0, 0);
		tracer_wait(h);
	}
	if (h->attached) {
		for (int sig = 1; sig < NSIG; sig++)
			if (h->withheld & signal_bit(sig))
				syscall(SYS_tgkill, h->tgid, h->pid, sig);
		request(PTRACE_DETACH, h->pid, 0, (uintptr_t)h->deliver);
		/* Of the command's own stops and ends the kernel told its tracer, not its parent; both are this process. */
		if (h->tgid == h->s->command)
			kill(h->s->supervisor, SIGCHLD);
	}
	delist(h);
}

void tracer_kill(struct tracer_hold *h)
{
	/* As kill(2), but only on a tracee of this thread, whatever the number means by now. */
	if (h->attached) {
		int status;

		request(PTRACE_KILL, h->pid, 0, 0);
		await_stop(h, 0, &status);
	}
	delist(h);
}

#ifdef __x86_64__
OWN_CALLS(OWN_SUPERVISOR, OWN_REQUEST(PTRACE_SYSCALL), OWN_REQUEST(PTRACE_GETREGS),
	  OWN_REQUEST(PTRACE_SETREGS), OWN_REQUEST(PTRACE_GETSIGINFO), OWN_REQUEST(PTRACE_GETSIGMASK),
	  OWN_REQUEST(PTRACE_SETSIGMASK));

/* The si_code of a SIGSYS by which a filter answers a call. */
#define SECCOMP_SIGNAL 1

/*
 * Lets it run to where a system call begins or ends. Signals are blocked then, but for SIGSTOP and SIGSYS. -EPERM: it has a
 * filter of its own, which answered the call by SIGSYS.
 */
static int run_to_call(struct tracer_hold *h, int ms)
{
	for (int stops = 0; stops < 100; stops++) {
		siginfo_t info;
		int status, rc;

		h->stopped = false;
		if (request(PTRACE_SYSCALL, h->pid, 0, 0) < 0) {
			h->attached = false;
			return -ESRCH;
		}
		rc = await_stop(h, ms, &status);
		if (rc < 0)
			return rc;
		if (WSTOPSIG(status) == (SIGTRAP | 0x80))
			return 0;
		if (!is_plain_stop(status))
			continue;
		if (WSTOPSIG(status) == SIGSYS &&
		    request(PTRACE_GETSIGINFO, h->pid, 0, (uintptr_t)&info) == 0 &&
		    info.si_code == SECCOMP_SIGNAL)
			return -EPERM;
		if (WSTOPSIG(status) != SIGSTOP && WSTOPSIG(status) != SIGSYS)
			return -EFAULT; /* a fault: its code is not what it was */
		h->withheld |= signal_bit(WSTOPSIG(status));
	}
	return -EFAULT;
}

static int run_call(struct tracer_hold *h, const struct user_regs_struct *saved, long nr,
		    const uint64_t arg[6], long *result)
{
	struct user_regs_struct r = *saved;
	int rc;

	/* Back onto the instruction that it just used. No call is under way, so none is restarted. */
	r.rip -= 2;
	r.rax = (unsigned long)nr;
	r.orig_rax = (unsigned long)-1;
	r.rdi = arg[0], r.rsi = arg[1], r.rdx = arg[2];
	r.r10 = arg[3], r.r8 = arg[4], r.r9 = arg[5];
	if (request(PTRACE_SETREGS, h->pid, 0, (uintptr_t)&r) < 0)
		return -ESRCH;
	rc = run_to_call(h, INJECT_MS);
	if (rc < 0)
		return rc;
	if (request(PTRACE_GETREGS, h->pid, 0, (uintptr_t)&r) < 0)
		return -ESRCH;
	/* Another thread may have changed the code. */
	if (r.orig_rax != (unsigned long)nr || r.rip != saved->rip || r.rdi != arg[0])
		return -EFAULT;
	rc = run_to_call(h, 0);
	if (rc < 0)
		return rc;
	if (request(PTRACE_GETREGS, h->pid, 0, (uintptr_t)&r) < 0)
		return -ESRCH;
	*result = (long)r.rax;
	/* A call that is answered by a signal ends with its number. The signal comes next, and is nothing of the caller's. */
	return *result == nr ? run_to_call(h, INJECT_MS) : 0;
}

int tracer_inject(struct tracer_hold *h, long nr, const uint64_t arg[6], long *result)
{
	uint64_t mask, all = ~0ULL;
	struct user_regs_struct saved;
	bool refused;
	int rc;

	if (!h->attached || !h->stopped || request(PTRACE_GETREGS, h->pid, 0, (uintptr_t)&saved) < 0 ||
	    request(PTRACE_GETSIGMASK, h->pid, sizeof(mask), (uintptr_t)&mask) < 0)
		return -ESRCH;
	if ((long)saved.rax <= -512 && (long)saved.rax >= -516)
		return -EAGAIN;
	/* A handler would run with the registers of the call that is put in. SIGSYS the kernel would not block: it would take
	 * its handler away. */
	all &= ~signal_bit(SIGSYS);
	request(PTRACE_SETSIGMASK, h->pid, sizeof(all), (uintptr_t)&all);
	rc = run_call(h, &saved, nr, arg, result);
	refused = rc == -EPERM;
	if (rc == 0 || refused)
		rc = request(PTRACE_SETREGS, h->pid, 0, (uintptr_t)&saved);
	if (rc == 0)
		rc = request(PTRACE_SETSIGMASK, h->pid, sizeof(mask), (uintptr_t)&mask);
	if (rc < 0 && h->attached)
		request(PTRACE_KILL, h->pid, 0, 0);
	return rc < 0 ? -ESRCH : refused ? -EPERM : 0;
}
#else
int tracer_inject(struct tracer_hold *h, long nr, const uint64_t arg[6], long *result)
{
	(void)h, (void)nr, (void)arg, (void)result;
	return -ENOSYS;
}
#endif
