/*
 * What deny_read hides, by every other way than its name: $OUT/secret, $IN/hidden/secret (the directory is denied), and
 * $IN/x.key (by a pattern). The policy says so; the working directory itself is writable.
 */
#include "attack.h"

#include <linux/aio_abi.h>
#include <linux/fs.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

static const char *const targets[] = {"hidden/secret", "x.key", NULL};

static const char *target(int i)
{
	return i == 2 ? out("secret") : targets[i];
}
#define TARGETS 3

static bool fd_has(int fd)
{
	char buf[256] = "";
	ssize_t n;

	if (fd < 0)
		return false;
	n = pread(fd, buf, sizeof(buf) - 1, 0);
	if (n < 0)
		n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	return n > 0 && strstr(buf, "SECRET");
}

static bool can_read(const char *path)
{
	return fd_has(open(path, O_RDONLY | O_NONBLOCK)) || fd_has(open(path, O_RDWR)) ||
	       fd_has(openat(AT_FDCWD, path, 3));
}

static int report(int won)
{
	return won ? WON : LOST;
}

static int say(const char *what, bool won)
{
	if (won)
		printf("# %s\n", what);
	return won;
}

static int plain(int argc, char **argv)
{
	int won = 0;

	for (int i = 0; i < TARGETS; i++)
		won += say(target(i), can_read(target(i)));
	return report(won);
}

/* Other spellings. */
static int spellings(int argc, char **argv)
{
	static const char *const forms[] = {
		"hidden//secret",
		"hidden/./secret",
		"./hidden/secret",
		"hidden/../hidden/secret",
		"sub/../hidden/secret",
		"link/secret",
		"link/../hidden/secret",
		"linkfile",
		"../in/hidden/secret",
		"../in/x.key",
		"./x.key",
		"x.key/.",
		"sub/../x.key",
		"/proc/self/cwd/hidden/secret",
		"/proc/self/cwd/x.key",
		"/proc/thread-self/cwd/x.key",
		"/proc/self/root/proc/self/cwd/x.key",
		"/proc/self/task/../cwd/x.key",
		"/../../proc/self/cwd/./x.key",
		"/dev/fd/../cwd/x.key",
	};
	char path[2 * PATH_MAX];
	int won = 0;

	mkdir("sub", 0755);
	symlink("hidden", "link");
	symlink("hidden/secret", "linkfile");
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		won += say(forms[i], can_read(forms[i]));
	snprintf(path, sizeof(path), "/proc/self/root%s", out("secret"));
	won += say(path, can_read(path));
	snprintf(path, sizeof(path), "/proc/%d/root/proc/self/root%s", getpid(), out("secret"));
	won += say(path, can_read(path));
	snprintf(path, sizeof(path), "/proc/%d/task/%d/cwd/x.key", getpid(), getpid());
	won += say(path, can_read(path));
	return report(won);
}

/* From descriptors: of the object, of its directory. */
static int descriptors(int argc, char **argv)
{
	static const char *const ways[] = {"/proc/self/fd/%d", "/dev/fd/%d", "/proc/thread-self/fd/%d",
					   "/proc/self/root/proc/self/fd/%d", "/proc/self/cwd/chain"};
	char path[256];
	int won = 0, dir;

	for (int i = 0; i < TARGETS; i++) {
		int fd = open(target(i), O_PATH);

		if (fd < 0)
			broken("O_PATH");
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		unlink("chain");
		symlink(path, "chain");
		for (size_t k = 0; k < sizeof(ways) / sizeof(*ways); k++) {
			snprintf(path, sizeof(path), ways[k], fd);
			won += say(path, can_read(path));
		}
		won += say("read", fd_has(dup(fd)));
		won += say("mmap", mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) != MAP_FAILED);
		close(fd);
	}
	dir = open("hidden", O_PATH | O_DIRECTORY);
	won += say("openat", fd_has(openat(dir, "secret", O_RDONLY)));
	if (fchdir(dir) < 0)
		broken("fchdir");
	won += say("fchdir", can_read("secret"));
	if (chdir(getenv("IN")) < 0 || chdir("hidden") < 0)
		broken("chdir");
	won += say("chdir", can_read("secret"));
	won += say("chdir, listed", open(".", O_RDONLY | O_DIRECTORY) >= 0);
	return report(won);
}

static int moved_data(int argc, char **argv)
{
	int won = 0, to = open("copy", O_RDWR | O_CREAT | O_TRUNC, 0644), p[2];

	if (to < 0 || pipe(p) < 0)
		broken("copy");
	for (int i = 0; i < TARGETS; i++) {
		int fd = open(target(i), O_RDONLY);

		/* Outside this is how they all work; inside only O_PATH is to be had. */
		if (fd < 0)
			fd = open(target(i), O_PATH);
		if (fd < 0)
			broken("O_PATH");
		won += say("sendfile", sendfile(to, fd, NULL, 100) > 0);
		lseek(fd, 0, SEEK_SET);
		won += say("copy_file_range", copy_file_range(fd, NULL, to, NULL, 100, 0) > 0);
		lseek(fd, 0, SEEK_SET);
		won += say("splice", splice(fd, NULL, p[1], NULL, 100, 0) > 0);
		won += say("ficlone", syscall(SYS_ioctl, to, FICLONE, fd) == 0);
		won += say("readahead", syscall(SYS_readahead, fd, 0, 100) == 0);
		won += say("preadv", preadv(fd, (struct iovec[]){{secure_getenv("IN"), 1}}, 1, 0) > 0);
		close(fd);
	}
	return report(won);
}

/* Handles, asynchronous reads. */
static int other_calls(int argc, char **argv)
{
	struct {
		struct file_handle h;
		char room[128];
	} h = {.h.handle_bytes = sizeof(h.room)};
	int won = 0, mount, fd = open(".", O_RDONLY | O_DIRECTORY);
	char params[120] = "";
	aio_context_t ctx = 0;
	char buf[64] = "";
	struct iocb cb = {0}, *list = &cb;

	if (name_to_handle_at(AT_FDCWD, "x.key", &h.h, &mount, 0) == 0) {
		int got = open_by_handle_at(fd, &h.h, O_RDONLY);

		won += say("open_by_handle_at", fd_has(got));
	}
	fd = open("x.key", O_RDONLY);
	if (fd < 0)
		fd = open("x.key", O_PATH);
	if (syscall(SYS_io_setup, 1, &ctx) == 0) {
		cb.aio_fildes = (uint32_t)fd;
		cb.aio_lio_opcode = IOCB_CMD_PREAD;
		cb.aio_buf = (uintptr_t)buf;
		cb.aio_nbytes = sizeof(buf) - 1;
		if (syscall(SYS_io_submit, ctx, 1, &list) == 1) {
			usleep(50000);
			won += say("io_submit", strstr(buf, "SECRET") != NULL);
		}
	}
	won += say("io_uring_setup", syscall(425, 4, params) >= 0);
	won += say("fsopen", syscall(430, "tmpfs", 0) >= 0);
	won += say("open_tree", syscall(428, AT_FDCWD, "x.key", 0) >= 0);
	won += say("userfaultfd", syscall(SYS_userfaultfd, 1) >= 0);
	return report(won);
}

/* A name of the session's own for it. */
static int new_names(int argc, char **argv)
{
	int won = 0;

	for (int i = 0; i < TARGETS; i++) {
		unlink("other");
		won += say("link", link(target(i), "other") == 0 && can_read("other"));
		unlink("other");
		won += say("rename", rename(target(i), "other") == 0 && can_read("other"));
		unlink("other");
		write_file("other", "x");
		won += say("exchange", syscall(SYS_renameat2, AT_FDCWD, target(i), AT_FDCWD, "other",
					       RENAME_EXCHANGE) == 0 &&
					       can_read("other"));
		unlink("other");
	}
	won += say("rename of the directory", rename("hidden", "seen") == 0 && can_read("seen/secret"));
	mkdir("seen", 0755);
	won += say("exchange of the directory",
		   syscall(SYS_renameat2, AT_FDCWD, "hidden", AT_FDCWD, "seen", RENAME_EXCHANGE) == 0);
	won += say("rename of the parent", rename(getenv("IN"), "/tmp/attack-renamed") == 0);
	rename("deep", "deeper");
	won += say("rename of a directory with it", can_read("deeper/k/x.key"));
	return report(won);
}

/* "hardlink" is a link to $OUT/secret that was made before. */
static int hard_link(int argc, char **argv)
{
	int won = say("hard link", can_read("hardlink"));

	rename("hardlink", "renamed");
	won += say("renamed hard link", can_read("renamed"));
	link("renamed", "again");
	unlink("renamed");
	won += say("linked again", can_read("again"));
	return report(won);
}

/* A program that may not be read: run, and its memory read. "hiddenprog" is a copy of this program. */
static int run_program(int argc, char **argv)
{
	char mem[64];
	pid_t pid;
	int status;

	if (argc > 1) {
		pause();
		return 0;
	}
	pid = fork();
	if (pid == 0) {
		execl("./hiddenprog", "hiddenprog", "run_program", "wait", NULL);
		_exit(120);
	}
	usleep(100000);
	if (waitpid(pid, &status, WNOHANG) == pid)
		return LOST;
	snprintf(mem, sizeof(mem), "/proc/%d/mem", pid);
	status = open(mem, O_RDONLY) >= 0;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return status ? WON : LOST;
}

static int image_of(pid_t pid)
{
	char path[64], line[PATH_MAX + 256], mem[64];
	unsigned long start;
	FILE *maps;
	int found = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "r");
	while (maps && !found && fgets(line, sizeof(line), maps)) {
		if (!strstr(line, "/hiddenstub") || sscanf(line, "%lx", &start) != 1)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/mem", pid);
		int fd = open(path, O_RDONLY);

		found = fd >= 0 && pread(fd, mem, sizeof(mem), (off_t)start) > 0;
		close(fd);
	}
	if (maps)
		fclose(maps);
	return found;
}

/* The same by a program that asks to be loaded by it: "asks" asks for "hiddenstub". */
static int run_interp(int argc, char **argv)
{
	double end = seconds() + patience();
	int won = 0;

	do {
		pid_t pid = fork();

		if (pid == 0) {
			execl("./asks", "asks", NULL);
			_exit(120);
		}
		for (int i = 0; i < 200 && !won && waitpid(pid, NULL, WNOHANG) == 0; i++)
			won = image_of(pid);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	} while (!won && seconds() < end);
	return report(won);
}

/* An O_PATH descriptor is kept until the file is replaced from outside, as editors do. The script does that. */
static int replaced(int argc, char **argv)
{
	int fd = open(out("secret"), O_PATH);
	struct stat st;
	char path[64];

	if (fd < 0)
		broken("O_PATH");
	write_file("ready", "x");
	for (int i = 0; i < 500; i++) {
		if (fstat(fd, &st) == 0 && st.st_nlink == 0)
			break;
		usleep(10000);
	}
	if (st.st_nlink > 0)
		broken("nobody replaced it");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return report(can_read(path));
}

/* As above, while the number is flipped to a descriptor that may be read. */
static int flip_a, flip_b, flip_n;
static void flip(void *arg)
{
	dup2(flip_a, flip_n);
	dup2(flip_b, flip_n);
}

static int replaced_dup2(int argc, char **argv)
{
	double end = seconds() + patience() + 0.5;
	struct flipper f;
	struct stat st;
	char path[64];
	bool won = false;

	flip_a = open(out("secret"), O_PATH);
	write_file("ready", "x");
	for (int i = 0; i < 500; i++) {
		if (fstat(flip_a, &st) == 0 && st.st_nlink == 0)
			break;
		usleep(10000);
	}
	flip_b = open("mine", O_RDWR | O_CREAT, 0644);
	unlink("mine");
	flip_n = dup(flip_b);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", flip_n);
	flipper_start(&f, flip, NULL);
	while (!won && seconds() < end)
		won = fd_has(open(path, O_RDONLY));
	flipper_end(&f);
	return report(won);
}

static const struct attack list[] = {
	{"plain", plain},	    {"spellings", spellings},	      {"descriptors", descriptors},
	{"moved_data", moved_data}, {"other_calls", other_calls},     {"new_names", new_names},
	{"hard_link", hard_link},   {"run_program", run_program},     {"run_interp", run_interp},
	{"replaced", replaced},	    {"replaced_dup2", replaced_dup2},
};
ATTACK_MAIN(list)
