#include "supervisor/sockheld.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/ident.h"
#include "supervisor/lockdown.h"
#include "supervisor/member.h"
#include "supervisor/session.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(openat), OWN(close), OWN_READDIR, OWN(readlinkat));

struct visit {
	struct session *s;
	void (*held)(struct session *s, uint64_t inode, void *arg);
	void (*shut)(struct session *s, pid_t pid, void *arg); /* or NULL */
	void *arg;
};

static bool is_gone(int err)
{
	return err == ENOENT || err == ESRCH;
}

/* False: it may not be looked at, or not any more. */
static bool visit_numbers(struct visit *v, DIR *d)
{
	char link[64];
	struct dirent *e;

	while ((e = readdir(d))) {
		ssize_t n;

		if (e->d_name[0] == '.')
			continue;
		n = readlinkat(dirfd(d), e->d_name, link, sizeof(link) - 1);
		if (n < 0 && !is_gone(errno))
			return false;
		if (n < 9 || strncmp(link, "socket:[", 8) != 0)
			continue;
		link[n] = '\0';
		v->held(v->s, strtoull(link + 8, NULL, 10), v->arg);
	}
	return true;
}

/* True also when it has ended. */
static bool visit(struct visit *v, pid_t pid)
{
	char name[32];
	bool seen;
	DIR *d;
	int fd;

	snprintf(name, sizeof(name), "%d/fd", pid);
	fd = openat(v->s->proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return is_gone(errno);
	d = fdopendir(fd);
	if (!d) {
		close(fd);
		return false;
	}
	seen = visit_numbers(v, d);
	closedir(d);
	return seen;
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

	if (!visit(v, pid) && !visit_as_itself(v, pid) && v->shut)
		v->shut(v->s, pid, v->arg);
	return true;
}

bool sockheld_each(struct session *s, void (*held)(struct session *s, uint64_t inode, void *arg),
		   void (*shut)(struct session *s, pid_t pid, void *arg), void *arg)
{
	struct visit v = {s, held, shut, arg};

	return member_each(s, visit_member, &v);
}
