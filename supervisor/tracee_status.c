/*
 * /proc/TID/status: who a thread is. Part of tracee.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/lockdown.h"
#include "supervisor/tracee.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(openat), OWN(close), OWN(read));

/* Most threads fit into the first; as many groups as there can be, of eleven bytes each, into the second. */
#define STATUS_USUAL 4096
#define STATUS_MOST  (STATUS_USUAL + NGROUPS_MAX * 11)

/* The length, or -errno; -E2BIG when there is more than fits. */
static ssize_t read_into(const struct session *s, pid_t tid, char *buf, size_t size)
{
	size_t have = 0;
	char name[32];
	ssize_t n;
	int fd;

	snprintf(name, sizeof(name), "%d/status", tid);
	fd = openat(s->proc, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while ((n = read(fd, buf + have, size - 1 - have)) > 0)
		have += (size_t)n;
	n = n < 0 ? -errno : (ssize_t)have;
	close(fd);
	buf[have] = '\0';
	return have == size - 1 ? -E2BIG : n;
}

/* The text, in usual or allocated (*large, to be freed). NULL: *err says why. */
static const char *read_status(const struct session *s, pid_t tid, char *usual, char **large, int *err)
{
	ssize_t n = read_into(s, tid, usual, STATUS_USUAL);
	const char *text = usual;

	*large = NULL;
	if (n == -E2BIG) {
		text = *large = malloc(STATUS_MOST);
		n = text ? read_into(s, tid, *large, STATUS_MOST) : -ENOMEM;
	}
	/* The command name comes first and is the workload's; the kernel escapes newlines in it. */
	text = n >= 0 ? strchr(text, '\n') : NULL;
	if (!text) {
		free(*large);
		*large = NULL;
		*err = n < 0 ? (int)n : -EIO;
	}
	return text;
}

static const char *field(const char *buf, const char *key)
{
	const char *p = strstr(buf, key);

	return p ? p + strlen(key) : NULL;
}

static void parse_ids(const char *p, unsigned out[4])
{
	for (int i = 0; p && i < 4; i++)
		out[i] = (unsigned)strtoul(p, (char **)&p, 10);
}

static uint64_t parse_hex(const char *p)
{
	return p ? strtoull(p, NULL, 16) : 0;
}

static int parse(const char *p, struct tracee_status *st)
{
	memset(st, 0, sizeof(*st));
	if (!field(p, "\nTgid:\t") || !field(p, "\nUid:\t") || !field(p, "\nGid:\t") ||
	    !field(p, "\nUmask:\t") || !field(p, "\nCapEff:\t"))
		return -EIO;
	st->umask = (mode_t)strtoul(field(p, "\nUmask:\t"), NULL, 8);
	st->tgid = (pid_t)strtol(field(p, "\nTgid:\t"), NULL, 10);
	st->ppid = field(p, "\nPPid:\t") ? (pid_t)strtol(field(p, "\nPPid:\t"), NULL, 10) : 0;
	st->tracer = field(p, "\nTracerPid:\t") ? (pid_t)strtol(field(p, "\nTracerPid:\t"), NULL, 10) : 0;
	parse_ids(field(p, "\nUid:\t"), st->uid);
	parse_ids(field(p, "\nGid:\t"), st->gid);
	st->cap_effective = parse_hex(field(p, "\nCapEff:\t"));
	st->sig_pending = parse_hex(field(p, "\nSigPnd:\t"));
	st->sig_shared_pending = parse_hex(field(p, "\nShdPnd:\t"));
	st->sig_blocked = parse_hex(field(p, "\nSigBlk:\t"));
	st->threads = field(p, "\nThreads:\t") ? (int)strtol(field(p, "\nThreads:\t"), NULL, 10) : 0;
	return 0;
}

int tracee_status(const struct session *s, pid_t tid, struct tracee_status *st)
{
	char usual[STATUS_USUAL], *large;
	int rc = 0;
	const char *text = read_status(s, tid, usual, &large, &rc);

	if (text)
		rc = parse(text, st);
	free(large);
	return rc;
}

/* NULL groups: counts them. */
static int parse_groups(const char *p, gid_t *groups)
{
	int n = 0;

	while (*p != '\n' && *p) {
		char *end;
		unsigned long g = strtoul(p, &end, 10);

		if (end == p)
			break;
		if (groups)
			groups[n] = (gid_t)g;
		n++;
		p = end;
		while (*p == ' ')
			p++;
	}
	return n;
}

static int copy_groups(const char *text, gid_t **groups)
{
	const char *list = field(text, "\nGroups:\t");

	if (!list)
		return -EIO;
	*groups = calloc((size_t)parse_groups(list, NULL) + 1, sizeof(gid_t));
	return *groups ? parse_groups(list, *groups) : -ENOMEM;
}

int tracee_status_groups(const struct session *s, pid_t tid, struct tracee_status *st, gid_t **groups)
{
	char usual[STATUS_USUAL], *large;
	int rc = 0;
	const char *text = read_status(s, tid, usual, &large, &rc);

	*groups = NULL;
	if (text)
		rc = parse(text, st);
	if (text && rc == 0)
		rc = copy_groups(text, groups);
	free(large);
	return rc;
}

bool tracee_is_callers(const struct call *c, pid_t pid)
{
	struct tracee_status its, own;

	return pid > 0 && tracee_status(c->s, pid, &its) == 0 && tracee_status(c->s, c->tid, &own) == 0 &&
	       its.tgid == own.tgid;
}
