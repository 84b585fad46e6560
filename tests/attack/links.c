/*
 * Hard links that were there before: "link" in the working directory is another name of $OUT/file. Whoever may write in
 * the directory may remove or replace the name, but not change what it shares with the one outside.
 */
#include "attack.h"

#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/xattr.h>

static int changed(void)
{
	struct stat st;

	if (stat(out("file"), &st) < 0)
		broken("%s", out("file"));
	return file_has(out("file"), "attacked") || (st.st_mode & 0777) == 0606 || st.st_mtime == 1000 ? WON
												       : LOST;
}

static int in_place(int argc, char **argv)
{
	write_file("link", "attacked");
	return changed();
}

static int truncate_it(int argc, char **argv)
{
	truncate("link", 0);
	return file_has(out("file"), "original") ? LOST : WON;
}

static int append(int argc, char **argv)
{
	int fd = open("link", O_WRONLY | O_APPEND);

	if (fd >= 0 && write(fd, "attacked", 8) < 0)
		return LOST;
	return changed();
}

static int mode(int argc, char **argv)
{
	chmod("link", 0606);
	return changed();
}

static int times(int argc, char **argv)
{
	struct timespec t[2] = {{1000, 0}, {1000, 0}};

	utimensat(AT_FDCWD, "link", t, 0);
	return changed();
}

static int after_rename(int argc, char **argv)
{
	rename("link", "other");
	write_file("other", "attacked");
	chmod("other", 0606);
	return changed();
}

/* More names, made inside, do not make the file the session's own. */
static int more_links(int argc, char **argv)
{
	link("link", "a");
	link("a", "b");
	unlink("link");
	write_file("b", "attacked");
	chmod("a", 0606);
	return changed();
}

static int open_it(int flags)
{
	int fd = open("link", flags);

	if (fd < 0)
		broken("link");
	return fd;
}

/* The name is gone, the descriptor is left, and the file has one link: the one outside. */
static int unlinked_fchmod(int argc, char **argv)
{
	int fd = open_it(O_RDONLY);

	unlink("link");
	fchmod(fd, 0606);
	return changed();
}

static int unlinked_chmod_proc(int argc, char **argv)
{
	int fd = open_it(O_PATH);
	char path[64];

	unlink("link");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	chmod(path, 0606);
	return changed();
}

static int unlinked_futimens(int argc, char **argv)
{
	struct timespec t[2] = {{1000, 0}, {1000, 0}};
	int fd = open_it(O_RDONLY);

	unlink("link");
	futimens(fd, t);
	return changed();
}

static int unlinked_xattr(int argc, char **argv)
{
	char buf[16];
	int fd = open_it(O_RDONLY);

	unlink("link");
	fsetxattr(fd, "user.attack", "x", 1, 0);
	if (getxattr(out("file"), "user.attack", buf, sizeof(buf)) == 1)
		return WON;
	return errno == EOPNOTSUPP ? SKIP : LOST;
}

static int unlinked_reopen(int argc, char **argv)
{
	int fd = open_it(O_RDONLY);
	char path[64];

	unlink("link");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fd = open(path, O_WRONLY);
	if (fd >= 0 && write(fd, "attacked", 8) < 0)
		return LOST;
	return changed();
}

static int relink(const char *from, int dirfd, int flags)
{
	if (linkat(dirfd, from, AT_FDCWD, "new", flags) == 0) {
		write_file("new", "attacked");
		chmod("new", 0606);
	}
	return changed();
}

/* A link to it is its second one: is it taken for the session's own file? */
static int unlinked_relink(int argc, char **argv)
{
	int fd = open_it(O_RDONLY);
	char path[64];

	unlink("link");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return relink(path, AT_FDCWD, AT_SYMLINK_FOLLOW);
}

static int unlinked_relink_empty(int argc, char **argv)
{
	int fd = open_it(O_PATH);

	unlink("link");
	if (syscall(SYS_linkat, fd, "", AT_FDCWD, "probe", AT_EMPTY_PATH) == 0) {
		rename("probe", "new");
		write_file("new", "attacked");
	}
	/* Before 6.10 the kernel wants a capability for this. */
	return changed() == WON ? WON : errno == ENOENT && geteuid() ? SKIP : LOST;
}

/* Its own program file, run by the name that is then removed. */
static int unlinked_exe(int argc, char **argv)
{
	pid_t pid;
	char path[64];

	if (argc > 1) {
		pause();
		return 0;
	}
	pid = fork();
	if (pid == 0) {
		execl("./link", "link", "unlinked_exe", "wait", NULL);
		_exit(1);
	}
	usleep(100000);
	unlink("link");
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	chmod(path, 0606);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return changed();
}

/* The descriptor that is looked at for its mode is another one than the one that is opened. */
static int ro, rw, flip;
static void flip_descriptor(void *arg)
{
	dup2(ro, flip);
	dup2(rw, flip);
}

static int unlinked_dup2(int argc, char **argv)
{
	double end = seconds() + patience();
	struct flipper f;
	char path[64];

	ro = open_it(O_RDONLY);
	unlink("link");
	rw = open("mine", O_RDWR | O_CREAT, 0644);
	unlink("mine");
	flip = dup(rw);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", flip);
	flipper_start(&f, flip_descriptor, NULL);
	while (seconds() < end && changed() == LOST) {
		int fd = open(path, O_WRONLY);

		if (fd >= 0 && write(fd, "attacked", 8) == 8)
			fdatasync(fd);
		close(fd);
	}
	flipper_end(&f);
	return changed();
}

/* A file called "NAME (deleted)" looks like one without a name while it is being renamed. */
static void rename_deleted(void *arg)
{
	rename("x (deleted)", "y (deleted)");
	rename("y (deleted)", "x (deleted)");
}

static int looks_deleted(int argc, char **argv)
{
	double end = seconds() + patience();
	struct flipper f;

	rename("link", "x (deleted)");
	flipper_start(&f, rename_deleted, NULL);
	while (seconds() < end && changed() == LOST) {
		chmod("x (deleted)", 0606);
		chmod("./y (deleted)", 0606);
	}
	flipper_end(&f);
	return changed();
}

/*
 * The name is removed while it is being opened: the count of links is then one. The script made many such links
 * ("many.N" to $OUT/many.N), so there are many tries.
 */
static volatile int victim;
static void *remove_names(void *arg)
{
	char name[32];
	int last = -1;

	while (victim >= 0) {
		int n = victim;

		if (n == last)
			continue;
		last = n;
		for (volatile int i = (n * 37) % 9000; i > 0; i--)
			;
		snprintf(name, sizeof(name), "%s/many.%d", (char *)arg, n);
		unlink(name);
	}
	return NULL;
}

static int unlink_race(int argc, char **argv)
{
	bool by_link = argc > 1 && strcmp(argv[1], "link") == 0;
	char name[2 * PATH_MAX], other[PATH_MAX], cwd[PATH_MAX];
	pthread_t t;
	int n, won = 0;

	if (!getcwd(cwd, sizeof(cwd)))
		broken("getcwd");
	victim = 0;
	pthread_create(&t, NULL, remove_names, cwd);
	for (n = 1; n < 4000; n++) {
		int fd;

		snprintf(name, sizeof(name), "%s/many.%d", cwd, n);
		if (!there(name))
			break;
		if (by_link) {
			victim = n;
			snprintf(other, sizeof(other), "other.%d", n);
			if (link(name, other) == 0) {
				unlink(name);
				write_file(other, "attacked");
			}
		} else {
			victim = n;
			fd = open(name, O_WRONLY);
			if (fd >= 0 && write(fd, "attacked", 8) != 8)
				broken("write");
			close(fd);
		}
	}
	victim = -1;
	pthread_join(t, NULL);
	for (int i = 1; i < n; i++) {
		snprintf(name, sizeof(name), "many.%d", i);
		won += file_has(out(name), "attacked");
	}
	printf("# %d of %d\n", won, n - 1);
	return won ? WON : LOST;
}

static const struct attack list[] = {
	{"in_place", in_place},
	{"truncate", truncate_it},
	{"append", append},
	{"mode", mode},
	{"times", times},
	{"after_rename", after_rename},
	{"more_links", more_links},
	{"unlinked_fchmod", unlinked_fchmod},
	{"unlinked_chmod_proc", unlinked_chmod_proc},
	{"unlinked_futimens", unlinked_futimens},
	{"unlinked_xattr", unlinked_xattr},
	{"unlinked_reopen", unlinked_reopen},
	{"unlinked_relink", unlinked_relink},
	{"unlinked_relink_empty", unlinked_relink_empty},
	{"unlinked_exe", unlinked_exe},
	{"unlinked_dup2", unlinked_dup2},
	{"looks_deleted", looks_deleted},
	{"unlink_race", unlink_race},
};
ATTACK_MAIN(list)
