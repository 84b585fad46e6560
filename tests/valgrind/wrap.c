/*
 * Linked into the cordon that runs under valgrind (VARIANT=valgrind), which knows neither seccomp(2) nor openat2(2). The
 * command's process runs the program cordon-child beside it, which valgrind leaves alone and which goes on as the
 * command's process would (child.c here). openat2 becomes openat: the tests use names without symbolic links.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/child.h"
#include "supervisor/setup.h"

long __real_syscall(long nr, ...);
long __wrap_syscall(long nr, ...);
void __wrap_child_main(const struct child *ch);
bool __wrap_setup_check_kernel(struct session *s, bool readable);

long __wrap_syscall(long nr, ...)
{
	long a[6];
	va_list ap;

	va_start(ap, nr);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (nr == SYS_openat2) {
		const struct open_how *how = (const struct open_how *)a[2];

		return openat((int)a[0], (const char *)a[1], (int)how->flags, (mode_t)how->mode);
	}
	return __real_syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* The command and its arguments go on; what else the child needs is a line of numbers. */
void __wrap_child_main(const struct child *ch)
{
	char exe[PATH_MAX], numbers[64];
	const char *argv[256] = {exe, numbers};
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 8);

	for (size_t i = 0; ch->argv[i] && i + 3 < sizeof(argv) / sizeof(argv[0]); i++)
		argv[i + 2] = ch->argv[i];
	snprintf(numbers, sizeof(numbers), "%d %u", ch->sock, ch->features);
	fcntl(ch->sock, F_SETFD, 0);
	if (n > 0)
		memcpy(exe + n, "-child", 7);
	execve(exe, (char *const *)argv, ch->envp);
	_exit(125);
}

/* It reads the command's memory where a copy of cordon would have something. */
bool __wrap_setup_check_kernel(struct session *s, bool readable)
{
	(void)s, (void)readable;
	return true;
}
