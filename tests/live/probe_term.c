/*
 * Controlling terminals: got by opening a terminal, by TIOCSCTTY, not got, lost; /dev/tty with them.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <termios.h>

#include "probe_calls.h"

#ifndef TIOCGPTPEER
#define TIOCGPTPEER _IO('T', 0x41)
#endif

static int master, slave_mode;
static char slave_name[64];

static void say_tty(const char *label)
{
	struct stat st;
	int fd, sid = -1;

	say(" | %s:", label);
	fd = (int)x_open("/dev/tty", O_RDWR, 0), result(fd < 0 ? -1 : 0);
	if (fd < 0)
		return;
	fstat(fd, &st);
	say(" %c%x:%x", S_ISCHR(st.st_mode) ? 'c' : '?',
	    st.st_rdev == 0x500 || (st.st_rdev >> 8) == 136 ? 5 : 0, 0);
	ioctl(fd, TIOCGSID, &sid);
	say(" sid %s pgrp %s",
	    sid == getpid()    ? "mine"
	    : sid == getsid(0) ? "of the session"
			       : "other",
	    tcgetpgrp(fd) == getpgrp() ? "mine" : "other");
	close(fd);
}

static void new_terminal(void)
{
	int n, zero = 0;

	master = (int)x_open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC, 0);
	if (master < 0 || ioctl(master, TIOCSPTLCK, &zero) < 0 || ioctl(master, TIOCGPTN, &n) < 0)
		die("/dev/ptmx");
	snprintf(slave_name, sizeof(slave_name), "/dev/pts/%d", n);
}

static void by_opening(void *arg)
{
	int flags = *(int *)arg, fd;

	setsid();
	say("open(slave, %#x)", flags), say_tty("before");
	fd = (int)x_open(slave_name, flags, 0), say(" open"), result(fd < 0 ? -1 : 0), describe_fd(fd);
	say_tty("after"), done();
	if ((flags & O_ACCMODE) == O_WRONLY) /* asking for it then takes CAP_SYS_ADMIN */
		return;
	say("TIOCSCTTY"), result(ioctl(fd, TIOCSCTTY, 0)), say_tty("then"), done();
	say("a second time"), fd = (int)x_open(slave_name, O_RDWR, 0), result(fd < 0 ? -1 : 0), done();
	say("TIOCNOTTY"), signal(SIGHUP, SIG_IGN), result(ioctl(fd, TIOCNOTTY, 0)), say_tty("then"), done();
	fd = (int)x_open(slave_name, O_RDWR, 0);
	say("opened again"), result(fd < 0 ? -1 : 0), say_tty("then"), done();
}

static void by_peer(void *arg)
{
	int fd;

	(void)arg;
	setsid();
	fd = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY);
	say("TIOCGPTPEER O_NOCTTY"), result(fd < 0 ? -1 : 0), describe_fd(fd), say_tty("then"), done();
	fd = ioctl(master, TIOCGPTPEER, O_RDWR);
	say("TIOCGPTPEER"), result(fd < 0 ? -1 : 0), describe_fd(fd), say_tty("then"), done();
}

static void not_leader(void *arg)
{
	int fd, status;
	pid_t pid;

	(void)arg;
	setsid();
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		fd = (int)x_open(slave_name, O_RDWR, 0);
		say("not a leader"), result(fd < 0 ? -1 : 0), say_tty("then");
		say(" TIOCSCTTY"), result(ioctl(fd, TIOCSCTTY, 0)), say_tty("then"), done();
		_exit(0);
	}
	waitpid(pid, &status, 0);
}

static void leader_with(void *arg)
{
	int fd, pair, status, zero = 0, n;
	char name[64];
	pid_t pid;

	(void)arg;
	setsid();
	fd = (int)x_open(slave_name, O_RDWR, 0);
	if (ioctl(fd, TIOCSCTTY, 0) < 0)
		die("TIOCSCTTY");
	pair = (int)x_open("/dev/ptmx", O_RDWR, 0), ioctl(pair, TIOCSPTLCK, &zero), ioctl(pair, TIOCGPTN, &n);
	snprintf(name, sizeof(name), "/dev/pts/%d", n);
	say("another terminal"), fd = (int)x_open(name, O_RDWR, 0), result(fd < 0 ? -1 : 0), say_tty("then"),
				 done();
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		say("a child"), say_tty("has it"), setsid(), say_tty("after setsid"), done();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	pid = fork();
	if (pid == 0) {
		signal(SIGTTOU, SIG_IGN), setpgid(0, 0);
		fd = (int)x_open("/dev/tty", O_RDWR, 0);
		say("tcsetpgrp by /dev/tty"), result(tcsetpgrp(fd, getpgrp())), say_tty("then"), done();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	signal(SIGHUP, SIG_IGN);
	close(master);
	say("hung up"), say_tty("then"), done();
}

static void read_back(void *arg)
{
	char buf[32] = "";
	struct winsize w = {.ws_row = 10, .ws_col = 20};
	struct termios t;
	ssize_t n;
	int fd;

	(void)arg;
	setsid();
	fd = (int)x_open(slave_name, O_RDWR, 0), ioctl(fd, TIOCSCTTY, 0), close(fd);
	fd = (int)x_open("/dev/tty", O_RDWR | O_CLOEXEC, 0);
	say("termios"), result(tcgetattr(fd, &t)), t.c_lflag &= (tcflag_t) ~(ICANON | ECHO),
		result(tcsetattr(fd, TCSANOW, &t));
	say(" size"), result(ioctl(fd, TIOCSWINSZ, &w)), result(ioctl(master, TIOCGWINSZ, &w)),
		say(" %d", w.ws_row);
	say(" write"), result(write(fd, "abc", 3)), n = read(master, buf, sizeof(buf)),
						    say_bytes(buf, n > 0 ? (size_t)n : 0);
	say(" type"), result(write(master, "xyz", 3)), n = read(fd, buf, sizeof(buf)),
						       say_bytes(buf, n > 0 ? (size_t)n : 0), done();
	say("O_NONBLOCK"), fd = (int)x_open("/dev/tty", O_RDONLY | O_NONBLOCK, 0), result(fd < 0 ? -1 : 0),
			   result(read(fd, buf, 1)), done();
}

static volatile sig_atomic_t trapped;

static void on_trap(int sig)
{
	trapped++;
}

/* It has a filter of its own that answers ioctl with a signal: that is for its own calls alone. */
static void with_filter(void *arg)
{
	struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
				     BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 1),
				     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
				     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog program = {N(code), code};
	int fd;

	setsid();
	signal(SIGSYS, on_trap);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		die("filter");
	say("a filter that answers ioctl"), fd = (int)x_open(slave_name, O_RDWR, 0), result(fd < 0 ? -1 : 0);
	say(" %d signals", trapped), ioctl(fd, TIOCSCTTY, 0), say(", %d by its own", trapped), done();
}

static void each(void (*fn)(void *), int flags)
{
	int status;

	new_terminal();
	slave_mode = flags;
	status = in_child(fn, &slave_mode);
	say("ended %#x", status), done();
	close(master);
}

static void terminals(void)
{
	static const int flags[] = {O_RDWR | O_NOCTTY, O_RDWR, O_RDONLY, O_WRONLY,
				    O_RDWR | O_NONBLOCK | O_CLOEXEC};

	for (size_t i = 0; i < N(flags); i++)
		each(by_opening, flags[i]);
	each(by_peer, 0), each(not_leader, 0), each(leader_with, 0), each(read_back, 0), each(with_filter, 0);
}

static pid_t waiter(void)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void try_group(const char *what, pid_t pid, pid_t group)
{
	say("setpgid %s", what), result(setpgid(pid, group)), done();
}

static void in_own_group(void *arg)
{
	pid_t first = waiter(), second = waiter(), before = getpgrp();

	(void)arg;
	try_group("to a child of one's own that has no group", 0, first);
	try_group("of a child to its own", first, first);
	try_group("of another to that", second, first);
	try_group("of itself to that", 0, first);
	try_group("of itself to the first one", 0, before);
	try_group("of itself by number", getpid(), getpid());
	try_group("of itself again", 0, 0);
	try_group("of a child to the first one", second, before);
	try_group("of a child by zero", second, 0);
	end(first);
	try_group("to a group that has ended", second, first);
	try_group("of one that has ended", first, first);
	try_group("of one that has ended to one's own", first, getpgrp());
	try_group("to -1", 0, -1);
	try_group("of -1", -1, 1);
	try_group("of one's parent", getppid(), getpgrp());
	try_group("to no group", 0, 0x3ffffffe);
	try_group("of nobody", 0x3ffffffe, 0x3ffffffe);
	end(second);
	setsid();
	try_group("of a leader", 0, 0);
	try_group("to one of another session", 0, before);
}

static void after_exec(void)
{
	pid_t pid = fork();
	int gate[2], fd;
	char byte;

	if (pid == 0) {
		execl("/bin/sleep", "sleep", "100", (char *)NULL);
		_exit(127);
	}
	nap_ms(200);
	try_group("of a child after exec", pid, pid);
	end(pid);
	if (pipe(gate) < 0)
		return;
	pid = fork();
	if (pid == 0) {
		setsid();
		fd = (int)write(gate[1], "x", 1);
		pause();
		_exit(fd);
	}
	if (read(gate[0], &byte, 1) == 1)
		try_group("of a child in another session", pid, pid);
	end(pid);
	close(gate[0]), close(gate[1]);
}

static void groups(void)
{
	in_child(in_own_group, NULL);
	after_exec();
}

const struct section term_sections[] = {{"terminals", terminals}, {"groups", groups}, {NULL, NULL}};
