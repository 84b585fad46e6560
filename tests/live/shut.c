/* A program that may be executed but not read: what it can do without being asked about, and what it cannot. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "say") == 0) {
		printf("dumpable %d, uid is own: %d\n", prctl(PR_GET_DUMPABLE), getuid() == geteuid());
	} else if (strcmp(what, "write") == 0) {
		int fd = open("made", O_RDWR | O_CREAT, 0666);

		printf("open: %s\n", fd < 0 ? strerror(errno) : "made");
	} else if (strcmp(what, "signal") == 0) {
		long fd = syscall(SYS_pidfd_open, getpid(), 0);

		printf("signal: %s\n",
		       syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0) < 0 ? strerror(errno) : "sent");
	} else if (strcmp(what, "exec") == 0) {
		execl("/bin/sh", "sh", "-c", "echo text >made && cat made", NULL);
		perror("exec");
	}
	return 0;
}
