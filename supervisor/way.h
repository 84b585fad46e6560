/*
 * Where a path leads, name by name, as the kernel would go: links are read as text. For paths of cordon's own and of the
 * policy, not for those of callers (resolve.h). No locks.
 */
#ifndef CORDON_WAY_H
#define CORDON_WAY_H

#include <limits.h>
#include <sys/types.h>

struct way {
	/* Called for each name on the way, that of the end too, or NULL. mode: what is there, 0 when nothing is. */
	void (*visit)(const char *name, mode_t mode, void *arg);
	void *arg;
	char done[2 * PATH_MAX]; /* the canonical name of what is reached so far, afterwards of the end */
	char rest[2 * PATH_MAX];
	int links;
};

/* The path is absolute. What does not exist stays as it is written. 0 or -errno. */
int way_follow(struct way *w, const char *path);

#endif
