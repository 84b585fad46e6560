/*
 * One operation, by name, on what it is given; prints 0 or the errno's name, and ends with 0 or 1.
 *
 *     call OPERATION PATH [OTHER]
 *     call list                    the operations on one path, each with the system call that performs it
 */
#include <linux/fs.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "probe_calls.h"

static const struct timespec times[2] = {{1, 2}, {3, 4}};

static long done_open(long fd)
{
	if (fd < 0)
		return -1;
	close((int)fd);
	return 0;
}

static long by_openat2(const char *p, uint64_t flags, uint64_t mode)
{
	struct open_how h = {.flags = flags, .mode = mode};

	return done_open(x_openat2(AT_FDCWD, p, &h, sizeof(h)));
}

/* A descriptor that is open for reading only. */
static int reader(const char *p)
{
	int fd = open(p, O_RDONLY | O_NONBLOCK);

	if (fd < 0) {
		fprintf(stderr, "call: cannot read %s\n", p);
		exit(99);
	}
	return fd;
}

static socklen_t address(struct sockaddr_un *a, const char *p)
{
	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	snprintf(a->sun_path, sizeof(a->sun_path), "%s", p);
	return sizeof(*a);
}

struct xattr_args {
	uint64_t value;
	uint32_t size, flags;
};
static struct xattr_args value = {0, 1, 0};

#define OPERATION(name, expr)                                                                                \
	static long op_##name(const char *a, const char *b)                                                  \
	{                                                                                                    \
		(void)a;                                                                                     \
		(void)b;                                                                                     \
		return (long)(expr);                                                                         \
	}
OPERATION(read, done_open(x_open(a, O_RDONLY | O_NONBLOCK, 0)))
OPERATION(readat, done_open(x_openat(AT_FDCWD, a, O_RDONLY | O_NONBLOCK, 0)))
OPERATION(readat2, by_openat2(a, O_RDONLY | O_NONBLOCK, 0))
OPERATION(write, done_open(x_open(a, O_WRONLY, 0)))
OPERATION(update, done_open(x_openat(AT_FDCWD, a, O_RDWR, 0)))
OPERATION(mode3, done_open(x_open(a, 3, 0)))
OPERATION(append, done_open(x_open(a, O_WRONLY | O_APPEND, 0)))
OPERATION(trunc, done_open(x_open(a, O_RDONLY | O_TRUNC, 0)))
OPERATION(writeat2, by_openat2(a, O_RDWR, 0))
OPERATION(create, done_open(x_open(a, O_WRONLY | O_CREAT, 0666)))
OPERATION(createro, done_open(x_openat(AT_FDCWD, a, O_RDONLY | O_CREAT, 0666)))
OPERATION(excl, done_open(x_openat(AT_FDCWD, a, O_WRONLY | O_CREAT | O_EXCL, 0666)))
OPERATION(creat2, by_openat2(a, O_WRONLY | O_CREAT, 0644))
OPERATION(creat, done_open(x_creat(a, 0666)))
OPERATION(tmpfile, done_open(x_openat(AT_FDCWD, a, O_RDWR | O_TMPFILE, 0600)))
OPERATION(mkdir, x_mkdir(a, 0777))
OPERATION(mkdirat, x_mkdirat(AT_FDCWD, a, 0777))
OPERATION(fifo, x_mknod(a, S_IFIFO | 0666, 0))
OPERATION(node, x_mknodat(AT_FDCWD, a, S_IFREG | 0666, 0))
OPERATION(sock, x_mknod(a, S_IFSOCK | 0666, 0))
OPERATION(device, x_mknod(a, S_IFBLK | 0666, 0x700))
OPERATION(symlink, x_symlink("target", a))
OPERATION(symlinkat, x_symlinkat("target", AT_FDCWD, a))
OPERATION(link, x_link(a, b))
OPERATION(linkat, x_linkat(AT_FDCWD, a, AT_FDCWD, b, 0))
OPERATION(unlink, x_unlink(a))
OPERATION(unlinkat, x_unlinkat(AT_FDCWD, a, 0))
OPERATION(rmdir, x_rmdir(a))
OPERATION(removedir, x_unlinkat(AT_FDCWD, a, AT_REMOVEDIR))
OPERATION(rename, x_rename(a, b))
OPERATION(renameat, x_renameat(AT_FDCWD, a, AT_FDCWD, b))
OPERATION(renameat2, x_renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_NOREPLACE))
OPERATION(exchange, x_renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE))
OPERATION(truncate, x_truncate(a, 0))
OPERATION(chmod, x_chmod(a, 0777))
OPERATION(fchmodat, x_fchmodat(AT_FDCWD, a, 0777, 0))
OPERATION(fchmodat2, x_fchmodat2(AT_FDCWD, a, 0777, AT_SYMLINK_NOFOLLOW))
OPERATION(chown, x_chown(a, getuid(), getgid()))
OPERATION(lchown, x_lchown(a, getuid(), getgid()))
OPERATION(fchownat, x_fchownat(AT_FDCWD, a, getuid(), getgid(), 0))
OPERATION(utime, x_utime(a, NULL))
OPERATION(utimes, x_utimes(a, NULL))
OPERATION(futimesat, x_futimesat(AT_FDCWD, a, NULL))
OPERATION(utimensat, x_utimensat(AT_FDCWD, a, times, AT_SYMLINK_NOFOLLOW))
OPERATION(setxattr, x_setxattr(a, "user.x", "1", 1, 0))
OPERATION(lsetxattr, x_lsetxattr(a, "user.x", "1", 1, 0))
OPERATION(removexattr, x_removexattr(a, "user.have"))
OPERATION(lremovexattr, x_lremovexattr(a, "user.have"))
OPERATION(setxattrat, (value.value = (uintptr_t) "1",
		       syscall(SYS_setxattrat, AT_FDCWD, a, 0, "user.x", &value, sizeof(value))))
OPERATION(removexattrat, syscall(SYS_removexattrat, AT_FDCWD, a, 0, "user.have"))
OPERATION(fchmod, x_fchmod(reader(a), 0777))
OPERATION(fchown, x_fchown(reader(a), getuid(), getgid()))
OPERATION(futimens, x_futimens(reader(a), times))
OPERATION(fsetxattr, x_fsetxattr(reader(a), "user.x", "1", 1, 0))
OPERATION(fremovexattr, x_fremovexattr(reader(a), "user.have"))
OPERATION(emptychmod, x_fchmodat2(reader(a), "", 0777, AT_EMPTY_PATH))
OPERATION(emptychown, x_fchownat(reader(a), "", getuid(), getgid(), AT_EMPTY_PATH))
OPERATION(reopen, ({
		  char p[40];
		  snprintf(p, sizeof(p), "/proc/self/fd/%d", reader(a));
		  done_open(x_open(p, O_RDWR, 0));
	  }))
OPERATION(emptylink, x_linkat(reader(a), "", AT_FDCWD, b, AT_EMPTY_PATH))
OPERATION(setflags, ({
		  int flags = FS_NODUMP_FL;
		  ioctl(reader(a), FS_IOC_SETFLAGS, &flags);
	  }))
OPERATION(bind, ({
		  struct sockaddr_un sun;
		  socklen_t len = address(&sun, a);
		  bind(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&sun, len);
	  }))
OPERATION(connect, ({
		  struct sockaddr_un sun;
		  socklen_t len = address(&sun, a);
		  connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&sun, len);
	  }))

OPERATION(exec, execl(a, a, (char *)NULL))
/* Not under test: they prepare. */
OPERATION(have, x_setxattr(a, "user.have", "1", 1, 0))
OPERATION(serve, ({
		  struct sockaddr_un sun;
		  socklen_t len = address(&sun, a);
		  int s = socket(AF_UNIX, SOCK_STREAM, 0);
		  if (bind(s, (struct sockaddr *)&sun, len) == 0 && listen(s, 5) == 0)
			  pause();
		  -1;
	  }))

#ifdef SYS_open
#define OF(old, now) old
#else
#define OF(old, now) now
#endif
#ifdef PROBE_RAW
#define LIBC(raw, libc) raw
#else
#define LIBC(raw, libc) libc
#endif
/* The call that libc takes for one without a number of its own here, or that it prefers. */
#define VIA(old, now) LIBC(OF(old, now), now)

/* on: what the path must be: a file, a directory, absent or two names. */
static const struct {
	const char *name, *on, *call, *op;
	long (*fn)(const char *, const char *);
} operations[] = {
#define ROW(name, on, call, op)                                                                              \
	{                                                                                                    \
#name, on, call, op, op_##name                                                               \
	}
	ROW(write, "file", VIA("open", "openat"), "write"),
	ROW(update, "file", "openat", "write"),
	ROW(mode3, "file", VIA("open", "openat"), "write"),
	ROW(append, "file", VIA("open", "openat"), "write"),
	ROW(trunc, "file", VIA("open", "openat"), "write"),
	ROW(writeat2, "file", "openat2", "write"),
	ROW(creat, "file", OF("creat", "openat"), "write"),
	ROW(create, "absent", VIA("open", "openat"), "create"),
	ROW(createro, "absent", "openat", "create"),
	ROW(excl, "absent", "openat", "create"),
	ROW(creat2, "absent", "openat2", "create"),
	ROW(creat, "absent", OF("creat", "openat"), "create"),
	ROW(tmpfile, "dir", "openat", "create"),
	ROW(mkdir, "absent", OF("mkdir", "mkdirat"), "create"),
	ROW(mkdirat, "absent", "mkdirat", "create"),
	ROW(fifo, "absent", VIA("mknod", "mknodat"), "create"),
	ROW(node, "absent", "mknodat", "create"),
	ROW(sock, "absent", VIA("mknod", "mknodat"), "create"),
	ROW(symlink, "absent", OF("symlink", "symlinkat"), "create"),
	ROW(symlinkat, "absent", "symlinkat", "create"),
	ROW(link, "from", OF("link", "linkat"), "link"),
	ROW(linkat, "from", "linkat", "link"),
	ROW(link, "to", OF("link", "linkat"), "link"),
	ROW(emptylink, "from", "linkat", "link"),
	ROW(unlink, "file", OF("unlink", "unlinkat"), "delete"),
	ROW(unlinkat, "file", "unlinkat", "delete"),
	ROW(rmdir, "dir", OF("rmdir", "unlinkat"), "delete"),
	ROW(removedir, "dir", "unlinkat", "delete"),
	ROW(rename, "from", OF("rename", "renameat"), "rename"),
	ROW(renameat, "from", "renameat", "rename"),
	ROW(renameat2, "from", "renameat2", "rename"),
	ROW(rename, "to", OF("rename", "renameat"), "rename"),
	ROW(renameat2, "to", "renameat2", "rename"),
	ROW(exchange, "both", "renameat2", "rename"),
	ROW(truncate, "file", "truncate", "write"),
	ROW(chmod, "file", OF("chmod", "fchmodat"), "metadata"),
	ROW(chmod, "dir", OF("chmod", "fchmodat"), "metadata"),
	ROW(fchmodat, "file", "fchmodat", "metadata"),
	ROW(fchmodat2, "file", "fchmodat2", "metadata"),
	ROW(chown, "file", OF("chown", "fchownat"), "metadata"),
	ROW(lchown, "file", OF("lchown", "fchownat"), "metadata"),
	ROW(fchownat, "file", "fchownat", "metadata"),
	ROW(utime, "file", LIBC(OF("utime", "utimensat"), "utime|utimensat"), "metadata"),
	ROW(utimes, "file", LIBC(OF("utimes", "utimensat"), "utimes|utimensat"), "metadata"),
	ROW(futimesat, "file", LIBC(OF("futimesat", "utimensat"), "futimesat|utimensat"), "metadata"),
	ROW(utimensat, "file", "utimensat", "metadata"),
	ROW(setxattr, "file", "setxattr", "metadata"),
	ROW(lsetxattr, "file", "lsetxattr", "metadata"),
	ROW(removexattr, "file", "removexattr", "metadata"),
	ROW(lremovexattr, "file", "lremovexattr", "metadata"),
	ROW(setxattrat, "file", "setxattrat", "metadata"),
	ROW(removexattrat, "file", "removexattrat", "metadata"),
	ROW(fchmod, "file", "fchmod", "metadata"),
	ROW(fchmod, "dir", "fchmod", "metadata"),
	ROW(fchown, "file", "fchown", "metadata"),
	ROW(futimens, "file", "utimensat", "metadata"),
	ROW(fsetxattr, "file", "fsetxattr", "metadata"),
	ROW(fremovexattr, "file", "fremovexattr", "metadata"),
	ROW(emptychmod, "file", "fchmodat2", "metadata"),
	ROW(emptychown, "file", "fchownat", "metadata"),
	ROW(setflags, "file", "ioctl", "metadata"),
	ROW(reopen, "file", VIA("open", "openat"), "write"),
	ROW(bind, "absent", "bind", "create"),
	ROW(connect, "socket", "connect", "connect"),
	ROW(read, "read", VIA("open", "openat"), "read"),
	ROW(readat, "read", "openat", "read"),
	ROW(readat2, "read", "openat2", "read"),
	ROW(exec, "program", "execve", "exec"),
	ROW(have, "setup", "-", "-"),
	ROW(serve, "setup", "-", "-"),
	ROW(device, "device", VIA("mknod", "mknodat"), "create"),
};

int main(int argc, char **argv)
{
	long rc = -1;

	umask(022);
	if (argc == 2 && strcmp(argv[1], "list") == 0) {
		for (size_t i = 0; i < N(operations); i++)
			printf("%s %s %s %s\n", operations[i].name, operations[i].on, operations[i].call,
			       operations[i].op);
		return 0;
	}
	for (size_t i = 0; argc >= 3 && i < N(operations); i++) {
		if (strcmp(argv[1], operations[i].name) != 0)
			continue;
		errno = 0;
		rc = operations[i].fn(argv[2], argc > 3 ? argv[3] : "");
		if (rc < 0)
			puts(strerrorname_np(errno) ?: "?");
		else
			puts("0");
		return rc < 0;
	}
	fprintf(stderr, "call: no operation %s\n", argc > 1 ? argv[1] : "");
	return 98;
}
