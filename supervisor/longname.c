#include "supervisor/longname.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/compat.h"
#include "supervisor/lockdown.h"
#include "supervisor/resolve.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(openat), OWN(openat2), OWN(close), OWN(statx), OWN(readlinkat), OWN(lseek),
	  OWN_READDIR, OWN_IF(fcntl, ARG_IS(1, F_DUPFD_CLOEXEC)));

/* Entries looked at for one name: a directory of a million entries on the way is not worth it. */
#define LOOK_MAX 200000

/*
 * Levels between two questions for the kernel's name, as each costs it a walk of 4,096 bytes. Where that name just fits it has
 * 15 components at least, so the root is not climbed past.
 */
#define STRIDE 12

#define LOOK_STATX (STATX_INO | STATX_MNT_ID)

/* Above the directory that is to be found. */
struct search {
	int dir;
	struct statx wanted;
	int left;
	char name[NAME_MAX + 1];
};

static bool is_wanted(const struct search *s, const char *name)
{
	struct statx st;

	return statx(s->dir, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, LOOK_STATX,
		     &st) == 0 &&
	       object_is_same(&st, &s->wanted) && st.stx_mnt_id == s->wanted.stx_mnt_id;
}

/* by_number: only what the directory itself lists under the wanted number. That is not so where something is mounted,
 * and not always on an overlay. */
static bool may_be_wanted(const struct search *s, const struct dirent64 *d, bool by_number)
{
	if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
		return false;
	if (by_number)
		return d->d_ino == s->wanted.stx_ino;
	return d->d_type == DT_DIR || d->d_type == DT_UNKNOWN;
}

static bool search_by(struct search *s, bool by_number)
{
	_Alignas(struct dirent64) char buf[8192];
	long n;

	if (lseek(s->dir, 0, SEEK_SET) < 0)
		return false;
	while ((n = syscall(SYS_getdents64, s->dir, buf, sizeof(buf))) > 0)
		for (char *p = buf; p < buf + n;) {
			const struct dirent64 *d = (const struct dirent64 *)p;

			if (--s->left < 0)
				return false;
			p += d->d_reclen;
			if (!may_be_wanted(s, d, by_number) || !is_wanted(s, d->d_name))
				continue;
			snprintf(s->name, sizeof(s->name), "%s", d->d_name);
			return true;
		}
	return false;
}

/* Puts "/NAME" of the directory *cur in front of what begins at *at, and replaces *cur by the one above. */
static int climb(struct search *s, int *cur, char *buf, size_t *at)
{
	size_t n;

	if (statx(*cur, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, LOOK_STATX, &s->wanted) < 0)
		return -errno;
	s->dir = openat(*cur, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir < 0)
		return -ENAMETOOLONG;
	close(*cur);
	*cur = s->dir;
	if (!search_by(s, true) && !search_by(s, false))
		return -ENAMETOOLONG;
	n = strlen(s->name);
	if (n + 1 + PATH_MAX > *at)
		return -ENAMETOOLONG;
	*at -= n;
	memcpy(buf + *at, s->name, n);
	buf[--*at] = '/';
	return 0;
}

/*
 * The directory that was asked for last, since who works in a deep tree asks for it, or for one beside, above or beneath it,
 * again and again: a guess, for which the kernel must find the directory before it is believed.
 */
static struct {
	pthread_mutex_t lock;
	char *name; /* owned */
	size_t len;
	struct statx st, above; /* of it, and of the one above */
} last = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_same_place(const struct statx *a, const struct statx *b)
{
	return object_is_same(a, b) && a->stx_mnt_id == b->stx_mnt_id;
}

static bool look_at(int dir, struct statx *st)
{
	return statx(dir, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, LOOK_STATX, st) == 0;
}

/* Whether the name leads to what is wanted, without links, in pieces that the kernel takes. name[len] is room. */
static bool leads_to(char *name, size_t len, const struct statx *wanted)
{
	struct statx st;
	int cur = AT_FDCWD;
	bool found;

	for (size_t at = 0, n; at < len; at += n) {
		char end;
		int fd;

		n = len - at < PATH_MAX ? len - at : PATH_MAX - 1;
		while (at + n < len && name[at + n] != '/')
			n--;
		end = name[at + n];
		name[at + n] = '\0';
		fd = compat_openat2(cur, name + at + (at > 0), O_PATH | O_DIRECTORY | O_CLOEXEC, 0,
				    RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
		name[at + n] = end;
		if (cur >= 0)
			close(cur);
		if (fd < 0)
			return false;
		cur = fd;
	}
	found = look_at(cur, &st) && is_same_place(&st, wanted);
	close(cur);
	return found;
}

/* The name of dir into buf, in which there is room for less than that; 0: it has to be searched. */
static size_t guess(int dir, char *buf, size_t room)
{
	struct statx st;
	size_t n = 0;

	if (!look_at(dir, &st) || pthread_mutex_trylock(&last.lock) != 0)
		return 0;
	if (last.len > 0 && is_same_place(&st, &last.st))
		n = last.len;
	else if (last.len > 0 && is_same_place(&st, &last.above))
		n = (size_t)((char *)memrchr(last.name, '/', last.len) - last.name);
	if (n >= room)
		n = 0;
	if (n > 0)
		memcpy(buf, last.name, n);
	pthread_mutex_unlock(&last.lock);
	return n > 0 && leads_to(buf, n, &st) ? n : 0;
}

static void remember(int dir, const char *name, size_t len)
{
	int above = openat(dir, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (above >= 0 && pthread_mutex_trylock(&last.lock) == 0) {
		last.len = 0;
		if (!last.name)
			last.name = malloc(LONGNAME_MAX + NAME_MAX);
		if (last.name && look_at(dir, &last.st) && look_at(above, &last.above)) {
			memcpy(last.name, name, len);
			last.len = len;
		}
		pthread_mutex_unlock(&last.lock);
	}
	if (above >= 0)
		close(above);
}

static ssize_t read_link(const struct session *s, int fd, char *buf)
{
	char number[16];
	ssize_t n;

	snprintf(number, sizeof(number), "%d", fd);
	n = readlinkat(s->self_fd, number, buf, PATH_MAX);
	return n < 0 ? -errno : n;
}

/* From dir upwards to a directory that the kernel names, or that was guessed, whose name is then at the beginning of buf. */
static int climb_to_known(const struct session *s, int *cur, char *buf, size_t *at, size_t *known)
{
	struct search search = {.left = LOOK_MAX};
	ssize_t n = -ENAMETOOLONG;
	char head[PATH_MAX];
	int rc = 0, level = 0;

	*known = 0;
	while (rc == 0 && n == -ENAMETOOLONG) {
		if (level < 2 && (*known = guess(*cur, buf, *at)) > 0)
			return 0;
		rc = climb(&search, cur, buf, at);
		if (rc == 0 && ++level % STRIDE == 0)
			n = read_link(s, *cur, head);
	}
	if (rc < 0)
		return rc;
	if (n <= 0 || n >= PATH_MAX || head[0] != '/')
		return -ENAMETOOLONG;
	*known = n == 1 ? 0 : (size_t)n; /* "/" */
	memcpy(buf, head, *known);
	return 0;
}

static int read_upwards(const struct session *s, int dir, char *buf)
{
	int cur = fcntl(dir, F_DUPFD_CLOEXEC, 3), rc;
	size_t at = LONGNAME_MAX, n;

	if (cur < 0)
		return -errno;
	rc = climb_to_known(s, &cur, buf, &at, &n);
	close(cur);
	if (rc < 0)
		return rc;
	memmove(buf + n, buf + at, LONGNAME_MAX - at);
	n += LONGNAME_MAX - at;
	buf[n] = '\0';
	remember(dir, buf, n);
	return (int)n;
}

int longname_read(struct call *c, int slot, int dir)
{
	if (!c->short_name[slot]) {
		char *room = malloc(LONGNAME_MAX + NAME_MAX + 3);

		if (!room)
			return -ENOMEM;
		c->short_name[slot] = c->name[slot];
		c->name[slot] = room;
	}
	return read_upwards(c->s, dir, c->name[slot]);
}

void longname_release(struct call *c)
{
	for (int i = 0; i < CALL_PATHS; i++) {
		if (!c->short_name[i])
			continue;
		free(c->name[i]);
		c->name[i] = c->short_name[i];
		c->short_name[i] = NULL;
	}
}
