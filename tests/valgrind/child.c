/* The command's process of the cordon that runs under valgrind: see wrap.c. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "supervisor/child.h"

extern char **environ;

int main(int argc, char **argv)
{
	struct child ch = {.argv = argv + 2, .envp = environ, .path = getenv("PATH"), .parent = getppid()};

	if (argc < 3 || sscanf(argv[1], "%d %u", &ch.sock, &ch.features) != 2)
		return 125;
	fcntl(ch.sock, F_SETFD, FD_CLOEXEC);
	getrlimit(RLIMIT_NOFILE, &ch.nofile);
	sigemptyset(&ch.mask);
	child_main(&ch);
}
