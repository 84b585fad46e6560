#include "supervisor/hostfile.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/lockdown.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(openat), OWN(newfstatat), OWN(pread64), OWN(close));
OWN_CALLS(OWN_GATEWAY, OWN(pread64));

bool hostfile_changed(struct hostfile *f)
{
	struct stat st;
	bool same;

	if (stat(f->path, &st) < 0)
		memset(&st, 0, sizeof(st));
	same = f->looked && st.st_dev == f->was.st_dev && st.st_ino == f->was.st_ino &&
	       st.st_size == f->was.st_size && st.st_mtim.tv_sec == f->was.st_mtim.tv_sec &&
	       st.st_mtim.tv_nsec == f->was.st_mtim.tv_nsec;
	f->looked = true;
	f->was = st;
	return !same;
}

char *hostfile_read_fd(int fd, size_t *len)
{
	size_t size = 4096, n = 0;
	char *buf = malloc(size), *more;
	ssize_t r = -1;

	while (buf && n < HOSTFILE_MAX) {
		r = pread(fd, buf + n, size - n, (off_t)n);
		if (r <= 0)
			break;
		n += (size_t)r;
		if (n < size)
			continue;
		size *= 2;
		more = realloc(buf, size);
		if (!more)
			break;
		buf = more;
	}
	if (r < 0) {
		free(buf);
		return NULL;
	}
	*len = n;
	return buf;
}

char *hostfile_read(const struct hostfile *f, size_t *len)
{
	int fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *bytes;

	if (fd < 0)
		return NULL;
	bytes = hostfile_read_fd(fd, len);
	close(fd);
	return bytes;
}
