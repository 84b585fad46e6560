#include "supervisor/dumpable.h"

#include <pthread.h>

#include "supervisor/ident.h"
#include "supervisor/member.h"

#define LIST_MAX 1024
/* Children of children that did not run exec. */
#define GENERATIONS 8

/* One memory: the process that it belongs to, and the address of its first stack, which exec chooses anew. */
struct memory {
	pid_t pid;
	unsigned long long start, stack;
	bool dumpable;
};

static struct {
	pthread_mutex_t lock;
	struct memory list[LIST_MAX];
	unsigned next;
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Under the lock. The address is 0 where the kernel does not show it. */
static struct memory *find(pid_t pid, const struct member_stat *st)
{
	for (int i = 0; i < LIST_MAX; i++) {
		struct memory *m = &known.list[i];

		if (m->pid == pid && m->start == st->start &&
		    (m->stack == st->stack || !m->stack || !st->stack))
			return m;
	}
	return NULL;
}

/* The address is shown to those only who may look into the process. */
bool dumpable_look(const struct session *s, pid_t pid, struct member_stat *st)
{
	bool raised = ident_look_begin(), there = member_stat(s, pid, st);

	if (raised)
		ident_look_end();
	return there;
}

void dumpable_set(pid_t pid, const struct member_stat *st, bool dumpable)
{
	struct memory *m;

	pthread_mutex_lock(&known.lock);
	m = find(pid, st);
	if (!m)
		m = &known.list[known.next++ % LIST_MAX];
	*m = (struct memory){pid, st->start, st->stack, dumpable};
	pthread_mutex_unlock(&known.lock);
}

bool dumpable_get(const struct session *s, pid_t pid)
{
	struct member_stat st, parent;
	bool dumpable = true;
	struct memory *m;

	if (!dumpable_look(s, pid, &st))
		return true;
	parent = st;
	pthread_mutex_lock(&known.lock);
	m = find(pid, &st);
	for (int i = 0; !m && st.stack && i < GENERATIONS && parent.ppid != s->supervisor; i++) {
		pid = parent.ppid;
		if (!dumpable_look(s, pid, &parent))
			break;
		if (parent.stack == st.stack)
			m = find(pid, &parent);
	}
	if (m)
		dumpable = m->dumpable;
	pthread_mutex_unlock(&known.lock);
	return dumpable;
}
