/*
 * A job of the user's in the background of his terminal, in a process group of its own. Whoever joins that group and
 * touches the terminal has the kernel stop all of it (SIGTTOU).
 *
 *	job stage COMMAND...	a terminal with such a job, and the command in the foreground, which gets the group's number
 *				after its arguments: WON when the job was stopped
 *	job WAY GROUP		the attack, on standard input
 */
#include "attack.h"

#include <sys/ioctl.h>
#include <termios.h>

static pid_t group;

/* Whether the group was joined is not the question: what becomes of the job is. */
static void touch_terminal(void)
{
	struct termios t;

	if (tcgetattr(0, &t) == 0)
		tcsetattr(0, TCSANOW, &t);
}

static void join(void)
{
	if (fork() > 0)
		return;
	if (setpgid(0, group) < 0)
		printf("# %s\n", strerror(errno));
	else
		touch_terminal();
	exit(0);
}

static void move_child(void)
{
	int gate[2];
	char byte;
	pid_t pid;

	if (pipe(gate) < 0)
		broken("pipe");
	pid = fork();
	if (pid == 0) {
		if (read(gate[0], &byte, 1) == 1 && getpgrp() == group)
			touch_terminal();
		exit(0);
	}
	if (setpgid(pid, group) < 0)
		printf("# %s\n", strerror(errno));
	if (write(gate[1], "x", 1) != 1)
		broken("write");
}

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {{"join", join}, {"child", move_child}};

static pid_t start(char **command)
{
	pid_t pid = fork();

	if (pid > 0)
		return pid;
	setpgid(0, 0);
	if (command) {
		tcsetpgrp(0, getpgrp());
		signal(SIGTTOU, SIG_DFL);
		execv(command[0], command);
		broken("%s", command[0]);
	}
	signal(SIGTTOU, SIG_DFL);
	for (;;)
		pause();
}

static int lead(const char *name, char **command)
{
	pid_t job, pid;
	int tty, status = 0, n = 0;
	char number[16];

	setsid();
	tty = open(name, O_RDWR);
	if (tty < 0 || dup2(tty, 0) < 0 || ioctl(0, TIOCSCTTY, 0) < 0)
		broken("terminal");
	signal(SIGTTOU, SIG_IGN);
	job = start(NULL);
	setpgid(job, job);
	snprintf(number, sizeof(number), "%d", job);
	while (command[n])
		n++;
	command[n] = number;
	pid = start(command);
	waitpid(pid, &status, 0);
	n = waitpid(job, &status, WNOHANG | WUNTRACED);
	kill(job, SIGKILL);
	return n == job && WIFSTOPPED(status) ? WON : LOST;
}

int main(int argc, char **argv)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	char *command[64] = {NULL};

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 3 || argc > 60)
		return BROKEN;
	if (strcmp(argv[1], "stage") == 0) {
		if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
			broken("pty");
		memcpy(command, argv + 2, (size_t)(argc - 2) * sizeof(*argv));
		return lead(ptsname(master), command);
	}
	group = atoi(argv[2]);
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (strcmp(ways[i].name, argv[1]) == 0)
			ways[i].run();
	usleep(300 * 1000);
	return 0;
}
