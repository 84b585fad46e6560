#include "supervisor/front.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "supervisor/lockdown.h"
#include "supervisor/member.h"
#include "supervisor/mqueue.h"
#include "supervisor/sysc.h"
#include "supervisor/sysv.h"
#include "supervisor/tmpdir.h"
#include "supervisor/tracer.h"
#include "supervisor/usertty.h"

OWN_CALLS(OWN_BOTH, OWN(kill), OWN(wait4), OWN(clock_nanosleep), OWN(getpid), OWN(openat), OWN(read),
	  OWN(close));
OWN_CALLS(OWN_FRONT, OWN(openat), OWN(shutdown), OWN(sendto), OWN(recvfrom), OWN(read), OWN_OLD(poll, ppoll),
	  OWN(rt_sigaction), OWN(rt_sigprocmask), OWN(tgkill));

#define SI_FROM_KERNEL 0x80

static void forward(int sock, int sig)
{
	struct front_message m = {FRONT_SIGNAL, sig};

	send(sock, &m, sizeof(m), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Stops as the command did, so that the user's shell sees it. */
static void stop_self(int sig)
{
	sigset_t set;

	if (sig != SIGTSTP && sig != SIGTTIN && sig != SIGTTOU) {
		raise(SIGSTOP);
		return;
	}
	sigemptyset(&set);
	sigaddset(&set, sig);
	raise(sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/*
 * Stops as the command did, if it still is. A signal to the whole group stops this process as well, so that the news is
 * read when both were continued.
 */
static void follow_stop(const struct session *s, const struct front_message *m)
{
	struct member_stat st;

	if (member_stat(s, m->command, &st) && (st.state == 'T' || st.state == 't'))
		stop_self(m->value);
}

/* Ends as the command did: a shell's loop stops at Ctrl-C only if what it ran died of the signal. No core file is
 * written: this process is not dumpable. Returns the exit status that stands for it if the signal does not end us. */
static int die_by(int sig)
{
	struct sigaction dfl = {.sa_handler = SIG_DFL};
	sigset_t set;

	sigaction(sig, &dfl, NULL);
	raise(sig);
	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	return 128 + sig;
}

static void on_signal(int signals, int sock)
{
	struct signalfd_siginfo info;

	while (read(signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		/* A terminal's signal goes to the whole group: the command has it already. */
		if (info.ssi_code == SI_FROM_KERNEL && info.ssi_signo != SIGCONT)
			continue;
		forward(sock, (int)info.ssi_signo);
	}
}

struct ending {
	struct session self; /* this process as the one whose descendants they are */
	const struct front_ending *how;
	int sig, count;
};

static struct ending ending_of(const struct front_ending *how)
{
	return (struct ending){.self = {.supervisor = getpid(), .proc = how->s->proc}, .how = how};
}

static bool end_one(pid_t pid, void *arg)
{
	struct ending *e = arg;
	struct member_stat st;

	if (member_stat(&e->self, pid, &st) && st.state != 'Z' &&
	    !(e->how->older && elders_has(e->how->older, &e->self, pid))) {
		if (e->sig)
			kill(pid, e->sig);
		e->count++;
	}
	return true;
}

/* Sends sig (0: none) to all; how many there were. */
static int each(struct ending *e, int sig)
{
	e->sig = sig;
	e->count = 0;
	member_each(&e->self, end_one, e);
	return e->count;
}

/* True when there are no children at all any more. */
static bool reap(struct tracer *t)
{
	int status;
	pid_t pid;

	do {
		pid = tracer_reap(t, &status);
	} while (pid > 0);
	return pid < 0 && errno == ECHILD;
}

#define NAP_MS 2

/* waited: how long, so far. */
static void nap(const struct front_ending *how, int waited)
{
	struct timespec t = {.tv_nsec = NAP_MS * 1000 * 1000};

	nanosleep(&t, NULL);
	if (how->tick && waited % FRONT_TICK_MS == 0)
		how->tick(how->arg);
}

void front_ask_children(const struct front_ending *how, int grace_ms)
{
	struct ending e = ending_of(how);

	if (reap(how->s->tracer) || !each(&e, SIGTERM))
		return;
	/* A stopped process takes its signal only when it goes on. */
	each(&e, SIGCONT);
	for (int waited = 0; waited < grace_ms && !reap(how->s->tracer); waited += NAP_MS) {
		if (waited % 20 == 0 && !each(&e, 0))
			break;
		nap(how, waited);
	}
}

/*
 * Ends the children that this process has at the moment, without looking through all processes: one that forks and exits
 * again and again is never there when its turn comes. Each new one becomes a child here as its parent exits.
 */
static void chase(struct ending *e)
{
	char name[48], buf[4096], *p = buf;
	pid_t self = getpid(), pid;
	ssize_t n;
	int fd;

	snprintf(name, sizeof(name), "%d/task/%d/children", self, self);
	fd = openat(e->how->s->proc, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return; /* a kernel without CONFIG_PROC_CHILDREN */
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	buf[n > 0 ? n : 0] = '\0';
	while ((pid = (pid_t)strtol(p, &p, 10)) > 0)
		if (!e->how->older || !elders_has(e->how->older, &e->self, pid))
			kill(pid, SIGKILL);
}

#define CHASES 500
/* How often nobody has to be found before it is believed, where others than the session's may be children. */
#define LOOKS 10

void front_kill_children(const struct front_ending *how)
{
	struct ending e = ending_of(how);

	for (int waited = 0, empty = 0; !reap(how->s->tracer) && empty < LOOKS; waited += NAP_MS) {
		if (each(&e, SIGKILL))
			empty = 0;
		else if (how->older)
			empty++;
		for (int i = 0; i < CHASES && waited > 0 && !reap(how->s->tracer); i++)
			chase(&e);
		nap(how, waited);
	}
}

void front_remove_left(const struct front_left *left)
{
	tmpdir_remove(left->tmpdir);
	sysv_end(left->sysv);
	mqueues_end(left->mqueues);
}

/* The supervisor is gone without a word: it was killed, or (forbidden >= 0) ended by its own lockdown. */
static int supervisor_died(pid_t supervisor, const struct front_ending *ending, const struct front_left *left,
			   int forbidden)
{
	const struct sysc *call = sysc_by_nr(forbidden);
	int status = 0;

	waitpid(supervisor, &status, 0);
	front_kill_children(ending);
	front_remove_left(left);
	if (forbidden >= 0) {
		fprintf(stderr,
			"cordon: the supervisor was about to make a system call that is not its own (%s, %d) "
			"and ended; "
			"the command was ended with it. This is a fault of cordon: please report it\n",
			call ? call->name : "unknown", forbidden);
		return 125;
	}
	fprintf(stderr, "cordon: the supervisor was ended by signal %d; the command was ended with it\n",
		WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : 125;
}

static int not_locked(int rc, const struct front_message *m)
{
	if (m->kind != FRONT_EXIT || m->value != 125)
		fprintf(stderr, "cordon: the front cannot be locked down by seccomp: %s\n", strerror(-rc));
	return 125;
}

int front_wait(pid_t supervisor, int sock, int tty, const struct front_left *left, struct elders *older)
{
	struct session none = {.proc = AT_FDCWD};
	struct front_ending ending = {.s = &none, .older = older};
	struct member_stat self = {.start = 0};
	struct front_message m;
	struct pollfd p[3];
	int forbidden = -1, rc;
	sigset_t all;
	ssize_t n;

	none.proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	member_stat(&none, supervisor, &self);
	older->since = self.start;
	sigfillset(&all);
	p[0] = (struct pollfd){.fd = signalfd(-1, &all, SFD_NONBLOCK | SFD_CLOEXEC), .events = POLLIN};
	p[1] = (struct pollfd){.fd = sock, .events = POLLIN};
	p[2] = (struct pollfd){.fd = tty, .events = POLLIN};
	rc = lockdown_front();
	if (rc < 0)
		/* The supervisor takes it for our end, unless it failed at the same before and says so itself. */
		shutdown(sock, SHUT_WR);
	for (;;) {
		if (poll(p, 3, -1) < 0 && errno != EINTR)
			break;
		if (p[0].revents)
			on_signal(p[0].fd, sock);
		if (p[2].revents & POLLIN)
			usertty_serve(tty);
		else if (p[2].revents)
			p[2].fd = -1;
		if (!p[1].revents)
			continue;
		n = recv(sock, &m, sizeof(m), 0);
		/* The other end closed with a signal of ours unread; what it sent before is still here. */
		if (n < 0 && (errno == ECONNRESET || errno == EINTR))
			n = recv(sock, &m, sizeof(m), 0);
		if (n != sizeof(m))
			break;
		if (m.kind == FRONT_STOPPED) {
			follow_stop(&none, &m);
		} else if (m.kind == FRONT_FORBIDDEN) {
			forbidden = m.value;
		} else if (m.kind == FRONT_EXIT || m.kind == FRONT_KILLED) {
			waitpid(supervisor, NULL, 0);
			/* What the supervisor could not end, if anything, is ours now. */
			front_kill_children(&ending);
			if (rc < 0)
				return not_locked(rc, &m);
			return m.kind == FRONT_EXIT ? m.value : die_by(m.value);
		}
	}
	return supervisor_died(supervisor, &ending, left, forbidden);
}
