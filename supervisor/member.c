#include "supervisor/listing.h"
#include "supervisor/member.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/lockdown.h"

OWN_CALLS(OWN_BOTH, OWN(openat), OWN(close), OWN(read), OWN_READDIR);

bool member_stat(const struct session *s, pid_t pid, struct member_stat *st)
{
	char name[32], buf[1024];
	const char *p;
	ssize_t n;
	int fd;

	snprintf(name, sizeof(name), "%d/stat", pid);
	fd = openat(s->proc, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n <= 0)
		return false;
	buf[n] = '\0';
	/* The command name may hold anything; the last ')' ends it. */
	p = strrchr(buf, ')');
	return p && sscanf(p + 1,
			   " %c %d %d %d %d %d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu"
			   " %*u %*d %*u %*u %*u %llu",
			   &st->state, &st->ppid, &st->pgrp, &st->session, &st->tty_nr, &st->tpgid,
			   &st->flags, &st->start, &st->stack) == 9;
}

bool member_is(const struct session *s, pid_t pid)
{
	unsigned long long child_start = ULLONG_MAX;
	struct member_stat st;
	pid_t first = pid;
	bool gone;
	int odd = 0;

	/* A chain longer than all process numbers cannot be; it bounds a walk through a changing tree. */
	for (int depth = 0; depth < 65536 && pid > 1; depth++) {
		if (pid == s->supervisor)
			return false;
		gone = !member_stat(s, pid, &st);
		/* Without a parent, or not there at all: so it also looks for a moment when another thread than its first
		 * runs exec. */
		if ((gone ? pid == first : st.ppid == 0) && odd++ == 3)
			return false;
		/* A parent ended during the walk, and its children have another one by now. Nobody is younger than his children: such a
		 * number is one that was used again. */
		if (gone || st.ppid == 0 || st.start > child_start) {
			pid = first;
			child_start = ULLONG_MAX;
			continue;
		}
		child_start = st.start;
		if (st.ppid == s->supervisor)
			return pid != s->gateway_pid;
		pid = st.ppid;
	}
	return false;
}

bool member_each(const struct session *s, bool (*fn)(pid_t pid, void *arg), void *arg)
{
	DIR *d = listing_open(openat(s->proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	struct dirent *e;

	if (!d)
		return false;
	while ((e = readdir(d))) {
		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		if (member_is(s, atoi(e->d_name)) && !fn(atoi(e->d_name), arg))
			break;
	}
	closedir(d);
	return true;
}
