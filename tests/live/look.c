/*
 * Calls with a path, and what they say.
 *
 *     look WANT NAME [follow]   all calls that look, open or change without creating; prints those that answer another errno
 *                               than WANT ("0": none of those that look fails). follow: NAME is a link to what is hidden
 *     look show NAME            prints the errno of each call that looks
 *     look make NAME            prints the errnos of mkdir, mknod, symlink, link, open with O_CREAT, and that with O_EXCL
 *     look rename FROM TO       prints its errno
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#define NR_GETXATTRAT	464
#define NR_LISTXATTRAT	465
#define NR_FILE_GETATTR 468

static const char *want, *name;
static int showing, nofollow_too;

static const char *errno_of(long rc)
{
	const char *text = rc < 0 ? strerrorname_np(errno) : "0";

	return text ? text : "?";
}

/* Some say more of what is there than that it is. */
static void tell(const char *call, long rc)
{
	const char *is = errno_of(rc);

	if (rc < 0 && errno == ENOSYS)
		return;
	if (showing)
		printf("%s %s\n", call, is);
	else if (strcmp(want, "0") != 0 ? strcmp(is, want) != 0 : rc < 0 && errno == ENOENT)
		printf("%s(%s): %s\n", call, name, is);
}

static void look_all(void)
{
	struct {
		uint64_t value;
		uint32_t size, flags;
	} args = {0};
	struct {
		struct file_handle h;
		char room[128];
	} h = {.h.handle_bytes = 128};
	char buf[4096];
	struct stat st;
	struct statfs fs;
	int mount, here = open(".", O_PATH), back = open(".", O_PATH);

#ifdef SYS_stat
	tell("stat", syscall(SYS_stat, name, &st));
	tell("access", syscall(SYS_access, name, F_OK));
#endif
	tell("newfstatat", syscall(SYS_newfstatat, here, name, &st, 0));
	tell("newfstatat, no descriptor", syscall(SYS_newfstatat, AT_FDCWD, name, &st, AT_EMPTY_PATH));
	tell("statx", syscall(SYS_statx, here, name, 0, 0x7ff, buf));
	tell("faccessat", syscall(SYS_faccessat, here, name, F_OK));
	tell("faccessat2", syscall(SYS_faccessat2, here, name, F_OK, 0));
	tell("statfs", statfs(name, &fs));
	tell("file_getattr", syscall(NR_FILE_GETATTR, here, name, buf, 24, 0));
	/* Refused by the engine of a container. */
	if (name_to_handle_at(here, ".", &h.h, &mount, 0) == 0)
		tell("name_to_handle_at", name_to_handle_at(here, name, &h.h, &mount, AT_SYMLINK_FOLLOW));
	tell("inotify_add_watch", inotify_add_watch(inotify_init1(0), name, IN_OPEN));
	tell("O_PATH", open(name, O_PATH));
	tell("getxattr", getxattr(name, "user.x", buf, 9));
	tell("getxattrat", syscall(NR_GETXATTRAT, here, name, 0, "user.x", &args, sizeof(args)));
	tell("listxattr", listxattr(name, buf, 9));
	tell("listxattrat", syscall(NR_LISTXATTRAT, here, name, 0, buf, 9));
	tell("chdir", chdir(name));
	if (fchdir(back) < 0)
		perror("fchdir");
	if (!nofollow_too)
		return;
	tell("newfstatat, the entry", syscall(SYS_newfstatat, here, name, &st, AT_SYMLINK_NOFOLLOW));
	tell("statx, the entry", syscall(SYS_statx, here, name, AT_SYMLINK_NOFOLLOW, 0x7ff, buf));
	tell("O_PATH, the entry", open(name, O_PATH | O_NOFOLLOW));
	tell("readlinkat", readlinkat(here, name, buf, 9));
	tell("lgetxattr", lgetxattr(name, "user.x", buf, 9));
	tell("llistxattr", llistxattr(name, buf, 9));
}

/* Of what is hidden only: they would do it else. */
static void change_all(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	tell("open", open(name, O_RDONLY));
	tell("open to write", open(name, O_WRONLY));
	tell("open a directory", open(name, O_RDONLY | O_DIRECTORY));
	tell("truncate", truncate(name, 0));
	tell("chmod", chmod(name, 0600));
	tell("chown", chown(name, (uid_t)-1, (gid_t)-1));
	tell("utime", utime(name, NULL));
	tell("setxattr", setxattr(name, "user.x", "y", 1, 0));
	tell("removexattr", removexattr(name, "user.x"));
	tell("execve", execl(name, name, NULL));
	tell("O_TMPFILE", open(name, O_TMPFILE | O_RDWR, 0600));
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", name);
	tell("connect", connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&a, sizeof(a)));
	if (!nofollow_too)
		return;
	tell("unlink", unlink(name));
	tell("rmdir", rmdir(name));
	tell("link", link(name, "linked"));
}

static void make(void)
{
	printf("%s ", errno_of(mkdir(name, 0755)));
	printf("%s ", errno_of(mknod(name, S_IFIFO | 0644, 0)));
	printf("%s ", errno_of(symlink("x", name)));
	printf("%s ", errno_of(link("seen", name)));
	printf("%s ", errno_of(open(name, O_WRONLY | O_CREAT, 0644)));
	printf("%s\n", errno_of(open(name, O_WRONLY | O_CREAT | O_EXCL, 0644)));
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	want = argv[1];
	name = argv[2];
	nofollow_too = argc == 3;
	showing = strcmp(want, "show") == 0;
	if (strcmp(want, "make") == 0) {
		make();
	} else if (strcmp(want, "rename") == 0) {
		printf("%s\n", errno_of(rename(name, argv[3])));
	} else {
		look_all();
		if (strcmp(want, "ENOENT") == 0)
			change_all();
	}
	return 0;
}
