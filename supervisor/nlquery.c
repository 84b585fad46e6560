#include "supervisor/nlquery.h"

#include <stdatomic.h>
#include <sys/socket.h>

#include "supervisor/lockdown.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(sendto), OWN(recvfrom));

ssize_t nlquery(int fd, struct nlmsghdr *question, void *answer, size_t size)
{
	static atomic_uint latest;
	const struct nlmsghdr *head = answer;
	ssize_t n;

	question->nlmsg_seq = atomic_fetch_add(&latest, 1) + 1;
	if (send(fd, question, question->nlmsg_len, MSG_DONTWAIT) != (ssize_t)question->nlmsg_len)
		return -1;
	do
		n = recv(fd, answer, size, MSG_DONTWAIT);
	while (n >= 0 && (n < (ssize_t)sizeof(*head) || head->nlmsg_seq != question->nlmsg_seq));
	return n;
}
