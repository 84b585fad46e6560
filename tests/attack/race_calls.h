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
static char seen[512];	    /* what was read */
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
/* The name that /proc has for what was opened. */
static inline bool won_opened(void)
{
	return strncmp(seen, getenv("OUT"), strlen(getenv("OUT"))) == 0;
}
/* How long what is written will live: no time tells of it. */
static inline bool won_hinted(void)
{
	int fd = open(out("bad"), O_RDONLY);
	uint64_t hint = 0;

	if (fd >= 0) {
		fcntl(fd, F_GET_RW_HINT, &hint);
		close(fd);
	}
	return hint != 0;
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
ACT(renameat2_from, unlink(mine); syscall(SYS_renameat2, d, p, AT_FDCWD, mine, RENAME_NOREPLACE))
ACT(exchange_from, have_mine(); syscall(SYS_renameat2, d, p, AT_FDCWD, mine, RENAME_EXCHANGE))
ACT(whiteout, syscall(SYS_renameat2, d, p, AT_FDCWD, mine, RENAME_WHITEOUT))
ACT(truncate, truncate(p, 0))
ACT(open_trunc, shut(openat(d, p, O_WRONLY | O_TRUNC)))
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
/* A file without a name has its directory's. */
static void act_tmpfile(int d, const char *p)
{
	int fd = openat(d, p, O_TMPFILE | O_RDWR, 0600);
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = fd < 0 ? -1 : readlink(link, seen, sizeof(seen) - 1);
	seen[n > 0 ? n : 0] = '\0';
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
ACT(linkat_empty, unlink(mine); linkat(d, "", AT_FDCWD, mine, AT_EMPTY_PATH))
ACT(setxattrat_empty,
    syscall(NR_SETXATTRAT, d, "", AT_EMPTY_PATH, "user.attack", &xattr_args, sizeof(xattr_args)))
ACT(removexattrat_empty, syscall(NR_REMOVEXATTRAT, d, "", AT_EMPTY_PATH, "user.note"))
ACT(file_setattr_empty, syscall(NR_FILE_SETATTR, d, "", &file_attr, sizeof(file_attr), AT_EMPTY_PATH))
static void act_setflags(int d, const char *p)
{
	int flags = FS_NOATIME_FL;

	ioctl(d, FS_IOC_SETFLAGS, &flags);
}
static void act_fssetxattr(int d, const char *p)
{
	struct fsxattr x = {.fsx_xflags = FS_XFLAG_NOATIME};

	ioctl(d, FS_IOC_FSSETXATTR, &x);
}
static void act_setversion(int d, const char *p)
{
	int version = 7;

	ioctl(d, FS_IOC_SETVERSION, &version);
}
static void act_rw_hint(int d, const char *p)
{
	uint64_t hint = RWH_WRITE_LIFE_SHORT;

	fcntl(d, F_SET_RW_HINT, &hint);
}
/* On one that is for nothing but to name it. */
ACT(readlinkat_empty, saw(readlinkat(d, "", seen, SEEN_SIZE)))

/* How a call takes its place: by a path alone, by a directory and a path, or by a descriptor of the file. */
enum takes { TAKES_PATH, TAKES_AT, TAKES_FD };

static const struct call {
	const char *name;
	enum takes takes;
	enum leaf leaf;
	void (*act)(int d, const char *p);
	bool (*won)(void);
	int fd_flags; /* how the descriptor was opened */
} list[] = {
	{"open", TAKES_PATH, LEAF_NEW, act_open, won_there, 0},
	{"openat", TAKES_AT, LEAF_NEW, act_openat, won_there, 0},
	{"openat2", TAKES_AT, LEAF_NEW, act_openat2, won_there, 0},
	{"creat", TAKES_PATH, LEAF_NEW, act_creat, won_there, 0},
	{"write", TAKES_PATH, LEAF_FILE, act_write, won_changed, 0},
	{"open_trunc", TAKES_AT, LEAF_FILE, act_open_trunc, won_changed, 0},
	{"tmpfile", TAKES_AT, LEAF_DIR, act_tmpfile, won_opened, 0},
	{"read", TAKES_AT, LEAF_SECRET, act_read, won_seen, 0},
#ifdef SYS_readlink
	{"readlink", TAKES_PATH, LEAF_LINK, act_readlink, won_seen, 0},
#endif
	{"readlinkat", TAKES_AT, LEAF_LINK, act_readlinkat, won_seen, 0},
	{"getxattr", TAKES_PATH, LEAF_SECRET, act_getxattr, won_seen, 0},
	{"lgetxattr", TAKES_PATH, LEAF_SECRET, act_lgetxattr, won_seen, 0},
	{"getxattrat", TAKES_AT, LEAF_SECRET, act_getxattrat, won_seen, 0},
	{"listxattr", TAKES_PATH, LEAF_SECRET, act_listxattr, won_seen, 0},
	{"llistxattr", TAKES_PATH, LEAF_SECRET, act_llistxattr, won_seen, 0},
	{"listxattrat", TAKES_AT, LEAF_SECRET, act_listxattrat, won_seen, 0},
	{"mkdir", TAKES_PATH, LEAF_NEW, act_mkdir, won_there, 0},
	{"mkdirat", TAKES_AT, LEAF_NEW, act_mkdirat, won_there, 0},
	{"mknod", TAKES_PATH, LEAF_NEW, act_mknod, won_there, 0},
	{"mknodat", TAKES_AT, LEAF_NEW, act_mknodat, won_there, 0},
	{"symlink", TAKES_PATH, LEAF_NEW, act_symlink, won_there, 0},
	{"symlinkat", TAKES_AT, LEAF_NEW, act_symlinkat, won_there, 0},
	{"link_to", TAKES_PATH, LEAF_NEW, act_link_to, won_there, 0},
	{"linkat_to", TAKES_AT, LEAF_NEW, act_linkat_to, won_there, 0},
	{"link_from", TAKES_PATH, LEAF_FILE, act_link_from, won_changed, 0},
	{"linkat_from", TAKES_AT, LEAF_FILE, act_linkat_from, won_changed, 0},
	{"unlink", TAKES_PATH, LEAF_FILE, act_unlink, won_gone, 0},
	{"unlinkat", TAKES_AT, LEAF_FILE, act_unlinkat, won_gone, 0},
	{"rmdir", TAKES_PATH, LEAF_DIR, act_rmdir, won_dir_gone, 0},
	{"unlinkat_dir", TAKES_AT, LEAF_DIR, act_unlinkat_dir, won_dir_gone, 0},
	{"rename_to", TAKES_PATH, LEAF_NEW, act_rename_to, won_there, 0},
	{"renameat_to", TAKES_AT, LEAF_NEW, act_renameat_to, won_there, 0},
	{"rename_from", TAKES_PATH, LEAF_FILE, act_rename_from, won_gone, 0},
	{"renameat_from", TAKES_AT, LEAF_FILE, act_renameat_from, won_gone, 0},
	{"renameat2", TAKES_AT, LEAF_NEW, act_renameat2, won_there, 0},
	{"exchange", TAKES_AT, LEAF_FILE, act_exchange, won_changed, 0},
	{"renameat2_from", TAKES_AT, LEAF_FILE, act_renameat2_from, won_gone, 0},
	{"exchange_from", TAKES_AT, LEAF_FILE, act_exchange_from, won_changed, 0},
	{"whiteout", TAKES_AT, LEAF_FILE, act_whiteout, won_changed, 0},
	{"truncate", TAKES_PATH, LEAF_FILE, act_truncate, won_changed, 0},
	{"chmod", TAKES_PATH, LEAF_FILE, act_chmod, won_changed, 0},
	{"fchmodat", TAKES_AT, LEAF_FILE, act_fchmodat, won_changed, 0},
	{"fchmodat2", TAKES_AT, LEAF_FILE, act_fchmodat2, won_changed, 0},
	{"chown", TAKES_PATH, LEAF_FILE, act_chown, won_changed, 0},
	{"lchown", TAKES_PATH, LEAF_FILE, act_lchown, won_changed, 0},
	{"fchownat", TAKES_AT, LEAF_FILE, act_fchownat, won_changed, 0},
	{"utime", TAKES_PATH, LEAF_FILE, act_utime, won_changed, 0},
	{"utimes", TAKES_PATH, LEAF_FILE, act_utimes, won_changed, 0},
	{"utimensat", TAKES_AT, LEAF_FILE, act_utimensat, won_changed, 0},
	{"futimesat", TAKES_AT, LEAF_FILE, act_futimesat, won_changed, 0},
	{"setxattr", TAKES_PATH, LEAF_FILE, act_setxattr, won_changed, 0},
	{"lsetxattr", TAKES_PATH, LEAF_FILE, act_lsetxattr, won_changed, 0},
	{"setxattrat", TAKES_AT, LEAF_FILE, act_setxattrat, won_changed, 0},
	{"removexattr", TAKES_PATH, LEAF_FILE, act_removexattr, won_changed, 0},
	{"lremovexattr", TAKES_PATH, LEAF_FILE, act_lremovexattr, won_changed, 0},
	{"removexattrat", TAKES_AT, LEAF_FILE, act_removexattrat, won_changed, 0},
	{"file_setattr", TAKES_AT, LEAF_FILE, act_file_setattr, won_changed, 0},
	{"bind", TAKES_PATH, LEAF_NEW, act_bind, won_there, 0},
	{"connect", TAKES_PATH, LEAF_SOCKET, act_connect, won_reached, 0},
	{"fchmod", TAKES_FD, LEAF_FILE, act_fchmod, won_changed, O_RDONLY},
	{"fchown", TAKES_FD, LEAF_FILE, act_fchown, won_changed, O_RDONLY},
	{"futimens", TAKES_FD, LEAF_FILE, act_futimens, won_changed, O_RDONLY},
	{"fsetxattr", TAKES_FD, LEAF_FILE, act_fsetxattr, won_changed, O_RDONLY},
	{"fremovexattr", TAKES_FD, LEAF_FILE, act_fremovexattr, won_changed, O_RDONLY},
	{"fchmodat2_empty", TAKES_FD, LEAF_FILE, act_fchmodat2_empty, won_changed, O_RDONLY},
	{"fchownat_empty", TAKES_FD, LEAF_FILE, act_fchownat_empty, won_changed, O_RDONLY},
	{"utimensat_empty", TAKES_FD, LEAF_FILE, act_utimensat_empty, won_changed, O_RDONLY},
	{"setflags", TAKES_FD, LEAF_FILE, act_setflags, won_changed, O_RDONLY},
	{"linkat_empty", TAKES_FD, LEAF_FILE, act_linkat_empty, won_changed, O_RDONLY},
	{"setxattrat_empty", TAKES_FD, LEAF_FILE, act_setxattrat_empty, won_changed, O_RDONLY},
	{"removexattrat_empty", TAKES_FD, LEAF_FILE, act_removexattrat_empty, won_changed, O_RDONLY},
	{"file_setattr_empty", TAKES_FD, LEAF_FILE, act_file_setattr_empty, won_changed, O_RDONLY},
	{"fssetxattr", TAKES_FD, LEAF_FILE, act_fssetxattr, won_changed, O_RDONLY},
	{"setversion", TAKES_FD, LEAF_FILE, act_setversion, won_changed, O_RDONLY},
	{"rw_hint", TAKES_FD, LEAF_FILE, act_rw_hint, won_hinted, O_RDONLY},
	{"readlinkat_empty", TAKES_FD, LEAF_LINK, act_readlinkat_empty, won_seen, O_PATH | O_NOFOLLOW},
};

#endif
