/*
 * The processes of a session:
 *
 *     cordon (front)          what the user started and may kill; waits
 *      `- supervisor          answers the notifications; a session of its own; subreaper
 *          |- command         confined; in the user's process group
 *          |   `- ...         orphans become the supervisor's children
 *          `- gateway         asks and answers about names for the session (gateway.h)
 * Order: everything that can fail is done before the command is let go; until then a failure ends all with 125.
 */
#include "supervisor/run.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/audit.h"
#include "supervisor/caps.h"
#include "supervisor/child.h"
#include "supervisor/compat.h"
#include "supervisor/crew.h"
#include "supervisor/elders.h"
#include "supervisor/environment.h"
#include "supervisor/front.h"
#include "supervisor/gateway.h"
#include "supervisor/ident.h"
#include "supervisor/landlock.h"
#include "supervisor/load.h"
#include "supervisor/lockdown.h"
#include "supervisor/message.h"
#include "supervisor/mqueue.h"
#include "supervisor/notify.h"
#include "supervisor/proxyenv.h"
#include "supervisor/records.h"
#include "supervisor/rules.h"
#include "supervisor/setup.h"
#include "supervisor/sockets.h"
#include "supervisor/sysv.h"
#include "supervisor/tmpdir.h"
#include "supervisor/tracer.h"
#include "supervisor/usertty.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(epoll_create1), OWN(epoll_ctl), OWN_OLD(epoll_wait, epoll_pwait), OWN(recvfrom),
	  OWN(sendto), OWN(read), OWN(close), OWN(kill), OWN(wait4),
	  OWN_IF(ptrace, ARG_IS(0, PTRACE_DETACH)));

#define NOT_SET_UP 125
#define GRACE_MS   1000
#define RESERVE	   4

struct run {
	const struct opts *o;
	struct loaded l;
	struct proxyenv proxyenv;
	struct session s;
	char tmpdir[PATH_MAX];
	char **argv;
	int abi;
	struct crew *crew;
	int front, child, tty; /* sockets */
	int signals;
	sigset_t mask; /* as cordon was started */
	bool chld_ignored;
	struct rlimit nofile;
	bool exec_failed;
	struct child_message told;
	int reserve[RESERVE]; /* descriptors kept for the end */
	bool ended;
	struct elders older;
	int status;    /* exit status for a shell's eyes */
	int killed_by; /* the signal that ended the command, or 0 */
};

static bool prepare(struct run *r)
{
	if (!setup_check_user() || !setup_check_stdio(r->o) || !load_config(&r->l, r->o) ||
	    !proxyenv_init(&r->proxyenv, r->l.config, r->o->quiet))
		return false;
	r->s.proxyenv = &r->proxyenv;
	r->s.sysv = sysv_new();
	r->s.mqueues = mqueues_new();
	if (!r->s.sysv || !r->s.mqueues) {
		fprintf(stderr, "cordon: %s\n", strerror(errno));
		return false;
	}
	r->s.mounts = mounts_new();
	if (!r->s.mounts) {
		fprintf(stderr, "cordon: /proc/self/mountinfo cannot be read: %s\n", strerror(errno));
		return false;
	}
	if (r->l.config->private_tmp) {
		int rc = tmpdir_make(r->tmpdir, sizeof(r->tmpdir));

		if (rc < 0) {
			r->tmpdir[0] = '\0';
			fprintf(stderr,
				"cordon: no private TMPDIR can be made: %s (private_tmp = no does without)\n",
				strerror(-rc));
			return false;
		}
	}
	if (!rules_complete(&r->l, r->s.mounts, r->tmpdir[0] ? r->tmpdir : NULL))
		return false;
	if (!rules_check_cwd(&r->l, r->o->quiet))
		return false;
	if (!r->o->quiet) {
		rules_hint_local(&r->l);
		rules_hint_patterns(&r->l);
	}
	r->argv = setup_command_line(r->o);
	if (r->o->log_only)
		fprintf(stderr, "cordon: --log-only: rules and process isolation refuse nothing that can be "
				"let pass\n");
	return r->argv != NULL;
}

static const char *child_failure(const struct child_message *m)
{
	switch (m->stage) {
	case CHILD_IDENTITY:
		return "capabilities or no_new_privs";
	case CHILD_LANDLOCK:
		return "Landlock";
	case CHILD_FILTER:
		if (m->err == EBUSY)
			return "already inside cordon or another supervisor, and there can be only one";
		return "the seccomp filter (Linux 5.19 or newer is needed; see cordon doctor)";
	case CHILD_READY:
	case CHILD_EXEC:
	case CHILD_OTHER:
		break;
	}
	return "set-up";
}

static bool fork_child(struct run *r)
{
	struct child ch = {.argv = r->argv,
			   .path = getenv("PATH"),
			   .mask = r->mask,
			   .chld_ignored = r->chld_ignored,
			   .nofile = r->nofile,
			   .no_core = !r->abi && !r->l.config->core_files,
			   .landlock_abi = r->abi,
			   .core_files = r->l.config->core_files ? r->l.config : NULL,
			   .features = r->s.features,
			   .parent = getpid(),
			   .keep_fds = r->o->keep_fds,
			   .n_keep_fds = r->o->n_keep_fds};
	int pair[2];

	ch.envp = environment_make(&r->s, r->tmpdir);
	if (!ch.envp || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		fprintf(stderr, "cordon: %s\n", strerror(errno));
		return false;
	}
	ch.sock = pair[1];
	r->s.command = fork();
	if (r->s.command == 0)
		child_main(&ch);
	close(pair[1]);
	r->child = pair[0];
	if (r->s.command < 0)
		fprintf(stderr, "cordon: fork: %s\n", strerror(errno));
	return r->s.command > 0;
}

static bool get_listener(struct run *r)
{
	struct child_message m;

	r->s.listener = child_receive_listener(r->child, &m);
	if (r->s.listener >= 0)
		return true;
	fprintf(stderr, "cordon: the sandbox could not be set up: %s: %s\n", child_failure(&m),
		strerror(-r->s.listener));
	return false;
}

static bool is_locked(int rc)
{
	if (rc < 0)
		fprintf(stderr, "cordon: the supervisor cannot be locked down by seccomp: %s\n",
			strerror(-rc));
	return rc == 0;
}

/* Out of reach of the terminal, and of processes of the same user that would look into it; no more privileges. */
static bool shield(struct run *r)
{
	setsid();
	prctl(PR_SET_DUMPABLE, 0);
	return is_locked(lockdown_prepare(r->front));
}

static bool start(struct run *r)
{
	bool readable = prctl(PR_GET_DUMPABLE) == 1; /* as the child's memory will be */
	int rc;

	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return false;
	if (!setup_session(&r->s, &r->l, r->o) || !setup_audit(&r->s))
		return false;
	sockets_add_kept(&r->s, r->o->keep_fds, r->o->n_keep_fds);
	rc = gateway_listen(&r->s);
	/* The child prepares itself while the threads start: no thread may exist before the fork. */
	if (rc == 0 && !fork_child(r))
		return false;
	if (rc == 0)
		rc = gateway_start(&r->s);
	if (rc < 0) {
		fprintf(stderr, "cordon: the gateway cannot be started: %s\n", strerror(-rc));
		return false;
	}
	/* The child gives its capabilities up by itself; for its bounding set it needs one that goes here. */
	if (caps_supervisor() < 0) {
		fprintf(stderr, "cordon: capabilities: %s\n", strerror(errno));
		return false;
	}
	for (size_t i = 0; i < RESERVE; i++)
		r->reserve[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (!shield(r))
		return false;
	umask(0);
	setup_raise_limits();
	records_start(&r->s, &r->l, r->argv, r->abi);
	if (r->o->verbose)
		records_say(&r->s, &r->l, r->abi);
	r->crew = crew_start(&r->s);
	if (!r->crew || audit_start(r->s.audit) < 0) {
		fprintf(stderr, "cordon: no threads: %s\n", strerror(errno));
		return false;
	}
	/* With all threads, and while the child still prepares itself. From here on: only calls that are stated. */
	if (!is_locked(lockdown_supervisor()) || !get_listener(r) || !setup_check_kernel(&r->s, readable))
		return false;
	notify_sync_wake_up(r->s.listener);
	crew_receive(r->crew);
	return send(r->child, "g", 1, MSG_NOSIGNAL) == 1;
}

static void tell_front(struct run *r, enum front_kind kind, int value)
{
	struct front_message m = {kind, value, r->s.command};

	send(r->front, &m, sizeof(m), MSG_NOSIGNAL);
}

static void on_child_exit(struct run *r, int status)
{
	r->ended = true;
	r->killed_by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	r->status = r->killed_by ? 128 + r->killed_by : WEXITSTATUS(status);
}

/* A child that asked to be traced by its parent, which nobody here does: it goes on as if it had not. */
static bool pid_was_traced(pid_t pid, int status)
{
	int sig = WIFSTOPPED(status) ? WSTOPSIG(status) : 0;

	return WIFSTOPPED(status) && ptrace(PTRACE_DETACH, pid, 0, sig == SIGTRAP ? 0 : sig) == 0;
}

static void on_signals(struct run *r)
{
	struct signalfd_siginfo info[16];
	int status;
	pid_t pid;

	while (read(r->signals, info, sizeof(info)) == sizeof(info))
		;
	while ((pid = tracer_reap(r->s.tracer, &status)) > 0) {
		if (pid == r->s.gateway_pid)
			r->s.gateway_pid = 0;
		if (pid_was_traced(pid, status) || pid != r->s.command)
			continue;
		if (WIFSTOPPED(status))
			tell_front(r, FRONT_STOPPED, WSTOPSIG(status));
		else
			on_child_exit(r, status);
	}
}

static void on_front(struct run *r)
{
	struct front_message m;
	ssize_t n = recv(r->front, &m, sizeof(m), MSG_DONTWAIT);

	if (n == sizeof(m)) {
		if (m.kind == FRONT_SIGNAL)
			kill(r->s.command, m.value);
		return;
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	/* The front was killed: nobody waits for the command any more. */
	r->ended = true;
	r->status = 128 + SIGKILL;
}

static void on_child_socket(struct run *r)
{
	struct child_message m;

	if (recv(r->child, &m, sizeof(m), MSG_DONTWAIT) == sizeof(m) && m.stage == CHILD_EXEC) {
		r->exec_failed = true;
		r->told = m;
	}
	close(r->child);
	r->child = -1;
}

static void watch(int epoll, int fd)
{
	struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};

	if (fd >= 0)
		epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e);
}

static void on_gateway(struct run *r, int epoll)
{
	if (!gateway_hear(&r->s))
		epoll_ctl(epoll, EPOLL_CTL_DEL, gateway_fd(&r->s), NULL);
}

static void loop(struct run *r)
{
	struct epoll_event e[5];
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	watch(epoll, r->signals);
	watch(epoll, r->front);
	watch(epoll, r->child);
	watch(epoll, crew_wake_fd(r->crew));
	watch(epoll, gateway_fd(&r->s));
	while (!r->ended) {
		int n = epoll_wait(epoll, e, 5, crew_is_busy(r->crew) ? CREW_TICK_MS : -1);

		for (int i = 0; i < n; i++) {
			if (e[i].data.fd == r->front)
				on_front(r);
			else if (e[i].data.fd == r->child)
				on_child_socket(r);
			else if (e[i].data.fd == r->signals)
				on_signals(r);
			else if (e[i].data.fd == gateway_fd(&r->s))
				on_gateway(r, epoll);
		}
		crew_tick(r->crew);
	}
	close(epoll);
}

static int exec_status(const struct run *r)
{
	int err = r->told.err;

	fprintf(stderr, "cordon: %s: %s\n", r->argv[0],
		err == ENOENT	? "not found"
		: err == EACCES ? "found but may not be executed"
				: strerror(err));
	return err == ENOENT ? 127 : 126;
}

/* To see what is left running takes some, and the session may have used up all. */
static void release_descriptors(struct run *r)
{
	for (size_t i = 0; i < RESERVE; i++)
		if (r->reserve[i] > 0)
			close(r->reserve[i]);
}

/* What is left may still be in a call that waits, in which signals are to reach it. */
static void tick(void *arg)
{
	crew_tick(arg);
}

/* Ends what the command left running. */
static void end_children(struct run *r, bool started)
{
	struct front_ending ending = {.s = &r->s, .tick = started ? tick : NULL, .arg = r->crew};

	release_descriptors(r);
	gateway_stop(&r->s);
	if (started)
		front_ask_children(&ending, GRACE_MS);
	if (r->s.sockets)
		sockets_drop_all(&r->s);
	front_kill_children(&ending);
	/* Of those who were killed a worker may still have a call. */
	sysv_close(r->s.sysv);
	mqueues_close(r->s.mqueues);
}

/* The supervisor's whole life. */
static int supervise(struct run *r)
{
	bool started = start(r);

	if (started) {
		loop(r);
		if (r->child >= 0)
			on_child_socket(r);
		if (r->exec_failed)
			r->status = exec_status(r);
	} else {
		r->status = NOT_SET_UP;
		if (r->s.command > 0)
			kill(r->s.command, SIGKILL);
	}
	end_children(r, started);
	if (started)
		records_end(&r->s, r->status);
	if (r->s.audit)
		audit_close(r->s.audit);
	front_remove_left(&(struct front_left){r->tmpdir, r->s.sysv, r->s.mqueues});
	if (r->killed_by && !r->exec_failed)
		tell_front(r, FRONT_KILLED, r->killed_by);
	else
		tell_front(r, FRONT_EXIT, r->status);
	return r->status;
}

/* Its number, or -1 after a line that says why. */
static int start_supervisor(struct run *r, int pair[2])
{
	int rc = elders_note(&r->older);
	pid_t pid;

	if (rc < 0) {
		fprintf(stderr, "cordon: the processes that run already cannot be told apart: %s\n",
			strerror(-rc));
		return -1;
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		close(pair[0]);
		close(r->tty);
		r->front = pair[1];
		_exit(supervise(r));
	}
	if (pid < 0)
		fprintf(stderr, "cordon: fork: %s\n", strerror(errno));
	return pid;
}

int run_command(const struct opts *o)
{
	static struct run r;
	struct sigaction was;
	sigset_t all;
	int pair[2];
	pid_t pid;

	r.o = o;
	r.child = -1;
	r.abi = landlock_abi();
	getrlimit(RLIMIT_NOFILE, &r.nofile);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &r.mask);
	/* Ignored, it would let children vanish unseen. The command gets it as it was. */
	sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &was);
	r.chld_ignored = was.sa_handler == SIG_IGN;
	r.signals = signalfd(-1, &all, SFD_NONBLOCK | SFD_CLOEXEC);
	if (!prepare(&r) || r.signals < 0 || (r.tty = usertty_init(&r.s)) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		tmpdir_remove(r.tmpdir);
		return NOT_SET_UP;
	}
	pid = start_supervisor(&r, pair);
	if (pid < 0) {
		tmpdir_remove(r.tmpdir);
		return NOT_SET_UP;
	}
	close(pair[1]);
	close(r.s.usertty);
	prctl(PR_SET_DUMPABLE, 0);
	return front_wait(pid, pair[0], r.tty, &(struct front_left){r.tmpdir, r.s.sysv, r.s.mqueues},
			  &r.older);
}
