/*
 * Races that are more than another name: a dangling link, the structure of openat2. "$OUT/bad" may not be touched, and nothing
 * be made in $OUT.
 */
#include "attack.h"

#include <linux/fs.h>
#include <linux/openat2.h>

static void flip_link(void *arg)
{
	const char *const *pair = arg;

	syscall(SYS_renameat2, AT_FDCWD, pair[0], AT_FDCWD, pair[1], RENAME_EXCHANGE);
}

/* A dangling link is followed by O_CREAT. */
static int by_dangling(int argc, char **argv)
{
	static const char *pair[] = {"d1", "d2"};
	double end = seconds() + patience();
	struct flipper f;
	long tries = 0;

	symlink("target", "d1");
	symlink(out("new"), "d2");
	flipper_start(&f, flip_link, pair);
	for (; !there(out("new")) && goes_on(end, tries); tries++) {
		close(open("d1", O_WRONLY | O_CREAT, 0644));
		unlink("target");
	}
	flipper_end(&f);
	tell_tries("dangling", there(out("new")), tries);
	return there(out("new")) ? WON : LOST;
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
	long tries = 0;

	flipper_start(&f, flip_flags, argc > 1 ? "path" : NULL);
	for (; !won && goes_on(end, tries); tries++) {
		long fd = syscall(SYS_openat2, AT_FDCWD, out("bad"), &how, sizeof(how));

		if (fd >= 0 && write((int)fd, "attacked", 8) == 8)
			won = file_has(out("bad"), "attacked");
		if (fd >= 0)
			close((int)fd);
	}
	flipper_end(&f);
	tell_tries("flags", won, tries);
	return won ? WON : LOST;
}

static int by_resolve_flags(int argc, char **argv)
{
	double end = seconds() + patience();
	struct open_how h = {.flags = O_WRONLY | O_CREAT, .mode = 0644};
	static const char *pair[] = {"sub", "sublink"};
	struct flipper f;
	long tries = 0;

	mkdir("sub", 0755);
	symlink(getenv("OUT"), "sublink");
	flipper_start(&f, flip_link, pair);
	while (!there(out("new")) && goes_on(end, tries))
		for (unsigned r = 0; r < 64 && !there(out("new")); r++, tries++) {
			long fd;

			h.resolve = r;
			fd = syscall(SYS_openat2, AT_FDCWD, "sub/new", &h, sizeof(h));
			if (fd >= 0)
				close((int)fd);
			if (r == 63 && !there(out("new")))
				unlink("sub/new");
		}
	flipper_end(&f);
	tell_tries("resolve flags", there(out("new")), tries);
	return there(out("new")) ? WON : LOST;
}

static const struct attack list[] = {
	{"dangling", by_dangling},
	{"flags", by_flags},
	{"resolve_flags", by_resolve_flags},
};
ATTACK_MAIN(list)
