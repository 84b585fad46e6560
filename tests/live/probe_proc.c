/*
 * /proc/self, /proc/thread-self, /proc/PID of own processes, /dev/fd and /dev/std*: names that mean something else to
 * everyone who uses them.
 */
#include <pthread.h>
#include <sys/mman.h>

#include "probe_calls.h"

static void try_open(const char *label, const char *name, int flags)
{
	char buf[64];
	int fd;

	say("open(%s, %#x)", label, flags);
	fd = (int)result(x_open(name, flags, 0600));
	if (fd >= 0) {
		ssize_t n;

		describe_fd(fd);
		nonblocking(fd);
		n = pread(fd, buf, 8, 0);
		if (n < 0 && errno == ESPIPE)
			n = read(fd, buf, 8);
		say(" r%s", n < 0 ? errno_name(errno) : "");
		say_bytes(buf, n > 0 ? (size_t)n : 0);
		close(fd);
	}
	done();
}

static const int opens[] = {O_RDONLY,
			    O_WRONLY,
			    O_RDWR,
			    O_RDONLY | O_NOFOLLOW,
			    O_RDWR | O_CREAT,
			    O_WRONLY | O_CREAT | O_EXCL,
			    O_WRONLY | O_APPEND,
			    O_RDONLY | O_DIRECTORY,
			    O_WRONLY | O_TRUNC,
			    O_WRONLY | O_NONBLOCK};

static void changes_by(const char *label, const char *name)
{
	struct timespec t[2] = {{OLD_TIME + 1, 0}, {OLD_TIME + 2, 0}};

	say("by %s: chmod", label), result(x_chmod(name, 0640));
	say(" chown"), result(x_chown(name, geteuid(), getegid()));
	say(" lchown"), result(x_lchown(name, geteuid(), getegid()));
	say(" utimensat"), result(x_utimensat(AT_FDCWD, name, t, 0));
	say(" utimensat NOFOLLOW"), result(x_utimensat(AT_FDCWD, name, t, AT_SYMLINK_NOFOLLOW));
	say(" setxattr"), result(x_setxattr(name, "user.p", "v", 1, 0));
	say(" removexattr"), result(x_removexattr(name, "user.p"));
	say(" lsetxattr"), result(x_lsetxattr(name, "user.p", "v", 1, 0));
	say(" truncate"), result(x_truncate(name, 3));
	say(" unlink"), result(x_unlink(name));
	say(" rename"), result(x_rename(name, "moved"));
	say(" mkdir"), result(x_mkdir(name, 0700));
	say(" symlink"), result(x_symlink("x", name));
	say(" rmdir"), result(x_rmdir(name));
	done();
}

/* One descriptor by all its names. */
static void each_name(const char *label, int fd)
{
	static const char *const forms[] = {
		"/proc/self/fd/%d",	    "/dev/fd/%d", "/proc/thread-self/fd/%d",
		"/proc/self/task/../fd/%d", "link",	  "linkdir/%d"};
	char name[64], text[128], target[PATH_MAX];
	ssize_t n;

	for (size_t f = 0; f < N(forms); f++) {
		snprintf(name, sizeof(name), forms[f], fd);
		if (f == 4) {
			snprintf(text, sizeof(text), "/proc/self/fd/%d", fd);
			remove_all("link");
			symlink(text, "link");
		}
		snprintf(text, sizeof(text), "%s by %s", label, forms[f]);
		for (size_t i = 0; i < N(opens); i++)
			try_open(text, name, opens[i]);
		if (f == 4)
			continue;
		n = readlink(name, target, sizeof(target) - 1);
		target[n > 0 ? n : 0] = '\0';
		if (strncmp(target, "pipe:", 5) == 0 || strncmp(target, "socket:", 7) == 0)
			strcpy(strchr(target, ':') + 1, "[]");
		if (strstr(target, "#"))
			strcpy(strstr(target, "#"), "#N");
		say("readlink %s", target), done();
		changes_by(text, name);
	}
	describe("f"), describe("d"), done();
}

static void descriptors(void)
{
	int p[2], fd;
	char name[64];

	fresh_file("f", "content of f", 0644);
	fresh("d", K_FULL);
	remove_all("linkdir");
	symlink("/proc/self/fd", "linkdir");
	fd = (int)x_open("f", O_RDWR, 0), each_name("file", fd), close(fd);
	fresh("f", K_ABSENT), fresh_file("f", "content of f", 0644);
	fd = (int)x_open("f", O_RDONLY, 0), each_name("read-only file", fd), close(fd);
	fresh("f", K_ABSENT), fresh_file("f", "content of f", 0644);
	fd = (int)x_open("f", O_PATH, 0), each_name("O_PATH", fd), close(fd);
	fresh("f", K_ABSENT), fresh_file("f", "content of f", 0644);
	fd = (int)x_open("f", O_RDWR, 0), unlink("f"), each_name("removed file", fd), close(fd);
	fresh_file("f", "content of f", 0644);
	fd = (int)x_open("d", O_RDONLY | O_DIRECTORY, 0), each_name("directory", fd);
	static const char *const below[] = {"in", "new", "..", "../f", ".", "none/x"};
	for (size_t i = 0; i < N(below); i++) {
		snprintf(name, sizeof(name), "/proc/self/fd/%d/%s", fd, below[i]);
		try_open(below[i], name, O_RDONLY), try_open(below[i], name, O_RDWR),
			try_open(below[i], name, O_RDWR | O_CREAT);
	}
	close(fd);
	if (pipe(p) < 0)
		die("pipe");
	if (write(p[1], "piped bytes in a row", 20) != 20)
		die("write");
	each_name("pipe to read", p[0]), each_name("pipe to write", p[1]), close(p[0]), close(p[1]);
	fd = (int)syscall(SYS_memfd_create, "mem", 0);
	if (write(fd, "in memory", 9) != 9)
		die("write");
	each_name("memfd", fd), close(fd);
	fd = (int)x_open(".", O_RDWR | O_TMPFILE, 0600), each_name("O_TMPFILE", fd), close(fd);
	try_open("no descriptor", "/proc/self/fd/777", O_RDONLY);
	try_open("no descriptor", "/dev/fd/777", O_RDWR);
	try_open("no number", "/proc/self/fd/x", O_RDONLY);
}

/* Descriptors 0 to 2 in several shapes. */
static void standard_with(const char *label, int in, int out)
{
	bool removed = strcmp(label, "a removed file") == 0;
	static const char *const names[] = {
		"/dev/stdin",	   "/dev/stdout",	    "/dev/fd/0", "/dev/fd/1", "/proc/self/fd/0",
		"/proc/self/fd/1", "/proc/thread-self/fd/1"};
	int keep0 = fcntl(0, F_DUPFD_CLOEXEC, 100), keep1 = fcntl(1, F_DUPFD_CLOEXEC, 100), fd,
	    rc[3][N(names)], err[3][N(names)];
	static const int flags[] = {O_RDONLY | O_NONBLOCK, O_WRONLY | O_APPEND, O_WRONLY | O_CREAT | O_TRUNC};

	fflush(stdout);
	dup2(in, 0), dup2(out, 1);
	for (size_t f = 0; f < 3; f++)
		for (size_t i = 0; i < N(names); i++) {
			/* A removed file is opened again for what the descriptor allows and no more. */
			if (f == 0 && removed && (strchr(names[i], '1') || strstr(names[i], "out"))) {
				rc[f][i] = 0;
				continue;
			}
			fd = (int)x_open(names[i], flags[f], 0666);
			rc[f][i] = fd < 0 ? -1 : 0;
			err[f][i] = errno;
			if (fd >= 0 && f) {
				if (write(fd, "!", 1) != 1)
					rc[f][i] = -2;
			}
			if (fd >= 0)
				close(fd);
		}
	dup2(keep0, 0), dup2(keep1, 1);
	close(keep0), close(keep1);
	for (size_t f = 0; f < 3; f++)
		for (size_t i = 0; i < N(names); i++) {
			errno = err[f][i];
			say("%s as %s %#x", label, names[i], flags[f]), result(rc[f][i]), done();
		}
}

static void standard(void)
{
	int p[2], in, out;

	fresh_file("in", "input", 0644), fresh_file("out", "", 0644);
	in = (int)x_open("in", O_RDONLY, 0), out = (int)x_open("out", O_WRONLY, 0);
	standard_with("files", in, out);
	describe("in"), describe("out"), done();
	unlink("out");
	standard_with("a removed file", in, out);
	close(out);
	if (pipe(p) < 0)
		die("pipe");
	standard_with("pipes", p[0], p[1]);
	close(p[0]), close(p[1]), close(in);
	in = (int)x_open("/dev/null", O_RDONLY, 0), out = (int)x_open("/dev/null", O_WRONLY, 0);
	standard_with("/dev/null", in, out);
	close(in), close(out);
	in = (int)syscall(SYS_memfd_create, "m", 0);
	standard_with("memfd", in, in);
	close(in);
	/* What this program itself was given. */
	try_open("/dev/stdin as given", "/dev/stdin", O_RDONLY | O_NONBLOCK);
	try_open("/dev/stderr as given", "/dev/stderr", O_WRONLY | O_APPEND);
}

static void devices(void)
{
	static const char *const names[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
					    "/dev/urandom"};

	for (size_t i = 0; i < N(names); i++) {
		static const int flags[] = {O_RDONLY, O_RDWR, O_WRONLY | O_CREAT | O_TRUNC,
					    O_WRONLY | O_APPEND, O_WRONLY | O_EXCL | O_CREAT};

		for (size_t f = 0; f < N(flags); f++) {
			say("open(%s, %#x)", names[i], flags[f]);
			int fd = (int)result(x_open(names[i], flags[f], 0666));
			if (fd >= 0)
				describe_fd(fd), say(" write"), result(i < 3 ? write(fd, "x", 1) : 0),
					close(fd);
			done();
		}
	}
	try_open("a terminal without one", "/dev/nonesuch", O_RDWR);
}

static void read_line(const char *label, const char *name, const char *key)
{
	char buf[4096], *p, *end;
	int fd = (int)x_open(name, O_RDONLY, 0);
	ssize_t n;

	say("%s", label);
	if (fd < 0) {
		result(-1), done();
		return;
	}
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	buf[n > 0 ? n : 0] = '\0';
	p = strstr(buf, key);
	end = p && *p ? strchr(p + 1, '\n') : NULL;
	if (end)
		*end = '\0';
	/* The number itself differs; whose it is does not. */
	if (p && (strcmp(key, "\nPid:") == 0 || strcmp(key, "\nTgid:") == 0)) {
		pid_t pid = atoi(strchr(p, ':') + 1);

		say(" %s", pid == getpid()		       ? "this process"
			   : pid == (pid_t)syscall(SYS_gettid) ? "this thread"
							       : "ANOTHER");
	} else {
		say(" %s", p ? p : "?");
	}
	done();
}

static void *in_thread(void *arg)
{
	char name[64], target[64], want[64];
	ssize_t n;
	int fd;

	(void)arg;
	syscall(SYS_prctl, 15 /* PR_SET_NAME */, "threadname", 0, 0, 0);
	read_line("thread-self comm", "/proc/thread-self/comm", "");
	read_line("self comm", "/proc/self/comm", "");
	read_line("thread-self status", "/proc/thread-self/status", "\nPid:");
	read_line("self status", "/proc/self/status", "\nPid:");
	snprintf(name, sizeof(name), "/proc/self/task/%d/comm", (int)syscall(SYS_gettid));
	read_line("own task comm", name, "");
	n = readlink("/proc/thread-self", target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = '\0';
	snprintf(want, sizeof(want), "%d/task/%d", getpid(), (int)syscall(SYS_gettid));
	say("readlink thread-self %s", strcmp(target, want) == 0 ? "right" : target), done();
	fd = (int)x_open("/proc/thread-self/comm", O_WRONLY, 0);
	say("write comm"), result(fd < 0 ? -1 : write(fd, "renamed", 7)), done();
	close(fd);
	read_line("thread-self comm", "/proc/thread-self/comm", "");
	return NULL;
}

/* clang-format off */
static const char *const own_names[] = {
	"/proc/self/status", "/proc/self/stat", "/proc/self/maps", "/proc/self/environ", "/proc/self/cmdline",
	"/proc/self/mem", "/proc/self/exe", "/proc/self/cwd", "/proc/self/root", "/proc/self/ns/pid",
	"/proc/self/mountinfo", "/proc/self", "/proc/self/", "/proc/self/.", "/proc/self/fd", "/proc/self/cwd/f",
	"/proc/self/cwd/../procself/f", "/proc/self/root/etc/passwd", "/proc/self/exe/x", "/proc/self/nonesuch",
	"/proc/self/../self/comm", "/proc/self/task", "/proc/mounts", "/proc/net/unix", "/proc/stat",
	"/proc/self/attr/current", "/proc/thread-self/cwd/f", "/proc/self/fdinfo/0", "cwdlink/f", "selflink/comm"};
static const char *const writable[] = {
	"/proc/self/comm", "/proc/self/oom_score_adj", "/proc/self/coredump_filter", "/proc/self/clear_refs",
	"/proc/self/cwd/f", "/proc/self/cwd/new", "cwdlink/new2"};
/* clang-format on */

static void just_open(const char *name, int flags)
{
	int fd;

	say("open(%s, %#x)", name, flags);
	fd = (int)result(x_open(name, flags, 0600));
	if (fd >= 0 && (flags & O_ACCMODE))
		describe_fd(fd);
	if (fd >= 0)
		close(fd);
	done();
}

static void open_own(void)
{
	static const int reads[] = {O_RDONLY, O_RDONLY | O_NOFOLLOW, O_RDONLY | O_DIRECTORY};
	static const int writes[] = {O_WRONLY, O_RDWR | O_CREAT, O_WRONLY | O_TRUNC};

	for (size_t i = 0; i < N(own_names); i++)
		for (size_t f = 0; f < N(reads); f++)
			just_open(own_names[i], reads[f]);
	for (size_t i = 0; i < N(writable); i++)
		for (size_t f = 0; f < N(writes); f++)
			just_open(writable[i], writes[f]);
	describe("."), done();
}

static void own_memory(void)
{
	char buf[8] = "", text[32] = "content";
	int fd = (int)x_open("/proc/self/mem", O_RDWR, 0);

	say("mem"), result(fd < 0 ? -1 : 0);
	say(" read"), result(pread(fd, buf, 7, (off_t)(uintptr_t)text)), say(" %s", buf);
	say(" write"), result(pwrite(fd, "changed", 7, (off_t)(uintptr_t)text)), say(" %s", text), done();
	close(fd);
}

static void wait_for_close(int fd)
{
	char c;

	_exit(read(fd, &c, 1) != 0);
}

static void of_child(void)
{
	static const char *const names[] = {"status", "cwd/f",		 "fd",	"environ", "mem",
					    "maps",   "root/etc/passwd", "exe", "fd/0",	   "task"};
	int status, fd, p[2];
	char name[64];
	pid_t pid;

	if (pipe(p) < 0)
		die("pipe");
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		close(p[1]);
		wait_for_close(p[0]);
	}
	close(p[0]);
	for (size_t i = 0; i < N(names); i++) {
		snprintf(name, sizeof(name), "/proc/%d/%s", pid, names[i]);
		say("child's %s", names[i]), fd = (int)result(x_open(name, O_RDONLY | O_NONBLOCK, 0)), done();
		if (fd >= 0)
			close(fd);
	}
	snprintf(name, sizeof(name), "/proc/%d/cwd/by-child", pid);
	say("create in the child's cwd"), fd = (int)result(x_open(name, O_RDWR | O_CREAT, 0600));
	describe("by-child"), done();
	close(fd);
	snprintf(name, sizeof(name), "/proc/%d/oom_score_adj", pid);
	say("child's oom_score_adj"), fd = (int)result(x_open(name, O_WRONLY, 0)), done();
	close(fd), close(p[1]);
	waitpid(pid, &status, 0);
}

/* Entries of one's own descriptors, and others of /proc, as names to be changed. */
static void entries(void)
{
	static const char *const names[] = {"f",
					    "/proc/self/fd/50",
					    "/proc/self/fd/51",
					    "/proc/self/fd/99",
					    "/proc/self/fd",
					    "/proc/self/comm",
					    "/proc/self/none",
					    "/proc/thread-self/fd/50"};
	int fd = (int)x_open("f", O_RDWR | O_CREAT, 0600);

	dup2(fd, 50), dup2(0, 51), close(fd);
	for (size_t i = 0; i < N(names); i++) {
		say("%s: unlink", names[i]), result(i ? x_unlink(names[i]) : 0), say(" rmdir"),
			result(i ? x_rmdir(names[i]) : 0);
		say(" mkdir"), result(x_mkdir(names[i], 0700)), say(" symlink"),
			result(x_symlink("t", names[i]));
		for (size_t k = 0; k < N(names); k++)
			say(" to %s", names[k]), result(x_rename(names[i], names[k])), say(" or"),
				result(x_renameat2(AT_FDCWD, names[i], AT_FDCWD, names[k], RENAME_NOREPLACE)),
				say(" or"),
				result(x_renameat2(AT_FDCWD, names[i], AT_FDCWD, names[k], RENAME_EXCHANGE));
		done();
	}
	close(50), close(51);
}

static void own(void)
{
	pthread_t t;

	fresh_file("f", "x", 0644);
	symlink("/proc/self/cwd", "cwdlink");
	symlink("/proc/self", "selflink");
	open_own();
	read_line("status", "/proc/self/status", "\nPid:");
	read_line("comm", "/proc/self/comm", "");
	own_memory();
	say("chmod /proc/self/comm"), result(x_chmod("/proc/self/comm", 0600)), done();
	say("mkdir /proc/self/x"), result(x_mkdir("/proc/self/x", 0700)), done();
	say("create /proc/self/x"), result(x_open("/proc/self/x", O_CREAT | O_RDWR, 0700)), done();
	say("unlink /proc/self/comm"), result(x_unlink("/proc/self/comm")), done();
	pthread_create(&t, NULL, in_thread, NULL);
	pthread_join(t, NULL);
	of_child();
}

static void open_tty(const char *label)
{
	say("%s:", label);
	static const int flags[] = {O_RDWR, O_RDONLY, O_WRONLY | O_NOCTTY, O_WRONLY | O_CREAT | O_TRUNC,
				    O_RDWR | O_NONBLOCK};
	for (size_t i = 0; i < N(flags); i++) {
		int fd = (int)x_open("/dev/tty", flags[i], 0666);

		say(" "), result(fd < 0 ? -1 : 0);
		if (fd >= 0)
			describe_fd(fd), say(" isatty %d", isatty(fd)), close(fd);
	}
	done();
}

static void without_tty(void *arg)
{
	(void)arg;
	setsid();
	open_tty("in a new session");
}

/* Run with and without a controlling terminal by the script. */
static void tty(void)
{
	char name[64];
	int m, s;

	open_tty("as started");
	in_child(without_tty, NULL);
	m = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	say("posix_openpt"), result(m < 0 ? -1 : 0), describe_fd(m), done();
	say("grantpt"), result(grantpt(m)), say(" unlockpt"), result(unlockpt(m)), done();
	if (ptsname_r(m, name, sizeof(name)) == 0) {
		s = (int)x_open(name, O_RDWR | O_NOCTTY, 0);
		say("own pty"), result(s < 0 ? -1 : 0), say(" isatty %d", isatty(s)), done();
		close(s);
	}
	close(m);
}

const struct section proc_sections[] = {
	{"procfd", descriptors},
	{"standard", standard},
	{"procself", own},
	{"devices", devices},
	{"tty", tty},
	{"procentries", entries},
	{NULL, NULL},
};
