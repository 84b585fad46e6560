/*
 * Names that are protected wherever they are, and rules that hold by name: made, reached or taken away by moving
 * something else. The working directory is writable; "repo/.git" is a repository that was there before.
 */
#include "attack.h"

#include <linux/fs.h>

static int won_if(bool yes)
{
	return yes ? WON : LOST;
}

static int exchange(const char *a, const char *b)
{
	return (int)syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE);
}

/* Runs try(arg) against flip(arg) until it succeeded or patience ends. */
static int race(void (*flip)(void *), bool (*try)(void))
{
	double end = seconds() + patience();
	struct flipper f;
	bool won = false;
	long tries = 0;

	flipper_start(&f, flip, NULL);
	for (; !won && goes_on(end, tries); tries++)
		won = try();
	flipper_end(&f);
	tell_tries("names", won, tries);
	return won_if(won);
}

/* Ways to the protected names themselves. */
static int plain(int argc, char **argv)
{
	static const char *const names[] = {"repo/.git/hooks/post-commit",
					    "repo/.git/config",
					    "repo/.GIT/config",
					    ".bashrc",
					    "./.bashrc",
					    "a/../.bashrc",
					    ".BASHRC",
					    "a/b/.mcp.json",
					    ".vscode/tasks.json",
					    ".claude/settings.json",
					    ".claude/commands/x.md"};
	int won = 0;

	mkdir("a", 0755);
	mkdir("a/b", 0755);
	mkdir(".vscode", 0755);
	mkdir(".claude", 0755);
	mkdir(".claude/commands", 0755);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (write_file(names[i], "attacked")) {
			printf("# %s\n", names[i]);
			won++;
		}
	return won_if(won);
}

static int renamed_onto(int argc, char **argv)
{
	int won = 0;

	write_file("evil", "attacked");
	mkdir("dir", 0755);
	write_file("dir/tasks.json", "attacked");
	won += rename("evil", ".bashrc") == 0;
	won += rename("dir", ".vscode") == 0;
	won += rename("evil", "repo/.git/config") == 0;
	won += exchange("evil", "repo/.git/config") == 0;
	won += rename("dir", "repo/.git/hooks") == 0;
	won += exchange("dir", "repo/.git/hooks") == 0;
	won += link("evil", ".zshrc") == 0;
	won += symlink("evil", ".profile") == 0;
	won += symlink("dir", "repo/.idea") == 0;
	won += mknod(".envrc", S_IFREG | 0644, 0) == 0;
	won += mkfifo(".gitmodules", 0644) == 0;
	return won_if(won);
}

/* A tree made ready beforehand arrives under a name in which parts of it are protected. */
static int prepared_tree(int argc, char **argv)
{
	mkdir("g", 0755);
	mkdir("g/commands", 0755);
	write_file("g/commands/x.md", "attacked");
	write_file("g/settings.json", "attacked");
	rename("g", ".claude");
	if (!there(".claude")) {
		mkdir(".claude", 0755);
		exchange("g", ".claude");
	}
	return won_if(there(".claude/commands/x.md"));
}

/* The same by a parent: nothing in "p" says "protected" until p/q becomes p/.claude, or p moves. */
static int anchored(int argc, char **argv)
{
	/* deny_write = $IN/w/x/secret */
	mkdir("a", 0755);
	mkdir("a/x", 0755);
	write_file("a/x/secret", "attacked");
	rename("a", "w");
	if (!there("w")) {
		mkdir("w", 0755);
		rename("a/x", "w/x");
		exchange("a", "w");
	}
	return won_if(there("w/x/secret"));
}

/* The repository that is there is taken away, and one of the session's own takes its place. */
static int new_git(int argc, char **argv)
{
	rename("repo/.git", "repo/old");
	exchange("repo/.git", "repo/empty");
	rename("repo/empty", "repo/.git");
	rmdir("repo/.git");
	mkdir("repo/.git", 0755);
	mkdir("repo/.git/hooks", 0755);
	return won_if(write_file("repo/.git/hooks/pre-commit", "attacked") ||
		      write_file("repo/.git/config", "attacked"));
}

static int parent_away(int argc, char **argv)
{
	rename("repo", "moved");
	write_file("moved/.git/config", "attacked");
	rename("moved", "repo");
	exchange("repo", "other");
	write_file("other/.git/config", "attacked");
	return won_if(file_has("repo/.git/config", "attacked") || file_has("other/.git/config", "attacked") ||
		      file_has("moved/.git/config", "attacked"));
}

/* .git as a file names a directory to take hooks and configuration from. This one was there before. */
static int git_file(int argc, char **argv)
{
	write_file("tree/.git", "attacked");
	write_file("mine", "attacked");
	rename("mine", "tree/.git");
	if (rename("tree/.git", "tree/old") == 0 || unlink("tree/.git") == 0)
		write_file("tree/.git", "attacked");
	exchange("mine", "tree/.git");
	return won_if(file_has("tree/.git", "attacked"));
}

static int git_parts(int argc, char **argv)
{
	static const char *const names[] = {"commondir", "config.worktree", "modules/m/config",
					    "modules/m/hooks/x", "worktrees/w/commondir"};
	char name[64];
	int won = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(name, sizeof(name), "repo/.git/%s", names[i]);
		won += write_file(name, "../evil");
	}
	return won_if(won);
}

/* A .git that is a file is renamed to while it changes places with a directory. */
static void flip_g(void *arg)
{
	exchange("g", "gfile");
}

static bool try_git_type(void)
{
	write_file("mine", "attacked");
	rename("mine", "tree/.git");
	rename("g", "tree/.git");
	exchange("g", "tree/.git");
	return file_has("tree/.git", "attacked") || file_has("g", "gitdir") || file_has("gfile", "gitdir");
}

static int git_type_race(int argc, char **argv)
{
	mkdir("g", 0755);
	write_file("gfile", "attacked");
	return race(flip_g, try_git_type);
}

/* Something is made in "x" while x becomes ".claude", in which it may not be made. */
static void flip_x(void *arg)
{
	rename("x", ".claude");
	rename(".claude", "x");
}

static int made_in_moved(int argc, char **argv)
{
	double end = seconds() + patience() * 2;
	const char *how = argc > 1 ? argv[1] : "open";
	struct flipper f;
	bool won = false;

	mkdir("x", 0755);
	write_file("file", "attacked");
	flipper_start(&f, flip_x, NULL);
	while (!won && seconds() < end) {
		if (strcmp(how, "open") == 0)
			close(open("x/settings.json", O_WRONLY | O_CREAT, 0644));
		else if (strcmp(how, "mkdir") == 0)
			mkdir("x/commands", 0755);
		else if (strcmp(how, "symlink") == 0)
			symlink("../evil", "x/commands");
		else if (strcmp(how, "link") == 0)
			link("file", "x/settings.json");
		else if (strcmp(how, "rename") == 0 && rename("file", "x/settings.json") < 0)
			;
		else if (strcmp(how, "mknod") == 0)
			mknod("x/settings.json", S_IFREG | 0644, 0);
		else if (strcmp(how, "bind") == 0) {
			struct sockaddr_un a = {AF_UNIX, "x/settings.json"};
			int s = socket(AF_UNIX, SOCK_STREAM, 0);

			bind(s, (struct sockaddr *)&a, sizeof(a));
			close(s);
		}
		won = there(".claude/settings.json") || there(".claude/commands");
		if (!won) {
			unlink("x/settings.json");
			unlink("x/commands");
			rmdir("x/commands");
			if (!there("file"))
				write_file("file", "attacked");
		}
	}
	flipper_end(&f);
	return won_if(won);
}

/* A directory called "NAME (deleted)" looks as if it were gone while it is being renamed. */
static void flip_deleted(void *arg)
{
	rename("d (deleted)", "e (deleted)");
	rename("e (deleted)", "d (deleted)");
}

static bool try_deleted(void)
{
	if (!write_file("d (deleted)/.bashrc", "attacked"))
		write_file("./e (deleted)/.bashrc", "attacked");
	return there("d (deleted)/.bashrc") || there("e (deleted)/.bashrc");
}

static int looks_deleted(int argc, char **argv)
{
	mkdir("d (deleted)", 0755);
	return race(flip_deleted, try_deleted);
}

static bool try_mkdir_git(void)
{
	mkdir(".git", 0755);
	if (write_file(".git/hooks/x", "attacked") || write_file("repo/.git/hooks/x", "attacked"))
		return true;
	rmdir(".git");
	return false;
}

/* A directory of the session's own and a foreign repository change places. */
static void flip_repo(void *arg)
{
	exchange("repo/.git", ".git");
	exchange("repo", "n");
}

static int own_git_race(int argc, char **argv)
{
	mkdir("n", 0755);
	return race(flip_repo, try_mkdir_git);
}

static int tmpfile_link(int argc, char **argv)
{
	char path[64];
	int fd = open(".", O_TMPFILE | O_RDWR, 0644);

	if (fd < 0)
		return errno == EOPNOTSUPP ? SKIP : LOST;
	if (write(fd, "attacked", 8) != 8)
		broken("write");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	linkat(AT_FDCWD, path, AT_FDCWD, ".bashrc", AT_SYMLINK_FOLLOW);
	linkat(AT_FDCWD, path, AT_FDCWD, out("new"), AT_SYMLINK_FOLLOW);
	linkat(fd, "", AT_FDCWD, ".zshrc", AT_EMPTY_PATH);
	return won_if(there(".bashrc") || there(".zshrc") || there(out("new")));
}

/* Out of the writable directory and into it. */
static int moves(int argc, char **argv)
{
	int won = 0;

	write_file("mine", "attacked");
	mkdir("dir", 0755);
	won += rename("mine", out("new")) == 0;
	won += rename("mine", out("file")) == 0;
	won += rename(out("file"), "stolen") == 0;
	won += exchange("mine", out("file")) == 0;
	won += rename("dir", out("dir")) == 0;
	won += link(out("file"), "linked") == 0;
	won += link("mine", out("linked")) == 0;
	won += symlink("mine", out("symlink")) == 0;
	won += rename(getenv("IN"), out("in")) == 0;
	won += unlink(out("file")) == 0;
	return won_if(won);
}

static const struct attack list[] = {
	{"plain", plain},
	{"renamed_onto", renamed_onto},
	{"prepared_tree", prepared_tree},
	{"anchored", anchored},
	{"new_git", new_git},
	{"parent_away", parent_away},
	{"git_file", git_file},
	{"git_parts", git_parts},
	{"git_type_race", git_type_race},
	{"made_in_moved", made_in_moved},
	{"looks_deleted", looks_deleted},
	{"own_git_race", own_git_race},
	{"tmpfile_link", tmpfile_link},
	{"moves", moves},
};
ATTACK_MAIN(list)
