/*
 * Ways to $OUT that do not go through open(2) of its name: handles, mounts, rings, roots of others, the working directory,
 * renames with flags, names that are read as something else. $OUT/file is there, $OUT/new is not. $VICTIM is a process
 * outside.
 */
#include "attack.h"

#include <linux/fs.h>
#include <linux/io_uring.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>

static bool changed(void)
{
	int err = errno;
	bool yes = there(out("new")) || !there(out("file")) || file_has(out("file"), "attacked");

	errno = err;
	return yes;
}
static bool write_to(int fd)
{
	return fd >= 0 && write(fd, "attacked", 8) == 8;
}

/* A handle is a name that no rule knows. */
static bool by_handle(void)
{
	struct {
		struct file_handle h;
		char room[128];
	} h = {.h.handle_bytes = sizeof(h.room)};
	int mount, dir = open(getenv("OUT"), O_RDONLY | O_DIRECTORY);

	return name_to_handle_at(AT_FDCWD, out("file"), &h.h, &mount, 0) == 0 &&
	       write_to(open_by_handle_at(dir, &h.h, O_RDWR));
}

/* Mounts show a directory by another name. */
static bool by_bind(void)
{
	mkdir("here", 0755);
	return mount(getenv("OUT"), "here", NULL, MS_BIND, NULL) == 0 && write_file("here/new", "x") &&
	       umount("here") == 0;
}
static bool by_open_tree(void)
{
	int tree = (int)syscall(SYS_open_tree, AT_FDCWD, getenv("OUT"), OPEN_TREE_CLONE);

	return tree >= 0 && write_to(openat(tree, "new", O_WRONLY | O_CREAT, 0644));
}
/* Without a copy it is an O_PATH descriptor that open was not asked for. */
static bool by_open_tree_path(void)
{
	int tree = (int)syscall(SYS_open_tree, AT_FDCWD, getenv("OUT"), 0);

	return tree >= 0 && write_to(openat(tree, "new", O_WRONLY | O_CREAT, 0644));
}
static bool by_move_mount(void)
{
	int tree = (int)syscall(SYS_open_tree, AT_FDCWD, ".", OPEN_TREE_CLONE);
	bool moved = tree >= 0 &&
		     syscall(SYS_move_mount, tree, "", AT_FDCWD, getenv("OUT"), MOVE_MOUNT_F_EMPTY_PATH) == 0;

	if (moved)
		umount2(getenv("OUT"), MNT_DETACH);
	return moved;
}
static bool by_new_file_system(void)
{
	int fs = (int)syscall(SYS_fsopen, "tmpfs", 0);

	return fs >= 0 && syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0 &&
	       syscall(SYS_fsmount, fs, 0, 0) >= 0;
}
static bool by_remount(void)
{
	return mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_RELATIME, NULL) == 0;
}
static bool by_mount_setattr(void)
{
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_RELATIME, .attr_clr = MOUNT_ATTR__ATIME};

	return syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, &attr, sizeof(attr)) == 0;
}
static bool by_chroot(void)
{
	return chroot(getenv("OUT")) == 0 && write_file("/new", "x");
}
static bool by_pivot(void)
{
	return syscall(SYS_pivot_root, ".", ".") == 0 || errno == EINVAL || errno == EBUSY;
}

/* A ring performs calls that no filter sees. */
static bool by_ring(void)
{
	struct io_uring_params p = {0};
	int ring = (int)syscall(SYS_io_uring_setup, 4, &p), done;
	size_t size = p.sq_off.array + p.sq_entries * sizeof(unsigned);
	struct io_uring_sqe *sqe;
	char *sq;

	if (ring < 0)
		return false;
	sq = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
	sqe = mmap(NULL, p.sq_entries * sizeof(*sqe), PROT_READ | PROT_WRITE, MAP_SHARED, ring,
		   IORING_OFF_SQES);
	if (sq == MAP_FAILED || sqe == MAP_FAILED)
		return false;
	*sqe = (struct io_uring_sqe){.opcode = IORING_OP_OPENAT,
				     .fd = AT_FDCWD,
				     .addr = (uintptr_t)out("new"),
				     .open_flags = O_WRONLY | O_CREAT,
				     .len = 0644};
	((unsigned *)(sq + p.sq_off.array))[0] = 0;
	__atomic_store_n((unsigned *)(sq + p.sq_off.tail), 1, __ATOMIC_RELEASE);
	done = (int)syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0);
	return done == 1 && changed();
}

/* Page faults that one handles oneself hold up whoever reads the memory. */
static bool by_userfault(void)
{
	return syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY) >= 0;
}
static bool by_userfault_device(void)
{
	int fd = open("/dev/userfaultfd", O_RDONLY);

	return fd >= 0 && ioctl(fd, USERFAULTFD_IOC_NEW, O_CLOEXEC) >= 0;
}
static bool by_fuse(void)
{
	return open("/dev/fuse", O_RDWR) >= 0;
}

/* The root and working directory of a process outside. */
static bool through(const char *what, uint64_t resolve)
{
	struct open_how how = {.flags = O_WRONLY | O_CREAT, .mode = 0644, .resolve = resolve};
	char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "/proc/%s/%s%s", getenv("VICTIM"), what, out("new"));
	return syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how)) >= 0;
}
static bool by_root_of_other(void)
{
	return through("root", 0);
}
static bool by_root_of_task(void)
{
	char what[64];

	snprintf(what, sizeof(what), "task/%s/root", getenv("VICTIM"));
	return through(what, 0);
}
static bool by_in_root(void)
{
	struct open_how how = {.flags = O_WRONLY | O_CREAT, .mode = 0644, .resolve = RESOLVE_IN_ROOT};

	return syscall(SYS_openat2, open("/", O_PATH), out("new"), &how, sizeof(how)) >= 0;
}
static bool by_beneath(void)
{
	struct open_how how = {.flags = O_WRONLY | O_CREAT, .mode = 0644, .resolve = RESOLVE_BENEATH};

	return syscall(SYS_openat2, open(getenv("OUT"), O_PATH), "new", &how, sizeof(how)) >= 0;
}
static bool by_own_root(void)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "/proc/self/root%s", out("new"));
	return write_file(path, "x");
}
static bool by_own_task(void)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "/proc/self/task/%d/root/proc/thread-self/root%s", getpid(), out("new"));
	return write_file(path, "x");
}

/* From the working directory. */
static bool by_chdir(void)
{
	return chdir(getenv("OUT")) == 0 && write_file("new", "x");
}
static bool by_fchdir(void)
{
	return fchdir(open(getenv("OUT"), O_PATH)) == 0 && write_file("new", "x");
}
static bool by_dotdot(void)
{
	return write_file("../out/new", "x");
}
static bool by_dotdot_links(void)
{
	symlink("..", "up");
	symlink("up/out", "over");
	return write_file("over/new", "x");
}
static bool by_removed_cwd(void)
{
	mkdir("gone", 0755);
	if (chdir("gone") < 0 || rmdir("../gone") < 0)
		broken("gone");
	return write_file("../../out/new", "x") || (chdir("..") == 0 && write_file("../out/new", "x"));
}
static bool by_moved_cwd(void)
{
	mkdir("sub", 0755);
	return chdir("sub") == 0 && rename(getenv("IN"), out("new")) == 0;
}

/* Renames. */
static int rename_with(const char *a, const char *b, unsigned flags)
{
	return (int)syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, flags);
}
static bool by_exchange(void)
{
	write_file("mine", "attacked");
	return rename_with("mine", out("file"), RENAME_EXCHANGE) == 0;
}
static bool by_whiteout(void)
{
	return rename_with(out("file"), "taken", RENAME_WHITEOUT) == 0;
}
static bool by_noreplace(void)
{
	write_file("mine", "attacked");
	return rename_with("mine", out("new"), RENAME_NOREPLACE) == 0;
}
static bool by_linked_parent(void)
{
	symlink(getenv("OUT"), "link");
	write_file("mine", "attacked");
	return rename("mine", "link/new") == 0;
}
static bool by_linked_source(void)
{
	symlink(getenv("OUT"), "link");
	return rename("link/file", "taken") == 0;
}
static bool by_link_in_linked(void)
{
	symlink(getenv("OUT"), "link");
	write_file("mine", "attacked");
	return link("mine", "link/new") == 0;
}
static bool by_dangling(void)
{
	symlink(out("new"), "link");
	return write_file("link", "x");
}
static bool by_trailing_slash(void)
{
	symlink(out("new"), "link");
	return mkdir("link/", 0755) == 0 || mkdir(out("new/"), 0755) == 0;
}
static bool by_link_chain(void)
{
	char name[32], to[32];

	symlink(out("new"), "l0");
	for (int i = 1; i < 39; i++) {
		snprintf(name, sizeof(name), "l%d", i);
		snprintf(to, sizeof(to), "l%d", i - 1);
		symlink(to, name);
	}
	return write_file("l38", "x");
}
static bool by_device_node(void)
{
	struct stat st;
	int fd;

	if (stat("/dev/null", &st) < 0 || mknod("node", S_IFCHR | 0600, st.st_rdev) < 0)
		return false;
	fd = open("node", O_RDWR);
	return fd >= 0;
}

/* Names that nobody would write. */
static bool by_line_break(void)
{
	mkdir("a\nb", 0755);
	return write_file("a\nb/../../out/new", "x");
}
static bool by_many_slashes(void)
{
	char path[PATH_MAX] = "";
	size_t n = strlen(getenv("OUT"));

	memset(path, '/', PATH_MAX - n - 8);
	strcat(path, out("new"));
	return write_file(path, "x");
}
/* Longer than a path may be, by way of descriptors. */
static bool by_deep_directory(void)
{
	char name[201] = "", up[3 * 30 + 16] = "";
	int i;

	memset(name, 'd', 200);
	for (i = 0; i < 25 && mkdir(name, 0755) == 0; i++)
		if (chdir(name) < 0)
			return false;
	for (; i >= 0; i--)
		strcat(up, "../");
	strcat(up, "out/new");
	return write_file(up, "x");
}

static const struct attempt list[] = {
	{"handle", by_handle},
	{"bind", by_bind},
	{"open_tree", by_open_tree},
	{"open_tree_path", by_open_tree_path},
	{"move_mount", by_move_mount},
	{"new_file_system", by_new_file_system},
	{"remount", by_remount},
	{"mount_setattr", by_mount_setattr},
	{"chroot", by_chroot},
	{"pivot", by_pivot},
	{"ring", by_ring},
	{"userfault", by_userfault},
	{"userfault_device", by_userfault_device},
	{"fuse", by_fuse},
	{"root_of_other", by_root_of_other},
	{"root_of_task", by_root_of_task},
	{"in_root", by_in_root},
	{"beneath", by_beneath},
	{"own_root", by_own_root},
	{"own_task", by_own_task},
	{"chdir", by_chdir},
	{"fchdir", by_fchdir},
	{"dotdot", by_dotdot},
	{"dotdot_links", by_dotdot_links},
	{"removed_cwd", by_removed_cwd},
	{"moved_cwd", by_moved_cwd},
	{"exchange", by_exchange},
	{"whiteout", by_whiteout},
	{"noreplace", by_noreplace},
	{"linked_parent", by_linked_parent},
	{"linked_source", by_linked_source},
	{"link_in_linked", by_link_in_linked},
	{"dangling", by_dangling},
	{"trailing_slash", by_trailing_slash},
	{"link_chain", by_link_chain},
	{"device_node", by_device_node},
	{"line_break", by_line_break},
	{"many_slashes", by_many_slashes},
	{"deep_directory", by_deep_directory},
};
ATTEMPT_MAIN(list)
