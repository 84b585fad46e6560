/*
 * A tree deeper than any path can say: the kernel names nothing in it, programs work in it all the same.
 */
#include "probe_calls.h"

#define LEVELS 45

static char level[201];

static void try_descriptor(const char *label, const char *name, int flags)
{
	struct timespec t[2] = {{OLD_TIME, 0}, {OLD_TIME, 0}};
	char proc[64];
	int fd, again;

	say("%s: open", label), fd = (int)result(x_open(name, flags, 0640)), done();
	if (fd < 0)
		return;
	describe_fd(fd), done();
	if ((flags & O_ACCMODE) != O_RDONLY) {
		say("write"), result(write(fd, "deep", 4)), say(" fchmod"), result(x_fchmod(fd, 0644));
		say(" fchown"), result(x_fchown(fd, geteuid(), getegid()));
		say(" fsetxattr"), result(x_fsetxattr(fd, "user.deep", "1", 1, 0));
		say(" futimens"), result(x_futimens(fd, t)), done();
	}
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	say("by /proc"), again = (int)result(x_open(proc, flags & ~(O_CREAT | O_EXCL), 0)), done();
	if (again >= 0)
		close(again);
	close(fd);
}

static void change_by_name(void)
{
	struct timespec t[2] = {{OLD_TIME, 0}, {OLD_TIME, 0}};

	say("chmod"), result(x_chmod("f", 0604)), say(" utimensat"), result(x_utimensat(AT_FDCWD, "f", t, 0));
	say(" chown"), result(x_chown("f", geteuid(), getegid()));
	say(" setxattr"), result(x_setxattr("f", "user.b", "2", 1, 0));
	say(" truncate"), result(x_truncate("f", 2)), describe("f"), done();
	say("link"), result(x_link("f", "hard")), say(" symlink"), result(x_symlink("f", "l"));
	say(" lchown"), result(x_lchown("l", geteuid(), getegid()));
	say(" rename"), result(x_rename("hard", "moved")), describe("moved"), describe("l"), done();
	say("open a link"), close((int)result(x_open("l", O_RDWR, 0))), done();
	say("open a link, O_NOFOLLOW"), result(x_open("l", O_RDWR | O_NOFOLLOW, 0)), done();
	say("O_EXCL"), result(x_open("f", O_RDWR | O_CREAT | O_EXCL, 0600)), done();
	say("a file as directory"), result(x_open("f/x", O_RDWR | O_CREAT, 0600)), done();
	say("dangling"), result(x_symlink("none", "d"));
	/* The link's name and its target together are no path. */
	say(" absent"), result(x_open("none", O_RDWR, 0)), done();
	say("mkfifo"), result(x_mknod("p", S_IFIFO | 0600, 0)), say(" open"),
		close((int)result(x_open("p", O_RDWR, 0))), describe("p"), done();
}

static void change_across(int top)
{
	int fd, here = (int)x_open(".", O_RDONLY | O_DIRECTORY, 0);

	say("mkdir"), result(x_mkdir("sub", 0700)), say(" by descriptor"),
		close((int)result(x_openat(here, "sub/f", O_RDWR | O_CREAT, 0600))), describe("sub/f"),
		done();
	say("up"), result(x_renameat2(here, "sub", top, "up", 0)), done();
	say("exchange"), result(x_renameat2(here, "f", top, "up", RENAME_EXCHANGE)), describe("f"), done();
	say("back"), result(x_renameat2(here, "f", top, "up", RENAME_EXCHANGE)), describe("f"), done();
	say("down"), result(x_renameat2(top, "up", here, "sub", RENAME_NOREPLACE)), describe("sub"), done();
	say("link up"), result(x_linkat(here, "f", top, "f", 0)), say(" down"),
		result(x_linkat(top, "f", here, "g", 0)), describe("g"), done();
	say("O_TMPFILE"), fd = (int)result(x_open(".", O_RDWR | O_TMPFILE, 0600)), done();
	close(fd);
	say("fchmod of the directory"), result(x_fchmod(here, 0711)), describe("."), done();
	close(here);
}

static void openat2_in(void)
{
	static const uint64_t resolve[] = {0, RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS, RESOLVE_NO_XDEV,
					   RESOLVE_NO_MAGICLINKS};
	int here = (int)x_open(".", O_PATH | O_DIRECTORY, 0);

	for (size_t i = 0; i < N(resolve); i++) {
		struct open_how how = {.flags = O_RDWR, .resolve = resolve[i]};

		say("openat2 %#llx", (unsigned long long)resolve[i]),
			close((int)result(x_openat2(here, "f", &how, sizeof(how))));
		how = (struct open_how){
			.flags = O_RDWR | O_CREAT | O_EXCL, .mode = 0600, .resolve = resolve[i]};
		say(" new"), close((int)result(x_openat2(here, "new", &how, sizeof(how))));
		say(" unlink"), result(x_unlink("new")), done();
	}
	close(here);
}

static void leave(void)
{
	static const char *const names[] = {"f", "moved", "l", "d", "p", "g", "sub/f", "opened"};

	for (size_t i = 0; i < N(names); i++)
		say(" unlink %s", names[i]), result(x_unlink(names[i]));
	say(" rmdir"), result(x_rmdir("sub")), done();
	for (int i = 0; i < LEVELS; i++)
		if (chdir("..") < 0 || x_rmdir(level) < 0) {
			say("rmdir at level %d", i), result(-1), done();
			return;
		}
	say("all is gone"), describe("."), done();
}

static void deep(void)
{
	char cwd[64];
	int top = (int)x_open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);

	memset(level, 'n', sizeof(level) - 1);
	for (int i = 0; i < LEVELS; i++)
		if (x_mkdir(level, 0755) < 0 || chdir(level) < 0) {
			say("mkdir at level %d", i), result(-1), done();
			return;
		}
	say("getcwd %s", getcwd(cwd, sizeof(cwd)) ? "works" : errno_name(errno)), done();
	try_descriptor("new", "f", O_RDWR | O_CREAT | O_EXCL);
	try_descriptor("to read", "f", O_RDONLY);
	try_descriptor("to write", "f", O_WRONLY | O_APPEND);
	try_descriptor("one more", "opened", O_WRONLY | O_CREAT | O_TRUNC);
	change_by_name();
	change_across(top);
	openat2_in();
	say("rename a level"), result(x_rename("../../../", "x"));
	say(" a level beside"), chdir("../.."), result(x_rename(level, "beside")), say(" back"),
		result(x_rename("beside", level)), chdir(level), chdir(level), describe("f"), done();
	leave();
	close(top);
	describe("."), done();
}

const struct section deep_sections[] = {{"deep", deep}, {NULL, NULL}};
