/*
 * A shared directory ($SHARED) with allow_own: the session may make entries there and change its own, not those of others.
 * $SHARED/theirs and $SHARED/theirdir/file are others'. With "victim" as first argument this is one of those others.
 */
#include "attack.h"

#include <linux/fs.h>
#include <sys/xattr.h>

static const char *shared(const char *name)
{
	static _Thread_local char buf[8][2 * PATH_MAX];
	static _Thread_local int next;
	char *b = buf[next++ % 8];

	snprintf(b, sizeof(buf[0]), "%s/%.4000s", getenv("SHARED"), name);
	return b;
}

static int exchange(const char *a, const char *b)
{
	return (int)syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE);
}

static int plain(int argc, char **argv)
{
	struct stat st;
	int won = 0;

	write_file(shared("mine"), "attacked");
	mkdir(shared("mydir"), 0755);
	won += write_file(shared("theirs"), "attacked");
	won += truncate(shared("theirs"), 0) == 0;
	won += chmod(shared("theirs"), 0606) == 0;
	won += rename(shared("mine"), shared("theirs")) == 0;
	won += exchange(shared("mine"), shared("theirs")) == 0;
	won += rename(shared("theirs"), "stolen") == 0;
	won += rename(shared("theirs"), shared("moved")) == 0;
	won += link(shared("theirs"), "linked") == 0;
	won += link(shared("theirs"), shared("linked")) == 0;
	won += unlink(shared("theirs")) == 0;
	won += rename(shared("theirdir"), shared("mydir/d")) == 0;
	won += write_file(shared("theirdir/file"), "attacked");
	won += unlink(shared("theirdir/file")) == 0;
	won += rmdir(shared("theirempty")) == 0;
	won += exchange(shared("mydir"), shared("theirdir")) == 0;
	symlink("theirs", shared("mylink"));
	won += write_file(shared("mylink"), "attacked");
	symlink("theirdir", shared("mydirlink"));
	won += write_file(shared("mydirlink/file"), "attacked");
	won += write_file(shared("mydir/../theirs"), "attacked");
	unlink(shared("mylink"));
	unlink(shared("mydirlink"));
	unlink(shared("mine"));
	rmdir(shared("mydir"));
	return won || stat(shared("theirs"), &st) < 0 ? WON : LOST;
}

/* The number of one's own removed file, used again by others, is not one's own. */
static int inode_reuse(int argc, char **argv)
{
	int won = 0;

	for (int i = 0; i < 300 && !won; i++) {
		char go;

		write_file(shared("reused"), "mine");
		unlink(shared("reused"));
		/* The script's victim makes a file of that name when asked. */
		if (write(3, "x", 1) != 1 || read(4, &go, 1) != 1)
			broken("victim");
		won = write_file(shared("reused"), "attacked") || chmod(shared("reused"), 0606) == 0 ||
		      unlink(shared("reused")) == 0;
		if (write(3, "x", 1) != 1 || read(4, &go, 1) != 1)
			broken("victim");
	}
	return won ? WON : LOST;
}

/*
 * Others make $SHARED/busy again and again, and check that it is theirs. The session makes and removes a file of that name,
 * so that judged and changed may be two.
 */
static void make_own(void *arg)
{
	int fd = open(shared("busy"), O_WRONLY | O_CREAT | O_EXCL, 0600);

	if (fd >= 0) {
		close(fd);
		unlink(shared("busy"));
	}
}

static int race(int argc, char **argv)
{
	double end = seconds() + patience() * 2;
	const char *how = argv[1];
	struct flipper f;

	flipper_start(&f, make_own, NULL);
	while (seconds() < end) {
		if (strcmp(how, "rename_from") == 0) {
			rename(shared("busy"), "loot");
			if (file_has("loot", "victim")) {
				flipper_end(&f);
				return WON;
			}
			unlink("loot");
		} else if (strcmp(how, "rename_to") == 0) {
			write_file("mine", "attacked");
			rename("mine", shared("busy"));
			if (!file_has(shared("busy"), "victim"))
				unlink(shared("busy"));
		} else if (strcmp(how, "unlink") == 0) {
			unlink(shared("busy"));
		} else if (strcmp(how, "write") == 0) {
			int fd = open(shared("busy"), O_WRONLY | O_TRUNC);

			if (fd >= 0 && write(fd, "attacked", 8) < 0)
				break;
			close(fd);
		} else if (strcmp(how, "chmod") == 0) {
			chmod(shared("busy"), 0606);
		} else if (strcmp(how, "link") == 0) {
			link(shared("busy"), "loot");
			if (file_has("loot", "victim")) {
				flipper_end(&f);
				return WON;
			}
			unlink("loot");
		}
		if (there(out("complaint")))
			break;
	}
	flipper_end(&f);
	usleep(20000);
	return there(out("complaint")) ? WON : LOST;
}

/* Makes the file, looks whether anybody touched it, removes it. */
static int victim(void)
{
	for (;;) {
		int fd = open(shared("busy"), O_RDWR | O_CREAT | O_EXCL, 0600);
		const char *what = NULL;
		struct stat st, name;
		char buf[64] = "";

		if (fd < 0)
			continue;
		if (write(fd, "victim", 6) != 6)
			return 1;
		for (volatile int i = 0; i < 20000; i++)
			;
		if (fstat(fd, &st) < 0 || pread(fd, buf, 63, 0) < 0)
			return 1;
		if (st.st_nlink != 1)
			what = st.st_nlink ? "linked" : "removed";
		else if (lstat(shared("busy"), &name) < 0 || name.st_ino != st.st_ino)
			what = "moved";
		else if ((st.st_mode & 0777) != 0600)
			what = "mode";
		else if (strcmp(buf, "victim") != 0)
			what = "content";
		if (what) {
			write_file(out("complaint"), what);
			pause();
		}
		unlink(shared("busy"));
		close(fd);
	}
}

static int reuse_victim(void)
{
	char go;

	while (read(0, &go, 1) == 1) {
		int fd = open(shared("reused"), O_RDWR | O_CREAT | O_EXCL, 0644);

		if (fd < 0 || write(1, "x", 1) != 1 || read(0, &go, 1) != 1)
			return 1;
		unlink(shared("reused"));
		close(fd);
		if (write(1, "x", 1) != 1)
			return 1;
	}
	return 0;
}

static const struct attack list[] = {{"plain", plain}, {"inode_reuse", inode_reuse}, {"race", race}};

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "victim") == 0)
		return victim();
	if (argc > 1 && strcmp(argv[1], "reuse") == 0)
		return reuse_victim();
	return attack_main(list, sizeof(list) / sizeof(*list), argc, argv);
}
