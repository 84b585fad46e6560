#include "supervisor/nlquery.h"

#include <sys/socket.h>

#include "supervisor/lockdown.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(sendto), OWN(recvfrom));

ssize_t nlquery(int fd, const void *question, size_t len, void *answer, size_t size)
{
	while (recv(fd, answer, size, MSG_DONTWAIT) >= 0)
		;
	if (send(fd, question, len, MSG_DONTWAIT) != (ssize_t)len)
		return -1;
	return recv(fd, answer, size, MSG_DONTWAIT);
}
