#include "supervisor/asker.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "supervisor/lockdown.h"
#include "supervisor/tracee.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(openat), OWN(close), OWN(read), OWN(readlinkat));

static struct bytes read_link(struct session *s, pid_t tid, const char *what, char *buf, size_t size)
{
	char name[32];
	ssize_t n;

	snprintf(name, sizeof(name), "%d/%s", tid, what);
	n = readlinkat(s->proc, name, buf, size);
	return (struct bytes){buf, n > 0 ? (size_t)n : 0};
}

static struct bytes read_comm(struct session *s, pid_t tid, char *buf, size_t size)
{
	char name[32];
	ssize_t n = 0;
	int fd;

	snprintf(name, sizeof(name), "%d/comm", tid);
	fd = openat(s->proc, name, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, buf, size);
		close(fd);
	}
	if (n > 0 && buf[n - 1] == '\n')
		n--;
	return (struct bytes){buf, n > 0 ? (size_t)n : 0};
}

void asker_look(struct session *s, pid_t tid, struct asker *who, struct event *e)
{
	struct tracee_status st;

	e->comm = read_comm(s, tid, who->comm, sizeof(who->comm));
	e->exe = read_link(s, tid, "exe", who->exe, sizeof(who->exe));
	e->cwd = read_link(s, tid, "cwd", who->cwd, sizeof(who->cwd));
	e->tid = tid;
	if (tracee_status(s, tid, &st) == 0) {
		e->pid = st.tgid;
		e->ppid = st.ppid;
	}
}
