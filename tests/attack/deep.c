/*
 * Trees deeper than any path can say, in $IN and in $OUT: the kernel names nothing in them, so rules by name must hold by
 * other means. "prepare" makes them, outside.
 */
#include "attack.h"

#define LEVELS 45

static char level[201];

static void set_level(void)
{
	memset(level, 'n', sizeof(level) - 1);
}

static void descend(int levels)
{
	set_level();
	for (int i = 0; i < levels; i++)
		if (chdir(level) < 0)
			broken("level %d", i);
}

static void make_tree(const char *top)
{
	if (chdir(top) < 0)
		broken("%s", top);
	set_level();
	for (int i = 0; i < LEVELS; i++)
		if (mkdir(level, 0755) < 0 || chdir(level) < 0)
			broken("level %d", i);
	mkdir("repo", 0755);
	mkdir("repo/.git", 0755);
	mkdir("repo/.git/hooks", 0755);
	write_file("repo/.git/config", "[core]");
	write_file(".env", "secret");
	write_file("file", "original");
	if (link(out("file"), "hard") < 0)
		broken("link");
}

static int prepare(int argc, char **argv)
{
	char in[PATH_MAX];

	if (!getcwd(in, sizeof(in)))
		broken("getcwd");
	make_tree(in);
	make_tree(getenv("OUT"));
	return 0;
}

static int won_if(bool yes)
{
	return yes ? WON : LOST;
}

static int names(int argc, char **argv)
{
	static const char *const files[] = {
		"repo/.git/hooks/post-commit", "repo/.git/config",	   ".bashrc", ".BASHRC",
		".vscode/tasks.json",	       "repo/../repo/.GIT/hooks/x"};
	int won = 0;

	descend(LEVELS);
	mkdir(".vscode", 0755);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (write_file(files[i], "attacked")) {
			printf("# %s\n", files[i]);
			won++;
		}
	won += unlink("repo/.git/config") == 0;
	return won_if(won);
}

static int moves(int argc, char **argv)
{
	char up[3 * 30 + 1] = "";
	int won = 0, top;

	descend(LEVELS);
	mkdir("dir", 0755);
	write_file("evil", "attacked");
	won += rename("evil", ".bashrc") == 0;
	won += rename("dir", "repo/.git/hooks") == 0;
	won += link("evil", ".zshrc") == 0;
	won += symlink("evil", ".profile") == 0;
	won += rename("repo/.git", "repo/g") == 0 && write_file("repo/g/config", "attacked");
	/* To where a path reaches. */
	for (int i = 0; i < 30; i++)
		strcat(up, "../");
	top = open(up, O_PATH | O_DIRECTORY);
	won += renameat(AT_FDCWD, "repo/.git/hooks", top, "hooks") == 0;
	return won_if(won);
}

static int reads(int argc, char **argv)
{
	char proc[64];
	int fd;

	descend(LEVELS);
	fd = open(".env", O_PATH);
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	return won_if(file_has(".env", "secret") || file_has(proc, "secret"));
}

static int descriptors(int argc, char **argv)
{
	char proc[64];
	int fd, won = 0;

	descend(LEVELS);
	fd = open("repo/.git/config", O_RDONLY);
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	won += write_file(proc, "attacked");
	won += fchmod(fd, 0777) == 0;
	won += futimens(fd, NULL) == 0;
	won += linkat(AT_FDCWD, proc, AT_FDCWD, "named", AT_SYMLINK_FOLLOW) == 0;
	fd = open("repo/.git/config", O_PATH);
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	won += chmod(proc, 0777) == 0;
	won += write_file(proc, "attacked");
	fd = open("repo/.git/hooks", O_PATH);
	fd = openat(fd, "x", O_WRONLY | O_CREAT, 0755);
	return won_if(won || fd >= 0);
}

static int hard(int argc, char **argv)
{
	descend(LEVELS);
	return won_if(write_file("hard", "attacked") || chmod("hard", 0777) == 0);
}

static int outside(int argc, char **argv)
{
	if (chdir(getenv("OUT")) < 0)
		broken("OUT");
	descend(LEVELS);
	return won_if(write_file("new", "x") || write_file("file", "attacked") || mkdir("d", 0755) == 0 ||
		      unlink("file") == 0 || chmod(".", 0777) == 0);
}

static void flip(void *arg)
{
	int dir = *(int *)arg;

	renameat(dir, level, dir, "beside");
	renameat(dir, "beside", dir, level);
}

static int race(int argc, char **argv)
{
	double end = seconds() + patience();
	struct flipper f;
	bool won = false;
	int half;

	descend(LEVELS - 10);
	half = open(".", O_RDONLY | O_DIRECTORY);
	descend(10);
	flipper_start(&f, flip, &half);
	while (!won && seconds() < end) {
		won = write_file("repo/.git/hooks/pre-push", "attacked") || file_has(".env", "secret");
		write_file("harmless", "x");
	}
	flipper_end(&f);
	return won_if(won);
}

static const struct attack attacks[] = {
	{"prepare", prepare},	      {"names", names}, {"moves", moves},     {"reads", reads},
	{"descriptors", descriptors}, {"hard", hard},	{"outside", outside}, {"race", race},
};
ATTACK_MAIN(attacks)
