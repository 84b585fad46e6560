/* Whom a caller's descriptor stands for. Part of tracee.h. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/compat.h"
#include "supervisor/lockdown.h"
#include "supervisor/tracee.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(openat), OWN(close), OWN(readlinkat), OWN(pidfd_open), OWN(fstat),
	  OWN(newfstatat));

/* That of the same kind: one of a thread reaches the thread alone. */
static int open_pidfd(pid_t pid, int flags)
{
	int fd;

	if (pid <= 0) /* ended; or of another name space, which the kernel refuses */
		return pid < 0 ? -ESRCH : -EINVAL;
	fd = (int)syscall(SYS_pidfd_open, pid, flags & COMPAT_PIDFD_THREAD);
	return fd < 0 ? -errno : fd;
}

/* The number in "/proc/PID", -ESRCH when it is gone from there, else -EBADF. */
static pid_t number_of_name(const char *name)
{
	unsigned long pid;
	char *end;

	if (strncmp(name, "/proc/", 6) != 0 || !isdigit((unsigned char)name[6]))
		return -EBADF;
	pid = strtoul(name + 6, &end, 10);
	if (pid == 0 || pid > INT_MAX || (*end && strcmp(end, " (deleted)") != 0))
		return -EBADF;
	return *end ? -ESRCH : (pid_t)pid;
}

/* Pinned it stays the same process, whoever has the number afterwards. */
static int open_directory(struct call *c, int pin, pid_t *pid)
{
	char number[16], name[64];
	struct stat st;
	ssize_t n;
	int fd;

	if (fstat(pin, &st) < 0 || !S_ISDIR(st.st_mode))
		return -EBADF;
	snprintf(number, sizeof(number), "%d", pin);
	n = readlinkat(c->s->self_fd, number, name, sizeof(name) - 1);
	name[n > 0 ? n : 0] = '\0';
	*pid = number_of_name(name);
	if (*pid < 0)
		return *pid;
	fd = openat(c->s->self_fd, number, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int tracee_pidfd(struct call *c, int fd, pid_t *pid)
{
	char info[4096];
	const char *p;
	int rc = tracee_fd_info(c, fd, info, sizeof(info)), pin, flags;

	flags = rc < 0 ? rc : tracee_info_flags(info);
	if (flags < 0)
		return flags;
	if (flags & O_PATH)
		return -EBADF;
	p = strstr(info, "\nPid:\t");
	if (p) {
		*pid = (pid_t)strtol(p + 6, NULL, 10);
		return open_pidfd(*pid, flags);
	}
	pin = tracee_fd(c, fd);
	if (pin < 0)
		return pin;
	rc = open_directory(c, pin, pid);
	close(pin);
	return rc;
}
