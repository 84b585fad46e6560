/*
 * A terminal that is told to send signals for what happens on it (O_ASYNC) sends them to its foreground group, which holds
 * others than the session; and which signal may be chosen.
 *
 *	async stage COMMAND...	on a terminal of its own, with a bystander in the foreground group: WON when that one died
 *	async fire WAY		the attack, on standard input
 */
#include "attack.h"

#include <sys/ioctl.h>

/* What kills the bystander and nobody else. */
#define SIGNAL SIGUSR1

static bool by_fcntl(void)
{
	return fcntl(0, F_SETFL, fcntl(0, F_GETFL) | O_ASYNC) == 0;
}

static bool by_ioctl(void)
{
	int on = 1;

	return ioctl(0, FIOASYNC, &on) == 0;
}

static const struct attempt list[] = {{"fcntl", by_fcntl}, {"ioctl", by_ioctl}};

static int fire(const char *way)
{
	signal(SIGNAL, SIG_IGN);
	fcntl(0, F_SETSIG, SIGNAL);
	if (attack_attempt(list, sizeof(list) / sizeof(*list), way) == BROKEN)
		return BROKEN;
	usleep(300 * 1000);
	return 0;
}

/* The leader of the terminal's session: starts the bystander and the command, and looks who is left. */
static int lead(const char *name, char **command)
{
	pid_t bystander, pid;
	int tty, status = 0;

	setsid();
	tty = open(name, O_RDWR);
	if (tty < 0 || dup2(tty, 0) < 0)
		broken("terminal");
	bystander = fork();
	if (bystander == 0)
		for (;;)
			pause();
	signal(SIGNAL, SIG_IGN);
	pid = fork();
	if (pid == 0) {
		execv(command[0], command);
		broken("%s", command[0]);
	}
	waitpid(pid, &status, 0);
	if (waitpid(bystander, &status, WNOHANG) == bystander)
		return WIFSIGNALED(status) && WTERMSIG(status) == SIGNAL ? WON : BROKEN;
	kill(bystander, SIGKILL);
	return LOST;
}

static int stage(char **command)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY), status;
	pid_t pid;

	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
		broken("pty");
	pid = fork();
	if (pid == 0)
		exit(lead(ptsname(master), command));
	/* Something is typed all the time. */
	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (write(master, "x\n", 2) != 2)
			broken("write");
		usleep(20 * 1000);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : BROKEN;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 2 && strcmp(argv[1], "stage") == 0)
		return stage(argv + 2);
	return argc == 3 && strcmp(argv[1], "fire") == 0 ? fire(argv[2]) : BROKEN;
}
