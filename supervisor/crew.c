#include "supervisor/crew.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>

#include "supervisor/compat.h"
#include "supervisor/dispatch.h"
#include "supervisor/ident.h"
#include "supervisor/lockdown.h"
#include "supervisor/notify.h"
#include "supervisor/pending.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(read), OWN(write), OWN(rt_sigprocmask), OWN(tgkill));

#define FIRST_WORKERS 2
#define MAX_WORKERS   256
#define STACK_SIZE    (128 * 1024)
/* A worker that takes longer is replaced as the receiver. */
#define STUCK_NS (20 * 1000 * 1000ULL)
/* Interrupts a system call of a blocked worker. */
#define SIGNAL_INTERRUPT SIGUSR1

enum state { PARKED, RECEIVING, BUSY };

struct worker {
	struct crew *crew;
	pthread_t thread;
	pthread_cond_t unpark;
	enum state state;
	crew_job *job; /* BUSY with a call that was put aside, with: */
	void *job_arg;
	unsigned maker; /* as whom it was made: see ident.h */
	uint64_t since; /* when it became busy */
	struct call call;
	/* A blocking operation, watched. Under crew->lock. */
	bool blocking, lingers;
	enum crew_wake wake;
	struct pending_polls polls;
	char path[CALL_PATHS][PATH_MAX];
	char name[CALL_PATHS][CALL_NAME_MAX];
};

struct crew {
	struct session *s;
	pthread_mutex_t lock;
	struct worker *workers[MAX_WORKERS];
	int count, receiving, parked;
	int wake_fd;
	atomic_bool watched; /* the main loop ticks */
	int idle_ticks;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static void *worker_main(void *arg);

/* Under crew->lock. */
static bool spawn(struct crew *crew, enum state state)
{
	pthread_attr_t attr;
	struct worker *w;
	bool ok;

	if (crew->count == MAX_WORKERS)
		return false;
	w = calloc(1, sizeof(*w));
	if (!w)
		return false;
	w->crew = crew;
	w->state = state;
	w->maker = ident_of_maker();
	pthread_cond_init(&w->unpark, NULL);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	ok = pthread_create(&w->thread, &attr, worker_main, w) == 0;
	pthread_attr_destroy(&attr);
	if (!ok) {
		free(w);
		return false;
	}
	crew->workers[crew->count++] = w;
	if (state == RECEIVING)
		crew->receiving++;
	else
		crew->parked++;
	return true;
}

/* Sends another worker to receive. Under crew->lock. */
static bool promote(struct crew *crew)
{
	for (int i = 0; i < crew->count && crew->parked > 0; i++) {
		struct worker *w = crew->workers[i];

		if (w->state != PARKED)
			continue;
		w->state = RECEIVING;
		crew->parked--;
		crew->receiving++;
		pthread_cond_signal(&w->unpark);
		return true;
	}
	return spawn(crew, RECEIVING);
}

/* Becomes the receiver, or waits to be needed when there is one: as such, or for a call that was put aside. */
static void take_turn(struct worker *w)
{
	struct crew *crew = w->crew;

	pthread_mutex_lock(&crew->lock);
	if (w->state == BUSY && !w->job) {
		if (crew->receiving > 0) {
			w->state = PARKED;
			crew->parked++;
		} else {
			w->state = RECEIVING;
			crew->receiving++;
		}
	}
	while (w->state == PARKED)
		pthread_cond_wait(&w->unpark, &crew->lock);
	pthread_mutex_unlock(&crew->lock);
}

static void begin_work(struct worker *w)
{
	struct crew *crew = w->crew;

	pthread_mutex_lock(&crew->lock);
	crew->receiving--;
	w->state = BUSY;
	w->since = now_ns();
	if (crew->receiving == 0 && notify_pending(crew->s->listener))
		promote(crew);
	pthread_mutex_unlock(&crew->lock);
	if (!atomic_load_explicit(&crew->watched, memory_order_relaxed) &&
	    !atomic_exchange(&crew->watched, true))
		eventfd_write(crew->wake_fd, 1);
}

static void lend_buffers(struct worker *w)
{
	for (int i = 0; i < CALL_PATHS; i++) {
		w->call.path[i] = w->path[i];
		w->call.name[i] = w->name[i];
		w->call.short_name[i] = NULL;
	}
}

static void prepare_call(struct worker *w, const struct seccomp_notif *n)
{
	struct call *c = &w->call;

	memset(&c->event, 0, sizeof(c->event));
	c->s = w->crew->s;
	c->worker = w;
	c->id = n->id;
	c->tid = (pid_t)n->pid;
	c->sysc = sysc_by_nr(n->data.nr);
	c->answered = false;
	c->held = false;
	c->recorded = false;
	c->passed = false;
	c->unreadable = false;
	c->message[0] = '\0';
	c->suggestion[0] = '\0';
	for (int i = 0; i < 6; i++)
		c->arg[i] = n->data.args[i];
	lend_buffers(w);
}

/* False when no task with the filter is left: nothing will ever come again. */
static bool receive(struct worker *w, struct seccomp_notif *n)
{
	int listener = w->crew->s->listener, rc;

	for (;;) {
		rc = notify_receive(listener, n);
		if (rc == 0)
			return true;
		/* A caller that died meanwhile looks like the end of all of them. */
		if (rc != -EINTR && (rc != -ENOENT || notify_is_over(listener)))
			return false;
	}
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct seccomp_notif n;

	ident_begin_thread(w->crew->s, w->maker);
	for (;;) {
		take_turn(w);
		if (w->job) {
			crew_job *job = w->job;

			w->job = NULL;
			dispatch_again(&w->call, job, w->job_arg);
			continue;
		}
		if (!receive(w, &n))
			return NULL;
		begin_work(w);
		prepare_call(w, &n);
		dispatch(&w->call);
	}
}

/* Where this thread goes on when it is interrupted in a call that would else begin again. */
static _Thread_local sigjmp_buf *abandon;

static void interrupted(int sig)
{
	(void)sig;
	if (abandon)
		siglongjmp(*abandon, 1);
}

bool crew_abandonable(int (*fn)(void *arg), void *arg, int *rc)
{
	sigjmp_buf here;

	/* The mask is not kept: crew_block_end() sets it. */
	if (sigsetjmp(here, 0)) {
		abandon = NULL;
		return false;
	}
	abandon = &here;
	*rc = fn(arg);
	abandon = NULL;
	return true;
}

struct crew *crew_start(struct session *s)
{
	struct sigaction sa = {.sa_handler = interrupted};
	struct crew *crew = calloc(1, sizeof(*crew));
	bool ok;

	if (!crew)
		return NULL;
	crew->s = s;
	pthread_mutex_init(&crew->lock, NULL);
	crew->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	sigaction(SIGNAL_INTERRUPT, &sa, NULL);
	pthread_mutex_lock(&crew->lock);
	ok = crew->wake_fd >= 0;
	for (int i = 0; ok && i < FIRST_WORKERS; i++)
		ok = spawn(crew, PARKED);
	pthread_mutex_unlock(&crew->lock);
	return ok ? crew : NULL;
}

void crew_receive(struct crew *crew)
{
	pthread_mutex_lock(&crew->lock);
	promote(crew);
	pthread_mutex_unlock(&crew->lock);
}

int crew_wake_fd(struct crew *crew)
{
	return crew->wake_fd;
}

bool crew_is_busy(struct crew *crew)
{
	return atomic_load(&crew->watched);
}

/* A blocked caller that is looked at. Looking takes some calls each, so it is done without crew->lock. */
struct watched {
	struct worker *worker;
	uint64_t id;
	pid_t tid;
	struct pending_polls polls;
	enum crew_wake wake;
};

static void watch_look(struct session *s, struct watched *b)
{
	if (b->wake != CREW_DONE)
		return;
	if (!notify_valid(s->listener, b->id))
		b->wake = CREW_GONE;
	else if (pending_wakes(s, b->tid, &b->polls))
		b->wake = CREW_SIGNAL;
}

/* Under crew->lock. The worker may have another call by now. The signal may come before it is in its system call: it is
 * sent again each tick. */
static void watch_wake(const struct watched *b)
{
	struct worker *w = b->worker;

	if (!w->blocking || w->call.id != b->id)
		return;
	w->polls = b->polls;
	w->wake = b->wake;
	if (w->wake != CREW_DONE)
		pthread_kill(w->thread, SIGNAL_INTERRUPT);
}

static void watch(struct crew *crew, struct watched *blocked, int n)
{
	if (n == 0)
		return;
	for (int i = 0; i < n; i++)
		watch_look(crew->s, &blocked[i]);
	pthread_mutex_lock(&crew->lock);
	for (int i = 0; i < n; i++)
		watch_wake(&blocked[i]);
	pthread_mutex_unlock(&crew->lock);
}

void crew_tick(struct crew *crew)
{
	struct watched blocked[MAX_WORKERS];
	uint64_t now = now_ns();
	bool busy = false;
	uint64_t x;
	int n = 0;

	if (eventfd_read(crew->wake_fd, &x) < 0)
		x = 0;
	pthread_mutex_lock(&crew->lock);
	for (int i = 0; i < crew->count; i++) {
		struct worker *w = crew->workers[i];

		if (w->state != BUSY)
			continue;
		busy = true;
		if (w->blocking)
			blocked[n++] = (struct watched){w, w->call.id, w->call.tid, w->polls, w->wake};
		if ((!w->blocking || w->lingers) && crew->receiving == 0 && now - w->since > STUCK_NS)
			promote(crew);
	}
	/* Under the lock that a worker takes to become busy: one that does so later sees that nobody watches. */
	crew->idle_ticks = busy ? 0 : crew->idle_ticks + 1;
	if (crew->idle_ticks > 10)
		atomic_store(&crew->watched, false);
	pthread_mutex_unlock(&crew->lock);
	watch(crew, blocked, n);
}

/* The interrupting signal is let in only here: in the middle of an answer it would leave open whether the answer was
 * given. */
static void mask_interrupt(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGNAL_INTERRUPT);
	pthread_sigmask(how, &set, NULL);
}

bool crew_step_aside(struct call *c)
{
	struct crew *crew = c->worker->crew;
	bool ok;

	pthread_mutex_lock(&crew->lock);
	ok = crew->receiving > 0 || promote(crew);
	pthread_mutex_unlock(&crew->lock);
	return ok;
}

bool crew_take_up(const struct call *c, crew_job *job, void *arg)
{
	struct crew *crew = c->worker->crew;
	struct worker *w = NULL;

	pthread_mutex_lock(&crew->lock);
	for (int i = 0; i < crew->count && !w && crew->parked > 0; i++)
		w = crew->workers[i]->state == PARKED ? crew->workers[i] : NULL;
	if (!w && spawn(crew, PARKED))
		w = crew->workers[crew->count - 1];
	if (w) {
		crew->parked--;
		w->state = BUSY;
		w->since = now_ns();
		w->job = job;
		w->job_arg = arg;
		call_copy(&w->call, c);
		w->call.worker = w;
		lend_buffers(w);
		pthread_cond_signal(&w->unpark);
	}
	pthread_mutex_unlock(&crew->lock);
	if (w && !atomic_exchange(&crew->watched, true))
		eventfd_write(crew->wake_fd, 1);
	return w;
}

static void be_watched(struct worker *w, bool lingers)
{
	pthread_mutex_lock(&w->crew->lock);
	w->blocking = true;
	w->lingers = lingers;
	w->wake = CREW_DONE;
	w->polls = (struct pending_polls){0};
	pthread_mutex_unlock(&w->crew->lock);
	mask_interrupt(SIG_UNBLOCK);
}

bool crew_block_begin(struct call *c)
{
	if (!crew_step_aside(c))
		return false;
	be_watched(c->worker, false);
	return true;
}

void crew_linger_begin(struct call *c)
{
	be_watched(c->worker, true);
}

enum crew_wake crew_block_end(struct call *c)
{
	struct worker *w = c->worker;
	enum crew_wake wake;

	mask_interrupt(SIG_BLOCK);
	pthread_mutex_lock(&w->crew->lock);
	w->blocking = false;
	wake = w->wake;
	pthread_mutex_unlock(&w->crew->lock);
	return wake;
}
