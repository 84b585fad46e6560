#include "supervisor/mapped.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/lockdown.h"
#include "supervisor/tracee.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(read), OWN(close), OWN(readlinkat));

/* A line's numbers and blanks, and its name. */
#define LINE_MAX_SIZE (PATH_MAX + 256)

/* "start-end rwxp offset major:minor inode   name". False: no file. */
static bool parse(char *line, struct mapped *m)
{
	char *p = line;

	for (int i = 0; i < 3 && p; i++) {
		p = strchr(p, ' ');
		p = p ? p + 1 : NULL;
	}
	if (!p)
		return false;
	m->major = (unsigned)strtoul(p, &p, 16);
	m->minor = *p == ':' ? (unsigned)strtoul(p + 1, &p, 16) : 0;
	m->ino = strtoull(p, &p, 10);
	m->name = p + strspn(p, " ");
	return m->major || m->minor || m->ino;
}

static bool same(const struct mapped *a, const struct mapped *b)
{
	return a->major == b->major && a->minor == b->minor && a->ino == b->ino;
}

int mapped_each(struct call *c, bool (*fn)(struct call *c, const struct mapped *m, void *arg), void *arg)
{
	char buf[LINE_MAX_SIZE];
	struct mapped last = {0}, m;
	size_t have = 0;
	int fd = tracee_maps(c), rc = fd < 0 ? fd : 0;
	ssize_t n;

	while (rc == 0 && (n = read(fd, buf + have, sizeof(buf) - have)) != 0) {
		char *line = buf, *end;

		if (n < 0)
			rc = -errno;
		have += n > 0 ? (size_t)n : 0;
		while (rc == 0 && (end = memchr(line, '\n', have))) {
			*end = '\0';
			if (parse(line, &m) && !same(&m, &last))
				rc = fn(c, &m, arg) ? 0 : 1;
			last = m;
			have -= (size_t)(end + 1 - line);
			line = end + 1;
		}
		memmove(buf, line, have);
		if (rc == 0 && have == sizeof(buf))
			rc = -ENAMETOOLONG;
	}
	if (fd >= 0)
		close(fd);
	return rc;
}

/*
 * Some file systems (btrfs, and overlayfs before Linux 6.8) show another device here than stat(2) does. Then the name
 * decides: both are read from the kernel now, and two files that are there do not have one name.
 */
bool mapped_is(const struct call *c, const struct mapped *m, const struct object *o)
{
	char number[16], name[PATH_MAX];
	ssize_t n;

	if (o->fd < 0)
		return false;
	if (m->major == o->st.stx_dev_major && m->minor == o->st.stx_dev_minor)
		return m->ino == o->st.stx_ino;
	snprintf(number, sizeof(number), "%d", o->fd);
	n = readlinkat(c->s->self_fd, number, name, sizeof(name));
	return n > 0 && (size_t)n < sizeof(name) && (size_t)n == strlen(m->name) &&
	       memcmp(name, m->name, (size_t)n) == 0;
}
