/*
 * A small file of the system that may change while a session runs: /etc/hosts, /etc/resolv.conf. No locks.
 */
#ifndef CORDON_HOSTFILE_H
#define CORDON_HOSTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "policy/hosts.h"

/* What is beyond is not read. */
#define HOSTFILE_MAX HOSTS_BYTES_MAX

struct hostfile {
	const char *path; /* borrowed */
	bool looked;
	struct stat was; /* all zero: it was not there */
};

/* Whether it is another one than at the last call, or this is the first. */
bool hostfile_changed(struct hostfile *f);
/* Its bytes, to be freed; NULL: it cannot be read. */
char *hostfile_read(const struct hostfile *f, size_t *len);
/* The same of an open file, from its beginning. */
char *hostfile_read_fd(int fd, size_t *len);

#endif
