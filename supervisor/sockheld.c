#include "supervisor/sockheld.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/ident.h"
#include "supervisor/listing.h"
#include "supervisor/lockdown.h"
#include "supervisor/member.h"
#include "supervisor/session.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(openat), OWN(close), OWN(read), OWN_READDIR, OWN(readlinkat));

struct visit {
	struct session *s;
	const struct sockheld *told;
	void *arg;
};

/* A table of descriptors, in /proc. */
struct table {
	char name[40]; /* PID or PID/task/TID */
	bool seen;     /* false: it may not be looked at */
	bool empty;
};

static bool is_gone(int err)
{
	return err == ENOENT || err == ESRCH;
}

/* How many descriptors wait in a Unix socket, those in connections that it did not accept yet included (Linux 5.6). */
static bool has_waiting(struct visit *v, const struct table *t, const char *number)
{
	char name[320], text[512], *count;
	ssize_t n;
	int fd;

	snprintf(name, sizeof(name), "%s/fdinfo/%s", t->name, number);
	fd = openat(v->s->proc, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return !is_gone(errno);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n < 0)
		return true;
	text[n] = '\0';
	count = strstr(text, "scm_fds:");
	return count && atoi(count + 8) > 0;
}

static void look_at(struct visit *v, struct table *t, int dir, const char *number)
{
	char link[64];
	ssize_t n = readlinkat(dir, number, link, sizeof(link) - 1);

	if (n < 0 && !is_gone(errno))
		t->seen = false;
	if (n < 9 || strncmp(link, "socket:[", 8) != 0)
		return;
	link[n] = '\0';
	if (v->told->held(v->s, strtoull(link + 8, NULL, 10), v->arg) && has_waiting(v, t, number))
		v->told->in_flight(v->s, v->arg);
}

/* seen also when it is gone. */
static void visit_table(struct visit *v, struct table *t)
{
	char name[sizeof(t->name) + 4];
	struct dirent *e;
	DIR *d;

	snprintf(name, sizeof(name), "%s/fd", t->name);
	d = listing_open(openat(v->s->proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	t->seen = d || is_gone(errno);
	t->empty = true;
	while (d && t->seen && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		t->empty = false;
		look_at(v, t, dirfd(d), e->d_name);
	}
	if (d)
		closedir(d);
}

/* Those of its threads. */
static bool visit_threads(struct visit *v, pid_t pid)
{
	char name[32];
	struct table t;
	struct dirent *e;
	bool seen = true;
	DIR *d;

	snprintf(name, sizeof(name), "%d/task", pid);
	d = listing_open(openat(v->s->proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	if (!d)
		return is_gone(errno);
	while (seen && (e = readdir(d))) {
		if (e->d_name[0] == '.' || atoi(e->d_name) == pid)
			continue;
		snprintf(t.name, sizeof(t.name), "%d/task/%d", pid, atoi(e->d_name));
		visit_table(v, &t);
		seen = t.seen;
	}
	closedir(d);
	return seen;
}

/* True also when it has ended. The table of a first thread that has ended before others is empty. */
static bool visit(struct visit *v, pid_t pid)
{
	struct table t;

	snprintf(t.name, sizeof(t.name), "%d", pid);
	visit_table(v, &t);
	if (!t.seen || (!t.empty && !atomic_load(&v->s->tables_apart)))
		return t.seen;
	return visit_threads(v, pid);
}

/* Without CAP_SYS_PTRACE not even root may look at another user's process: only that user may. */
static bool visit_as_itself(struct visit *v, pid_t pid)
{
	bool raised, seen;

	if (!ident_other_begin(v->s, pid))
		return false;
	raised = ident_look_begin();
	seen = visit(v, pid);
	if (raised)
		ident_look_end();
	ident_other_end(v->s);
	return seen;
}

static bool visit_member(pid_t pid, void *arg)
{
	struct visit *v = arg;

	if (!visit(v, pid) && !visit_as_itself(v, pid) && v->told->shut)
		v->told->shut(v->s, pid, v->arg);
	return true;
}

bool sockheld_each(struct session *s, const struct sockheld *told, void *arg)
{
	struct visit v = {s, told, arg};

	return member_each(s, visit_member, &v);
}
