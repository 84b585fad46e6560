/*
 * open, openat, openat2 and creat: every kind of object, every flag, every way to write its name.
 */
#include <linux/limits.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "probe_calls.h"

static const struct {
	int flags;
	const char *name;
} flag_sets[] = {
	{O_RDONLY, "R"},
	{O_WRONLY, "W"},
	{O_RDWR, "RW"},
	{3, "3"},
	{O_RDONLY | O_CLOEXEC, "R|CLOEXEC"},
	{O_RDWR | O_CLOEXEC | O_APPEND, "RW|CLOEXEC|APPEND"},
	{O_WRONLY | O_APPEND, "W|APPEND"},
	{O_RDONLY | O_TRUNC, "R|TRUNC"},
	{O_WRONLY | O_TRUNC, "W|TRUNC"},
	{O_RDONLY | O_CREAT, "R|CREAT"},
	{O_WRONLY | O_CREAT, "W|CREAT"},
	{O_RDWR | O_CREAT, "RW|CREAT"},
	{3 | O_CREAT, "3|CREAT"},
	{O_WRONLY | O_CREAT | O_TRUNC, "W|CREAT|TRUNC"},
	{O_WRONLY | O_CREAT | O_EXCL, "W|CREAT|EXCL"},
	{O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, "RW|CREAT|EXCL|CLOEXEC"},
	{O_WRONLY | O_EXCL, "W|EXCL"},
	{O_WRONLY | O_CREAT | O_NOFOLLOW, "W|CREAT|NOFOLLOW"},
	{O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, "W|CREAT|EXCL|NOFOLLOW"},
	{O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK, "W|CREAT|APPEND|NONBLOCK"},
	{O_RDONLY | O_CREAT | O_DIRECTORY, "R|CREAT|DIRECTORY"},
	{O_RDONLY | O_DIRECTORY, "R|DIRECTORY"},
	{O_WRONLY | O_DIRECTORY, "W|DIRECTORY"},
	{O_RDONLY | O_DIRECTORY | O_NOFOLLOW, "R|DIRECTORY|NOFOLLOW"},
	{O_RDONLY | O_NOFOLLOW, "R|NOFOLLOW"},
	{O_WRONLY | O_NOFOLLOW, "W|NOFOLLOW"},
	{O_RDWR | O_NOFOLLOW | O_TRUNC, "RW|NOFOLLOW|TRUNC"},
	{O_RDONLY | O_NONBLOCK, "R|NONBLOCK"},
	{O_RDWR | O_NONBLOCK, "RW|NONBLOCK"},
	{O_RDWR | O_SYNC, "RW|SYNC"},
	{O_RDWR | O_DSYNC, "RW|DSYNC"},
	{O_RDWR | O_NOCTTY, "RW|NOCTTY"},
	{O_RDONLY | O_NOATIME, "R|NOATIME"},
	{O_RDWR | O_ASYNC, "RW|ASYNC"},
	{O_RDWR | O_LARGEFILE | O_NDELAY, "RW|LARGEFILE"},
	{O_PATH, "PATH"},
	{O_PATH | O_NOFOLLOW, "PATH|NOFOLLOW"},
	{O_PATH | O_DIRECTORY, "PATH|DIRECTORY"},
	{O_PATH | O_CREAT | O_TRUNC | O_RDWR, "PATH|CREAT|TRUNC|RW"},
	{O_RDWR | O_TMPFILE, "RW|TMPFILE"},
	{O_WRONLY | O_TMPFILE | O_EXCL, "W|TMPFILE|EXCL"},
	{O_RDONLY | O_TMPFILE, "R|TMPFILE"},
	{O_RDWR | O_TMPFILE | O_CREAT, "RW|TMPFILE|CREAT"},
	{O_RDWR | TMPFILE_BIT, "RW|TMPFILE-without-DIRECTORY"},
	{O_RDWR | 0x40000000, "RW|junk"},
	{O_RDONLY | 0x8, "R|junk8"},
};

/* Ways to write the name of an object "o". */
static const char *const forms[] = {"o", "o/", "./o", "o/.", "o/..", "o/../o", "o/in", "o/none", "o//"};

static bool changes(int flags)
{
	return (flags & (O_CREAT | O_TRUNC)) || (flags & O_TMPFILE) == O_TMPFILE ||
	       (flags & O_ACCMODE) != O_RDONLY;
}

static void use_fd(int fd, int flags)
{
	char buf[4];
	ssize_t n;

	if (fd < 0)
		return;
	describe_fd(fd);
	if (!(flags & O_PATH)) {
		nonblocking(fd);
		n = read(fd, buf, sizeof(buf));
		say(" r%s", n < 0 ? errno_name(errno) : n == 0 ? "0" : "+");
		n = write(fd, "W", 1);
		say(" w%s", n < 0 ? errno_name(errno) : "+");
	}
	close(fd);
}

/* Would the open wait for another process? */
static bool waits(enum kind k, int flags, const char *form)
{
	return k == K_FIFO && !(flags & (O_NONBLOCK | O_PATH)) &&
	       strcmp(form, "o") * strcmp(form, "./o") == 0 && (flags & O_ACCMODE) != O_RDWR &&
	       (flags & O_ACCMODE) != 3;
}

enum how { BY_OPEN, BY_OPENAT, BY_OPENAT2, HOWS };
static const char *const how_names[] = {"open", "openat", "openat2"};

static long open_by(enum how how, int dir, const char *name, int flags, mode_t mode)
{
	struct open_how h = {.flags = (uint64_t)(unsigned)flags};

	/* These two have a check of their own arguments. */
	if (flags & (O_CREAT | TMPFILE_BIT))
		h.mode = mode;
	switch (how) {
	case BY_OPEN:
		return x_open(name, flags, mode);
	case BY_OPENAT:
		return x_openat(dir, name, flags, mode);
	case BY_OPENAT2:
	case HOWS:
		break;
	}
	return x_openat2(dir, name, &h, sizeof(h));
}

static void open_matrix_of(enum how how)
{
	int dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (int k = 0; k < K_KINDS; k++)
		for (size_t f = 0; f < N(forms); f++) {
			bool dirty = true;

			for (size_t i = 0; i < N(flag_sets); i++) {
				int flags = flag_sets[i].flags;
				int fd;

				if (waits((enum kind)k, flags, forms[f]))
					continue;
				/* openat2 gives no O_PATH descriptor inside: programs fall back to openat. */
				if (how == BY_OPENAT2 && (flags & O_PATH))
					continue;
				if (dirty)
					fresh("o", (enum kind)k);
				say("%s(%s as %s, %s)", how_names[how], forms[f], kind_names[k],
				    flag_sets[i].name);
				fd = (int)result(open_by(how, dir, forms[f], flags, 0666));
				use_fd(fd, flags);
				describe("o");
				if (k == K_LINK)
					describe("t_file");
				if (k == K_DANGLE) {
					describe("t_none");
					unlink("t_none");
				}
				done();
				dirty = changes(flags);
			}
		}
	close(dir);
}

static void open_matrix(void)
{
	open_matrix_of(BY_OPEN);
}

static void openat_matrix(void)
{
	open_matrix_of(BY_OPENAT);
}

static void openat2_matrix(void)
{
	open_matrix_of(BY_OPENAT2);
}

static const mode_t masks[] = {0, 022, 027, 077, 0777, 0111};
static const mode_t modes[] = {0, 0666, 0777, 07777, 04755, 02755, 01777, 0200};

static void make_each(const char *where)
{
	char name[64];
	long fd;

	for (size_t u = 0; u < N(masks); u++)
		for (size_t m = 0; m < N(modes); m++) {
			snprintf(name, sizeof(name), "%s/n", where);
			say("%s umask %03o mode %04o", where, masks[u], modes[m]);
			umask(masks[u]);
			fd = result(x_open(name, O_RDWR | O_CREAT | O_EXCL, modes[m]));
			umask(022);
			if (fd >= 0)
				close((int)fd);
			describe(name);
			remove_all(name);
			umask(masks[u]);
			fd = result(x_creat(name, modes[m]));
			umask(022);
			if (fd >= 0)
				close((int)fd);
			describe(name);
			remove_all(name);
			umask(masks[u]);
			result(x_mkdir(name, modes[m]));
			umask(022);
			describe(name);
			chmod(name, 0700);
			remove_all(name);
			umask(masks[u]);
			result(x_mknod(name, S_IFIFO | modes[m], 0));
			umask(022);
			describe(name);
			remove_all(name);
			umask(masks[u]);
			result(x_mknod(name, S_IFREG | modes[m], 0));
			umask(022);
			describe(name);
			remove_all(name);
			umask(masks[u]);
			result(x_symlink("t", name));
			umask(022);
			describe(name);
			remove_all(name);
			umask(masks[u]);
			fd = result(x_open(where, O_RDWR | O_TMPFILE, modes[m]));
			umask(022);
			if (fd >= 0)
				describe_fd((int)fd), close((int)fd);
			done();
		}
}

/* A default ACL, as setfacl -d would write it: user::rwx, group::r-x, other::r--, and a named user with a mask. */
static bool give_default_acl(const char *dir)
{
	static const unsigned char acl[] = {
		2,  0, 0, 0, 1,	  0,   7,   0,	 255, 255, 255, 255, /* user:: */
		2,  0, 6, 0, 1,	  0,   0,   0,			     /* user:1: */
		4,  0, 5, 0, 255, 255, 255, 255,		     /* group:: */
		16, 0, 6, 0, 255, 255, 255, 255,		     /* mask:: */
		32, 0, 4, 0, 255, 255, 255, 255,		     /* other:: */
	};

	return x_setxattr(dir, "system.posix_acl_default", acl, sizeof(acl), 0) == 0;
}

static void modes_section(void)
{
	char value[256];
	ssize_t n;

	fresh("plain", K_DIR);
	make_each("plain");
	fresh("setgid", K_DIR);
	if (is_root && chown("setgid", 0, 1234) < 0)
		die("chown");
	chmod("setgid", 02777);
	make_each("setgid");
	fresh("sticky", K_DIR);
	chmod("sticky", 01777);
	make_each("sticky");
	fresh("acl", K_DIR);
	say("set a default ACL"), result(give_default_acl("acl") ? 0 : -1), done();
	make_each("acl");
	umask(077);
	x_mkdir("acl/sub", 0777);
	close((int)x_open("acl/f", O_WRONLY | O_CREAT, 0666));
	umask(022);
	n = getxattr("acl/sub", "system.posix_acl_default", value, sizeof(value));
	say("inherited default ACL: "), say_bytes(value, n > 0 ? (size_t)n : 0), done();
	n = getxattr("acl/f", "system.posix_acl_access", value, sizeof(value));
	say("access ACL of a file: "), say_bytes(value, n > 0 ? (size_t)n : 0), done();
	describe("acl/sub"), describe("acl/f"), done();
}

static void limits(void)
{
	struct rlimit old, r;
	int fds[64], n = 0;
	static const char *const looked[] = {"f", "none", "f/x", "closed/x", "", "/proc/1/root/x"};

	fresh_file("f", "x", 0644);
	mkdir("closed", 0);
	getrlimit(RLIMIT_NOFILE, &old);
	r = old;
	r.rlim_cur = 20;
	setrlimit(RLIMIT_NOFILE, &r);
	while (n < 64 && (fds[n] = (int)x_open("f", O_RDWR, 0)) >= 0)
		n++;
	say("opened %d with RLIMIT_NOFILE 20, then %s", n, errno_name(errno)), done();
	say("open to read"), result(x_open("f", O_RDONLY, 0)), done();
	say("create"), result(x_open("new", O_RDWR | O_CREAT, 0644)), describe("new"), done();
	say("create with O_EXCL"), result(x_open("new2", O_RDWR | O_CREAT | O_EXCL, 0644)), describe("new2"),
		done();
	say("truncate by open"), result(x_open("f", O_RDWR | O_TRUNC, 0644)), describe("f"), done();
	say("open with O_TMPFILE"), result(x_open(".", O_RDWR | O_TMPFILE, 0600)), done();
	for (size_t i = 0; i < N(looked); i++)
		say("O_PATH of '%s'", looked[i]), result(x_open(looked[i], O_PATH, 0)), done();
	say("O_PATH of no address"), result(x_open(NULL, O_PATH, 0)), done();
	say("mkdir"), result(x_mkdir("dir", 0777)), describe("dir"), done();
	close(fds[5]);
	say("after a close"), result(x_open("f", O_RDWR, 0)), done();
	for (int i = 0; i < n; i++)
		close(fds[i]);
	setrlimit(RLIMIT_NOFILE, &old);
	/* The lowest free number is given. */
	for (int i = 0; i < 4; i++)
		fds[i] = (int)x_open("f", O_RDWR, 0);
	close(fds[1]);
	say("the lowest number"), result(x_open("f", O_RDWR, 0) - fds[0]), done();
	for (int i = 0; i < 4; i++)
		close(fds[i]);
	getrlimit(RLIMIT_FSIZE, &old);
	r = old;
	r.rlim_cur = 4096;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &r);
	say("truncate beyond RLIMIT_FSIZE"), result(x_truncate("f", 10000)), describe("f"), done();
	say("truncate to RLIMIT_FSIZE"), result(x_truncate("f", 4096)), done();
	fds[0] = (int)x_open("f", O_RDWR, 0);
	say("ftruncate beyond"), result(x_ftruncate(fds[0], 10000)), done();
	close(fds[0]);
	setrlimit(RLIMIT_FSIZE, &old);
}

const struct section open_sections[] = {
	{"open", open_matrix},	  {"openat", openat_matrix}, {"openat2", openat2_matrix},
	{"modes", modes_section}, {"limits", limits},	     {NULL, NULL},
};
