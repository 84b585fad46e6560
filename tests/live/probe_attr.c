/*
 * What belongs to an object: mode, owner, times, size, extended attributes, flags; by path and by descriptor.
 */
#include <linux/fs.h>
#include <sys/ioctl.h>

#include "probe_calls.h"

static const char *const names[] = {"o", "o/", "./o", "o/.", "o/in", "none", "", "none/x"};

static void truncates(void)
{
	static const long long sizes[] = {0, 3, 20, -1, 1LL << 62};

	for (int k = 0; k < K_KINDS; k++)
		for (size_t n = 0; n < N(names); n++)
			for (size_t s = 0; s < N(sizes); s++) {
				if (k == K_FIFO && n > 3)
					continue;
				fresh("o", (enum kind)k);
				say("truncate(%s as %s, %lld)", names[n], kind_names[k], sizes[s]);
				result(x_truncate(names[n], sizes[s])), describe("o");
				if (k == K_LINK)
					describe("t_file");
				done();
			}
	fresh("o", K_FILE);
	int ro = (int)x_open("o", O_RDONLY, 0), rw = (int)x_open("o", O_RDWR, 0),
	    path = (int)x_open("o", O_PATH, 0);
	say("ftruncate read-only"), result(x_ftruncate(ro, 1)), done();
	say("ftruncate"), result(x_ftruncate(rw, 1)), describe("o"), done();
	say("ftruncate O_PATH"), result(x_ftruncate(path, 1)), done();
	close(ro), close(rw), close(path);
}

static void chmods(void)
{
	static const mode_t modes[] = {0, 0644, 0777, 04755, 02755, 01777, 07777, 0170644};
	static const int flags[] = {0, AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH,
				    AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH, 0x8000};
	int dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (int k = 0; k < K_KINDS; k++)
		for (size_t n = 0; n < N(names); n++)
			for (size_t m = 0; m < N(modes); m++) {
				fresh("o", (enum kind)k);
				say("chmod(%s as %s, %#o)", names[n], kind_names[k], modes[m]);
				result(x_chmod(names[n], modes[m])), describe("o");
				if (k == K_LINK)
					describe("t_file");
				done();
				if (m > 2)
					continue;
				for (size_t f = 0; f < N(flags); f++) {
					fresh("o", (enum kind)k);
					/* An empty path stands for the directory itself here. */
					say("fchmodat2(%s as %s, %#o, %#x)", names[n], kind_names[k],
					    modes[m] | 0100, flags[f]);
					result(x_fchmodat2(dir, names[n], modes[m] | 0700, flags[f])),
						describe("o"), done();
				}
				fresh("o", (enum kind)k);
				say("fchmodat(%s, NOFOLLOW)", names[n]);
				result(x_fchmodat(AT_FDCWD, names[n], 0700, AT_SYMLINK_NOFOLLOW)),
					describe("o"), done();
				fresh("o", (enum kind)k);
				say("fchmodat(%s)", names[n]);
				result(x_fchmodat(dir, names[n], 0711, 0)), describe("o"), done();
			}
	chmod(".", 0755);
	close(dir);
}

static void chowns(void)
{
	static const int flags[] = {0, AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH, 0x8000};
	uid_t u = geteuid();
	gid_t g = getegid();
	const struct {
		uid_t u;
		gid_t g;
	} owners[] = {{(uid_t)-1, (gid_t)-1}, {u, g},	     {u, (gid_t)-1}, {(uid_t)-1, g}, {1, 1}, {0, 0},
		      {12345, 54321},	      {(uid_t)-1, 1}};
	int dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (int k = 0; k < K_KINDS; k++)
		for (size_t n = 0; n < N(names); n++)
			for (size_t o = 0; o < N(owners); o++) {
				fresh("o", (enum kind)k);
				if (k == K_FILE)
					chmod("o", 06755), set_old("o");
				say("chown(%s as %s, #%zu)", names[n], kind_names[k], o);
				result(x_chown(names[n], owners[o].u, owners[o].g)), describe("o");
				if (k == K_LINK)
					describe("t_file");
				done();
				fresh("o", (enum kind)k);
				say("lchown(%s as %s, #%zu)", names[n], kind_names[k], o);
				result(x_lchown(names[n], owners[o].u, owners[o].g)), describe("o"), done();
				for (size_t f = 0; f < N(flags); f++) {
					if (n == 6 && o > 3)
						continue;
					fresh("o", (enum kind)k);
					say("fchownat(%s as %s, #%zu, %#x)", names[n], kind_names[k], o,
					    flags[f]);
					result(x_fchownat(dir, names[n], owners[o].u, owners[o].g, flags[f])),
						describe("o"), done();
				}
			}
	close(dir);
}

static void show_times(const char *name)
{
	struct stat st;

	if (lstat(name, &st) < 0) {
		say(" | %s", errno_name(errno));
		return;
	}
	say(" | a:%s%lld", st.st_atim.tv_sec > OLD_TIME + 100000 ? "new" : "",
	    st.st_atim.tv_sec > OLD_TIME + 100000 ? 0LL : (long long)st.st_atim.tv_sec - OLD_TIME);
	say(".%ld", st.st_atim.tv_sec > OLD_TIME + 100000 ? 0L : st.st_atim.tv_nsec);
	say(" m:%s%lld", st.st_mtim.tv_sec > OLD_TIME + 100000 ? "new" : "",
	    st.st_mtim.tv_sec > OLD_TIME + 100000 ? 0LL : (long long)st.st_mtim.tv_sec - OLD_TIME);
	say(".%ld", st.st_mtim.tv_sec > OLD_TIME + 100000 ? 0L : st.st_mtim.tv_nsec);
}

static void times_section(void)
{
	static const struct timespec ns[][2] = {
		{{OLD_TIME + 5, 123456789}, {OLD_TIME + 7, 987654321}},
		{{0, UTIME_NOW}, {0, UTIME_NOW}},
		{{0, UTIME_OMIT}, {0, UTIME_OMIT}},
		{{0, UTIME_OMIT}, {OLD_TIME + 9, 1}},
		{{OLD_TIME + 9, 2}, {0, UTIME_OMIT}},
		{{0, UTIME_NOW}, {OLD_TIME + 1, 0}},
		{{OLD_TIME, 1000000000}, {OLD_TIME, 0}},
		{{OLD_TIME, -5}, {OLD_TIME, 0}},
		{{-100, 0}, {-100, 5}},
	};
	static const int flags[] = {0, AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH, 0x8000};
	int dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct timeval tv[2] = {{OLD_TIME + 3, 5}, {OLD_TIME + 4, 999999}},
		       bad[2] = {{OLD_TIME, 1000000}, {OLD_TIME, 0}};
	struct utimbuf ut = {OLD_TIME + 11, OLD_TIME + 12};

	for (int k = 0; k < K_KINDS; k++)
		for (size_t n = 0; n < N(names); n++) {
			for (size_t t = 0; t <= N(ns); t++)
				for (size_t f = 0; f < N(flags); f++) {
					const struct timespec *p = t < N(ns) ? ns[t] : NULL;

					fresh("o", (enum kind)k);
					say("utimensat(%s as %s, #%zu, %#x)", names[n], kind_names[k], t,
					    flags[f]);
					result(x_utimensat(dir, names[n], p, flags[f]));
					show_times("o");
					if (k == K_LINK)
						show_times("t_file");
					done();
				}
			fresh("o", (enum kind)k);
			say("utime(%s as %s)", names[n], kind_names[k]), result(x_utime(names[n], &ut)),
				show_times("o"), done();
			say("utime(NULL)"), result(x_utime(names[n], NULL)), show_times("o"), done();
			say("utimes"), result(x_utimes(names[n], tv)), show_times("o"), done();
			say("utimes bad"), result(x_utimes(names[n], bad)), show_times("o"), done();
			say("utimes NULL"), result(x_utimes(names[n], NULL)), show_times("o"), done();
			say("futimesat"), result(x_futimesat(dir, names[n], tv)), show_times("o"), done();
			say("futimesat NULL"), result(x_futimesat(dir, names[n], NULL)), show_times("o"),
				done();
		}
	fresh("o", K_FILE);
	const void *volatile one = (void *)1;
	say("times at 1"), result(syscall(SYS_utimensat, dir, "o", one, 0)), done();
	close(dir);
}

static void show_xattrs(const char *name)
{
	char list[1024], value[64];
	ssize_t n = llistxattr(name, list, sizeof(list));

	say(" |");
	for (char *p = list; n > 0 && p < list + n; p += strlen(p) + 1) {
		ssize_t m = lgetxattr(name, p, value, sizeof(value));

		if (strncmp(p, "user.", 5) != 0 && strncmp(p, "trusted.", 8) != 0)
			continue;
		say(" %s=", p), say_bytes(value, m > 0 ? (size_t)m : 0);
	}
}

static void xattr_matrix(void)
{
	static const char *const attrs[] = {"user.a",	"user.",	   "user",	"nonsense.a",
					    "",		"system.nonsense", "trusted.a", "security.nonsense",
					    "user.\xff"};
	static const int flags[] = {0, XATTR_CREATE, XATTR_REPLACE, 4, XATTR_CREATE | XATTR_REPLACE};

	for (int k = 0; k < K_KINDS; k++)
		for (size_t n = 0; n < N(names); n++) {
			fresh("o", (enum kind)k);
			for (size_t a = 0; a < N(attrs); a++) {
				/* Root may set these outside; the command has not the right. */
				if (a > 4 && a < 8 && is_root)
					continue;
				for (size_t f = 0; f < N(flags); f++) {
					say("setxattr(%s as %s, %s, %d)", names[n], kind_names[k], attrs[a],
					    flags[f]);
					result(x_setxattr(names[n], attrs[a], "value", 5, flags[f])),
						show_xattrs("o"), done();
					say("lsetxattr(%s)", attrs[a]);
					result(x_lsetxattr(names[n], attrs[a], "v2", 2, flags[f])),
						show_xattrs("o"), done();
				}
				say("lremovexattr(%s)", attrs[a]), result(x_lremovexattr(names[n], attrs[a])),
					show_xattrs("o"), done();
				say("removexattr(%s)", attrs[a]), result(x_removexattr(names[n], attrs[a])),
					show_xattrs("o"), done();
			}
		}
}

static void xattr_sizes(void)
{
	char big[70000], longname[300] = "user.";
	const void *volatile one = (void *)1;

	memset(big, 'v', sizeof(big));
	memset(longname + 5, 'n', sizeof(longname) - 6);
	longname[299] = '\0';
	fresh("o", K_FILE);
	say("an empty value"), result(x_setxattr("o", "user.e", "", 0, 0)), show_xattrs("o"), done();
	say("NULL value, size 0"), result(x_setxattr("o", "user.z", NULL, 0, 0)), show_xattrs("o"), done();
	say("a value at 1"), result(x_setxattr("o", "user.b", one, 5, 0)), done();
	say("a name at 1"), result(x_setxattr("o", one, "v", 1, 0)), done();
	say("65537 bytes"), result(x_setxattr("o", "user.b", big, 65537, 0)), done();
	say("1000 bytes"), result(x_setxattr("o", "user.b", big, 1000, 0)), done();
	say("a name of 299 bytes"), result(x_setxattr("o", longname, "v", 1, 0)), done();
	longname[256] = '\0';
	say("a name of 256 bytes"), result(x_setxattr("o", longname, "v", 1, 0)), done();
	longname[255] = '\0';
	say("a name of 255 bytes"), result(x_setxattr("o", longname, "v", 1, 0)), done();
}

static void xattr_at(void)
{
	struct {
		uint64_t value;
		uint32_t size, flags;
	} args = {(uint64_t)(uintptr_t) "at", 2, 0};
	int dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = (int)x_open("o", O_RDONLY, 0);
	say("setxattrat"), result(syscall(SYS_setxattrat, dir, "o", 0, "user.at", &args, sizeof(args))),
		show_xattrs("o"), done();
	say("setxattrat empty path"),
		result(syscall(SYS_setxattrat, fd, "", AT_EMPTY_PATH, "user.at2", &args, sizeof(args))),
		show_xattrs("o"), done();
	say("setxattrat size 8"), result(syscall(SYS_setxattrat, dir, "o", 0, "user.at3", &args, 8)), done();
	say("setxattrat flags"),
		result(syscall(SYS_setxattrat, dir, "o", 0x8000, "user.at3", &args, sizeof(args))), done();
	say("removexattrat"), result(syscall(SYS_removexattrat, dir, "o", 0, "user.at")), show_xattrs("o"),
		done();
	say("removexattrat empty path"),
		result(syscall(SYS_removexattrat, fd, "", AT_EMPTY_PATH, "user.at2")), show_xattrs("o"),
		done();
	close(dir), close(fd);
}

static void xattrs(void)
{
	xattr_matrix();
	xattr_sizes();
	xattr_at();
}

/* By descriptors opened in every way. */
static void descriptors(void)
{
	static const struct {
		int flags;
		const char *label;
	} opens[] = {{O_RDONLY, "R"}, {O_WRONLY, "W"}, {O_RDWR, "RW"}, {O_PATH, "PATH"}, {3, "3"}};
	static const struct timespec t[2] = {{OLD_TIME + 5, 6}, {OLD_TIME + 7, 8}};
	static const enum kind kinds[] = {K_FILE, K_RO, K_HARD, K_DIR, K_FIFO};
	int fd, attr, deleted, p[2];

	for (size_t k = 0; k < N(kinds); k++)
		for (size_t i = 0; i < N(opens); i++)
			for (int gone = 0; gone < 2; gone++) {
				fresh("o", kinds[k]);
				fd = (int)x_open(
					"o", opens[i].flags | (kinds[k] == K_FIFO && i < 3 ? O_NONBLOCK : 0),
					0);
				if (gone)
					remove_all("o");
				say("%s by %s%s:", kind_names[kinds[k]], opens[i].label,
				    gone ? ", removed" : "");
				say(" fchmod"), result(x_fchmod(fd, 0700)), describe_fd(fd);
				say(" fchown"), result(x_fchown(fd, geteuid(), getegid()));
				if (is_root)
					say(" fchown 1"), result(x_fchown(fd, 1, 1));
				say(" futimens"), result(x_futimens(fd, t)), show_times("o");
				say(" futimens NULL"), result(x_futimens(fd, NULL));
				say(" fsetxattr"), result(x_fsetxattr(fd, "user.f", "v", 1, 0)),
					show_xattrs("o");
				say(" fremovexattr"), result(x_fremovexattr(fd, "user.f")), show_xattrs("o");
				say(" fremovexattr again"), result(x_fremovexattr(fd, "user.f"));
				say(" fchownat"),
					result(x_fchownat(fd, "", geteuid(), (gid_t)-1, AT_EMPTY_PATH));
				say(" fchmodat2"), result(x_fchmodat2(fd, "", 0711, AT_EMPTY_PATH));
				say(" utimensat"), result(x_utimensat(fd, "", t, AT_EMPTY_PATH));
				attr = -1;
				say(" GETFLAGS"), result(ioctl(fd, FS_IOC_GETFLAGS, &attr));
				if (attr != -1) {
					say(" (%#x)", attr & ~0x80000);
					attr |= FS_NOATIME_FL;
				}
				say(" SETFLAGS"), result(ioctl(fd, FS_IOC_SETFLAGS, &attr));
				say(" GETFLAGS"), result(ioctl(fd, FS_IOC_GETFLAGS, &attr)),
					say(" (%#x)", attr & ~0x80000);
				done();
				describe("o"), done();
				if (fd >= 0)
					close(fd);
			}
	int bad[] = {-1, 999, INT_MAX, INT_MIN};
	for (size_t i = 0; i < N(bad); i++) {
		say("descriptor %d:", bad[i]);
		say(" fchmod"), result(x_fchmod(bad[i], 0700));
		say(" fchown"), result(x_fchown(bad[i], 0, 0));
		say(" fsetxattr"), result(x_fsetxattr(bad[i], "user.f", "v", 1, 0));
		say(" fremovexattr"), result(x_fremovexattr(bad[i], "user.f"));
		say(" fchmodat2"), result(x_fchmodat2(bad[i], "", 0, 0x8000 | AT_EMPTY_PATH));
		say(" SETFLAGS"), result(ioctl(bad[i], FS_IOC_SETFLAGS, &attr));
		say(" futimens"), result(x_futimens(bad[i], t));
		done();
	}
	/* What has no name at all. */
	if (pipe(p) < 0)
		die("pipe");
	deleted = (int)syscall(SYS_memfd_create, "m", 0);
	int fds[] = {p[0], deleted};
	for (size_t i = 0; i < N(fds); i++) {
		say("%s:", i ? "memfd" : "pipe");
		say(" fchmod"), result(x_fchmod(fds[i], 0600)), describe_fd(fds[i]);
		say(" fchown"), result(x_fchown(fds[i], geteuid(), getegid()));
		say(" futimens"), result(x_futimens(fds[i], t));
		say(" fsetxattr"), result(x_fsetxattr(fds[i], "user.f", "v", 1, 0));
		done();
	}
	close(p[0]), close(p[1]), close(deleted);
}

#ifndef F_SET_RW_HINT
#define F_SET_RW_HINT 1036
#endif

/* What is wrong with the descriptor, and what with the address. */
static void file_commands(void)
{
	static const char *const opened[] = {"o", ".", "/dev/null", "/proc/self/status", "/sys", "none"};
	static const int how[] = {O_RDONLY, O_PATH};
	static const unsigned long commands[] = {FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR, FS_IOC_SETVERSION};
	void *const addresses[] = {NULL, (void *)16, (void *)-4096L};
	int p[2];

	fresh("o", K_FILE);
	if (pipe(p) < 0)
		die("pipe");
	for (size_t i = 0; i <= N(opened) * N(how); i++) {
		int fd = i == N(opened) * N(how) ? p[0] : (int)x_open(opened[i / 2], how[i % 2], 0);

		say("%s, %#x:", fd == p[0] ? "pipe" : opened[i / 2], how[i % 2]);
		for (size_t a = 0; a < N(addresses); a++) {
			/* Of files of others a file system, and the kernel's version, say more. */
			bool own = i < 4 || fd < 0;

			for (size_t n = 0; n < N(commands) - !own; n++)
				say(" %#lx", commands[n]), result(ioctl(fd, commands[n], addresses[a]));
			if (own)
				say(" hint"), result(fcntl(fd, F_SET_RW_HINT, addresses[a]));
		}
		done();
		if (fd >= 0 && fd != p[0])
			close(fd);
	}
	close(p[0]), close(p[1]);
}

const struct section attr_sections[] = {
	{"truncates", truncates},	 {"chmods", chmods}, {"chowns", chowns},
	{"times", times_section},	 {"xattrs", xattrs}, {"descriptors", descriptors},
	{"filecommands", file_commands}, {NULL, NULL},
};
