/*
 * Two sessions of the same user. "serve" is what runs in the first one: it has a file of its own in a shared directory
 * ($SHARED), in /dev/shm and in its TMPDIR, sockets, a terminal and memory. It prints, in this order, its number, its
 * parent's, that one's parent's, an address, the name of the terminal, its TMPDIR and an abstract name; these are $A_PID,
 * $A_SUPERVISOR, $A_FRONT, $ADDRESS, $TTY, $A_TMP and $ABSTRACT for the attacks, which run in the second one.
 */
#include "attack.h"

#include <linux/kcmp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>

static const char *in(const char *variable, const char *name)
{
	static char buf[8][2 * PATH_MAX];
	static int next;
	char *b = buf[next++ % 8];

	snprintf(b, sizeof(buf[0]), "%s/%.4000s", getenv(variable), name);
	return b;
}
static const char *shm_name(void)
{
	static char name[64];

	snprintf(name, sizeof(name), "/dev/shm/attack.%s", getenv("A_PID"));
	return name;
}

/* On the member and, where they are cordon's, on its supervisor and front. */
static bool on_each(bool (*fn)(pid_t pid))
{
	static const char *const names[] = {"A_PID", "A_SUPERVISOR", "A_FRONT"};
	int won = 0, err = 0;

	for (int i = 0; i < (getenv("CONFINED") ? 3 : 1); i++) {
		errno = 0;
		won += fn(atoi(getenv(names[i])));
		err = err ? err : errno;
	}
	errno = err;
	return won > 0;
}

static bool kill_one(pid_t pid)
{
	return kill(pid, SIGWINCH) == 0;
}
static bool tgkill_one(pid_t pid)
{
	return syscall(SYS_tgkill, pid, pid, SIGWINCH) == 0;
}
static bool kill_group_of(pid_t pid)
{
	return kill(-getpgid(pid), SIGWINCH) == 0;
}
static bool queue_one(pid_t pid)
{
	return sigqueue(pid, SIGWINCH, (union sigval){0}) == 0;
}
static bool pidfd_one(pid_t pid)
{
	return syscall(SYS_pidfd_open, pid, 0) >= 0;
}
static bool own_one(pid_t pid)
{
	int p[2];

	return pipe(p) == 0 && fcntl(p[0], F_SETOWN, pid) == 0;
}
static bool trace_one(pid_t pid)
{
	return ptrace(PTRACE_SEIZE, pid, 0, 0) == 0;
}
static bool read_one(pid_t pid)
{
	char buf[8];
	struct iovec l = {buf, 8}, r = {(void *)strtoul(getenv("ADDRESS"), NULL, 16), 8};

	return process_vm_readv(pid, &l, 1, &r, 1, 0) == 8;
}
static bool limit_one(pid_t pid)
{
	struct rlimit lim;

	return prlimit(pid, RLIMIT_CORE, NULL, &lim) == 0;
}
static bool pin_one(pid_t pid)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 && sched_setaffinity(pid, sizeof(set), &set) == 0;
}
static bool nice_one(pid_t pid)
{
	return setpriority(PRIO_PROCESS, (id_t)pid, 1) == 0;
}
static bool compare_one(pid_t pid)
{
	return syscall(SYS_kcmp, getpid(), pid, KCMP_FILES, 0, 0) >= 0;
}
static bool proc_open(pid_t pid, const char *what, int flags)
{
	char name[96], byte;
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/%s", pid, what);
	fd = open(name, flags | O_NONBLOCK);
	return fd >= 0 &&
	       (flags != O_RDONLY || read(fd, &byte, 1) == 1 || errno == EISDIR || errno == EAGAIN);
}
#define PROC(name, what, flags)                                                                              \
	static bool name##_one(pid_t pid)                                                                    \
	{                                                                                                    \
		return proc_open(pid, what, flags);                                                          \
	}
PROC(environ, "environ", O_RDONLY)
PROC(mem, "mem", O_RDWR)
PROC(fd, "fd/0", O_RDONLY)
PROC(cwd, "cwd/file", O_RDWR)
PROC(root, "root/etc/passwd", O_RDONLY)
PROC(oom, "oom_score_adj", O_WRONLY)
#define ON_EACH(name)                                                                                        \
	static bool by_##name(void)                                                                          \
	{                                                                                                    \
		return on_each(name##_one);                                                                  \
	}
ON_EACH(kill)
ON_EACH(tgkill)
ON_EACH(queue)
ON_EACH(pidfd)
ON_EACH(own)
ON_EACH(trace)
ON_EACH(read)
ON_EACH(limit)
ON_EACH(pin)
ON_EACH(nice)
ON_EACH(compare)
ON_EACH(environ)
ON_EACH(mem)
ON_EACH(fd)
ON_EACH(cwd)
ON_EACH(root)
ON_EACH(oom)
static bool by_kill_group(void)
{
	return on_each(kill_group_of);
}

/* In the shared directory, where both sessions may make entries of their own. */
static bool by_shared_write(void)
{
	return open(in("SHARED", "theirs"), O_WRONLY) >= 0;
}
static bool by_shared_chmod(void)
{
	return chmod(in("SHARED", "theirs"), 0666) == 0;
}
static bool by_shared_unlink(void)
{
	return unlink(in("SHARED", "theirs")) == 0;
}
static bool by_shared_rename(void)
{
	return rename(in("SHARED", "theirs"), in("SHARED", "ours")) == 0;
}
static bool by_shared_replace(void)
{
	write_file(in("SHARED", "ours"), "attacked");
	return rename(in("SHARED", "ours"), in("SHARED", "theirs")) == 0;
}
static bool by_shared_link(void)
{
	return link(in("SHARED", "theirs"), in("SHARED", "ours")) == 0;
}
static bool by_shared_directory(void)
{
	return write_file(in("SHARED", "theirdir/new"), "attacked");
}
static bool by_shm_write(void)
{
	return open(shm_name(), O_RDWR) >= 0;
}
static bool by_shm_unlink(void)
{
	return unlink(shm_name()) == 0;
}
static bool by_tmp_write(void)
{
	return open(in("A_TMP", "file"), O_WRONLY) >= 0;
}
static bool by_tmp_new(void)
{
	return write_file(in("A_TMP", "new"), "attacked");
}
static bool by_tmp_rename(void)
{
	return rename(getenv("A_TMP"), in("SHARED", "moved")) == 0;
}
static bool by_workspace(void)
{
	return open(out("file"), O_RDWR) >= 0;
}

static bool reach(const char *name)
{
	struct sockaddr_un a = {AF_UNIX, ""};
	socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
	int s = socket(AF_UNIX, SOCK_STREAM, 0);
	bool won;

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", name);
	if (name[0] == '@')
		a.sun_path[0] = '\0';
	won = s >= 0 && connect(s, (struct sockaddr *)&a, name[0] == '@' ? len : sizeof(a)) == 0;
	if (s >= 0)
		close(s);
	return won;
}
static bool by_socket(void)
{
	return reach(out("sock"));
}
static bool by_shared_socket(void)
{
	return reach(in("SHARED", "sock"));
}
static bool by_abstract_socket(void)
{
	return reach(getenv("ABSTRACT"));
}
/* In place of it: whoever connects next comes here. */
static bool by_socket_name(void)
{
	struct sockaddr_un a = {AF_UNIX, ""};

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", in("SHARED", "sock"));
	return unlink(a.sun_path) == 0 &&
	       bind(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&a, sizeof(a)) == 0;
}
static bool by_terminal(void)
{
	return open(getenv("TTY"), O_RDWR | O_NOCTTY) >= 0;
}

static const struct attempt list[] = {
	{"kill", by_kill},
	{"kill_group", by_kill_group},
	{"tgkill", by_tgkill},
	{"queue", by_queue},
	{"pidfd", by_pidfd},
	{"own", by_own},
	{"trace", by_trace},
	{"read", by_read},
	{"limit", by_limit},
	{"pin", by_pin},
	{"nice", by_nice},
	{"compare", by_compare},
	{"environ", by_environ},
	{"mem", by_mem},
	{"fd", by_fd},
	{"cwd", by_cwd},
	{"root", by_root},
	{"oom", by_oom},
	{"shared_write", by_shared_write},
	{"shared_chmod", by_shared_chmod},
	{"shared_unlink", by_shared_unlink},
	{"shared_rename", by_shared_rename},
	{"shared_replace", by_shared_replace},
	{"shared_link", by_shared_link},
	{"shared_directory", by_shared_directory},
	{"shm_write", by_shm_write},
	{"shm_unlink", by_shm_unlink},
	{"tmp_write", by_tmp_write},
	{"tmp_new", by_tmp_new},
	{"tmp_rename", by_tmp_rename},
	{"workspace", by_workspace},
	{"socket", by_socket},
	{"shared_socket", by_shared_socket},
	{"abstract_socket", by_abstract_socket},
	{"socket_name", by_socket_name},
	{"terminal", by_terminal},
};

static void listen_on(const char *name)
{
	struct sockaddr_un a = {AF_UNIX, ""};
	socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
	int s = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", name);
	if (name[0] == '@')
		a.sun_path[0] = '\0';
	if (bind(s, (struct sockaddr *)&a, name[0] == '@' ? len : sizeof(a)) < 0 || listen(s, 100) < 0)
		broken("%s", name);
}

static int serve(void)
{
	static char memory[64] = "what is in memory";
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave, p[2];
	char name[96], front[64] = "0";
	FILE *f;

	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0 || pipe(p) < 0)
		broken("pty");
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	if (slave < 0 || dup2(p[0], 0) < 0 || write(p[1], "input", 5) != 5)
		broken("slave");
	write_file(in("SHARED", "theirs"), "theirs");
	mkdir(in("SHARED", "theirdir"), 0755);
	snprintf(name, sizeof(name), "/dev/shm/attack.%d", getpid());
	write_file(name, "theirs");
	write_file(in("TMPDIR", "file"), "theirs");
	write_file(out("file"), "theirs");
	listen_on(out("sock"));
	listen_on(in("SHARED", "sock"));
	snprintf(name, sizeof(name), "@attack.%d", getpid());
	listen_on(name);
	if (chdir(getenv("OUT")) < 0)
		broken("chdir");
	signal(SIGWINCH, SIG_IGN);
	snprintf(front, sizeof(front), "/proc/%d/stat", getppid());
	f = fopen(front, "r");
	if (!f || fscanf(f, "%*d (%*[^)]) %*c %63s", front) != 1)
		broken("front");
	printf("%d %d %s %p %s %s %s\n", getpid(), getppid(), front, (void *)memory, ptsname(master),
	       getenv("TMPDIR"), name);
	fflush(stdout);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && strcmp(argv[1], "serve") == 0)
		return serve();
	return attack_attempt(list, sizeof(list) / sizeof(*list), argv[1]);
}
