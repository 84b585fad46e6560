#include "supervisor/listing.h"
#include "supervisor/pending.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "supervisor/compat.h"
#include "supervisor/lockdown.h"
#include "supervisor/member.h"
#include "supervisor/notify.h"
#include "supervisor/tracee.h"
#include "supervisor/tracer.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(openat), OWN_READDIR);

/* Looking at threads costs: every so many looks, so many of them. */
#define THREADS_EVERY 16
#define THREADS_LOOK  16

/* Is one of a process's threads stopped for job control? Some are looked at, others the next time. */
static bool has_stopped_thread(struct session *s, pid_t tgid, unsigned round, int threads)
{
	unsigned skip = (round * THREADS_LOOK) % (unsigned)threads, look = THREADS_LOOK;
	struct member_stat st;
	bool stopped = false;
	struct dirent *e;
	char name[32];
	DIR *d;

	snprintf(name, sizeof(name), "%d/task", tgid);
	d = listing_open(openat(s->proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	while (d && look && !stopped && (e = readdir(d))) {
		if (!isdigit((unsigned char)e->d_name[0]) || (skip && skip--))
			continue;
		look--;
		stopped = member_stat(s, atoi(e->d_name), &st) && st.state == 'T';
	}
	if (d)
		closedir(d);
	return stopped;
}

static bool is_own(const struct tracee_status *st)
{
	return (st->sig_pending & ~st->sig_blocked) ||
	       (st->threads == 1 && (st->sig_shared_pending & ~st->sig_blocked));
}

bool pending_wakes(struct session *s, pid_t tid, struct pending_polls *polls)
{
	struct tracee_status st;

	if (tracee_status(s, tid, &st) < 0)
		return false;
	if (is_own(&st))
		return true;
	/* A process under a debugger cannot be held, and without that the rest is not safe. */
	if (st.threads == 1 || st.tracer)
		return false;
	polls->shared = st.sig_shared_pending & ~st.sig_blocked ? polls->shared + 1 : 0;
	polls->all++;
	return polls->shared >= 2 || (polls->all % THREADS_EVERY == 0 &&
				      has_stopped_thread(s, st.tgid, polls->all / THREADS_EVERY, st.threads));
}

/* Only for a caller that is about to look for signals: see below. */
static void answer_restart(struct call *c)
{
	if (!c->answered) {
		c->answered = true;
		notify_answer(c->s->listener, c->id, 0, COMPAT_ERESTARTSYS);
	}
}

/*
 * The kernel takes its own restart code only from a caller that it then asks to look for signals; any other would see
 * errno 512. With a signal of its own it does; else it is made to by a stop.
 */
void pending_restart(struct call *c)
{
	struct tracee_status st;
	struct tracer_hold h;
	int rc;

	if (tracee_status(c->s, c->tid, &st) == 0 && is_own(&st)) {
		answer_restart(c);
		return;
	}
	rc = tracer_hold(c, &h, false);
	if (rc == -ESRCH) {
		call_gone(c);
	} else if (rc < 0) {
		call_error(c, EINTR);
	} else {
		answer_restart(c);
		tracer_wait(&h);
		tracer_release(&h);
	}
}
