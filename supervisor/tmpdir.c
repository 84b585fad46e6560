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

/* Depth first by descriptors, so that a link put in the way is removed and not followed. Takes over fd. */
static void remove_contents(int fd, int depth)
{
	DIR *d = fdopendir(fd);
	struct dirent *e;

	if (!d) {
		close(fd);
		return;
	}
	while ((e = readdir(d))) {
		int sub;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (unlinkat(dirfd(d), e->d_name, 0) == 0 || (errno != EISDIR && errno != EPERM))
			continue;
		sub = openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (sub < 0 && errno == EACCES) {
			if (fchmodat(dirfd(d), e->d_name, 0700, 0) == 0)
				sub = openat(dirfd(d), e->d_name,
					     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		}
		if (sub >= 0 && depth < 2000) {
			fchmod(sub, 0700);
			remove_contents(sub, depth + 1);
		} else if (sub >= 0) {
			close(sub);
		}
		unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
	}
	closedir(d);
}

void tmpdir_remove(const char *path)
{
	int fd;

	if (!path || !path[0] || rmdir(path) == 0)
		return;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0) {
		fchmod(fd, 0700);
		remove_contents(fd, 0);
	}
	rmdir(path);
}
