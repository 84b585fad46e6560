/*
 * Descriptors: of outside files, open for reading; and those that cordon was started with.
 */
#include "attack.h"

#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/xattr.h>

static int say(const char *what, bool won)
{
	if (won)
		printf("# %s\n", what);
	return won;
}

static int report(int won)
{
	return won ? WON : LOST;
}

/* An outside file that is open for reading only. */
static int metadata(int argc, char **argv)
{
	struct timespec t[2] = {{1000, 0}, {1000, 0}};
	int fd = open(out("file"), O_RDONLY), dir = open(getenv("OUT"), O_RDONLY | O_DIRECTORY), won = 0,
	    flags = 0, p;
	char proc[64];
	struct stat st;

	if (fd < 0 || dir < 0)
		broken("open");
	signal(SIGIO, SIG_IGN);
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	won += say("fchmod", fchmod(fd, 0606) == 0);
	won += say("fchmod of a directory", fchmod(dir, 0705) == 0);
	won += say("fchown", fchown(fd, (uid_t)-1, getegid()) == 0);
	won += say("futimens", futimens(fd, t) == 0);
	won += say("utimensat", syscall(SYS_utimensat, fd, NULL, t, 0) == 0);
	won += say("fsetxattr", fsetxattr(fd, "user.attack", "x", 1, 0) == 0);
	won += say("fremovexattr", fremovexattr(fd, "user.note") == 0);
	won += say("chmod by /proc", chmod(proc, 0606) == 0);
	won += say("fchmodat2", syscall(452, fd, "", 0606, AT_EMPTY_PATH) == 0);
	won += say("fchownat", fchownat(fd, "", (uid_t)-1, getegid(), AT_EMPTY_PATH) == 0);
	won += say("utimensat, empty", syscall(SYS_utimensat, fd, "", t, AT_EMPTY_PATH) == 0);
	won += say("setxattr by /proc", setxattr(proc, "user.attack", "x", 1, 0) == 0);
	won += say("fchmodat", fchmodat(dir, "file", 0606, 0) == 0);
	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0)
		won += say("FS_IOC_SETFLAGS", ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0);
	won += say("F_SETLEASE", fcntl(fd, F_SETLEASE, F_RDLCK) == 0);
	fcntl(fd, F_SETLEASE, F_UNLCK);
	won += say("write by /proc", open(proc, O_WRONLY | O_NONBLOCK) >= 0);
	won += say("truncate by /proc", truncate(proc, 0) == 0);
	p = open(out("file"), O_PATH);
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", p);
	won += say("chmod of O_PATH by /proc", chmod(proc, 0606) == 0);
	won += say("O_PATH by /proc", open(proc, O_RDWR) >= 0);
	won += say("unlinkat", unlinkat(dir, "file", 0) == 0);
	won += say("renameat", renameat(dir, "other", dir, "third") == 0);
	return report(won || fstat(fd, &st) < 0);
}

/* Content: by the kernel's own rules none of these can write, whoever asks. */
static int content(int argc, char **argv)
{
	int fd = open(out("file"), O_RDONLY), mine = open("mine", O_RDWR | O_CREAT, 0644), won = 0;

	if (write(mine, "attacked", 8) != 8)
		broken("write");
	won += say("ftruncate", ftruncate(fd, 0) == 0);
	won += say("fallocate", fallocate(fd, 0, 0, 4096) == 0);
	won += say("FICLONE", ioctl(fd, FICLONE, mine) == 0);
	lseek(mine, 0, SEEK_SET);
	won += say("copy_file_range", copy_file_range(mine, NULL, fd, NULL, 8, 0) > 0);
	lseek(mine, 0, SEEK_SET);
	won += say("sendfile", sendfile(fd, mine, NULL, 8) > 0);
	won += say("mmap", mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED);
	if (getenv("CONFINED"))
		return report(won);
	return WON;
}

/* What cordon was started with: 0 is a file open for reading, 5 an outside file open for writing, 6 a directory, 7 a
 * listening socket, 8 an O_PATH of the directory. */
static int inherited(int argc, char **argv)
{
	int won = 0;

	won += say("write to 5", write(5, "attacked", 8) == 8);
	won += say("openat 6", openat(6, "new", O_WRONLY | O_CREAT, 0644) >= 0);
	won += say("openat 8", openat(8, "new2", O_WRONLY | O_CREAT, 0644) >= 0);
	won += say("reopen 0", open("/dev/stdin", O_WRONLY) >= 0 || open("/proc/self/fd/0", O_RDWR) >= 0);
	won += say("fchmod 0", fchmod(0, 0606) == 0);
	for (int fd = 3; fd < 1024; fd++) {
		struct stat st;

		if (fstat(fd, &st) == 0 && !S_ISFIFO(st.st_mode))
			won += say("a descriptor beyond 2", true);
	}
	return report(won);
}

/* A datagram socket comes in by descriptor passing from a process of the session: there must be none to begin with. */
static int passed(int argc, char **argv)
{
	int p[2], fd, won = 0;
	char control[CMSG_SPACE(sizeof(int))] = "", byte = 'x';
	struct iovec io = {&byte, 1};
	struct msghdr m = {
		.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	struct cmsghdr *cm = CMSG_FIRSTHDR(&m);

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, p) < 0)
		broken("socketpair");
	fd = open(out("file"), O_PATH);
	cm->cmsg_level = SOL_SOCKET;
	cm->cmsg_type = SCM_RIGHTS;
	cm->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cm), &fd, sizeof(int));
	if (fork() == 0) {
		char proc[64];

		if (recvmsg(p[1], &m, 0) < 0)
			_exit(0);
		memcpy(&fd, CMSG_DATA(cm), sizeof(int));
		snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
		fd = open(proc, O_WRONLY);
		won = fd >= 0 && write(fd, "attacked", 8) == 8;
		_exit(won || chmod(proc, 0606) == 0);
	}
	if (sendmsg(p[0], &m, 0) < 0)
		broken("sendmsg");
	wait(&won);
	return report(won);
}

static const struct attack list[] = {
	{"metadata", metadata}, {"content", content}, {"inherited", inherited}, {"passed", passed}};
ATTACK_MAIN(list)
