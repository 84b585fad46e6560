/*
 * What a call starts from changes while it is decided: descriptors, the working directory, links, the structure of
 * openat2. "$OUT/bad" may not be touched, and nothing be made in $OUT.
 */
#include "attack.h"

#include <linux/fs.h>
#include <linux/openat2.h>

static void flip_link(void *arg)
{
	const char *const *pair = arg;

	syscall(SYS_renameat2, AT_FDCWD, pair[0], AT_FDCWD, pair[1], RENAME_EXCHANGE);
}

static bool won_metadata(void)
{
	struct stat st;
	char buf[8];

	if (stat(out("bad"), &st) < 0)
		return true;
	return (st.st_mode & 0777) == 0606 || st.st_mtime == 1000 ||
	       syscall(SYS_getxattr, out("bad"), "user.attack", buf, sizeof(buf)) > 0;
}

/* A dangling link is followed by O_CREAT. */
static int by_dangling(int argc, char **argv)
{
	static const char *pair[] = {"d1", "d2"};
	double end = seconds() + patience();
	struct flipper f;

	symlink("target", "d1");
	symlink(out("new"), "d2");
	flipper_start(&f, flip_link, pair);
	while (seconds() < end && !there(out("new"))) {
		close(open("d1", O_WRONLY | O_CREAT, 0644));
		unlink("target");
	}
	flipper_end(&f);
	return there(out("new")) ? WON : LOST;
}

/* The descriptor that a call starts from is replaced by one of a directory outside. */
static int dir_in, dir_out, dir_flip;
static void flip_dirfd(void *arg)
{
	dup2(dir_out, dir_flip);
	dup2(dir_in, dir_flip);
}

static int by_dirfd(int argc, char **argv)
{
	double end = seconds() + patience();
	struct flipper f;
	bool won = false;

	dir_in = open(".", O_PATH | O_DIRECTORY);
	dir_out = open(getenv("OUT"), O_PATH | O_DIRECTORY);
	dir_flip = dup(dir_in);
	flipper_start(&f, flip_dirfd, NULL);
	while (!won && seconds() < end) {
		close(openat(dir_flip, "new", O_WRONLY | O_CREAT, 0644));
		unlinkat(dir_flip, "new", 0);
		mkdirat(dir_flip, "newdir", 0755);
		unlinkat(dir_flip, "newdir", AT_REMOVEDIR);
		close(open("bad", O_WRONLY | O_CREAT, 0644));
		unlinkat(dir_flip, "bad", 0);
		won = there(out("new")) || there(out("newdir")) || !there(out("bad"));
	}
	flipper_end(&f);
	return won ? WON : LOST;
}

/* The descriptor whose file is changed is replaced. */
static int by_fd(int argc, char **argv)
{
	double end = seconds() + patience();
	struct timespec times[2] = {{1000, 0}, {1000, 0}};
	struct flipper f;
	bool won = false;

	write_file("good", "x");
	dir_in = open("good", O_RDWR);
	dir_out = open(out("bad"), O_RDONLY);
	dir_flip = dup(dir_in);
	flipper_start(&f, flip_dirfd, NULL);
	while (!won && seconds() < end) {
		fchmod(dir_flip, 0606);
		futimens(dir_flip, times);
		syscall(SYS_fsetxattr, dir_flip, "user.attack", "x", 1, 0);
		won = won_metadata();
	}
	flipper_end(&f);
	return won ? WON : LOST;
}

/* A thread with the same working directory changes it. */
static void flip_cwd(void *arg)
{
	if (fchdir(dir_out) < 0 || fchdir(dir_in) < 0)
		broken("fchdir");
}

static int by_cwd(int argc, char **argv)
{
	double end = seconds() + patience();
	struct flipper f;
	bool won = false;

	dir_in = open(".", O_PATH | O_DIRECTORY);
	dir_out = open(getenv("OUT"), O_PATH | O_DIRECTORY);
	flipper_start(&f, flip_cwd, NULL);
	while (!won && seconds() < end) {
		close(open("new", O_WRONLY | O_CREAT, 0644));
		unlink("new");
		close(open("bad", O_WRONLY | O_CREAT, 0644));
		rename("bad", "worse");
		mkdir("newdir", 0755);
		won = there(out("new")) || there(out("newdir")) || !there(out("bad"));
	}
	flipper_end(&f);
	return won ? WON : LOST;
}

/* The structure of openat2. */
static struct open_how how;
static void flip_flags(void *arg)
{
	how.flags = arg ? O_PATH : O_RDONLY;
	how.flags = O_RDWR;
}

static int by_flags(int argc, char **argv)
{
	double end = seconds() + patience();
	bool won = false;
	struct flipper f;

	flipper_start(&f, flip_flags, argc > 1 ? "path" : NULL);
	while (!won && seconds() < end) {
		long fd = syscall(SYS_openat2, AT_FDCWD, out("bad"), &how, sizeof(how));

		if (fd >= 0 && write((int)fd, "attacked", 8) == 8)
			won = file_has(out("bad"), "attacked");
		if (fd >= 0)
			close((int)fd);
	}
	flipper_end(&f);
	return won ? WON : LOST;
}

static int by_resolve_flags(int argc, char **argv)
{
	double end = seconds() + patience();
	struct open_how h = {.flags = O_WRONLY | O_CREAT, .mode = 0644};
	static const char *pair[] = {"sub", "sublink"};
	struct flipper f;

	mkdir("sub", 0755);
	symlink(getenv("OUT"), "sublink");
	flipper_start(&f, flip_link, pair);
	while (seconds() < end && !there(out("new")))
		for (unsigned r = 0; r < 64 && !there(out("new")); r++) {
			long fd;

			h.resolve = r;
			fd = syscall(SYS_openat2, AT_FDCWD, "sub/new", &h, sizeof(h));
			if (fd >= 0)
				close((int)fd);
			if (r == 63 && !there(out("new")))
				unlink("sub/new");
		}
	flipper_end(&f);
	return there(out("new")) ? WON : LOST;
}

static const struct attack list[] = {
	{"dangling", by_dangling}, {"dirfd", by_dirfd}, {"fd", by_fd},
	{"cwd", by_cwd},	   {"flags", by_flags}, {"resolve_flags", by_resolve_flags},
};
ATTACK_MAIN(list)
