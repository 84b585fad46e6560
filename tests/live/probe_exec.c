/*
 * Running programs: every way to name one, every way to fail, by threads and by vfork children, in crowds, while signals
 * come.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/ptrace.h>

#include "probe_calls.h"

extern char **environ;
static char *const args[] = {"prog", "one", NULL};
static const char *name; /* of the program to try */

static long exec_at(int dir, const char *path, int flags)
{
	return syscall(SYS_execveat, dir, path, args, environ, flags);
}

/* Runs fn in a child, which execs or tells its errno. */
static void try(const char *label, void (*fn)(void))
{
	int p[2], status, err = 0;
	pid_t pid;

	if (pipe2(p, O_CLOEXEC) < 0)
		die("pipe");
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		alarm(30);
		errno = 0;
		fn();
		err = errno;
		if (write(p[1], &err, sizeof(err)) != sizeof(err))
			_exit(70);
		_exit(71);
	}
	close(p[1]);
	if (read(p[0], &err, sizeof(err)) < 0)
		die("read");
	close(p[0]);
	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	say("%s:", label);
	if (WIFSIGNALED(status))
		say(" signal %d", WTERMSIG(status));
	else
		say(" %s, status %d", err ? errno_name(err) : "ran", WEXITSTATUS(status));
	done();
}

static void by_name(void)
{
	execve(name, args, environ);
}

static void script(const char *path, const char *text)
{
	fresh_file(path, text, 0755);
}

static void make_programs(void)
{
	char line[320], long_name[300];

	fresh("dir", K_FULL), fresh("plain", K_FILE), fresh("loop", K_LOOP), fresh("fifo", K_FIFO);
	fresh("dangle", K_DANGLE);
	script("script", "#!/bin/sh\nexit 7\n");
	script("noline", "exit 8\n");
	script("argument", "#! /bin/sh  -e \nfalse\nexit 9\n");
	script("missing", "#!/nonexistent/interpreter\n");
	script("closed", "#!/bin/sh\n");
	chmod("closed", 0644);
	script("empty", ""), script("bang", "#!\n"), script("blank", "#!   \n");
	script("chain1", "#!script\n");
	for (int i = 2; i <= 7; i++) {
		char path[16];

		snprintf(line, sizeof(line), "#!chain%d\n", i - 1);
		snprintf(path, sizeof(path), "chain%d", i);
		script(path, line);
	}
	memset(long_name, 'n', sizeof(long_name));
	snprintf(line, sizeof(line), "#!/bin/%.280s\n", long_name);
	script("longline", line);
	script("relative", "#!script\n");
	if (symlink("script", "link") < 0)
		die("symlink");
}

static void names_section(void)
{
	static const char *const list[] = {"/bin/true",
					   "/bin/false",
					   "script",
					   "noline",
					   "argument",
					   "missing",
					   "closed",
					   "empty",
					   "bang",
					   "blank",
					   "chain1",
					   "chain3",
					   "chain4",
					   "chain5",
					   "chain7",
					   "longline",
					   "relative",
					   "link",
					   "dangle",
					   "loop",
					   "dir",
					   "dir/in",
					   "plain",
					   "fifo",
					   "nothing",
					   "plain/x",
					   "nothing/x",
					   "",
					   ".",
					   "./script",
					   "dir/../link",
					   "script/",
					   "/dev/null",
					   "/proc/self/status",
					   "/proc/self/cwd/script"};

	for (size_t i = 0; i < N(list); i++) {
		name = list[i];
		try(name, by_name);
	}
}

static void too_long(void)
{
	static char path[PATH_MAX + 10];

	memset(path, 'x', sizeof(path) - 1);
	execve(path, args, environ);
}
static char *volatile nowhere = (char *)8;

static void bad_path(void)
{
	execve(nowhere, args, environ);
}
static void bad_arguments(void)
{
	execve("/bin/true", (char **)nowhere, environ);
}
static void too_much(void)
{
	static char *many[200000];

	for (size_t i = 0; i < N(many) - 1; i++)
		many[i] = "an argument of some length to fill the room that there is for all of them at once";
	execve("/bin/true", many, environ);
}
static void busy(void)
{
	int fd = open("script", O_WRONLY);

	execve("script", args, environ);
	close(fd);
}
static void path_pin(void)
{
	exec_at(open("/bin/true", O_PATH), "", AT_EMPTY_PATH);
}
static void script_pin(void)
{
	exec_at(open("script", O_PATH), "", AT_EMPTY_PATH);
}
static void script_cloexec(void)
{
	exec_at(open("script", O_PATH | O_CLOEXEC), "", AT_EMPTY_PATH);
}
static void no_empty(void)
{
	exec_at(open("/bin/true", O_PATH), "", 0);
}
static void bad_fd(void)
{
	exec_at(99, "true", 0);
}
static void in_bin(void)
{
	exec_at(open("/bin", O_PATH), "true", 0);
}
static void in_file(void)
{
	exec_at(open("script", O_PATH), "x", 0);
}
static void link_itself(void)
{
	exec_at(AT_FDCWD, "link", AT_SYMLINK_NOFOLLOW);
}
static void bad_flag(void)
{
	exec_at(AT_FDCWD, "script", 0x4000);
}
static void by_memfd(void)
{
	int from = open("/bin/true", O_RDONLY), to = memfd_create("m", MFD_CLOEXEC);
	char buf[4096];
	ssize_t n;

	while ((n = read(from, buf, sizeof(buf))) > 0)
		if (write(to, buf, (size_t)n) != n)
			die("write");
	close(from);
	exec_at(to, "", AT_EMPTY_PATH);
}
static void *in_thread(void *arg)
{
	by_name();
	*(int *)arg = errno;
	return NULL;
}
static void other_thread(void)
{
	pthread_t t;
	int err = 0;

	name = "/bin/false";
	pthread_create(&t, NULL, in_thread, &err);
	pthread_join(t, NULL);
	errno = err;
}
static void other_fails(void)
{
	pthread_t t;
	int err = 0;

	name = "nothing";
	pthread_create(&t, NULL, in_thread, &err);
	pthread_join(t, NULL);
	errno = err;
}
static void all_threads(void)
{
	static int err[8];
	pthread_t t;

	name = "/bin/false";
	for (int i = 0; i < 8; i++)
		pthread_create(&t, NULL, in_thread, &err[i]);
	by_name();
}

static void ways_section(void)
{
	try("a name that is too long", too_long), try("a bad pointer", bad_path);
	try("bad arguments", bad_arguments), try("too many arguments", too_much);
	try("a script open for writing", busy);
	try("a descriptor", path_pin), try("a script's descriptor", script_pin);
	try("a script's that closes", script_cloexec), try("an empty name", no_empty);
	try("no descriptor", bad_fd), try("in a directory", in_bin), try("in a file", in_file);
	try("a link itself", link_itself), try("an unknown flag", bad_flag);
	try("another thread", other_thread), try("another thread, in vain", other_fails);
	try("all threads at once", all_threads);
}

static void memory_section(void)
{
	try("a file in memory", by_memfd);
}

/* Ends of many, half of them killed on their way. */
static void crowd(void)
{
	enum { MANY = 600, AT_ONCE = 32 };
	volatile int running = 0, odd = 0, i = 0;
	int status;

	while (i < MANY || running) {
		if (i < MANY && running < AT_ONCE) {
			pid_t pid = i % 5 == 4 ? vfork() : fork();

			if (pid == 0) {
				if (i % 5 == 3)
					all_threads();
				execve(i % 5 == 2 ? "nothing" : "/bin/false", args, environ);
				_exit(1);
			}
			i++, running++;
			if (i % 2) {
				struct timespec t = {0, (i * 7919L) % 1500 * 1000};

				nanosleep(&t, NULL);
				kill(pid, SIGKILL);
			}
			continue;
		}
		if (wait(&status) < 0)
			die("wait");
		running--;
		odd += !(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 1);
	}
	say("of a crowd ended oddly: %d", odd), done();
}

/* A shell that runs programs one after the other is stopped and continued, and interrupted by signals that it handles. */
static void stopped(void)
{
	static const char loop[] =
		"trap : WINCH; i=0; while [ $i -lt 150 ]; do /bin/true || exit 1; i=$((i+1)); done; exit 5";
	int status = 0, turns = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		execl("/bin/sh", "sh", "-c", loop, NULL);
		_exit(9);
	}
	setpgid(pid, pid);
	while (waitpid(pid, &status, WNOHANG) == 0 && turns++ < 100000) {
		struct timespec t = {0, (turns * 7919L) % 3000 * 1000};

		nanosleep(&t, NULL);
		kill(-pid, turns % 3 ? SIGSTOP : SIGTSTP);
		nanosleep(&t, NULL);
		kill(-pid, SIGCONT);
		kill(pid, SIGWINCH);
	}
	say("stopped and continued: %d", WIFEXITED(status) ? WEXITSTATUS(status) : -1), done();
}

static void spawned(void)
{
	char *const sh[] = {"sh", "-c", "exit 6", NULL}, *const none[] = {"x", NULL};
	int status = 0, rc;
	pid_t pid;

	rc = posix_spawn(&pid, "/bin/sh", NULL, NULL, sh, environ);
	if (rc == 0)
		waitpid(pid, &status, 0);
	say("spawned: %s, status %d", rc ? errno_name(rc) : "0", WEXITSTATUS(status)), done();
	rc = posix_spawn(&pid, "nothing", NULL, NULL, none, environ);
	say("spawned in vain: %s", rc ? errno_name(rc) : "0"), done();
	rc = posix_spawnp(&pid, "false", NULL, NULL, none, environ);
	if (rc == 0)
		waitpid(pid, &status, 0);
	say("spawned by PATH: %s, status %d", rc ? errno_name(rc) : "0", status), done();
}

static void execs(void)
{
	make_programs();
	names_section();
	ways_section();
	spawned();
	crowd();
	stopped();
}

/* Under a debugger, as strace and gdb start programs. */
static void traced(void)
{
	int status, stops = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execl("/bin/sh", "sh", "-c", "/bin/true; exit 4", NULL);
		_exit(errno);
	}
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		int sig = WSTOPSIG(status);

		stops += sig == SIGTRAP;
		ptrace(PTRACE_CONT, pid, 0, sig == SIGTRAP ? 0 : sig);
	}
	say("traced: %d stops, status %d", stops, WIFEXITED(status) ? WEXITSTATUS(status) : -1), done();
}

const struct section exec_sections[] = {
	{"execs", execs}, {"execmemory", memory_section}, {"exectraced", traced}, {NULL, NULL}};
