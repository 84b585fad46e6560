#include "supervisor/usertty.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "supervisor/fdpass.h"
#include "supervisor/lockdown.h"

OWN_CALLS(OWN_SUPERVISOR, OWN_IF(socketpair, ARG_IS(0, AF_UNIX)), OWN(close));
OWN_CALLS(OWN_FRONT, OWN(openat), OWN(close));

int usertty_init(struct session *s)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	s->usertty = pair[1];
	s->user_session = getsid(0);
	return pair[0];
}

/* Each request has a socket of its own for its answer, so that one that was given up confuses no other. */
int usertty_open(const struct session *s, int flags)
{
	int pair[2], fd, rc;
	ssize_t n;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	rc = fdpass_send(s->usertty, &flags, sizeof(flags), pair[1]);
	close(pair[1]);
	if (rc < 0) {
		close(pair[0]);
		return rc == -EPIPE ? -ENXIO : rc;
	}
	n = fdpass_receive(pair[0], &rc, sizeof(rc), &fd);
	close(pair[0]);
	if (n < 0)
		return (int)n;
	if (n != sizeof(rc))
		return -ENXIO;
	return rc == 0 ? fd : rc;
}

void usertty_serve(int sock)
{
	int flags, answer, fd, rc = 0;

	if (fdpass_receive(sock, &flags, sizeof(flags), &answer) != sizeof(flags) || answer < 0)
		return;
	/* Waiting is for the program: a terminal's open waits only for a carrier. */
	fd = open("/dev/tty", flags | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		rc = -errno;
	fdpass_send(answer, &rc, sizeof(rc), fd);
	if (fd >= 0)
		close(fd);
	close(answer);
}
