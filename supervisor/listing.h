/*
 * Reading a directory by a descriptor. Any thread, any process.
 */
#ifndef CORDON_LISTING_H
#define CORDON_LISTING_H

#include <dirent.h>
#include <errno.h>
#include <unistd.h>

/* Takes over fd, which may be -1 of a failed open. NULL with errno; then it is closed. */
static inline DIR *listing_open(int fd)
{
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	int err = errno;

	if (!d && fd >= 0) {
		close(fd);
		errno = err;
	}
	return d;
}

#endif
