/*
 * Callers that share with others: in the middle of vfork, with common descriptors or working directory, threads that stop
 * sharing, a thread that runs exec.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "probe_calls.h"

static void spawn_with(const char *label, void (*add)(posix_spawn_file_actions_t *), const char *script)
{
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)script, NULL},
	     *env[] = {(char *)"PATH=/bin:/usr/bin", NULL};
	posix_spawn_file_actions_t fa;
	int status = -1, rc;
	pid_t pid;

	posix_spawn_file_actions_init(&fa);
	add(&fa);
	rc = posix_spawn(&pid, "/bin/sh", &fa, NULL, argv, env);
	if (rc == 0)
		waitpid(pid, &status, 0);
	say("spawn %s: %s, status %#x", label, rc ? errno_name(rc) : "0", status);
	describe("out"), describe("sub"), done();
	posix_spawn_file_actions_destroy(&fa);
}

static void add_open(posix_spawn_file_actions_t *fa)
{
	posix_spawn_file_actions_addopen(fa, 1, "out", O_WRONLY | O_CREAT | O_TRUNC, 0640);
	posix_spawn_file_actions_adddup2(fa, 1, 2);
}

static void add_high(posix_spawn_file_actions_t *fa)
{
	posix_spawn_file_actions_addopen(fa, 9, "out", O_WRONLY | O_APPEND, 0);
	posix_spawn_file_actions_addopen(fa, 0, "out", O_RDONLY, 0);
}

static void add_absent(posix_spawn_file_actions_t *fa)
{
	posix_spawn_file_actions_addopen(fa, 1, "none/out", O_WRONLY | O_CREAT, 0600);
}

static void add_chdir(posix_spawn_file_actions_t *fa)
{
	posix_spawn_file_actions_addchdir_np(fa, "sub");
	posix_spawn_file_actions_addopen(fa, 1, "within", O_WRONLY | O_CREAT, 0600);
}

static void spawns(void)
{
	fresh("sub", K_DIR);
	spawn_with("with open", add_open, "echo words; echo more >&2");
	spawn_with("with two opens", add_high, "read x; echo $x >&9");
	spawn_with("with a failing open", add_absent, "true");
	spawn_with("with chdir", add_chdir, "echo in; mkdir d; cd d; echo y >e");
	describe("sub/within"), describe("sub/d"), done();
}

/* Without libc's help: a clone that shares some things. Its result is an exit status. */
static long clone_with(unsigned long flags)
{
#ifdef __x86_64__
	return syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, 0L);
#else
	return syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, 0L, NULL);
#endif
}

static void sharing(const char *label, unsigned long flags)
{
	int status, fd = -1;
	pid_t pid;

	fresh("sub", K_DIR), fresh_file("sub/f", "in sub", 0644), remove_all("f"),
		fresh_file("f", "above", 0644);
	fflush(stdout);
	pid = (pid_t)clone_with(flags);
	if (pid == 0) {
		/* What is shared is seen by the parent afterwards. */
		int a = (int)x_open("f", O_RDWR, 0), b;

		umask(077);
		if (chdir("sub") < 0)
			_exit(1);
		b = (int)x_open("made", O_RDWR | O_CREAT, 0666);
		_exit(a >= 0 && b == a + 1 && x_mkdir("dir", 0777) == 0 ? 0 : 2);
	}
	waitpid(pid, &status, 0);
	say("%s: status %#x", label, status);
	for (int i = 3; i < 6; i++)
		say(" %d%s", i, fcntl(i, F_GETFD) < 0 ? "-" : "+");
	fd = (int)x_open("by-parent", O_RDWR | O_CREAT, 0666), say(" parent"), result(fd);
	for (int i = 3; i < 8; i++)
		close(i);
	if (chdir(tree) < 0 || chdir("shares") < 0)
		die("chdir");
	umask(022);
	describe("by-parent"), describe("sub/by-parent"), describe("sub/made"), describe("sub/dir"), done();
	unlink("by-parent");
}

static void *apart(void *arg)
{
	int rc = (int)syscall(SYS_unshare, CLONE_FS | CLONE_FILES), fd;

	(void)arg;
	say("unshare"), result(rc);
	if (rc == 0 && chdir("sub") == 0) {
		umask(0);
		fd = (int)x_open("by-thread", O_RDWR | O_CREAT, 0666), say(" open"), result(fd);
		say(" mkdir"), result(x_mkdir("dir-by-thread", 0777));
	}
	done();
	return NULL;
}

static void threads_apart(void)
{
	pthread_t t;
	int fd;

	fresh("sub", K_DIR);
	pthread_create(&t, NULL, apart, NULL);
	pthread_join(t, NULL);
	fd = (int)x_open("by-main", O_RDWR | O_CREAT, 0666), say("main"), result(fd), close(fd);
	describe("by-main"), describe("sub/by-thread"), describe("sub/dir-by-thread"), describe("sub"),
		done();
}

static void *run_exec(void *arg)
{
	(void)arg;
	execl("/bin/sh", "sh", "-c", "echo by a thread >out && chmod 600 out && mkdir d && exit 9",
	      (char *)NULL);
	_exit(127);
}

static void *busy(void *arg)
{
	for (;;)
		close((int)x_open(arg, O_RDWR | O_CREAT, 0600));
	return NULL;
}

static void exec_by_thread(void *arg)
{
	pthread_t t[3];

	pthread_create(&t[0], NULL, busy, (void *)"busy0");
	pthread_create(&t[1], NULL, busy, (void *)"busy1");
	nap_ms(5);
	pthread_create(&t[2], NULL, run_exec, arg);
	pthread_join(t[2], NULL);
}

static void shares(void)
{
	int status;

	sharing("nothing shared", 0);
	sharing("CLONE_FS", CLONE_FS);
	sharing("CLONE_FILES", CLONE_FILES);
	sharing("both", CLONE_FS | CLONE_FILES);
	sharing("CLONE_VFORK", CLONE_VFORK);
	sharing("CLONE_PARENT_SETTID and both", CLONE_FS | CLONE_FILES | CLONE_VFORK);
	threads_apart();
	for (int i = 0; i < 5; i++) {
		remove_all("out"), remove_all("d");
		status = in_child(exec_by_thread, NULL);
		say("exec by a thread: %#x", status), describe("out"), describe("d"), done();
	}
	remove_all("busy0"), remove_all("busy1");
}

/* No number left for a descriptor: nothing is made, nothing emptied. */
static void edge(void)
{
	static const struct {
		const char *name, *label;
		int flags;
	} opens[] = {{"f", "read", O_RDONLY},
		     {"f", "write", O_WRONLY},
		     {"f", "truncate", O_WRONLY | O_TRUNC},
		     {"f", "create, there", O_WRONLY | O_CREAT},
		     {"f", "create, there, O_EXCL", O_WRONLY | O_CREAT | O_EXCL},
		     {"new", "create", O_WRONLY | O_CREAT},
		     {"new", "create, O_EXCL", O_WRONLY | O_CREAT | O_EXCL},
		     {"none/new", "no parent", O_WRONLY | O_CREAT},
		     {"none", "absent", O_RDONLY},
		     {"sub", "directory", O_RDONLY | O_DIRECTORY},
		     {"sub", "directory to write", O_WRONLY},
		     {"sub", "O_TMPFILE", O_RDWR | O_TMPFILE},
		     {"p", "FIFO", O_RDONLY | O_NONBLOCK},
		     {"p", "FIFO to write", O_WRONLY | O_NONBLOCK},
		     {"/dev/null", "device", O_RDWR},
		     {"/dev/ptmx", "terminal", O_RDWR},
		     {"/proc/self/status", "/proc", O_RDONLY},
		     {"f", "O_PATH", O_PATH}};
	struct rlimit old, r;
	int p[2];

	fresh_file("f", "content", 0644), fresh("sub", K_DIR), fresh("p", K_FIFO);
	getrlimit(RLIMIT_NOFILE, &old);
	for (int limit = 3; limit < 5; limit++) {
		r = old, r.rlim_cur = (rlim_t)limit;
		setrlimit(RLIMIT_NOFILE, &r);
		for (size_t i = 0; i < N(opens); i++) {
			int fd;

			say("limit %d, %s", limit, opens[i].label);
			fd = (int)result(x_open(opens[i].name, opens[i].flags, 0600)), close(fd);
			setrlimit(RLIMIT_NOFILE, &old);
			describe("f"), describe("new"), done();
			remove_all("f"), fresh_file("f", "content", 0644), remove_all("new");
			setrlimit(RLIMIT_NOFILE, &r);
		}
		say("pipe"), result(pipe(p) < 0 ? -1 : 0), say(" socketpair"),
			result(syscall(SYS_socketpair, 1, 1, 0, p) < 0 ? -1 : 0), done();
		setrlimit(RLIMIT_NOFILE, &old);
		for (int i = 3; i < 9; i++)
			close(i);
	}
	r = old, r.rlim_cur = 10, setrlimit(RLIMIT_NOFILE, &r);
	say("dup2 to the last"), result(dup2(0, 9)), say(" the next is"),
		close((int)result(x_open("f", O_RDWR, 0))), done();
	for (int i = 3; i < 9; i++)
		dup2(0, i);
	close(5);
	say("the hole"), result(x_open("f", O_RDWR | O_CLOEXEC, 0)), describe_fd(5), done();
	setrlimit(RLIMIT_NOFILE, &old);
	for (int i = 3; i < 10; i++)
		close(i);
}

const struct section share_sections[] = {
	{"spawns", spawns}, {"shares", shares}, {"edge", edge}, {NULL, NULL}};
