#include "supervisor/sticky.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/lockdown.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(openat), OWN(close), OWN(read), OWN(fstat), OWN(newfstatat), OWN(setfsuid));

static char read_setting(const char *name)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	char c = '0';

	if (fd >= 0 && read(fd, &c, 1) < 0)
		c = '0';
	if (fd >= 0)
		close(fd);
	return (char)(c - '0');
}

void sticky_init(struct session *s)
{
	s->protected_symlinks = read_setting("/proc/sys/fs/protected_symlinks");
	s->protected_regular = read_setting("/proc/sys/fs/protected_regular");
	s->protected_fifos = read_setting("/proc/sys/fs/protected_fifos");
}

/* Belongs it to the directory's owner, or to us? */
static bool is_trusted(uid_t owner, uid_t dir)
{
	return owner == dir || owner == (uid_t)setfsuid((uid_t)-1);
}

bool sticky_hides_link(const struct session *s, int dir, uid_t owner)
{
	struct stat st;

	if (!s->protected_symlinks || fstat(dir, &st) < 0)
		return false;
	return (st.st_mode & S_ISVTX) && (st.st_mode & S_IWOTH) && !is_trusted(owner, st.st_uid);
}

/* The directory by its name: had it just been replaced, another errno would be given, and no more. */
static bool stat_parent(const struct object *o, struct stat *st)
{
	char parent[PATH_MAX];
	const char *slash = o->len ? strrchr(o->name, '/') : NULL;
	size_t n = slash ? (size_t)(slash - o->name) : 0;

	if (!slash || n + 2 > sizeof(parent))
		return false;
	memcpy(parent, o->name, n + 1);
	parent[n ? n : 1] = '\0';
	return stat(parent, st) == 0;
}

bool sticky_refuses_creat(const struct session *s, const struct object *o)
{
	int regular = s->protected_regular, fifos = s->protected_fifos;
	mode_t mode = o->st.stx_mode;
	struct stat dir;

	if ((S_ISREG(mode) && !regular) || (S_ISFIFO(mode) && !fifos) || !stat_parent(o, &dir) ||
	    !(dir.st_mode & S_ISVTX) || is_trusted(o->st.stx_uid, dir.st_uid))
		return false;
	if (dir.st_mode & S_IWOTH)
		return true;
	/* Where only a group may write, from the second level. */
	return (dir.st_mode & S_IWGRP) && ((S_ISREG(mode) && regular > 1) || (S_ISFIFO(mode) && fifos > 1));
}
