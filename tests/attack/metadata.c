/*
 * Mode, owner, times, attributes and flags of $OUT/file, which may be read and not changed: by descriptors that are open for
 * reading only, by O_PATH descriptors, and by their names in /proc. Landlock knows none of these.
 */
#include "attack.h"

#include <linux/fs.h>
#include <linux/fscrypt.h>
#include <linux/fsverity.h>
#include <sys/ioctl.h>
#include <sys/xattr.h>

/* Newer than the headers of Linux 6.1. */
#define NR_FCHMODAT2	 452
#define NR_SETXATTRAT	 463
#define NR_REMOVEXATTRAT 466
#define NR_FILE_SETATTR	 469
#define BTRFS_SUBVOL	 _IOW(0x94, 14, char[4096])
#define BTRFS_SNAP_V2	 _IOW(0x94, 23, char[4096])
#ifndef F_SET_RW_HINT
#define F_SET_RW_HINT 1036
#endif

static int reading(void)
{
	int fd = open(out("file"), O_RDONLY);

	if (fd < 0)
		broken("open");
	return fd;
}
static int pinned(void)
{
	int fd = open(out("file"), O_PATH);

	if (fd < 0)
		broken("O_PATH");
	return fd;
}
static int directory(void)
{
	int fd = open(getenv("OUT"), O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		broken("open");
	return fd;
}
static const char *proc_name(int fd)
{
	static char name[64];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	return name;
}
static const struct timespec long_ago[2] = {{1000, 0}, {1000, 0}};

static bool by_fchmod(void)
{
	return fchmod(reading(), 0606) == 0;
}
static bool by_fchmod_dir(void)
{
	return fchmod(directory(), 0705) == 0;
}
static bool by_fchown(void)
{
	return fchown(reading(), (uid_t)-1, getegid()) == 0;
}
static bool by_futimens(void)
{
	return futimens(reading(), long_ago) == 0;
}
static bool by_fsetxattr(void)
{
	return fsetxattr(reading(), "user.attack", "x", 1, 0) == 0;
}
static bool by_fremovexattr(void)
{
	return fremovexattr(reading(), "user.note") == 0;
}
static bool by_acl(void)
{
	/* Version 2, and an entry each for user, group and others. */
	static const uint16_t acl[] = {2, 0, 1, 6, 65535, 65535, 4, 4, 65535, 65535, 32, 6, 65535, 65535};

	return fsetxattr(reading(), "system.posix_acl_access", acl, sizeof(acl), 0) == 0;
}
static bool by_chmod_proc(void)
{
	return chmod(proc_name(pinned()), 0606) == 0;
}
static bool by_chown_proc(void)
{
	return chown(proc_name(pinned()), (uid_t)-1, getegid()) == 0;
}
static bool by_utimes_proc(void)
{
	return utimensat(AT_FDCWD, proc_name(pinned()), long_ago, 0) == 0;
}
static bool by_setxattr_proc(void)
{
	return setxattr(proc_name(pinned()), "user.attack", "x", 1, 0) == 0;
}
static bool by_removexattr_proc(void)
{
	return removexattr(proc_name(pinned()), "user.note") == 0;
}
static bool by_fchmodat2(void)
{
	return syscall(NR_FCHMODAT2, pinned(), "", 0606, AT_EMPTY_PATH) == 0;
}
static bool by_fchownat(void)
{
	return fchownat(pinned(), "", (uid_t)-1, getegid(), AT_EMPTY_PATH) == 0;
}
static bool by_utimensat(void)
{
	return syscall(SYS_utimensat, pinned(), "", long_ago, AT_EMPTY_PATH) == 0;
}
static bool by_setxattrat(void)
{
	struct {
		uint64_t value;
		uint32_t size, flags;
	} args = {(uintptr_t) "x", 1, 0};

	return syscall(NR_SETXATTRAT, reading(), "", AT_EMPTY_PATH, "user.attack", &args, sizeof(args)) == 0;
}
static bool by_removexattrat(void)
{
	return syscall(NR_REMOVEXATTRAT, reading(), "", AT_EMPTY_PATH, "user.note") == 0;
}
static bool by_file_setattr(void)
{
	struct {
		uint64_t xflags;
		uint32_t extsize, nextents, project, cowextsize;
	} attr = {0x40 /* FS_XFLAG_NOATIME */, 0, 0, 0, 0};

	return syscall(NR_FILE_SETATTR, reading(), "", &attr, sizeof(attr), AT_EMPTY_PATH) == 0;
}
static bool by_setflags(void)
{
	int fd = reading(), flags = 0;

	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0)
		return false;
	flags |= FS_NOATIME_FL;
	return ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0;
}
static bool by_fssetxattr(void)
{
	struct fsxattr attr;
	int fd = reading();

	if (ioctl(fd, FS_IOC_FSGETXATTR, &attr) < 0)
		return false;
	attr.fsx_xflags |= FS_XFLAG_NODUMP;
	return ioctl(fd, FS_IOC_FSSETXATTR, &attr) == 0;
}
static bool by_setversion(void)
{
	int version = 77;

	return ioctl(reading(), FS_IOC_SETVERSION, &version) == 0;
}
static bool by_verity(void)
{
	struct fsverity_enable_arg arg = {.version = 1, .hash_algorithm = 1, .block_size = 4096};

	return ioctl(reading(), FS_IOC_ENABLE_VERITY, &arg) == 0;
}
static bool by_encryption(void)
{
	struct fscrypt_policy_v1 policy = {.contents_encryption_mode = 1, .filenames_encryption_mode = 4};

	return ioctl(directory(), FS_IOC_SET_ENCRYPTION_POLICY, &policy) == 0;
}
/* ZFS_IOC_SETDOSFLAGS and CIFS_IOC_SET_INTEGRITY. */
static bool by_dosflags(void)
{
	uint64_t hidden = 1ULL << 33;

	return ioctl(reading(), 0x40088302, &hidden) == 0;
}
static bool by_integrity(void)
{
	return ioctl(reading(), 0xcf04, 1L) == 0;
}
static bool by_subvolume(void)
{
	struct {
		int64_t fd;
		char name[4088];
	} args = {0, "new"};

	return ioctl(directory(), BTRFS_SUBVOL, &args) == 0;
}
static bool by_snapshot(void)
{
	struct {
		int64_t fd, transid;
		uint64_t flags, unused[4];
		char name[4040];
	} args = {.name = "new"};

	args.fd = open(".", O_RDONLY | O_DIRECTORY);
	return ioctl(directory(), BTRFS_SNAP_V2, &args) == 0;
}
static bool by_write_hint(void)
{
	uint64_t hint = 2;

	return fcntl(reading(), F_SET_RW_HINT, &hint) == 0;
}
static bool by_lease(void)
{
	signal(SIGIO, SIG_IGN);
	return fcntl(reading(), F_SETLEASE, F_RDLCK) == 0;
}
static bool by_write_lease(void)
{
	signal(SIGIO, SIG_IGN);
	return fcntl(reading(), F_SETLEASE, F_WRLCK) == 0;
}
static bool by_truncate_proc(void)
{
	return truncate(proc_name(pinned()), 0) == 0;
}
static bool by_reopen(void)
{
	return open(proc_name(pinned()), O_RDWR) >= 0;
}
static bool by_reopen_thread(void)
{
	char name[64];

	snprintf(name, sizeof(name), "/proc/thread-self/fd/%d", pinned());
	return open(name, O_WRONLY) >= 0;
}
static bool by_reopen_dev(void)
{
	char name[64];

	snprintf(name, sizeof(name), "/dev/fd/%d", reading());
	return open(name, O_WRONLY | O_APPEND) >= 0;
}
/* A name inside for it, which may be written by. */
static bool by_link_empty(void)
{
	return linkat(pinned(), "", AT_FDCWD, "mine", AT_EMPTY_PATH) == 0 && open("mine", O_RDWR) >= 0;
}
static bool by_link_proc(void)
{
	return linkat(AT_FDCWD, proc_name(pinned()), AT_FDCWD, "mine", AT_SYMLINK_FOLLOW) == 0 &&
	       open("mine", O_RDWR) >= 0;
}
static bool by_unlinkat(void)
{
	return unlinkat(directory(), "file", 0) == 0;
}
static bool by_openat(void)
{
	return openat(directory(), "new", O_WRONLY | O_CREAT, 0644) >= 0;
}
static bool by_tmpfile(void)
{
	return openat(directory(), ".", O_TMPFILE | O_RDWR, 0600) >= 0;
}

static const struct attempt list[] = {
	{"fchmod", by_fchmod},
	{"fchmod_dir", by_fchmod_dir},
	{"fchown", by_fchown},
	{"futimens", by_futimens},
	{"fsetxattr", by_fsetxattr},
	{"fremovexattr", by_fremovexattr},
	{"acl", by_acl},
	{"chmod_proc", by_chmod_proc},
	{"chown_proc", by_chown_proc},
	{"utimes_proc", by_utimes_proc},
	{"setxattr_proc", by_setxattr_proc},
	{"removexattr_proc", by_removexattr_proc},
	{"fchmodat2", by_fchmodat2},
	{"fchownat", by_fchownat},
	{"utimensat", by_utimensat},
	{"setxattrat", by_setxattrat},
	{"removexattrat", by_removexattrat},
	{"file_setattr", by_file_setattr},
	{"setflags", by_setflags},
	{"fssetxattr", by_fssetxattr},
	{"setversion", by_setversion},
	{"verity", by_verity},
	{"encryption", by_encryption},
	{"dosflags", by_dosflags},
	{"integrity", by_integrity},
	{"subvolume", by_subvolume},
	{"snapshot", by_snapshot},
	{"write_hint", by_write_hint},
	{"lease", by_lease},
	{"write_lease", by_write_lease},
	{"truncate_proc", by_truncate_proc},
	{"reopen", by_reopen},
	{"reopen_thread", by_reopen_thread},
	{"reopen_dev", by_reopen_dev},
	{"link_empty", by_link_empty},
	{"link_proc", by_link_proc},
	{"unlinkat", by_unlinkat},
	{"openat", by_openat},
	{"tmpfile", by_tmpfile},
};
ATTEMPT_MAIN(list)
