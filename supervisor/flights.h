/*
 * Connects in flight: connections that are being made while their callers wait, put aside without a worker each, or go on
 * (EINPROGRESS). A thread of its own, started with the first, watches them: it hands a call back to a worker when there is
 * something to do for it, and gives the supervisor's duplicate up once the socket is connected. It also drops what programs
 * closed meanwhile.
 */
#ifndef CORDON_FLIGHTS_H
#define CORDON_FLIGHTS_H

#include <stdbool.h>
#include <stdint.h>

#include "supervisor/destination.h"
#include "supervisor/pending.h"
#include "supervisor/sockcall.h"

struct flights;

enum flight_news {
	FLIGHT_READY,  /* it is connected, or failed */
	FLIGHT_SIGNAL, /* the caller has a signal to handle */
	FLIGHT_LATE,   /* SO_SNDTIMEO is over */
};

struct flight {
	struct flight *next;
	struct session *s;
	struct call *call; /* put aside; NULL: the caller went on. Owned */
	uint64_t inode;
	int fd; /* a duplicate of the socket. Owned */
	struct destination d;
	bool joined;		       /* another call began the attempt and knows where it goes */
	struct sockaddr_storage asked; /* what getpeername() is to say, if d.instead */
	socklen_t asked_len;
	uint64_t deadline; /* ms; 0: none */
	int late;	   /* the errno then */
	struct pending_polls polls;
	enum flight_news news;
	bool done;	  /* for the thread: something came */
	bool superseded;  /* a caller waits for it now: nothing is noted when it is connected */
	uint64_t look_at; /* ms; 0: it is none to a listener of the session's own, which may go */
};

/* Before the supervisor locks itself down. NULL: out of memory or descriptors. */
struct flights *flights_new(void);

/* Takes over f (from malloc) and watches. Without a thread (memory is short) it is given up as a failed connection. */
void flights_add(struct flight *f);
/* Its caller is answered, or gone. */
void flight_leave_call(struct flight *f);
/* The flight goes there from now on; nobody has to look any more. */
void flights_lead(struct flight *f, const struct destination *d);
/* Closes and frees. */
void flight_free(struct flight *f);

/* A socket is bound and not used: when its program closes it, its port has to be free again soon. */
void flights_expect_close(struct session *s);

/* What the thread calls; made in connecting.c. For a call, in a worker; takes over the flight (arg): */
void connecting_resume(struct call *c, void *arg);
/* Nobody waits for it, and it is connected or failed. */
void connecting_landed(struct flight *f);
/* It is time to look at whether its listener is still there. */
void connecting_look(struct flight *f);

#endif
