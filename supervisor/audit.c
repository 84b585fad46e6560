/*
 * Emitting threads put nodes into a queue that is bounded in bytes; one writer thread takes them out, renders
 * and writes them. The sequence number is given by the writer when a line is complete, so it has no gaps.
 *
 * Room: an allowed event that finds none is dropped and counted. A denial may wait, out of a budget of
 * AUDIT_WAIT_MS that is spent by all denials together and is full again once half of the queue has been
 * written: a stalled reader costs the workload that time once, a slow one does not become its pace.
 *
 * Repeated denials are counted in the table of audit_repeat.h before they would need room, so that a loop over
 * one refusal neither fills the queue nor loses a count behind a stalled sink.
 *
 * The lock is never held across a write.
 */
#include "supervisor/audit.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/audit_node.h"
#include "supervisor/audit_repeat.h"
#include "supervisor/audit_sink.h"
#include "supervisor/clock.h"
#include "supervisor/message.h"

#define QUEUE_LIMIT (1024 * 1024)
/* Records of the supervisor itself find room when events do not. */
#define RECORD_RESERVE (64 * 1024)
#define LINE_LIMIT     (16 * 1024 * 1024)
#define CLOSE_MS       2000
/* What an fsync() may take on top before the thread is left to itself. */
#define SYNC_MS	 3000
#define RETRY_MS 100
#define DROPS_MS 100

struct drops {
	uint64_t allowed, denied, records;
};

struct audit {
	pthread_mutex_t lock;
	pthread_cond_t work; /* for the writer: a node, or closing */
	pthread_cond_t room; /* for waiting denials */
	pthread_cond_t end;  /* for audit_close(): done */
	pthread_t thread;
	bool started, closing, done;
	uint64_t close_by;

	struct audit_node *head, **tail;
	size_t queued; /* bytes */
	unsigned int waiting;
	uint64_t wait_left;	/* ms of the budget */
	struct drops drops;	/* not told in the trail yet */
	uint64_t drops_written; /* when, in monotonic ms */
	bool drop_told;		/* on stderr */
	struct repeat_table repeats;

	_Atomic uint64_t allowed, denied, dropped;

	/* Fixed after audit_open(). */
	bool has_sink, level_all, stderr_messages;
	char *session;
	struct siphash_key key;
	struct message *messages;

	/* The writer's own. */
	struct audit_sink sink;
	struct jsonw line;
	uint64_t seq;
	bool error_told;
};

/* What the writer does next. */
struct job {
	struct audit_node *node; /* NULL: tell the drops */
	struct timespec ts;	 /* of the last repeat */
	uint64_t repeat;
	struct drops drops;
};

/* Until the time, of the monotonic clock. */
static int cond_wait_until(pthread_cond_t *c, pthread_mutex_t *lock, uint64_t ms)
{
	struct timespec ts = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};

	return pthread_cond_timedwait(c, lock, &ts);
}

static void audit_free(struct audit *a)
{
	for (struct audit_node *n = a->head, *next; n; n = next) {
		next = n->next;
		n->queued = false;
		audit_node_put(n);
	}
	struct repeat_slot s;
	while (repeat_take(&a->repeats, 0, true, &s))
		audit_node_put(s.node);
	audit_sink_close(&a->sink);
	jsonw_free(&a->line);
	pthread_cond_destroy(&a->work);
	pthread_cond_destroy(&a->room);
	pthread_cond_destroy(&a->end);
	pthread_mutex_destroy(&a->lock);
	free(a->session);
	free(a);
}

struct audit *audit_open(const struct audit_opts *o, char *err, size_t size)
{
	struct audit *a = calloc(1, sizeof(*a));
	pthread_condattr_t attr;

	if (!a) {
		snprintf(err, size, "audit trail: out of memory");
		return NULL;
	}
	pthread_mutex_init(&a->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&a->work, &attr);
	pthread_cond_init(&a->room, &attr);
	pthread_cond_init(&a->end, &attr);
	pthread_condattr_destroy(&attr);
	a->tail = &a->head;
	a->sink = (struct audit_sink){.out.fd = -1, .dir = -1};
	jsonw_init(&a->line, LINE_LIMIT);
	siphash_key_make(&a->key);
	a->level_all = o->level == AUDIT_ALL;
	a->stderr_messages = o->stderr_messages;
	a->has_sink = o->file != NULL;
	a->session = strdup(o->session ? o->session : "");
	int r = a->session ? 0 : -1;
	if (r < 0)
		snprintf(err, size, "audit trail: out of memory");
	if (r == 0 && a->has_sink)
		r = audit_sink_open(&a->sink, o->file, o->stderr_fd, err, size);
	if (r < 0) {
		audit_free(a);
		return NULL;
	}
	a->messages = o->stderr_fd >= 0 ? message_open(o->stderr_fd, a->sink.name) : NULL;
	return a;
}

int audit_fd(const struct audit *a)
{
	return a->sink.out.fd;
}

struct message *audit_messages(const struct audit *a)
{
	return a->messages;
}

bool audit_wants_allowed(const struct audit *a)
{
	return a->has_sink && a->level_all;
}

struct audit_totals audit_totals(const struct audit *a)
{
	return (struct audit_totals){atomic_load(&a->allowed), atomic_load(&a->denied),
				     atomic_load(&a->dropped)};
}

/* The emitting side. */

static void drop_count(struct audit *a, uint64_t *counter, uint64_t n)
{
	*counter += n;
	atomic_fetch_add(&a->dropped, n);
	if (a->drop_told)
		return;
	a->drop_told = true;
	message_warn(a->messages, "audit trail %s takes no more for now; dropped records are counted in it",
		     a->sink.name);
}

static bool queue_has_room(const struct audit *a, size_t size, size_t limit)
{
	return size <= limit && a->queued <= limit - size;
}

static bool queue_wait(struct audit *a, size_t size, size_t limit)
{
	uint64_t from = clock_ms(), by = from + a->wait_left;

	if (!a->started || size > limit)
		return false;
	a->waiting++;
	while (!queue_has_room(a, size, limit) && a->wait_left > 0 && !a->closing)
		if (cond_wait_until(&a->room, &a->lock, by) == ETIMEDOUT)
			break;
	a->waiting--;
	uint64_t spent = clock_ms() - from;
	a->wait_left -= spent < a->wait_left ? spent : a->wait_left;
	bool room = queue_has_room(a, size, limit);
	/* Less than the clock can tell must not be waited for again and again. */
	if (!room)
		a->wait_left = 0;
	return room;
}

static void queue_push(struct audit *a, struct audit_node *n)
{
	n->queued = true;
	*a->tail = n;
	a->tail = &n->next;
	a->queued += n->size;
	pthread_cond_signal(&a->work);
}

void audit_emit(struct audit *a, const struct event *e)
{
	atomic_fetch_add_explicit(e->denied ? &a->denied : &a->allowed, 1, memory_order_relaxed);
	if (e->denied && e->message && a->stderr_messages)
		message_refusal(a->messages, e->message, e->suggestion);
	if (!a->has_sink || (!e->denied && !a->level_all))
		return;
	struct audit_node *n = audit_node_event(e, &a->key);
	pthread_mutex_lock(&a->lock);
	if (n && e->denied && repeat_count(&a->repeats, n, clock_ms())) {
		/* No room needed. The writer knows when the window ends: it was woken when it began. */
	} else if (n && (queue_has_room(a, n->size, QUEUE_LIMIT) ||
			 (e->denied && queue_wait(a, n->size, QUEUE_LIMIT)))) {
		queue_push(a, n);
		if (e->denied)
			repeat_track(&a->repeats, n, clock_ms());
		n = NULL;
	} else {
		drop_count(a, e->denied ? &a->drops.denied : &a->drops.allowed, 1);
	}
	audit_node_put(n);
	pthread_mutex_unlock(&a->lock);
}

void audit_emit_record(struct audit *a, const char *kind, const char *json_members)
{
	const size_t limit = QUEUE_LIMIT + RECORD_RESERVE;

	if (!a->has_sink)
		return;
	struct audit_node *n = audit_node_record(kind, json_members);
	pthread_mutex_lock(&a->lock);
	/* An empty queue takes any size: the command in the first record may be long. */
	if (n && (!a->head || queue_has_room(a, n->size, limit) || queue_wait(a, n->size, limit))) {
		queue_push(a, n);
		n = NULL;
	} else {
		drop_count(a, &a->drops.records, 1);
	}
	audit_node_put(n);
	pthread_mutex_unlock(&a->lock);
}

/* The writing side. */

/* Drops are told first, though in an overload not after each line. Repeats are told when their window ends, and all of them before a
 * record, so that the last record of a session is the last line. Called with the lock. */
static bool job_take(struct audit *a, struct job *j)
{
	struct repeat_slot s;
	struct audit_node *n = a->head;
	uint64_t now = clock_ms();

	memset(j, 0, sizeof(*j));
	if ((a->drops.allowed || a->drops.denied || a->drops.records) &&
	    (!n || n->record || now - a->drops_written >= DROPS_MS)) {
		a->drops_written = now;
		j->drops = a->drops;
		memset(&a->drops, 0, sizeof(a->drops));
		return true;
	}
	if (repeat_take(&a->repeats, now, n ? n->record : a->closing, &s)) {
		j->node = s.node;
		j->ts = s.last;
		j->repeat = s.count;
		return true;
	}
	if (!n)
		return false;
	a->head = n->next;
	if (!a->head)
		a->tail = &a->head;
	n->next = NULL;
	n->queued = false;
	a->queued -= n->size;
	if (a->queued <= QUEUE_LIMIT / 2)
		a->wait_left = AUDIT_WAIT_MS;
	if (a->waiting > 0)
		pthread_cond_broadcast(&a->room);
	j->node = n;
	return true;
}

static void job_render(struct audit *a, const struct job *j)
{
	struct jsonw *w = &a->line;
	struct timespec now;

	if (j->node) {
		audit_node_render(w, j->node, a->session, a->seq + 1, j->repeat, j->repeat ? &j->ts : NULL);
		return;
	}
	clock_gettime(CLOCK_REALTIME, &now);
	audit_node_head(w, &now, a->seq + 1, a->session, "dropped");
	jsonw_member_uint(w, "allowed", j->drops.allowed);
	jsonw_member_uint(w, "denied", j->drops.denied);
	if (j->drops.records)
		jsonw_member_uint(w, "records", j->drops.records);
	jsonw_object_end(w);
	jsonw_newline(w);
}

/* Gives a job that cannot be written back to the counts. Called with the lock. */
static void job_drop(struct audit *a, const struct job *j)
{
	uint64_t n = j->repeat ? j->repeat : 1;

	if (!j->node) { /* counted in dropped when they were made */
		a->drops.allowed += j->drops.allowed;
		a->drops.denied += j->drops.denied;
		a->drops.records += j->drops.records;
	} else {
		drop_count(a,
			   j->node->record   ? &a->drops.records
			   : j->node->denied ? &a->drops.denied
					     : &a->drops.allowed,
			   n);
	}
}

/* After a write that did not succeed. False when the session ends and the sink has had its time. */
static bool writer_pause(struct audit *a, int error)
{
	pthread_mutex_lock(&a->lock);
	bool late = a->closing && clock_ms() >= a->close_by;
	if (!late && error != -EAGAIN && !a->error_told) {
		message_warn(a->messages, "audit trail %s: %s; trying again", a->sink.name, strerror(-error));
		a->error_told = true;
	}
	pthread_mutex_unlock(&a->lock);
	if (late)
		return false;
	outfd_wait(error == -EAGAIN ? &a->sink.out : NULL, RETRY_MS);
	return true;
}

enum written { WRITTEN, UNWRITABLE, GIVEN_UP };

static enum written job_write(struct audit *a, const struct job *j)
{
	int r;

	job_render(a, j);
	/* Pauses, since a count of drops that cannot be rendered comes back at once. */
	if (!jsonw_ok(&a->line))
		return writer_pause(a, -ENOMEM) ? UNWRITABLE : GIVEN_UP;
	while ((r = audit_sink_write(&a->sink, a->line.buf, a->line.len)) < 0) {
		bool goes_on = writer_pause(a, r);
		/* EMSGSIZE: a datagram socket, and this line is too long for it. */
		if (goes_on && r != -EMSGSIZE)
			continue;
		audit_sink_skip(&a->sink);
		return goes_on ? UNWRITABLE : GIVEN_UP;
	}
	a->seq++;
	return WRITTEN;
}

/* The session ends with a sink that takes nothing: what is lost is told on stderr. Called with the lock. */
static void writer_give_up(struct audit *a)
{
	struct job j;
	struct drops sum = {0};

	do {
		sum.allowed += a->drops.allowed;
		sum.denied += a->drops.denied;
		sum.records += a->drops.records;
		memset(&a->drops, 0, sizeof(a->drops));
		if (!job_take(a, &j))
			break;
		job_drop(a, &j);
		audit_node_put(j.node);
	} while (true);
	message_warn(a->messages,
		     "audit trail %s takes nothing: lost at the end: %llu denied, %llu allowed, %llu other "
		     "records",
		     a->sink.name, (unsigned long long)sum.denied, (unsigned long long)sum.allowed,
		     (unsigned long long)sum.records);
}

/* Called with the lock; false when the session ends. */
static bool writer_wait(struct audit *a)
{
	if (a->closing)
		return false;
	uint64_t due = repeat_due(&a->repeats);
	if (due)
		cond_wait_until(&a->work, &a->lock, due);
	else
		pthread_cond_wait(&a->work, &a->lock);
	return true;
}

static void *writer_main(void *arg)
{
	struct audit *a = arg;
	struct job j;
	bool going = true;

	pthread_mutex_lock(&a->lock);
	while (going) {
		if (!job_take(a, &j)) {
			going = writer_wait(a);
			continue;
		}
		pthread_mutex_unlock(&a->lock);
		enum written w = job_write(a, &j);
		pthread_mutex_lock(&a->lock);
		if (w == GIVEN_UP) /* told below, with the counts */
			a->drop_told = true;
		if (w != WRITTEN)
			job_drop(a, &j);
		audit_node_put(j.node);
		if (w == GIVEN_UP) {
			writer_give_up(a);
			going = false;
		}
	}
	pthread_mutex_unlock(&a->lock);
	audit_sink_sync(&a->sink);
	pthread_mutex_lock(&a->lock);
	a->done = true;
	pthread_cond_signal(&a->end);
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

int audit_start(struct audit *a)
{
	int r = message_start(a->messages);

	if (r < 0 || !a->has_sink || a->started)
		return r;
	pthread_mutex_lock(&a->lock);
	a->wait_left = AUDIT_WAIT_MS;
	r = outfd_thread_start(&a->thread, writer_main, a);
	a->started = r == 0;
	pthread_mutex_unlock(&a->lock);
	return r;
}

/* A process that never started the writer (the other side of a fork) writes nothing: what was queued
 * before is the starter's. */
void audit_close(struct audit *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->closing = true;
	a->close_by = clock_ms() + CLOSE_MS;
	pthread_cond_signal(&a->work);
	pthread_cond_broadcast(&a->room);
	uint64_t by = a->close_by + SYNC_MS;
	int r = 0;
	while (a->started && !a->done && r != ETIMEDOUT)
		r = cond_wait_until(&a->end, &a->lock, by);
	bool stuck = a->started && !a->done;
	struct message *m = a->messages;
	if (stuck)
		message_warn(m, "audit trail %s: a write does not return; left behind", a->sink.name);
	a->messages = NULL;
	pthread_mutex_unlock(&a->lock);
	if (stuck) { /* it keeps what it uses, and will not outlive the process */
		pthread_detach(a->thread);
	} else {
		if (a->started)
			pthread_join(a->thread, NULL);
		audit_free(a);
	}
	message_close(m);
}
