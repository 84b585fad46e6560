#include "supervisor/tracee.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/lockdown.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(openat), OWN(close), OWN(read));

/* The kernel gives a file of this kind whole, as far as there is room. */
static ssize_t read_file(struct session *s, const char *name, char *buf, size_t size)
{
	int fd = openat(s->proc, name, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, buf, size - 1);
	n = n < 0 ? -errno : n;
	close(fd);
	buf[n > 0 ? n : 0] = '\0';
	return n;
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

static int parse_groups(const char *p, gid_t *groups, int max)
{
	int n = 0;

	while (p && *p != '\n' && *p) {
		char *end;
		unsigned long g = strtoul(p, &end, 10);

		if (end == p)
			break;
		if (n == max)
			return -1;
		groups[n++] = (gid_t)g;
		p = end;
		while (*p == ' ')
			p++;
	}
	return n;
}

static uint64_t parse_hex(const char *p)
{
	return p ? strtoull(p, NULL, 16) : 0;
}

int tracee_status(struct session *s, pid_t tid, struct tracee_status *st)
{
	char name[32], buf[4096];
	const char *p;
	ssize_t n;

	snprintf(name, sizeof(name), "%d/status", tid);
	n = read_file(s, name, buf, sizeof(buf));
	if (n < 0)
		return (int)n;
	/* The command name comes first and is the workload's; the kernel escapes newlines in it. */
	p = strchr(buf, '\n');
	if (!p)
		return -EIO;
	memset(st, 0, sizeof(*st));
	n = 0;
	st->umask = field(p, "\nUmask:\t") ? (mode_t)strtoul(field(p, "\nUmask:\t"), NULL, 8) : 0;
	if (!field(p, "\nTgid:\t") || !field(p, "\nUid:\t") || !field(p, "\nGid:\t") ||
	    !field(p, "\nUmask:\t") || !field(p, "\nCapEff:\t"))
		return -EIO;
	st->tgid = (pid_t)strtol(field(p, "\nTgid:\t"), NULL, 10);
	st->ppid = field(p, "\nPPid:\t") ? (pid_t)strtol(field(p, "\nPPid:\t"), NULL, 10) : 0;
	st->tracer = field(p, "\nTracerPid:\t") ? (pid_t)strtol(field(p, "\nTracerPid:\t"), NULL, 10) : 0;
	parse_ids(field(p, "\nUid:\t"), st->uid);
	parse_ids(field(p, "\nGid:\t"), st->gid);
	st->n_groups =
		parse_groups(field(p, "\nGroups:\t"), st->groups, sizeof(st->groups) / sizeof(*st->groups));
	st->cap_effective = parse_hex(field(p, "\nCapEff:\t"));
	st->sig_pending = parse_hex(field(p, "\nSigPnd:\t"));
	st->sig_shared_pending = parse_hex(field(p, "\nShdPnd:\t"));
	st->sig_blocked = parse_hex(field(p, "\nSigBlk:\t"));
	st->threads = field(p, "\nThreads:\t") ? (int)strtol(field(p, "\nThreads:\t"), NULL, 10) : 0;
	return 0;
}
