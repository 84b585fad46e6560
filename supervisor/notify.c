#include "supervisor/notify.h"

#include <poll.h>
#include <string.h>

#include "supervisor/compat.h"
#include "supervisor/lockdown.h"

OWN_CALLS(OWN_SUPERVISOR, OWN_OLD(poll, ppoll), OWN_IF(ioctl, ARG_IS(1, SECCOMP_IOCTL_NOTIF_RECV)),
	  OWN_IF(ioctl, ARG_IS(1, SECCOMP_IOCTL_NOTIF_SEND)),
	  OWN_IF(ioctl, ARG_IS(1, SECCOMP_IOCTL_NOTIF_ID_VALID)),
	  OWN_IF(ioctl, ARG_IS(1, SECCOMP_IOCTL_NOTIF_ADDFD)),
	  OWN_IF(ioctl, ARG_IS(1, SECCOMP_IOCTL_NOTIF_SET_FLAGS)));

bool notify_sync_wake_up(int listener)
{
	return ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP) == 0;
}

int notify_receive(int listener, struct seccomp_notif *n)
{
	memset(n, 0, sizeof(*n)); /* the kernel refuses anything else */
	return ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, n) < 0 ? -errno : 0;
}

bool notify_pending(int listener)
{
	struct pollfd p = {.fd = listener, .events = POLLIN};

	return poll(&p, 1, 0) == 1 && (p.revents & POLLIN);
}

bool notify_is_over(int listener)
{
	struct pollfd p = {.fd = listener, .events = POLLIN};

	return poll(&p, 1, 0) == 1 && (p.revents & (POLLHUP | POLLERR | POLLNVAL));
}

bool notify_valid(int listener, uint64_t id)
{
	return ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

static int send_response(int listener, struct seccomp_notif_resp *r)
{
	return ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, r) < 0 ? -errno : 0;
}

int notify_answer(int listener, uint64_t id, int64_t val, int err)
{
	struct seccomp_notif_resp r = {.id = id, .val = err ? 0 : val, .error = -err};

	return send_response(listener, &r);
}

int notify_continue(int listener, uint64_t id)
{
	struct seccomp_notif_resp r = {.id = id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};

	return send_response(listener, &r);
}

/* number: with SETFD, else 0. */
static int add_fd(int listener, uint64_t id, int fd, int number, bool cloexec, uint32_t flags)
{
	struct seccomp_notif_addfd a = {
		.id = id,
		.flags = flags,
		.srcfd = (uint32_t)fd,
		.newfd = (uint32_t)number,
		.newfd_flags = cloexec ? O_CLOEXEC : 0,
	};
	int rc = ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &a);

	return rc < 0 ? -errno : rc;
}

int notify_answer_fd(int listener, uint64_t id, int fd, bool cloexec)
{
	return add_fd(listener, id, fd, 0, cloexec, SECCOMP_ADDFD_FLAG_SEND);
}

int notify_answer_fd_at(int listener, uint64_t id, int fd, int number, bool cloexec)
{
	return add_fd(listener, id, fd, number, cloexec, SECCOMP_ADDFD_FLAG_SEND | SECCOMP_ADDFD_FLAG_SETFD);
}

bool notify_can_send_fd(int listener)
{
	/* The flags are looked at before the id, which is nobody's: ENOENT is the good answer. */
	return add_fd(listener, 0, listener, 0, true, SECCOMP_ADDFD_FLAG_SEND) == -ENOENT;
}

int notify_add_fd(int listener, uint64_t id, int fd, bool cloexec)
{
	return add_fd(listener, id, fd, 0, cloexec, 0);
}
