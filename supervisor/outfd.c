#include "supervisor/outfd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "supervisor/lockdown.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(write), OWN(sendto), OWN(close), OWN_OLD(poll, ppoll));

#define STACK_SIZE (64 * 1024)

int outfd_adopt(struct outfd *o, int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	*o = (struct outfd){.fd = fd, .socket = S_ISSOCK(st.st_mode), .regular = S_ISREG(st.st_mode)};
	return 0;
}

/* Pipes and terminals. To open another device again may make a new one: a pty master does. */
static bool outfd_may_reopen(int fd, const struct stat *st)
{
	return S_ISFIFO(st->st_mode) || (S_ISCHR(st->st_mode) && isatty(fd) && st->st_rdev != makedev(5, 2));
}

static int outfd_reopen(int fd)
{
	char link[32];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return open(link, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

int outfd_borrow(struct outfd *o, int fd)
{
	struct stat st;
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return -errno;
	if ((flags & O_PATH) || (flags & O_ACCMODE) == O_RDONLY)
		return -EBADF;
	if (fstat(fd, &st) < 0)
		return -errno;
	*o = (struct outfd){.fd = -1, .socket = S_ISSOCK(st.st_mode), .regular = S_ISREG(st.st_mode)};
	if (outfd_may_reopen(fd, &st))
		o->fd = outfd_reopen(fd);
	if (o->fd < 0) {
		o->poll_first = !o->socket && !o->regular;
		o->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	}
	return o->fd < 0 ? -errno : 0;
}

void outfd_close(struct outfd *o)
{
	if (o->fd >= 0)
		close(o->fd);
	o->fd = -1;
}

ssize_t outfd_write(const struct outfd *o, const char *buf, size_t len)
{
	ssize_t n;

	if (o->poll_first) {
		struct pollfd p = {.fd = o->fd, .events = POLLOUT};
		if (poll(&p, 1, 0) == 0)
			return -EAGAIN;
		if (len > PIPE_BUF)
			len = PIPE_BUF;
	}
	do {
		n = o->socket ? send(o->fd, buf, len, MSG_DONTWAIT | MSG_NOSIGNAL) : write(o->fd, buf, len);
	} while (n < 0 && errno == EINTR);
	/* A write that takes nothing and says nothing would make its caller spin. */
	return n < 0 ? -errno : n == 0 && len > 0 ? -EIO : n;
}

void outfd_wait(const struct outfd *o, int ms)
{
	struct pollfd p = {.fd = o ? o->fd : -1, .events = POLLOUT};

	poll(&p, 1, ms);
}

int outfd_thread_start(pthread_t *t, void *(*run)(void *), void *arg)
{
	pthread_attr_t attr;
	sigset_t all, old;
	long least = sysconf(_SC_THREAD_STACK_MIN);
	int r = pthread_attr_init(&attr);

	if (r)
		return -r;
	r = pthread_attr_setstacksize(&attr, least > STACK_SIZE ? (size_t)least : STACK_SIZE);
	if (r == 0) {
		sigfillset(&all);
		sigdelset(&all, SIGSYS); /* see lockdown.h */
		pthread_sigmask(SIG_SETMASK, &all, &old);
		r = pthread_create(t, &attr, run, arg);
		pthread_sigmask(SIG_SETMASK, &old, NULL);
	}
	pthread_attr_destroy(&attr);
	return -r;
}
