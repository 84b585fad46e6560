/*
 * Objects by names that are no path: removed files and directories, files in memory, descriptors and directories of other
 * processes and threads of the session.
 */
#include <dirent.h>
#include <signal.h>
#include <pthread.h>
#include <sys/mman.h>

#include "probe_calls.h"

static const int modes[] = {O_RDONLY, O_WRONLY, O_RDWR, O_WRONLY | O_APPEND, O_WRONLY | O_TRUNC, O_PATH};

static void open_each(const char *label, const char *name)
{
	char buf[16];

	say("%s:", label);
	for (size_t i = 0; i < N(modes); i++) {
		int fd = (int)x_open(name, modes[i], 0);

		say(" %#x", modes[i]), result(fd < 0 ? -1 : 0);
		if (fd < 0)
			continue;
		if (modes[i] == O_RDONLY) {
			ssize_t n = pread(fd, buf, sizeof(buf), 0);

			say(" '"), say_bytes(buf, n > 0 ? (size_t)n : 0), say("'");
		}
		close(fd);
	}
	done();
}

static void look(const char *label, const char *name)
{
	char target[PATH_MAX], *p;
	struct stat st;
	ssize_t n = readlink(name, target, sizeof(target) - 1);

	target[n > 0 ? n : 0] = '\0';
	/* Numbers of inodes, and the names of unnamed files, differ. */
	for (p = strrchr(target, '/') ? strrchr(target, '/') : target; *p; p++)
		if (*p >= '0' && *p <= '9')
			*p = 'N';
	say("%s: readlink %s", label, target);
	say(" stat"), result(stat(name, &st));
	say(" n%lu s%lld", (unsigned long)st.st_nlink, S_ISREG(st.st_mode) ? (long long)st.st_size : 0LL),
		done();
}

static void change(const char *label, const char *name)
{
	say("%s: chmod", label), result(x_chmod(name, 0600));
	say(" truncate"), result(x_truncate(name, 5));
	say(" setxattr"), result(x_setxattr(name, "user.x", "1", 1, 0));
	say(" utimensat"), result(x_utimensat(AT_FDCWD, name, NULL, 0));
	say(" link"), result(x_linkat(AT_FDCWD, name, AT_FDCWD, "linked", AT_SYMLINK_FOLLOW)),
		describe("linked");
	say(" again"), result(x_open("linked", O_RDWR, 0) < 0 ? -1 : 0), done();
	unlink("linked");
}

static void by_proc(const char *label, int fd)
{
	char name[64];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	look(label, name), open_each(label, name), change(label, name);
	snprintf(name, sizeof(name), "/proc/thread-self/fd/%d", fd);
	open_each(label, name);
	say("linkat AT_EMPTY_PATH"),
		result(x_linkat(fd, "", AT_FDCWD, "linked2", AT_EMPTY_PATH) < 0 && is_root ? -1 : 0), done();
	unlink("linked2");
	say("fchmod"), result(x_fchmod(fd, 0640)), say(" ftruncate"), result(x_ftruncate(fd, 3)), done();
	close(fd);
}

static void removed(void)
{
	int fd;

	fresh_file("f", "content", 0644);
	fd = (int)x_open("f", O_RDWR, 0), unlink("f"), by_proc("removed", fd);
	fresh_file("f", "content", 0644), link("f", "g");
	fd = (int)x_open("f", O_RDWR, 0), unlink("f"), by_proc("removed, another name left", fd);
	describe("g"), done(), unlink("g");
	fresh_file("f (deleted)", "content", 0644);
	open_each("a name that looks removed", "f (deleted)");
	change("a name that looks removed", "f (deleted)");
	fd = (int)x_open("f (deleted)", O_RDWR, 0), by_proc("the same by descriptor", fd);
	fresh_file("f", "other", 0644);
	fd = (int)x_open("f", O_RDWR, 0), unlink("f"),
	by_proc("removed beside a name that looks like it", fd);
	fresh_file("f", "replaced", 0644);
	fd = (int)x_open("f", O_RDWR, 0), unlink("f"), fresh_file("f", "new", 0644);
	by_proc("removed and made anew", fd), describe("f"), done();
	fd = (int)syscall(SYS_memfd_create, "memory", MFD_CLOEXEC);
	if (write(fd, "in memory", 9) != 9)
		die("write");
	by_proc("memfd", fd);
	fd = (int)syscall(SYS_memfd_create, "sealed", MFD_ALLOW_SEALING);
	if (write(fd, "in memory", 9) != 9)
		die("write");
	fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK), by_proc("sealed memfd", fd);
	fd = (int)x_open(".", O_RDWR | O_TMPFILE, 0600), by_proc("O_TMPFILE", fd);
	fd = (int)x_open(".", O_RDWR | O_TMPFILE | O_EXCL, 0600), by_proc("O_TMPFILE, O_EXCL", fd);
	fd = (int)x_open(".", O_RDWR | O_TMPFILE, 0600);
	say("name it"),
		result(x_linkat(AT_FDCWD, "/proc/self/fd/3", AT_FDCWD, "named", AT_SYMLINK_FOLLOW) *
		       (fd == 3)),
		done();
	close(fd);
}

static void lost_directory(void)
{
	static const char *const names[] = {
		".", "f", "../f", "..", "./f", "/proc/self/cwd", "/proc/self/cwd/f"};
	char buf[PATH_MAX];
	int fd;

	mkdir("gone", 0755), fresh_file("f", "x", 0644);
	if (chdir("gone") < 0 || rmdir("../gone") < 0)
		die("gone");
	say("getcwd"), result(syscall(SYS_getcwd, buf, sizeof(buf)) < 0 ? -1 : 0), done();
	for (size_t i = 0; i < N(names); i++) {
		say("open %s", names[i]), fd = (int)result(x_open(names[i], O_RDONLY, 0)), close(fd);
		say(" to write"), fd = (int)result(x_open(names[i], O_RDWR, 0)), close(fd);
		say(" to create"), fd = (int)result(x_open(names[i], O_RDWR | O_CREAT, 0600)), close(fd);
		say(" directory"), fd = (int)result(x_open(names[i], O_RDONLY | O_DIRECTORY, 0)), close(fd);
		say(" mkdir"), result(x_mkdir(names[i], 0755)), say(" rename"),
			result(x_rename(names[i], "x"));
		say(" rename to"), result(x_rename("/proc/self/cwd/none", names[i]));
		say(" unlink"), result(x_unlink(names[i]) < 0 && errno == EPERM ? 0 : -1);
		say(" rmdir %d", x_rmdir(names[i]) < 0), say(" chmod"), result(x_chmod(names[i], 0700));
		say(" utimes"), result(x_utimes(names[i], NULL)), say(" symlink"),
			result(x_symlink("t", names[i]));
		say(" mknod"), result(x_mknod(names[i], S_IFIFO | 0600, 0));
		say(" truncate"), result(x_truncate(names[i], 1));
		say(" O_TMPFILE"), fd = (int)result(x_open(names[i], O_RDWR | O_TMPFILE, 0600)), close(fd);
		say(" chown"), result(x_chown(names[i], geteuid(), getegid())), done();
		if (access("../f", F_OK) < 0) {
			int up = (int)x_open("..", O_PATH, 0);

			fd = openat(up, "f", O_CREAT | O_RDWR, 0644);
			close(fd), close(up);
		}
	}
	if (chdir("..") < 0)
		die("..");
	describe("."), done();
}

/* What the other side holds open while we look. */
struct other {
	pid_t pid, tid;
	int fds[4];
};

static void *keep(void *arg)
{
	struct other *o = arg;
	char c;
	int p[2];

	if (pipe(p) < 0 || syscall(SYS_prctl, 15, "keeper", 0, 0, 0) < 0)
		die("pipe");
	o->tid = (pid_t)syscall(SYS_gettid);
	/* Never comes. */
	return read(p[0], &c, 1) < 0 ? NULL : arg;
}

static void names_of(const char *label, pid_t pid, pid_t tid, const int *fds)
{
	static const char *const what[] = {"file", "read-only", "removed", "memfd"};
	char name[128], text[64];
	int fd;

	for (int i = 0; i < 4; i++) {
		snprintf(text, sizeof(text), "%s %s", label, what[i]);
		snprintf(name, sizeof(name), "/proc/%d/fd/%d", pid, fds[i]);
		look(text, name), open_each(text, name), change(text, name);
		snprintf(name, sizeof(name), "/proc/%d/task/%d/fd/%d", pid, tid, fds[i]);
		open_each(text, name), change(text, name);
	}
	snprintf(name, sizeof(name), "/proc/%d/cwd/sub/new", pid);
	say("%s cwd", label), fd = (int)result(x_open(name, O_RDWR | O_CREAT, 0600)), close(fd);
	snprintf(name, sizeof(name), "/proc/%d/task/%d/cwd/sub/new", pid, tid);
	say(" unlink"), result(x_unlink(name)), say(" mkdir"), result(x_mkdir(name, 0700)), say(" rmdir"),
		result(x_rmdir(name));
	snprintf(name, sizeof(name), "/proc/%d/root/etc/passwd", pid);
	say(" root"), result(x_open(name, O_RDONLY, 0) < 0 ? -1 : 0);
	snprintf(name, sizeof(name), "/proc/%d/task/%d/exe", pid, tid);
	say(" exe"), result(x_open(name, O_RDONLY, 0) < 0 ? -1 : 0);
	snprintf(name, sizeof(name), "/proc/%d/task/%d/comm", pid, tid);
	say(" comm"), fd = (int)result(x_open(name, O_RDWR, 0)), result(write(fd, "newname", 7)), close(fd),
		      done();
	for (int i = 3; i < 200; i++)
		if (i < fds[0] || i > fds[3])
			close(i);
}

static void hold(struct other *o)
{
	fresh_file("f", "content", 0644), fresh_file("r", "content", 0644), fresh_file("g", "content", 0644);
	o->fds[0] = fcntl((int)x_open("f", O_RDWR, 0), F_DUPFD, 50);
	o->fds[1] = fcntl((int)x_open("r", O_RDONLY, 0), F_DUPFD, 50);
	o->fds[2] = fcntl((int)x_open("g", O_RDWR, 0), F_DUPFD, 50);
	unlink("g");
	o->fds[3] = fcntl((int)syscall(SYS_memfd_create, "m", 0), F_DUPFD, 50);
	for (int i = 3; i < 50; i++)
		close(i);
}

static void others(void)
{
	struct other o = {.tid = 0};
	pthread_t t;
	pid_t pid;

	fresh("sub", K_DIR);
	hold(&o);
	pthread_create(&t, NULL, keep, &o);
	while (!*(volatile pid_t *)&o.tid)
		nap_ms(1);
	names_of("a thread", getpid(), o.tid, o.fds);
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		for (;;)
			pause();
	for (int i = 0; i < 4; i++)
		close(o.fds[i]);
	names_of("a child", pid, pid, o.fds);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	say("the child's, ended"), names_of("ended", pid, pid, o.fds);
	describe("."), done();
}

const struct section magic_sections[] = {
	{"removed", removed}, {"lostcwd", lost_directory}, {"others", others}, {NULL, NULL}};
