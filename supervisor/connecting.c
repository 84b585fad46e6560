#include "supervisor/connecting.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "policy/inet.h"
#include "supervisor/binding.h"
#include "supervisor/clock.h"
#include "supervisor/crew.h"
#include "supervisor/flights.h"
#include "supervisor/gateway.h"
#include "supervisor/heldback.h"
#include "supervisor/lockdown.h"
#include "supervisor/pending.h"
#include "supervisor/refusal.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(connect), OWN(shutdown), OWN(getsockname), OWN(getsockopt), OWN(close),
	  OWN_IF(fcntl, ARG_IS(1, F_GETFL)), OWN_IF(fcntl, ARG_IS(1, F_SETFL)));

/* How often it is looked whether a listener is still there. */
#define LOOK_MS 20

/* --- One attempt --- */

/* TCP_ESTABLISHED, TCP_SYN_SENT, ... */
static int state_of(int fd)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);

	return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) < 0 ? TCP_CLOSE : info.tcpi_state;
}

static bool is_connected(int state)
{
	return state != TCP_CLOSE && state != TCP_SYN_SENT && state != TCP_SYN_RECV;
}

bool connecting_is_idle(int fd)
{
	int state = state_of(fd);

	return state == TCP_CLOSE || state == TCP_LISTEN;
}

/*
 * Held for the few calls, none of which waits, that begin or end an attempt: of two threads that connect one socket each would
 * take the other's flag for the program's, and what one finds over the other may have begun. After binding_hold().
 */
static pthread_mutex_t attempts = PTHREAD_MUTEX_INITIALIZER;

/*
 * connect() that does not wait, whatever the socket is: the flag is the program's as well, and is what it was after some
 * microseconds in which nothing can be received or sent. *waits: whether the program wants to wait. With the lock.
 */
static int connect_now(int fd, const struct sockaddr_storage *to, socklen_t len, bool *waits)
{
	int flags = fcntl(fd, F_GETFL), rc;

	*waits = flags >= 0 && !(flags & O_NONBLOCK);
	if (*waits)
		fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	rc = connect(fd, (const struct sockaddr *)to, len) < 0 ? -errno : 0;
	/* On this machine it is done by now, or refused. Who does not wait is told so by poll(). */
	if (*waits && rc == -EINPROGRESS && connect(fd, (const struct sockaddr *)to, len) == 0)
		rc = 0;
	else if (*waits && rc == -EINPROGRESS && errno != EALREADY)
		rc = -errno;
	if (*waits)
		fcntl(fd, F_SETFL, flags);
	return rc;
}

/* The same, unless what the verdict stands on is no more. Where it is not about this machine the device is all the same. */
static int connect_bound(int fd, const struct destination *d, bool *waits)
{
	if ((d->own || d->instead) && binding_device(fd, d->family) != d->device)
		return -EPERM;
	return connect_now(fd, &d->to, d->len, waits);
}

static void begin_attempt(void)
{
	binding_hold();
	pthread_mutex_lock(&attempts);
}

static void end_attempt(void)
{
	pthread_mutex_unlock(&attempts);
	binding_release();
}

/* The gateway answers only who it was told of. */
static void announce(struct session *s, int fd)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	if (getsockname(fd, (struct sockaddr *)&ss, &len) == 0)
		gateway_expect(s, ntohs(*inet_port(&ss)));
}

/* --- Towards the session's own listeners --- */

/* As after an attempt that failed, whatever came of it. */
static void give_up(int fd)
{
	const struct sockaddr none = {.sa_family = AF_UNSPEC};

	connect(fd, &none, sizeof(none));
}

/*
 * What came of the attempt that a caller waited for, as connect() would tell it; -EINPROGRESS: nothing yet. connect() itself would
 * begin another attempt where somebody was told of the end of this one before, or ended it by shutdown().
 */
static int outcome(int fd)
{
	int state, err = 0;
	socklen_t len = sizeof(err);

	pthread_mutex_lock(&attempts);
	state = state_of(fd);
	if (state == TCP_CLOSE) {
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len);
		give_up(fd);
	}
	pthread_mutex_unlock(&attempts);
	if (is_connected(state))
		return 0;
	return state == TCP_CLOSE ? -(err ? err : ECONNABORTED) : -EINPROGRESS;
}

/*
 * Who listens was looked at just before, and is looked at again just after. But the kernel sends a request again that a full
 * listener did not take, seconds later, when another may listen there, and who polls the socket could send before it is
 * looked at. So from then on only listeners of sessions are let in.
 */
static bool hold_back(struct flight *f)
{
	sockets_note_held_back(f->s, f->inode, true);
	f->look_at = clock_ms() + LOOK_MS;
	if (heldback_begin(f->fd, f->d.family))
		return true;
	give_up(f->fd);
	return false;
}

void connecting_let_in(struct session *s, uint64_t inode, int fd)
{
	if (sockets_note_held_back(s, inode, false))
		heldback_end(fd, sockets_family(s, inode));
}

/* One that failed may still be held back. Not one in flight, which another call on it began. */
static void begin_anew(struct flight *f)
{
	if (!sockets_note_held_back(f->s, f->inode, false))
		return;
	if (state_of(f->fd) == TCP_CLOSE)
		heldback_end(f->fd, f->d.family);
	else
		sockets_note_held_back(f->s, f->inode, true);
}

/* Nobody is left there, or another: the kernel refuses it. */
void connecting_look(struct flight *f)
{
	struct destination refusing = f->d;
	bool waits;

	f->look_at = clock_ms() + LOOK_MS;
	if (state_of(f->fd) != TCP_SYN_SENT || destination_listener(f->s, &f->d) == INET_SOCKET)
		return;
	refusing.own = false;
	refusing.len = destination_refuses(&f->d, &refusing.to);
	begin_attempt();
	if (state_of(f->fd) == TCP_SYN_SENT) {
		give_up(f->fd);
		connecting_let_in(f->s, f->inode, f->fd);
		connect_bound(f->fd, &refusing, &waits);
		flights_lead(f, &refusing);
	}
	end_attempt();
}

enum reached { STRANGER, NOBODY, IN_FLIGHT, CONNECTED };

/* After an attempt, of which rc came. Who is reached and a stranger is left at once. */
static enum reached look(struct flight *f, int rc)
{
	int state = rc == 0 ? TCP_ESTABLISHED : state_of(f->fd);

	/* Another call began it, to elsewhere perhaps, and that one's flight knows who is to be reached. */
	if (rc == -EALREADY && state != TCP_CLOSE)
		return IN_FLIGHT;
	if (is_connected(state)) {
		if (!f->d.own || destination_holds(f->s, &f->d, f->fd))
			return CONNECTED;
		shutdown(f->fd, SHUT_RDWR);
		return STRANGER;
	}
	if (state != TCP_SYN_SENT)
		return NOBODY;
	/* What answers from here on is looked at when the flight is over. */
	return f->d.own && !hold_back(f) ? STRANGER : IN_FLIGHT;
}

/* --- What comes of it --- */

static void note_connected(struct flight *f)
{
	connecting_let_in(f->s, f->inode, f->fd);
	sockets_set_name(f->s, f->inode, SOCKETS_PEER, &f->asked, f->d.instead ? f->asked_len : 0);
	sockets_release(f->s, f->inode);
	close(f->fd);
	f->fd = -1;
}

static void refuse_stranger(struct call *c, struct flight *f)
{
	shutdown(f->fd, SHUT_RDWR);
	refusal_firm(c, "connect", "default", EPERM,
		     "Connection blocked by network allowlist: another took the place of the session's own "
		     "listener");
	flight_free(f);
	call_error(c, EPERM);
}

/* The caller waits: its call is put aside. late: what it gets when SO_SNDTIMEO is over. */
static void put_aside(struct call *c, struct flight *f)
{
	f->call = malloc(sizeof(*f->call));
	if (!f->call) {
		flight_free(f);
		call_error(c, ENOBUFS);
		return;
	}
	call_copy(f->call, c);
	call_put_aside(c);
	flights_add(f);
}

static uint64_t deadline_of(int fd)
{
	struct timeval tv = {0, 0};
	socklen_t len = sizeof(tv);

	if (getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, &len) < 0 || (tv.tv_sec == 0 && tv.tv_usec == 0))
		return 0;
	return clock_ms() + (uint64_t)tv.tv_sec * 1000 + (uint64_t)(tv.tv_usec + 999) / 1000;
}

/* rc: of an attempt. Takes over f; answers or puts aside. */
static void settle(struct call *c, struct flight *f, int rc, bool waits)
{
	bool in_flight = rc == -EINPROGRESS || rc == -EALREADY;
	enum reached r = rc == 0 || in_flight ? look(f, rc) : NOBODY;

	if (r == STRANGER) {
		refuse_stranger(c, f);
		return;
	}
	if (r == CONNECTED && waits)
		rc = 0;
	if (r == CONNECTED) {
		if (rc < 0)
			sockets_note_collectable(f->s, f->inode);
		note_connected(f);
		if (rc == 0)
			sockets_collect(f->s, f->inode);
	} else if (in_flight && waits) {
		if (!f->late) { /* for the first time */
			f->late = -rc;
			f->deadline = deadline_of(f->fd);
		}
		put_aside(c, f);
		return;
	} else if (r == IN_FLIGHT) {
		flights_add(f);
		call_error(c, -rc);
		return;
	}
	flight_free(f);
	call_result(c, rc);
}

void connecting_begin(struct sockcall *sc, const struct destination *d)
{
	struct flight *f = calloc(1, sizeof(*f));
	bool waits = false;
	int rc;

	if (!f) {
		call_error(sc->c, ENOBUFS);
		return;
	}
	f->s = sc->c->s;
	f->inode = sc->inode;
	f->fd = sc->fd;
	sc->fd = -EISCONN; /* it is the flight's now */
	f->d = *d;
	memcpy(&f->asked, &sc->addr, sizeof(f->asked));
	f->asked_len = sc->len;
	begin_attempt();
	begin_anew(f);
	rc = connect_bound(f->fd, d, &waits);
	end_attempt();
	f->joined = rc == -EALREADY;
	if (d->dns)
		announce(f->s, f->fd);
	settle(sc->c, f, rc, waits);
}

/* --- Called by the thread that watches --- */

static void interrupt(struct call *c, struct flight *f)
{
	bool timed = f->deadline;

	flight_leave_call(f);
	f->deadline = 0;
	flights_add(f); /* it goes on without the caller */
	if (timed)
		call_error(c, EINTR); /* such a call is never begun again */
	else
		pending_restart(c);
}

void connecting_resume(struct call *c, void *arg)
{
	struct flight *f = arg;
	int rc;

	if (c->answered) { /* nobody may act for the caller */
		flight_free(f);
		return;
	}
	switch (f->news) {
	case FLIGHT_SIGNAL:
		if (crew_step_aside(c)) {
			interrupt(c, f);
		} else {
			call_put_aside(c);
			flights_add(f);
		}
		return;
	case FLIGHT_LATE:
		rc = -f->late;
		flight_leave_call(f);
		flights_add(f);
		call_error(c, -rc);
		return;
	case FLIGHT_READY:
		break;
	}
	flight_leave_call(f);
	settle(c, f, outcome(f->fd), true);
}

void connecting_landed(struct flight *f)
{
	if (!is_connected(state_of(f->fd)))
		return;
	if (f->d.own && !destination_holds(f->s, &f->d, f->fd)) {
		shutdown(f->fd, SHUT_RDWR);
		return;
	}
	if (f->superseded)
		return;
	sockets_note_collectable(f->s, f->inode);
	note_connected(f);
}
