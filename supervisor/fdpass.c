#include "supervisor/fdpass.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "supervisor/lockdown.h"

OWN_CALLS(OWN_ALL, OWN(sendmsg), OWN(recvmsg));

int fdpass_send(int sock, const void *data, size_t len, int fd)
{
	struct iovec io = {(void *)data, len};
	char control[CMSG_SPACE(sizeof(int))] = {0};
	struct msghdr msg = {.msg_iov = &io, .msg_iovlen = 1};
	struct cmsghdr *cm;

	if (fd >= 0) {
		msg.msg_control = control;
		msg.msg_controllen = sizeof(control);
		cm = CMSG_FIRSTHDR(&msg);
		cm->cmsg_level = SOL_SOCKET;
		cm->cmsg_type = SCM_RIGHTS;
		cm->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(cm), &fd, sizeof(int));
	}
	return sendmsg(sock, &msg, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

ssize_t fdpass_receive(int sock, void *data, size_t len, int *fd)
{
	struct iovec io = {data, len};
	char control[CMSG_SPACE(sizeof(int))] = {0};
	struct msghdr msg = {
		.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	struct cmsghdr *cm;
	ssize_t n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);

	*fd = -1;
	if (n < 0)
		return -errno;
	cm = CMSG_FIRSTHDR(&msg);
	if (cm && cm->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(cm), sizeof(int));
	return n;
}
