/*
 * Directories in which all, or a group, may write, with files of others.
 */
#include "probe_calls.h"

/* What fs.protected_* refuse in sticky directories, even to root. */
static void other_makes(void *arg)
{
	(void)arg;
	if (syscall(SYS_setresgid, 1234, 1234, 1234) < 0 || syscall(SYS_setresuid, 1234, 1234, 1234) < 0)
		die("setresuid");
	umask(0);
	fresh_file("shared/theirs", "x", 0666);
	fresh("shared/fifo", K_FIFO);
	if (chmod("shared/fifo", 0666) < 0 || symlink("../target", "shared/link") < 0 ||
	    symlink("../dangling", "shared/dangle") < 0 || symlink("..", "shared/up") < 0)
		die("shared");
}

static void in_sticky(const char *dir)
{
	static const int flags[] = {O_RDONLY, O_RDWR, O_RDWR | O_CREAT, O_RDWR | O_CREAT | O_TRUNC,
				    O_RDWR | O_CREAT | O_EXCL};
	static const char *const names[] = {"theirs", "fifo", "link", "dangle", "up/target", "mine"};
	char name[64];

	for (size_t n = 0; n < N(names); n++) {
		snprintf(name, sizeof(name), "%s/%s", dir, names[n]);
		for (size_t f = 0; f < N(flags); f++) {
			say("open(%s, %#x)", name, flags[f]),
				result(x_open(name, flags[f] | O_NONBLOCK, 0644) < 0 ? -1 : 0), done();
		}
		say("chmod %s", name), result(x_chmod(name, 0666)), done();
		say("truncate %s", name), result(x_truncate(name, 0)), done();
		say("setxattr %s", name), result(x_setxattr(name, "user.x", "1", 1, 0)), done();
		say("link %s", name), result(x_link(name, "hard")), result(x_unlink("hard")),
			say(" followed"),
			result(x_linkat(AT_FDCWD, name, AT_FDCWD, "hard", AT_SYMLINK_FOLLOW)),
			result(x_unlink("hard"));
		say(" rename"), result(x_rename(name, "moved")), result(x_rename("moved", name)),
			say(" unlink"), result(n % 2 ? x_unlink(name) : 0), done();
	}
	describe("."), describe(dir), done();
}

static void sticky(void)
{
	fresh("shared", K_DIR), fresh_file("target", "x", 0666);
	chmod("shared", 01777), chmod("target", 0666);
	if (!is_root) {
		say("an ordinary user has no files of others here"), done();
		return;
	}
	in_child(other_makes, NULL);
	fresh_file("shared/mine", "x", 0644);
	in_sticky("shared");
}

/* As an ordinary user, where the script put files of others: in directories that all may write in, or a group. */
static void sticky_others(void)
{
	static const char *const dirs[] = {"../all", "../group", "../open"};

	for (size_t i = 0; i < N(dirs); i++)
		in_sticky(dirs[i]);
}

const struct section sticky_sections[] = {{"sticky", sticky}, {"stickyothers", sticky_others}, {NULL, NULL}};
