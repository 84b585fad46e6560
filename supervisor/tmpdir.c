#include "supervisor/tmpdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/lockdown.h"

OWN_CALLS(OWN_BOTH, OWN(openat), OWN(close), OWN(fchmod), OWN_OLD(chmod, fchmodat), OWN(renameat),
	  OWN(unlinkat), OWN_OLD(rmdir, unlinkat), OWN_READDIR);

int tmpdir_name(char *path, size_t size)
{
	const char *base = getenv("TMPDIR");
	char real[PATH_MAX];

	/* Without symbolic links on the way, so that the rule for it names what is judged. */
	if (!base || base[0] != '/' || !realpath(base, real) || access(real, W_OK | X_OK) < 0)
		if (!realpath("/tmp", real))
			return -errno;
	if (snprintf(path, size, "%s/cordon-XXXXXX", strcmp(real, "/") == 0 ? "" : real) >= (int)size)
		return -ENAMETOOLONG;
	return 0;
}

int tmpdir_make(char *path, size_t size)
{
	int rc = tmpdir_name(path, size);

	if (rc < 0)
		return rc;
	return mkdtemp(path) ? 0 : -errno;
}

/* A tree deeper than this is moved up, so that neither stack nor descriptors run out. */
#define MAX_DEPTH 64

struct removal {
	int top; /* the directory that is removed */
	unsigned moved;
};

static void remove_contents(struct removal *r, int fd, int depth);

/* A directory without permissions for its owner. Changed by its pin, so that no link in its place is followed. */
static int open_closed(int dir, const char *name)
{
	int pin = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), sub = -1;
	char proc[32];

	if (pin < 0)
		return -1;
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", pin);
	if (chmod(proc, 0700) == 0)
		sub = open(proc, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	close(pin);
	return sub;
}

static void remove_dir(struct removal *r, int dir, const char *name, int depth)
{
	char up[32];
	int sub;

	sub = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (sub < 0 && errno == EACCES)
		sub = open_closed(dir, name);
	if (sub < 0)
		return;
	fchmod(sub, 0700);
	if (depth < MAX_DEPTH) {
		remove_contents(r, sub, depth + 1);
		unlinkat(dir, name, AT_REMOVEDIR);
		return;
	}
	close(sub);
	snprintf(up, sizeof(up), ".removing-%u", r->moved++);
	renameat(dir, name, r->top, up);
}

/* Depth first by descriptors, so that a link put in the way is removed and not followed. Takes over fd. */
static void remove_contents(struct removal *r, int fd, int depth)
{
	DIR *d = fdopendir(fd);
	struct dirent *e;

	if (!d) {
		close(fd);
		return;
	}
	while ((e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (unlinkat(dirfd(d), e->d_name, 0) < 0 && (errno == EISDIR || errno == EPERM))
			remove_dir(r, dirfd(d), e->d_name, depth);
	}
	closedir(d);
}

void tmpdir_remove(const char *path)
{
	struct removal r = {.moved = 0};

	if (!path || !path[0] || rmdir(path) == 0)
		return;
	r.top = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (r.top < 0 && errno == EACCES)
		r.top = open_closed(AT_FDCWD, path);
	if (r.top < 0)
		return;
	fchmod(r.top, 0700);
	/* Once more for what was moved up meanwhile; each round gets MAX_DEPTH levels deeper. */
	for (int i = 0; i < 1000 && rmdir(path) < 0 && errno != ENOENT; i++)
		remove_contents(&r, openat(r.top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), 0);
	close(r.top);
}
