/*
 * socketpair(2). No datagram socket that can name its destination exists inside, so that send and sendmsg need no judging: a
 * Unix datagram pair is made as a seqpacket pair, which keeps message bounds and cannot name anyone.
 */
#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/dispatch.h"
#include "supervisor/lockdown.h"
#include "supervisor/notify.h"
#include "supervisor/path.h"
#include "supervisor/sockets.h"
#include "supervisor/tracee.h"

OWN_CALLS(OWN_SUPERVISOR, OWN_IF(socketpair, ARG_IS(0, AF_UNIX)), OWN(close), OWN(fstat), OWN(geteuid),
	  OWN(getegid));

#define TYPE_MASK 0xf

static uint64_t inode_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? st.st_ino : 0;
}

/* Both of a pair are known by their numbers as what they are to the program, and made by it. */
static int note_pair(struct call *c, const int pair[2])
{
	struct ucred maker = {.uid = geteuid(), .gid = getegid()};
	struct tracee_status st;
	int rc = tracee_status(c->s, c->tid, &st);

	maker.pid = st.tgid;
	for (int i = 0; i < 2 && rc == 0; i++)
		rc = sockets_add_pair(c->s, pair[i], &maker);
	return rc;
}

static void handle_socketpair(struct call *c)
{
	int type = call_int(c, 1), pair[2], number[2] = {-1, -1}, rc;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | (type & ~TYPE_MASK) | SOCK_CLOEXEC, call_int(c, 2), pair) <
	    0) {
		call_error(c, errno);
		return;
	}
	/* Tried before the caller has them: an address that cannot be written must not leave descriptors behind. */
	rc = tracee_write(c, c->arg[3], number, sizeof(number));
	if (rc == 0)
		rc = tracee_has_free_numbers(c, 2) ? note_pair(c, pair) : -EMFILE;
	for (int i = 0; i < 2 && rc == 0; i++) {
		number[i] = notify_add_fd(c->s->listener, c->id, pair[i], type & SOCK_CLOEXEC);
		rc = number[i] < 0 ? number[i] : 0;
	}
	for (int i = 0; i < 2; i++) {
		sockets_delivered(c->s, inode_of(pair[i]));
		close(pair[i]);
	}
	if (rc == 0)
		rc = tracee_write(c, c->arg[3], number, sizeof(number));
	call_result(c, rc);
}

const struct sysc sysc_socketpair = {
	.name = "socketpair",
	.op = "socket",
	.action = SYSC_ERRNO,
	.err = EOPNOTSUPP,
	SYSC_WHEN(SYSC_IF(SYSC_ALLOW, ARG_IS(0, AF_UNIX), ARG_BITS(1, TYPE_MASK, SOCK_STREAM)),
		  SYSC_IF(SYSC_ALLOW, ARG_IS(0, AF_UNIX), ARG_BITS(1, TYPE_MASK, SOCK_SEQPACKET)),
		  SYSC_IF(SYSC_NOTIFY, ARG_IS(0, AF_UNIX), ARG_BITS(1, TYPE_MASK, SOCK_DGRAM)),
		  SYSC_IF(SYSC_NOTIFY, ARG_IS(0, AF_UNIX), ARG_BITS(1, TYPE_MASK, SOCK_RAW))),
	.handle = handle_socketpair,
	.doc = "Stream and seqpacket pairs are the kernel's; a datagram pair becomes a nameless seqpacket "
	       "pair.",
};
