#include "supervisor/elders.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/listing.h"
#include "supervisor/lockdown.h"
#include "supervisor/member.h"

OWN_CALLS(OWN_FRONT, OWN(openat), OWN(close), OWN(read));

/* Longer than the line that is looked for. */
#define KEEP 64

/* Nobody reaps it before the end of the session, so its number is not used again until then. */
struct elder {
	pid_t pid;
	unsigned long long start;
};

/* Zombies count: the number of one is kept as well. */
static bool has_children(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
}

static int append(struct elders *e, pid_t pid, unsigned long long start)
{
	struct elder *list = reallocarray(e->list, e->n + 1, sizeof(*list));

	if (!list)
		return -ENOMEM;
	e->list = list;
	list[e->n++] = (struct elder){pid, start};
	return 0;
}

/* /proc/self/task/TID/children may leave some out, and is not there on each kernel. */
static int note_children(struct elders *e, const struct session *s)
{
	DIR *d = listing_open(openat(s->proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	struct member_stat st;
	struct dirent *entry;
	int rc = 0;

	if (!d)
		return -errno;
	while (rc == 0 && (entry = readdir(d))) {
		pid_t pid = isdigit((unsigned char)entry->d_name[0]) ? atoi(entry->d_name) : 0;

		if (pid && member_stat(s, pid, &st) && st.ppid == s->supervisor)
			rc = append(e, pid, st.start);
	}
	closedir(d);
	return rc;
}

/* How many seccomp filters it has. A list of groups before that line may be long. */
static bool count_filters(const struct session *s, pid_t pid, unsigned *filters)
{
	static const char key[] = "\nSeccomp_filters:";
	char name[32], text[4096];
	const char *p = NULL;
	size_t have = 0;
	ssize_t n;
	int fd;

	snprintf(name, sizeof(name), "%d/status", pid);
	fd = openat(s->proc, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	while (!p && (n = read(fd, text + have, sizeof(text) - 1 - have)) > 0) {
		have += (size_t)n;
		text[have] = '\0';
		p = strstr(text, key);
		if (p && strchr(p + 1, '\n')) {
			*filters = (unsigned)strtoul(p + sizeof(key) - 1, NULL, 10);
		} else if (have > KEEP) { /* the next piece may end what this one begins */
			memmove(text, text + have - KEEP, KEEP);
			have = KEEP;
			p = NULL;
		}
	}
	close(fd);
	return p != NULL;
}

int elders_note(struct elders *e)
{
	struct session self = {.supervisor = getpid()};
	int rc;

	*e = (struct elders){0};
	if (!has_children())
		return 0;
	self.proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (self.proc < 0)
		return -errno;
	rc = count_filters(&self, self.supervisor, &e->filters) ? note_children(e, &self) : -ENODATA;
	close(self.proc);
	return rc;
}

static bool is_noted(const struct elders *e, pid_t pid, unsigned long long start)
{
	for (size_t i = 0; i < e->n; i++)
		if (e->list[i].pid == pid && e->list[i].start == start)
			return true;
	return false;
}

/* Below one that was noted? When a parent ends during the walk, its children have another one by now. */
static bool is_below(const struct elders *e, const struct session *s, pid_t first)
{
	struct member_stat st;
	pid_t pid = first;

	for (int depth = 0; depth < 65536 && pid > 1 && pid != s->supervisor; depth++) {
		if (member_stat(s, pid, &st)) {
			if (is_noted(e, pid, st.start))
				return true;
			pid = st.ppid;
		} else if (pid != first) {
			pid = first;
		} else {
			return false;
		}
	}
	return false;
}

bool elders_has(const struct elders *e, const struct session *s, pid_t pid)
{
	struct member_stat st;
	unsigned filters;

	if (!member_stat(s, pid, &st) || st.start < e->since)
		return true;
	if (e->n == 0)
		return false;
	/* What they left behind is known by what it lacks: nobody gets rid of a filter. */
	return is_below(e, s, pid) || (count_filters(s, pid, &filters) && filters <= e->filters);
}
