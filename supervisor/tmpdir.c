#include "supervisor/listing.h"
#include "supervisor/tmpdir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/lockdown.h"

OWN_CALLS(OWN_BOTH, OWN(openat), OWN(close), OWN(fchmod), OWN_OLD(chmod, fchmodat), OWN_RENAMEAT2,
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

/*
 * A tree is removed without going down in it: each directory in the topmost one is emptied, its subdirectories being
 * moved up beside it. So neither depth nor a small limit of descriptors matters: there are four at a time.
 */
struct removal {
	int top; /* the directory that is removed */
	unsigned moved;
	bool progress;
};

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

static int open_dir(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 && errno == EACCES)
		fd = open_closed(dir, name);
	if (fd >= 0)
		fchmod(fd, 0700);
	return fd;
}

/* To move a directory the kernel wants it writable. */
static bool move_up(struct removal *r, int dir, const char *name)
{
	char up[32];
	int fd;

	do {
		snprintf(up, sizeof(up), ".removing-%u", r->moved++);
		if (renameat2(dir, name, r->top, up, RENAME_NOREPLACE) == 0)
			return true;
	} while (errno == EEXIST);
	fd = open_dir(dir, name);
	if (fd < 0)
		return false;
	close(fd);
	return renameat2(dir, name, r->top, up, RENAME_NOREPLACE) == 0;
}

static void remove_dir(struct removal *r, int dir, const char *name);

/* Takes over fd. */
static void remove_contents(struct removal *r, int fd)
{
	DIR *d = listing_open(fd);
	struct dirent *e;

	if (!d)
		return;
	while ((e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (unlinkat(dirfd(d), e->d_name, 0) == 0)
			r->progress = true;
		else if (errno == EISDIR || errno == EPERM)
			remove_dir(r, dirfd(d), e->d_name);
	}
	closedir(d);
}

static bool is_top(const struct removal *r, int dir)
{
	struct stat a, b;

	return fstat(dir, &a) == 0 && fstat(r->top, &b) == 0 && a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

static void remove_dir(struct removal *r, int dir, const char *name)
{
	bool gone = unlinkat(dir, name, AT_REMOVEDIR) == 0;

	if (!gone && !is_top(r, dir)) {
		gone = move_up(r, dir, name);
	} else if (!gone) {
		remove_contents(r, open_dir(dir, name));
		gone = unlinkat(dir, name, AT_REMOVEDIR) == 0;
	}
	r->progress |= gone;
}

void tmpdir_remove(const char *path)
{
	struct removal r = {.progress = true};

	if (!path || !path[0] || rmdir(path) == 0)
		return;
	r.top = open_dir(AT_FDCWD, path);
	/* Once more for what was moved up meanwhile. */
	while (r.top >= 0 && r.progress && rmdir(path) < 0 && errno != ENOENT) {
		r.progress = false;
		remove_contents(&r, openat(r.top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	}
	if (r.top >= 0)
		close(r.top);
}
