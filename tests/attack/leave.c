/*
 * What a command leaves behind.
 *
 *	leave run NAME FILE SECONDS	leaves something that writes to FILE again and again, so long at most
 *	leave NAME FILE COMMAND...	runs the command: WON if what it left goes on
 */
#include "attack.h"

/* Each starts the next and exits, so that it is never there when its turn comes. */
static void __attribute__((noreturn)) link_by_link(const char *file, int seconds)
{
	time_t end = time(NULL) + seconds;
	char text[32];
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	setsid();
	while (time(NULL) < end) {
		if (fork() > 0)
			_exit(0);
		snprintf(text, sizeof(text), "%-15d\n", getpid());
		pwrite(fd, text, 16, 0);
	}
	_exit(0);
}

static int run_chain(const char *file, int seconds)
{
	signal(SIGTERM, SIG_IGN);
	signal(SIGCHLD, SIG_IGN);
	if (fork() == 0)
		link_by_link(file, seconds);
	usleep(100 * 1000);
	return 0;
}

static int command(char **argv)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		execv(argv[0], argv);
		broken("%s", argv[0]);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : BROKEN;
}

/* The last number that the chain wrote, and does it still write? */
static bool chain_goes_on(const char *file)
{
	char was[16] = "", now[16] = "";
	int fd = open(file, O_RDONLY);

	if (fd < 0 || pread(fd, was, sizeof(was), 0) <= 0)
		broken("no chain");
	usleep(300 * 1000);
	pread(fd, now, sizeof(now), 0);
	return memcmp(was, now, sizeof(now)) != 0;
}

static int chain(char **argv)
{
	if (command(argv + 1) != 0)
		return BROKEN;
	return chain_goes_on(argv[0]) ? WON : LOST;
}

static const struct {
	const char *name;
	int (*run)(const char *file, int seconds);
	int (*judge)(char **argv);
} list[] = {{"chain", run_chain, chain}};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 3 && i < sizeof(list) / sizeof(*list); i++) {
		if (strcmp(argv[1], "run") == 0 && strcmp(argv[2], list[i].name) == 0)
			return list[i].run(argv[3], argc > 4 ? atoi(argv[4]) : 0);
		if (strcmp(argv[1], list[i].name) == 0)
			return list[i].judge(argv + 2);
	}
	return BROKEN;
}
