#include "supervisor/standin.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/audit.h"
#include "supervisor/lockdown.h"
#include "supervisor/message.h"
#include "supervisor/sockets_table.h"
#include "supervisor/tracee.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(fstat));

size_t sockets_room_for_standins(void)
{
	size_t room = sockets_room() / 4;

	return room < STANDINS_MAX ? room : STANDINS_MAX;
}

static bool has_room(struct session *s)
{
	bool room;

	pthread_mutex_lock(&s->sockets->lock);
	room = s->sockets->standins < sockets_room_for_standins();
	pthread_mutex_unlock(&s->sockets->lock);
	return room;
}

/* Its socket is in the table, unless another took its number meanwhile. */
static int attach(struct sockets *t, uint64_t inode, const struct standin *st)
{
	struct sock *k = sockets_find(t, inode);

	if (!k)
		return -ENFILE;
	k->standin = malloc(sizeof(*st));
	if (!k->standin) {
		sockets_drop(t, k);
		return -ENOMEM;
	}
	*k->standin = *st;
	t->standins++;
	return 0;
}

int standin_add(struct session *s, int fd, int family, pid_t maker)
{
	struct sockets_made m = {.kind = SOCKETS_STANDIN, .family = AF_UNIX, .fd = fd, .maker = maker};
	const struct standin fresh = {.family = family};
	struct stat st;
	int rc;

	if (!has_room(s)) {
		sockets_sweep(s);
		if (!has_room(s))
			return -ENFILE;
	}
	if (fstat(fd, &st) < 0)
		return -errno;
	m.inode = st.st_ino;
	rc = sockets_add(s, &m);
	if (rc < 0)
		return rc;
	pthread_mutex_lock(&s->sockets->lock);
	rc = attach(s->sockets, st.st_ino, &fresh);
	pthread_mutex_unlock(&s->sockets->lock);
	return rc;
}

bool standin_look(struct session *s, uint64_t inode, struct standin *st)
{
	struct sock *k;

	bool is;

	pthread_mutex_lock(&s->sockets->lock);
	k = inode ? sockets_find(s->sockets, inode) : NULL;
	is = k && k->standin;
	if (is)
		*st = *k->standin;
	pthread_mutex_unlock(&s->sockets->lock);
	return is;
}

void standin_change(struct session *s, uint64_t inode, const struct standin *st)
{
	struct sock *k;

	pthread_mutex_lock(&s->sockets->lock);
	k = sockets_find(s->sockets, inode);
	if (k && k->standin)
		*k->standin = *st;
	pthread_mutex_unlock(&s->sockets->lock);
}

void standin_no_address(int family, struct standin_addr *a)
{
	memset(a, 0, sizeof(*a));
	a->a.ss_family = (sa_family_t)family;
	a->len = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
}

char *standin_say_refused(const struct inet_addr *to, char *buf, size_t size)
{
	char ip[HOST_TEXT_SIZE];

	snprintf(buf, size, "UDP to %s:%u refused: only TCP and questions to name servers are passed",
		 host_format_addr(to->addr, true, ip), to->port);
	return buf;
}

/* Numbers of the window that are being given, to whomever. */
static _Atomic uint64_t placing;

/*
 * The highest number of the window that the caller has free, since the kernel gives the lowest itself. -1: none. What a
 * thread of the caller opens at that number in the next microseconds is closed, as by its own dup2(). Of two
 * notifications no one gets the number of the other: *bit is held until it is given.
 */
static int reserve_number(struct call *c, uint64_t *bit)
{
	for (int i = (int)STANDIN_WINDOW_MASK; i >= 0; i--) {
		*bit = 1ULL << i;
		if (atomic_fetch_or(&placing, *bit) & *bit)
			continue;
		if (tracee_has_free(c, STANDIN_WINDOW + i))
			return STANDIN_WINDOW + i;
		atomic_fetch_and(&placing, ~*bit);
	}
	return -1;
}

static void tell_outside(struct session *s)
{
	static atomic_bool told;

	if (!atomic_exchange(&told, true))
		message_warn(audit_messages(s->audit),
			     "more than %d datagram sockets in one process, or a limit of less than %d "
			     "descriptors "
			     "(ulimit -n): a program that asks by recvmsg whom an answer is from is not "
			     "told, and may "
			     "not find names",
			     (int)STANDIN_WINDOW_MASK + 1, STANDIN_WINDOW + (int)STANDIN_WINDOW_MASK + 1);
}

void standin_give(struct call *c, int fd, bool cloexec)
{
	uint64_t bit;
	int number = reserve_number(c, &bit);

	if (number < 0)
		tell_outside(c->s);
	call_fd_at(c, fd, number, cloexec);
	if (number >= 0)
		atomic_fetch_and(&placing, ~bit);
}
