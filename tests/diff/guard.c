#include "sequence.h"

#define LINKS_MAX 45 /* more than the kernel follows */

/* fd is taken over; -1: there is nothing. */
static bool is_inside(const char *root, int fd)
{
	char link[64], name[PATH_MAX];
	size_t n = strlen(root);
	ssize_t got;

	if (fd < 0)
		return true;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	got = readlink(link, name, sizeof(name) - 1);
	close(fd);
	if (got < 0) /* a name that is too long, and so began inside */
		return errno == ENAMETOOLONG;
	name[got] = '\0';
	return strncmp(name, root, n) == 0 && (name[n] == '/' || name[n] == '\0' || name[n] == ' ');
}

static bool is_proc(int fd)
{
	char link[64], name[16] = "";

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return readlink(link, name, sizeof(name) - 1) > 0 && strncmp(name, "/proc/", 6) == 0;
}

/* The directory in which the last component of path is. */
static int open_parent(int dirfd, const char *path)
{
	char parent[PATH_MAX];
	size_t n = strlen(path);

	if (n >= sizeof(parent))
		return -1;
	while (n > 0 && path[n - 1] == '/')
		n--;
	while (n > 0 && path[n - 1] != '/')
		n--;
	memcpy(parent, path, n);
	parent[n] = '\0';
	return openat(dirfd, n ? parent : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

bool guard_descriptor(const char *root, int fd)
{
	return is_inside(root,
			 fd == AT_FDCWD ? open(".", O_PATH | O_CLOEXEC) : fcntl(fd, F_DUPFD_CLOEXEC, 100));
}

/* True when what path leads to is inside. A link that leads nowhere can be followed to make something: target gets what it
 * says, and *parent the directory that it is in, else -1. */
static bool guard_step(const char *root, int dirfd, const char *path, int *parent, char target[PATH_MAX])
{
	int fd = openat(dirfd, path, O_PATH | O_CLOEXEC), dir;
	bool found = fd >= 0, inside = is_inside(root, fd);
	char name[PATH_MAX];
	ssize_t n;

	*parent = -1;
	if (path[0] == '\0')
		return guard_descriptor(root, dirfd);
	dir = open_parent(dirfd, path);
	if (dir < 0)
		return inside;
	if (inside && !is_proc(dir))
		inside = is_inside(root, fcntl(dir, F_DUPFD_CLOEXEC, 100));
	snprintf(name, sizeof(name), "%s", path);
	for (size_t end = strlen(name); end > 1 && name[end - 1] == '/'; end--)
		name[end - 1] = '\0';
	n = inside && !found ? readlinkat(dirfd, name, target, PATH_MAX - 1) : -1;
	target[n > 0 ? n : 0] = '\0';
	if (n > 0)
		*parent = dir;
	else
		close(dir);
	return inside;
}

/* Holds few descriptors at a time: the other of two that share them would find one by a number that it took for free. */
static bool guard(const char *root, int dirfd, const char *path)
{
	char target[2][PATH_MAX];
	int at = dirfd, next;

	for (int links = 0; links <= LINKS_MAX; links++) {
		bool inside = guard_step(root, at, path, &next, target[links % 2]);

		if (at != dirfd)
			close(at);
		if (next < 0)
			return inside;
		at = next, path = target[links % 2];
	}
	close(at);
	return false;
}

bool guard_reopen(int fd)
{
	return faccessat(fd, "", R_OK, AT_EACCESS | AT_EMPTY_PATH) == 0 || errno != EACCES;
}

bool guard_object(int dirfd, const char *path)
{
	static const char suffix[] = " (deleted)";
	char link[64], name[PATH_MAX];
	int fd = openat(dirfd, path, O_PATH | O_CLOEXEC);
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return true;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? readlink(link, name, sizeof(name)) : -1;
	close(fd);
	return n < (ssize_t)strlen(suffix) || memcmp(name + n - strlen(suffix), suffix, strlen(suffix)) != 0;
}

bool guard_path(const char *root, int dirfd, const char *path)
{
	return guard(root, dirfd, path);
}
