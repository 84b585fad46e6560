/* A caller's limits: which descriptor numbers it has left, how long its files may be. Part of tracee.h. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/listing.h"
#include "supervisor/lockdown.h"
#include "supervisor/tracee.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(openat), OWN(read), OWN(newfstatat), OWN_READDIR, OWN_READ_LIMIT);

bool tracee_has_free(struct call *c, int number)
{
	struct rlimit limit;
	struct stat st;
	char name[48];

	snprintf(name, sizeof(name), "%d/fd/%d", c->tid, number);
	return prlimit(c->tid, RLIMIT_NOFILE, NULL, &limit) == 0 && (rlim_t)number < limit.rlim_cur &&
	       fstatat(c->s->proc, name, &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
}

/* How many of the numbers below limit are taken. 0 where that cannot be known. */
static rlim_t count_numbers(struct call *c, const char *name, rlim_t limit)
{
	DIR *d = listing_open(openat(c->s->proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	struct dirent *e;
	rlim_t used = 0;

	while (d && (e = readdir(d)))
		used += isdigit((unsigned char)e->d_name[0]) && strtoul(e->d_name, NULL, 10) < limit;
	if (d)
		closedir(d);
	return used;
}

bool tracee_has_free_numbers(struct call *c, unsigned n)
{
	struct rlimit limit;
	char name[32];
	struct stat st;

	snprintf(name, sizeof(name), "%d/fd", c->tid);
	if (prlimit(c->tid, RLIMIT_NOFILE, NULL, &limit) < 0)
		return true;
	/* The size is how many there are. */
	if (fstatat(c->s->proc, name, &st, 0) == 0 && (st.st_size || n == 1) &&
	    (rlim_t)st.st_size + n <= limit.rlim_cur)
		return true;
	/* Those beyond a limit that was lowered count, too. */
	return count_numbers(c, name, limit.rlim_cur) + n <= limit.rlim_cur;
}

/* By name, as anyone may. */
static int read_file_limit(const struct call *c, rlim_t *limit)
{
	char name[32], buf[2048];
	const char *p;
	ssize_t n;
	int fd;

	snprintf(name, sizeof(name), "%d/limits", c->tid);
	fd = openat(c->s->proc, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	buf[n > 0 ? n : 0] = '\0';
	p = strstr(buf, "Max file size ");
	if (!p)
		return -EPERM;
	p += strlen("Max file size ");
	p += strspn(p, " ");
	*limit = *p == 'u' ? RLIM_INFINITY : strtoull(p, NULL, 10);
	return 0;
}

int tracee_file_limit(const struct call *c, rlim_t *limit)
{
	struct rlimit lim;

	/* The kernel tells it to those of the very same ids only. */
	if (prlimit(c->tid, RLIMIT_FSIZE, NULL, &lim) < 0)
		return read_file_limit(c, limit);
	*limit = lim.rlim_cur;
	return 0;
}
