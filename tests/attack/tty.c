/*
 * The terminal of somebody else of the same user: $TTY is its name, $VICTIM the process that has it open. "serve" is that
 * one. What the session opened itself is its own.
 */
#include "attack.h"

#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <termios.h>

static const char *name(void)
{
	return getenv("TTY");
}
static bool by_read(void)
{
	return open(name(), O_RDONLY | O_NOCTTY) >= 0;
}
static bool by_write(void)
{
	return open(name(), O_WRONLY | O_NOCTTY) >= 0;
}
static bool by_dirfd(void)
{
	return openat(open("/dev", O_PATH), name() + 5, O_RDWR | O_NOCTTY) >= 0;
}
static bool by_pin(void)
{
	char proc[64];

	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", open(name(), O_PATH));
	return open(proc, O_RDWR | O_NOCTTY) >= 0;
}
static bool by_proc(void)
{
	char proc[64];

	snprintf(proc, sizeof(proc), "/proc/%s/fd/0", getenv("VICTIM"));
	return open(proc, O_RDWR | O_NOCTTY) >= 0;
}
static bool by_link(void)
{
	symlink(name(), "link");
	return open("link", O_RDWR | O_NOCTTY) >= 0;
}
static bool by_node(void)
{
	struct stat st;

	return stat(name(), &st) == 0 && mknod("node", S_IFCHR | 0600, st.st_rdev) == 0 &&
	       open("node", O_RDWR | O_NOCTTY) >= 0;
}
static bool by_chmod(void)
{
	return chmod(name(), 0622) == 0;
}
/* A session without a terminal takes the first one that it opens. */
static bool by_control(void)
{
	if (fork() > 0) {
		int status;

		wait(&status);
		errno = EACCES;
		return WEXITSTATUS(status) == 0;
	}
	setsid();
	_exit(open(name(), O_RDWR) < 0 || open("/dev/tty", O_RDWR) < 0);
}
/* The same by reading, which may be free; what is then the controlling terminal has a name of its own. */
static bool by_reach(void)
{
	if (fork() > 0) {
		int status;

		wait(&status);
		errno = EPERM;
		return WEXITSTATUS(status) == 0;
	}
	setsid();
	_exit(open(name(), O_RDONLY) < 0 || open("/dev/tty", O_WRONLY) < 0);
}
/* Taking it away from its session is a right of root's. */
static bool by_steal(void)
{
	int fd = open(name(), O_RDWR | O_NOCTTY);

	if (fork() > 0) {
		int status;

		wait(&status);
		errno = EPERM;
		return WEXITSTATUS(status) == 0;
	}
	setsid();
	_exit(fd < 0 || ioctl(fd, TIOCSCTTY, 1) < 0);
}
static bool by_hangup(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY), status;

	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
		broken("pty");
	if (fork() > 0) {
		wait(&status);
		errno = EPERM;
		return WIFEXITED(status) ? WEXITSTATUS(status) == 0 : true;
	}
	setsid();
	ioctl(open(ptsname(master), O_RDWR), TIOCSCTTY, 0);
	signal(SIGHUP, SIG_IGN);
	_exit(vhangup() < 0);
}

static const struct attempt list[] = {
	{"read", by_read},	 {"write", by_write}, {"dirfd", by_dirfd},   {"pin", by_pin},
	{"proc", by_proc},	 {"link", by_link},   {"node", by_node},     {"chmod", by_chmod},
	{"control", by_control}, {"steal", by_steal}, {"hangup", by_hangup}, {"reach", by_reach},
};

/* Has a terminal for itself, in a session of its own with "own". */
static int serve(bool own)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave;

	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
		broken("pty");
	if (own)
		setsid();
	slave = open(ptsname(master), O_RDWR | (own ? 0 : O_NOCTTY));
	if (slave < 0 || dup2(slave, 0) < 0)
		broken("slave");
	printf("%s\n", ptsname(master));
	fclose(stdout);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && strcmp(argv[1], "serve") == 0)
		return serve(argc > 2);
	return attack_attempt(list, sizeof(list) / sizeof(*list), argv[1]);
}
