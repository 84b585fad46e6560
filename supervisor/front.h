/*
 * The process that the user started. It stays in the user's process group, does nothing but wait, and so behaves as the
 * command would: signals sent to it go on to the command, it stops when the command stops, and ends as it ended. The
 * supervisor is a child of it in a session of its own, so that no signal of the terminal or to the group stops or ends it. Whichever of the
 * two is killed, the other ends the session.
 */
#ifndef CORDON_FRONT_H
#define CORDON_FRONT_H

#include <sys/types.h>

#include "supervisor/elders.h"
#include "supervisor/session.h"

enum front_kind { FRONT_SIGNAL, FRONT_STOPPED, FRONT_EXIT, FRONT_KILLED, FRONT_FORBIDDEN };

/* On a SOCK_SEQPACKET pair between the two. */
struct front_message {
	enum front_kind kind;
	int value; /* exit status with FRONT_EXIT, a system call with FRONT_FORBIDDEN, else a signal's number */
	pid_t command;
};

/* What is removed at the end, by the front if the supervisor could not. */
struct front_left {
	const char *tmpdir; /* "": none */
	struct sysv *sysv;
	struct mqueues *mqueues;
};
void front_remove_left(const struct front_left *left);

/* Waits for the supervisor and returns the exit status. older: noted before the supervisor was started. tty: see
 * usertty.h. */
int front_wait(pid_t supervisor, int sock, int tty, const struct front_left *left, struct elders *older);

/* The end of the descendants of this process (a subreaper). Of the session .proc and .tracer (or NULL) are used. Needs
 * three free descriptors to see them. */
struct front_ending {
	const struct session *s;
	const struct elders *older; /* who is none of the session, or NULL */
	void (*tick)(void *arg);    /* called every FRONT_TICK_MS meanwhile, or NULL */
	void *arg;
};
#define FRONT_TICK_MS 10
/* SIGTERM, and waits for grace_ms at most. */
void front_ask_children(const struct front_ending *how, int grace_ms);
/* SIGKILL until none is left. */
void front_kill_children(const struct front_ending *how);

#endif
