/*
 * The calls that are raced: each acts on a name (below a directory's descriptor, or as it stands), and says whether the one
 * in $OUT was hit.
 */
#ifndef RACE_CALLS_H
#define RACE_CALLS_H

#include "attack.h"

#include <linux/fs.h>
#include <linux/openat2.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <utime.h>

/* Newer than the headers of Linux 6.1. */
#define NR_FCHMODAT2	 452
#define NR_SETXATTRAT	 463
#define NR_GETXATTRAT	 464
#define NR_LISTXATTRAT	 465
#define NR_REMOVEXATTRAT 466
#define NR_FILE_SETATTR	 469

/* What is at both names before each try. */
enum leaf { LEAF_FILE, LEAF_NEW, LEAF_DIR, LEAF_SECRET, LEAF_LINK, LEAF_SOCKET };
static const char *const leaf_names[] = {"bad", "new", "empty", "secret", "link", "sock"};

static char mine[PATH_MAX]; /* a file of one's own, wherever the working directory is */
static char seen[64];	    /* what was read */
static struct timespec changed_at;

static inline bool won_there(void)
{
	return there(out("new"));
}
static inline bool won_gone(void)
{
	return !there(out("bad"));
}
static inline bool won_dir_gone(void)
{
	return !there(out("empty"));
}
/* Whatever is done to a file moves its change time. */
static inline bool won_changed(void)
{
	struct stat st;

	return lstat(out("bad"), &st) < 0 || st.st_ctim.tv_sec != changed_at.tv_sec ||
	       st.st_ctim.tv_nsec != changed_at.tv_nsec;
}
static inline bool won_seen(void)
{
	return strstr(seen, "SECRET") != NULL;
}
static inline bool won_reached(void)
{
	return there(out("reached"));
}

static inline void shut(long fd)
{
	if (fd >= 0)
		close((int)fd);
}
static inline void have_mine(void)
{
	shut(open(mine, O_WRONLY | O_CREAT, 0644));
}

#define ACT(name, ...)                                                                                       \
	static void act_##name(int d, const char *p)                                                         \
	{                                                                                                    \
		(void)d;                                                                                     \
		__VA_ARGS__;                                                                                 \
	}
static const struct open_how how_create = {.flags = O_WRONLY | O_CREAT, .mode = 0644};
static const struct timespec past[2] = {{1000, 0}, {1000, 0}};
static const struct timeval past_us[2] = {{1000, 0}, {1000, 0}};
static const struct utimbuf past_s = {1000, 1000};
static const struct {
	uint64_t value;
	uint32_t size, flags;
} xattr_args = {(uintptr_t) "x", 1, 0};
static const struct {
	uint64_t xflags;
	uint32_t extsize, nextents, project, cowextsize;
} file_attr = {0x40 /* FS_XFLAG_NOATIME */, 0, 0, 0, 0};

ACT(open, shut(open(p, O_WRONLY | O_CREAT, 0644)))
ACT(openat, shut(openat(d, p, O_WRONLY | O_CREAT, 0644)))
ACT(openat2, shut(syscall(SYS_openat2, d, p, &how_create, sizeof(how_create))))
ACT(creat, shut(creat(p, 0644)))
ACT(mkdir, mkdir(p, 0755))
ACT(mkdirat, mkdirat(d, p, 0755))
ACT(mknod, mknod(p, S_IFIFO | 0644, 0))
ACT(mknodat, mknodat(d, p, S_IFREG | 0644, 0))
ACT(symlink, symlink("x", p))
ACT(symlinkat, symlinkat("x", d, p))
ACT(link_to, have_mine(); link(mine, p))
ACT(linkat_to, have_mine(); linkat(AT_FDCWD, mine, d, p, 0))
ACT(link_from, unlink(mine); link(p, mine))
ACT(linkat_from, unlink(mine); linkat(d, p, AT_FDCWD, mine, AT_SYMLINK_FOLLOW))
ACT(unlink, unlink(p))
ACT(unlinkat, unlinkat(d, p, 0))
ACT(rmdir, rmdir(p))
ACT(unlinkat_dir, unlinkat(d, p, AT_REMOVEDIR))
ACT(rename_to, have_mine(); rename(mine, p))
ACT(renameat_to, have_mine(); renameat(AT_FDCWD, mine, d, p))
ACT(rename_from, rename(p, mine))
ACT(renameat_from, renameat(d, p, AT_FDCWD, mine))
ACT(renameat2, have_mine(); syscall(SYS_renameat2, AT_FDCWD, mine, d, p, RENAME_NOREPLACE))
ACT(exchange, have_mine(); syscall(SYS_renameat2, AT_FDCWD, mine, d, p, RENAME_EXCHANGE))
ACT(truncate, truncate(p, 0))
ACT(chmod, chmod(p, 0606))
ACT(fchmodat, fchmodat(d, p, 0606, 0))
ACT(fchmodat2, syscall(NR_FCHMODAT2, d, p, 0606, 0))
ACT(chown, chown(p, (uid_t)-1, getegid()))
ACT(lchown, lchown(p, (uid_t)-1, getegid()))
ACT(fchownat, fchownat(d, p, (uid_t)-1, getegid(), 0))
ACT(utime, syscall(SYS_utime, p, &past_s))
ACT(utimes, syscall(SYS_utimes, p, past_us))
ACT(utimensat, utimensat(d, p, past, 0))
ACT(futimesat, syscall(SYS_futimesat, d, p, past_us))
ACT(setxattr, setxattr(p, "user.attack", "x", 1, 0))
ACT(lsetxattr, lsetxattr(p, "user.attack", "x", 1, 0))
ACT(setxattrat, syscall(NR_SETXATTRAT, d, p, 0, "user.attack", &xattr_args, sizeof(xattr_args)))
ACT(removexattr, removexattr(p, "user.note"))
ACT(lremovexattr, lremovexattr(p, "user.note"))
ACT(removexattrat, syscall(NR_REMOVEXATTRAT, d, p, 0, "user.note"))
ACT(file_setattr, syscall(NR_FILE_SETATTR, d, p, &file_attr, sizeof(file_attr), 0))

static void act_write(int d, const char *p)
{
	int fd = open(p, O_RDWR);

	if (fd >= 0 && write(fd, "attacked", 8) != 8)
		broken("write");
	shut(fd);
}
static void act_read(int d, const char *p)
{
	int fd = openat(d, p, O_RDONLY);

	if (fd >= 0 && read(fd, seen, sizeof(seen) - 1) < 0)
		seen[0] = '\0';
	shut(fd);
}
/* The name lies in an address, for which the path leaves room before it. */
static void with_address(const char *p, int (*fn)(int, const struct sockaddr *, socklen_t))
{
	struct sockaddr_un *a = (struct sockaddr_un *)(uintptr_t)(p - offsetof(struct sockaddr_un, sun_path));
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	a->sun_family = AF_UNIX;
	if (strlen(p) < sizeof(a->sun_path))
		fn(s, (struct sockaddr *)a, sizeof(*a));
	shut(s);
}
ACT(bind, with_address(p, bind))
ACT(connect, with_address(p, connect))

/* Into "seen", which is whole when the call said so. */
static void saw(ssize_t n)
{
	seen[n > 0 ? n : 0] = '\0';
}
#define SEEN_SIZE (sizeof(seen) - 1)
#ifdef SYS_readlink
ACT(readlink, saw(syscall(SYS_readlink, p, seen, SEEN_SIZE)))
#endif
ACT(readlinkat, saw(readlinkat(d, p, seen, SEEN_SIZE)))
ACT(getxattr, saw(getxattr(p, "user.SECRET", seen, SEEN_SIZE)))
ACT(lgetxattr, saw(lgetxattr(p, "user.SECRET", seen, SEEN_SIZE)))
ACT(listxattr, saw(listxattr(p, seen, SEEN_SIZE)))
ACT(llistxattr, saw(llistxattr(p, seen, SEEN_SIZE)))
ACT(listxattrat, saw(syscall(NR_LISTXATTRAT, d, p, 0, seen, SEEN_SIZE)))
static void act_getxattrat(int d, const char *p)
{
	struct {
		uint64_t value;
		uint32_t size, flags;
	} a = {(uintptr_t)seen, SEEN_SIZE, 0};

	saw(syscall(NR_GETXATTRAT, d, p, 0, "user.SECRET", &a, sizeof(a)));
}

/* On a descriptor: there is no name. */
ACT(fchmod, fchmod(d, 0606))
ACT(fchown, fchown(d, (uid_t)-1, getegid()))
ACT(futimens, futimens(d, past))
ACT(fsetxattr, fsetxattr(d, "user.attack", "x", 1, 0))
ACT(fremovexattr, fremovexattr(d, "user.note"))
ACT(fchmodat2_empty, syscall(NR_FCHMODAT2, d, "", 0606, AT_EMPTY_PATH))
ACT(fchownat_empty, fchownat(d, "", (uid_t)-1, getegid(), AT_EMPTY_PATH))
ACT(utimensat_empty, syscall(SYS_utimensat, d, "", past, AT_EMPTY_PATH))
static void act_setflags(int d, const char *p)
{
	int flags = FS_NOATIME_FL;

	ioctl(d, FS_IOC_SETFLAGS, &flags);
}

/* How a call takes its place: by a path alone, by a directory and a path, or by a descriptor of the file. */
enum takes { TAKES_PATH, TAKES_AT, TAKES_FD };

static const struct call {
	const char *name;
	enum takes takes;
	enum leaf leaf;
	void (*act)(int d, const char *p);
	bool (*won)(void);
} list[] = {
	{"open", TAKES_PATH, LEAF_NEW, act_open, won_there},
	{"openat", TAKES_AT, LEAF_NEW, act_openat, won_there},
	{"openat2", TAKES_AT, LEAF_NEW, act_openat2, won_there},
	{"creat", TAKES_PATH, LEAF_NEW, act_creat, won_there},
	{"write", TAKES_PATH, LEAF_FILE, act_write, won_changed},
	{"read", TAKES_AT, LEAF_SECRET, act_read, won_seen},
#ifdef SYS_readlink
	{"readlink", TAKES_PATH, LEAF_LINK, act_readlink, won_seen},
#endif
	{"readlinkat", TAKES_AT, LEAF_LINK, act_readlinkat, won_seen},
	{"getxattr", TAKES_PATH, LEAF_SECRET, act_getxattr, won_seen},
	{"lgetxattr", TAKES_PATH, LEAF_SECRET, act_lgetxattr, won_seen},
	{"getxattrat", TAKES_AT, LEAF_SECRET, act_getxattrat, won_seen},
	{"listxattr", TAKES_PATH, LEAF_SECRET, act_listxattr, won_seen},
	{"llistxattr", TAKES_PATH, LEAF_SECRET, act_llistxattr, won_seen},
	{"listxattrat", TAKES_AT, LEAF_SECRET, act_listxattrat, won_seen},
	{"mkdir", TAKES_PATH, LEAF_NEW, act_mkdir, won_there},
	{"mkdirat", TAKES_AT, LEAF_NEW, act_mkdirat, won_there},
	{"mknod", TAKES_PATH, LEAF_NEW, act_mknod, won_there},
	{"mknodat", TAKES_AT, LEAF_NEW, act_mknodat, won_there},
	{"symlink", TAKES_PATH, LEAF_NEW, act_symlink, won_there},
	{"symlinkat", TAKES_AT, LEAF_NEW, act_symlinkat, won_there},
	{"link_to", TAKES_PATH, LEAF_NEW, act_link_to, won_there},
	{"linkat_to", TAKES_AT, LEAF_NEW, act_linkat_to, won_there},
	{"link_from", TAKES_PATH, LEAF_FILE, act_link_from, won_changed},
	{"linkat_from", TAKES_AT, LEAF_FILE, act_linkat_from, won_changed},
	{"unlink", TAKES_PATH, LEAF_FILE, act_unlink, won_gone},
	{"unlinkat", TAKES_AT, LEAF_FILE, act_unlinkat, won_gone},
	{"rmdir", TAKES_PATH, LEAF_DIR, act_rmdir, won_dir_gone},
	{"unlinkat_dir", TAKES_AT, LEAF_DIR, act_unlinkat_dir, won_dir_gone},
	{"rename_to", TAKES_PATH, LEAF_NEW, act_rename_to, won_there},
	{"renameat_to", TAKES_AT, LEAF_NEW, act_renameat_to, won_there},
	{"rename_from", TAKES_PATH, LEAF_FILE, act_rename_from, won_gone},
	{"renameat_from", TAKES_AT, LEAF_FILE, act_renameat_from, won_gone},
	{"renameat2", TAKES_AT, LEAF_NEW, act_renameat2, won_there},
	{"exchange", TAKES_AT, LEAF_FILE, act_exchange, won_changed},
	{"truncate", TAKES_PATH, LEAF_FILE, act_truncate, won_changed},
	{"chmod", TAKES_PATH, LEAF_FILE, act_chmod, won_changed},
	{"fchmodat", TAKES_AT, LEAF_FILE, act_fchmodat, won_changed},
	{"fchmodat2", TAKES_AT, LEAF_FILE, act_fchmodat2, won_changed},
	{"chown", TAKES_PATH, LEAF_FILE, act_chown, won_changed},
	{"lchown", TAKES_PATH, LEAF_FILE, act_lchown, won_changed},
	{"fchownat", TAKES_AT, LEAF_FILE, act_fchownat, won_changed},
	{"utime", TAKES_PATH, LEAF_FILE, act_utime, won_changed},
	{"utimes", TAKES_PATH, LEAF_FILE, act_utimes, won_changed},
	{"utimensat", TAKES_AT, LEAF_FILE, act_utimensat, won_changed},
	{"futimesat", TAKES_AT, LEAF_FILE, act_futimesat, won_changed},
	{"setxattr", TAKES_PATH, LEAF_FILE, act_setxattr, won_changed},
	{"lsetxattr", TAKES_PATH, LEAF_FILE, act_lsetxattr, won_changed},
	{"setxattrat", TAKES_AT, LEAF_FILE, act_setxattrat, won_changed},
	{"removexattr", TAKES_PATH, LEAF_FILE, act_removexattr, won_changed},
	{"lremovexattr", TAKES_PATH, LEAF_FILE, act_lremovexattr, won_changed},
	{"removexattrat", TAKES_AT, LEAF_FILE, act_removexattrat, won_changed},
	{"file_setattr", TAKES_AT, LEAF_FILE, act_file_setattr, won_changed},
	{"bind", TAKES_PATH, LEAF_NEW, act_bind, won_there},
	{"connect", TAKES_PATH, LEAF_SOCKET, act_connect, won_reached},
	{"fchmod", TAKES_FD, LEAF_FILE, act_fchmod, won_changed},
	{"fchown", TAKES_FD, LEAF_FILE, act_fchown, won_changed},
	{"futimens", TAKES_FD, LEAF_FILE, act_futimens, won_changed},
	{"fsetxattr", TAKES_FD, LEAF_FILE, act_fsetxattr, won_changed},
	{"fremovexattr", TAKES_FD, LEAF_FILE, act_fremovexattr, won_changed},
	{"fchmodat2_empty", TAKES_FD, LEAF_FILE, act_fchmodat2_empty, won_changed},
	{"fchownat_empty", TAKES_FD, LEAF_FILE, act_fchownat_empty, won_changed},
	{"utimensat_empty", TAKES_FD, LEAF_FILE, act_utimensat_empty, won_changed},
	{"setflags", TAKES_FD, LEAF_FILE, act_setflags, won_changed},
};

#endif
