/*
 * Two sessions in one workspace that help each other: one makes something in "x" while the other renames that to ".claude", in
 * which it may not be made. Each one's act is allowed where it is judged.
 */
#include "attack.h"

static bool is_made(void)
{
	return there(".claude/settings.json") || there(".claude/commands");
}

/* What a session takes back is there for a moment. */
static bool stays_made(void)
{
	for (int i = 0; i < 20; i++) {
		if (!is_made())
			return false;
		usleep(2000);
	}
	return true;
}

/* The second session. Where moving it back fails there is no "x" any more, so a new one is begun with. */
static int move(int argc, char **argv)
{
	bool shuts = argc > 1;

	for (;;) {
		mkdir("x", 0755);
		if (rename("x", ".claude") == 0 && stays_made()) {
			write_file("won", "");
			pause();
		}
		/* Who may not write in the directory cannot undo anything in it. */
		for (int i = 0; shuts && i < 20; i++)
			chmod(".", i % 2 ? 0755 : 0555);
		unlink(".claude/settings.json");
		unlink(".claude/commands");
		rmdir(".claude/commands");
		rename(".claude", "x");
	}
}

static void make_one(const char *how)
{
	if (strcmp(how, "open") == 0) {
		close(open("x/settings.json", O_WRONLY | O_CREAT, 0644));
	} else if (strcmp(how, "mkdir") == 0) {
		mkdir("x/commands", 0755);
	} else if (strcmp(how, "symlink") == 0) {
		symlink("../evil", "x/commands");
	} else if (strcmp(how, "link") == 0) {
		link("file", "x/settings.json");
	} else if (strcmp(how, "rename") == 0) {
		rename("file", "x/settings.json");
	} else if (strcmp(how, "tree") == 0) {
		mkdir("dir", 0755);
		rename("dir", "x/commands");
	} else if (strcmp(how, "mknod") == 0) {
		mknod("x/settings.json", S_IFREG | 0644, 0);
	} else if (strcmp(how, "bind") == 0) {
		struct sockaddr_un a = {AF_UNIX, "x/settings.json"};
		int s = socket(AF_UNIX, SOCK_STREAM, 0);

		bind(s, (struct sockaddr *)&a, sizeof(a));
		close(s);
	}
}

static int make(int argc, char **argv)
{
	double end = seconds() + patience() * 3;
	const char *how = argc > 1 ? argv[1] : "open";

	while (!there("won") && seconds() < end) {
		if (!there("file"))
			write_file("file", "attacked");
		make_one(how);
		unlink("x/settings.json");
		unlink("x/commands");
		rmdir("x/commands");
	}
	return there("won") ? WON : LOST;
}

static const struct attack list[] = {
	{"make", make},
	{"move", move},
};
ATTACK_MAIN(list)
