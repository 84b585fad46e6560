#include "supervisor/procunix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/lockdown.h"

/* sysinfo: qsort() of glibc asks how much memory there is. */
OWN_CALLS(OWN_SUPERVISOR, OWN(openat), OWN(close), OWN(read), OWN(fstat), OWN(sysinfo));

/* "num: refs proto flags type state inode path" */
bool procunix_parse(char *line, uint64_t *inode, const char **shown)
{
	unsigned long long number;
	int at = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%*s %*s %*s %*s %*s %*s %llu%n", &number, &at) != 1 || number == 0)
		return false;
	*shown = line + at + (line[at] == ' ');
	*inode = number;
	return true;
}

bool procunix_each(bool (*fn)(uint64_t inode, const char *shown, void *arg), void *arg)
{
	FILE *f = fopen("/proc/net/unix", "re");
	const char *shown;
	char *line = NULL;
	bool going = true;
	size_t size = 0;
	uint64_t inode;

	if (!f)
		return false;
	while (going && getline(&line, &size, f) > 0)
		if (procunix_parse(line, &inode, &shown))
			going = fn(inode, shown, arg);
	free(line);
	fclose(f);
	return true;
}

static bool keep(uint64_t inode, const char *shown, void *arg)
{
	struct procunix *p = arg;
	size_t room = p->room ? p->room * 2 : 512;
	uint64_t *more;

	(void)shown;
	if (p->n == p->room) {
		more = reallocarray(p->inodes, room, sizeof(*more));
		if (!more) {
			p->known = false;
			return false;
		}
		p->inodes = more;
		p->room = room;
	}
	p->inodes[p->n++] = inode;
	return true;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void procunix_read(struct procunix *p)
{
	*p = (struct procunix){.known = true};
	p->known = procunix_each(keep, p) && p->known;
	if (p->n)
		qsort(p->inodes, p->n, sizeof(*p->inodes), compare);
}

bool procunix_has(const struct procunix *p, uint64_t inode)
{
	return p->n && bsearch(&inode, p->inodes, p->n, sizeof(inode), compare);
}

void procunix_free(struct procunix *p)
{
	free(p->inodes);
	*p = (struct procunix){0};
}
