#include "supervisor/binding.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "policy/inet.h"
#include "supervisor/destination.h"
#include "supervisor/lockdown.h"
#include "supervisor/path.h"
#include "supervisor/proctcp.h"
#include "supervisor/tracee.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(getsockopt), OWN(close),
	  OWN_IF(setsockopt, ARG_IS(1, SOL_SOCKET), ARG_IS(2, SO_REUSEPORT)));

/* For writing: while a socket is looked at and bound, and while the option changes. */
static pthread_rwlock_t changing = PTHREAD_RWLOCK_INITIALIZER;

void binding_hold(void)
{
	pthread_rwlock_rdlock(&changing);
}

void binding_release(void)
{
	pthread_rwlock_unlock(&changing);
}

int binding_device(int fd, int family)
{
	int device = 0;
	socklen_t len = sizeof(device);

	return family == AF_INET6 && getsockopt(fd, SOL_SOCKET, SO_BINDTOIFINDEX, &device, &len) == 0 ? device
												      : 0;
}

static bool shares_with_stranger(struct sockcall *sc, const struct sockaddr *sa, socklen_t len)
{
	const struct inet_own own = destination_own(sc->c->s);
	socklen_t size = sizeof(int);
	struct inet_addr a;
	struct inet_end at;
	int shares = 0;

	if (getsockopt(sc->fd, SOL_SOCKET, SO_REUSEPORT, &shares, &size) < 0 || !shares)
		return false;
	if (inet_parse_binding(sa, len, &a) != 0 || a.port == 0)
		return false;
	memcpy(at.addr, a.addr, 16);
	at.port = a.port;
	return !proctcp_all_own(&at, &own);
}

int binding_perform(struct sockcall *sc, const struct sockaddr *sa, socklen_t len,
		    int (*act)(struct sockcall *sc))
{
	int rc;

	pthread_rwlock_wrlock(&changing);
	rc = shares_with_stranger(sc, sa, len) ? -EADDRINUSE : act(sc);
	pthread_rwlock_unlock(&changing);
	return rc;
}

static int set(int fd, int value)
{
	int rc;

	pthread_rwlock_wrlock(&changing);
	rc = setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &value, sizeof(value)) < 0 ? -errno : 0;
	pthread_rwlock_unlock(&changing);
	return rc;
}

/* 0 or -errno, as the kernel has it. */
static int copy_value(struct call *c, uint64_t inode, int *value)
{
	if (inode == 0)
		return sockcall_no_socket(c);
	if (call_int(c, 4) < (int)sizeof(*value))
		return -EINVAL;
	return tracee_read(c, c->arg[3], value, sizeof(*value));
}

void binding_set_reuseport(struct call *c, uint64_t inode)
{
	int value, rc = copy_value(c, inode, &value), fd;

	if (rc < 0) {
		path_copy_failed(c, rc);
		return;
	}
	if (tracee_check(c) < 0) {
		call_gone(c);
		return;
	}
	fd = sockets_get(c->s, inode);
	if (fd >= 0) {
		rc = set(fd, value);
		close(fd);
	}
	/* Of one that is connected or listens already the supervisor has no duplicate, and for itself it changes nothing. The kernel
	 * is not let do it: the number may mean another socket by then. */
	call_result(c, fd >= 0 || fd == -EISCONN || fd == -ENOENT ? rc : fd);
}
