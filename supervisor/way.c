#include "supervisor/way.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/lockdown.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(newfstatat), OWN(readlinkat));

#define MAX_LINKS 40

static int follow_link(struct way *w)
{
	char target[PATH_MAX];
	size_t left = strlen(w->rest) + 1;
	ssize_t n = readlinkat(AT_FDCWD, w->done, target, sizeof(target) - 1);

	if (n < 0)
		return -errno;
	if (++w->links > MAX_LINKS)
		return -ELOOP;
	if ((size_t)n + left > sizeof(w->rest))
		return -ENAMETOOLONG;
	memmove(w->rest + n, w->rest, left);
	memcpy(w->rest, target, (size_t)n);
	*strrchr(w->done, '/') = '\0';
	if (target[0] == '/')
		w->done[0] = '\0';
	return 0;
}

static int look(struct way *w)
{
	struct stat st;

	if (fstatat(AT_FDCWD, w->done, &st, AT_SYMLINK_NOFOLLOW) < 0)
		st.st_mode = 0;
	if (w->visit)
		w->visit(w->done, st.st_mode, w->arg);
	return S_ISLNK(st.st_mode) ? follow_link(w) : 0;
}

/* Takes one component from rest to done. 0 or -errno. */
static int advance(struct way *w)
{
	char *p = w->rest + strspn(w->rest, "/"), *slash;
	size_t n = strcspn(p, "/"), have = strlen(w->done);
	bool up = n == 2 && p[0] == '.' && p[1] == '.', here = n == 0 || (n == 1 && p[0] == '.');

	if (up) {
		slash = strrchr(w->done, '/');
		if (slash)
			*slash = '\0';
	} else if (!here) {
		if (have + n + 2 > PATH_MAX)
			return -ENAMETOOLONG;
		w->done[have] = '/';
		memcpy(w->done + have + 1, p, n);
		w->done[have + 1 + n] = '\0';
	}
	memmove(w->rest, p + n, strlen(p + n) + 1);
	return up || here ? 0 : look(w);
}

int way_follow(struct way *w, const char *path)
{
	w->done[0] = '\0';
	w->links = 0;
	snprintf(w->rest, sizeof(w->rest), "%s", path);
	while (w->rest[strspn(w->rest, "/")]) {
		int rc = advance(w);

		if (rc < 0)
			return rc;
	}
	if (w->done[0] == '\0')
		memcpy(w->done, "/", 2);
	return 0;
}
