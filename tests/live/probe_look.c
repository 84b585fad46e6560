/*
 * Calls that look: what links say, extended attributes, stat and its kin, access, being in a directory. They change
 * nothing, so a tree with one of each kind is made once.
 */
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/statfs.h>

#include "probe_calls.h"

/* Of linux/stat.h, which musl does not have. */
#define STATX_BASIC 0x7ff
#ifndef SYS_listxattrat
#define SYS_listxattrat 465
#endif

static const char *const suffixes[] = {"", "/", "/.", "/in", "/none", "/..", "/in/", "//in"};
static int here; /* the directory itself */

static void make_tree(void)
{
	static const char *const with[] = {"user.a", "user.long", "user.b"};
	char value[300];

	memset(value, 'v', sizeof(value));
	for (int k = 1; k < K_KINDS; k++) {
		fresh(kind_names[k], (enum kind)k);
		for (size_t i = 0; i < N(with); i++)
			setxattr(kind_names[k], with[i], value, i == 1 ? sizeof(value) : i, 0);
		set_old(kind_names[k]);
	}
	here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Calls fn with each name: of each kind as it is, with each suffix, by a link, and odd ones. */
static void each_name(void (*fn)(const char *name))
{
	static const char *const odd[] = {".",
					  "..",
					  "/",
					  "",
					  "//",
					  "/dev/null",
					  "/proc/self/cwd/file",
					  "/nonexistent/x",
					  "/proc/self/fd/999",
					  "/proc/self/root/dev/zero",
					  "/proc/nonexistent"};
	static char longer[PATH_MAX + 10];
	char name[64];

	for (int k = 0; k < K_KINDS; k++)
		for (size_t i = 0; i < N(suffixes); i++) {
			snprintf(name, sizeof(name), "%s%s", kind_names[k], suffixes[i]);
			fn(name);
		}
	for (size_t i = 0; i < N(odd); i++)
		fn(odd[i]);
	memset(longer, 'x', NAME_MAX + 1);
	longer[NAME_MAX + 1] = '\0';
	fn(longer);
	for (size_t i = 0; i < sizeof(longer) - 1; i++)
		longer[i] = i % 2 ? '.' : '/';
	fn(longer);
}

/* The last page that can be written, with nothing behind it. */
static char *edge(void)
{
	static char *p;

	if (!p) {
		p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED || munmap(p + 4096, 4096) < 0)
			die("mmap");
	}
	return p + 4096;
}

/* The bytes that the call left: as many as it says, and none behind them. */
static void say_buffer(long n, const char *buf, size_t size)
{
	if (n > 0)
		say(" '"), say_bytes(buf, (size_t)n), say("'");
	for (size_t i = n > 0 ? (size_t)n : 0; i < size; i++)
		if (buf[i] != '#')
			say(" byte %zu", i);
}

static long x_readlink(int dir, const char *name, char *buf, int size)
{
#ifdef SYS_readlink
	if (dir == AT_FDCWD)
		return OLD(syscall(SYS_readlink, name, buf, size), SYS_readlink, name, buf, size);
#endif
	return syscall(SYS_readlinkat, dir, name, buf, size);
}

static void readlink_name(const char *name)
{
	static const int sizes[] = {0, 1, 5, 6, 100, -1, INT_MIN};
	char buf[128];

	for (size_t i = 0; i < N(sizes); i++)
		for (int at = 0; at < 2; at++) {
			memset(buf, '#', sizeof(buf));
			say("readlink%s(", at ? "at" : ""), say_path(name), say(", %d)", sizes[i]);
			say_buffer(result(x_readlink(at ? here : AT_FDCWD, name, buf, sizes[i])), buf,
				   sizeof(buf));
			done();
		}
}

/* Of what is the same in both runs. */
static void readlink_proc(const char *name)
{
	char buf[PATH_MAX], *colon;
	long n;

	say("readlink(%s)", strncmp(name, "/proc/self/fd", 13) == 0 ? "/proc/self/fd/N" : name);
	n = x_readlink(AT_FDCWD, name, buf, sizeof(buf) - 1);
	buf[n > 0 ? n : 0] = '\0';
	colon = strstr(buf, ":[");
	if (n >= 0)
		say(" %s", atoi(buf) == getpid() ? "mine" : colon ? "" : buf);
	else
		result(n);
	if (colon)
		say(" %.*s", (int)(colon - buf), buf);
	done();
}

static void readlink_fds(void)
{
	char name[64];
	int p[2], gone, fds[5];

	fresh_file("gone", "x", 0600);
	gone = open("gone", O_RDONLY);
	unlink("gone");
	if (pipe(p) < 0)
		die("pipe");
	fds[0] = here, fds[1] = gone, fds[2] = p[0], fds[3] = (int)syscall(SYS_memfd_create, "m", 0);
	fds[4] = open("link", O_PATH | O_NOFOLLOW);
	for (size_t i = 0; i < N(fds); i++) {
		snprintf(name, sizeof(name), "/proc/self/fd/%d", fds[i]);
		readlink_proc(name);
		for (size_t size = 0; size < 2; size++) {
			char buf[8] = "########";

			say("readlinkat(#%zu, \"\", %zu)", i, size * 8);
			say_buffer(result(syscall(SYS_readlinkat, fds[i], "", buf, size * 8)), buf,
				   sizeof(buf));
			done();
		}
		close(fds[i]);
	}
	close(p[1]);
}

/* What the program may not write itself, nobody writes for it. */
static void readlink_into_closed(void)
{
	static const int prot[] = {PROT_READ, PROT_NONE, PROT_READ | PROT_EXEC, PROT_WRITE};

	for (size_t i = 0; i < N(prot); i++) {
		char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED || mprotect(p + 4096, 4096, prot[i]) < 0)
			die("mmap");
		for (int before = 0; before < 3; before++) {
			say("readlink(link) %d before a page of protection %d", 2 * before, prot[i]);
			result(x_readlink(AT_FDCWD, "link", p + 4096 - 2 * before, 9)), done();
		}
		mprotect(p + 4096, 4096, PROT_READ);
		say("left"), say_bytes(p + 4096, 8), done();
		munmap(p, 8192);
	}
}

static void readlinks(void)
{
	static const char *const magic[] = {"/proc/self",	   "/proc/thread-self",
					    "/proc/self/cwd",	   "/proc/self/root",
					    "/proc/self/exe",	   "/proc/thread-self/cwd",
					    "/proc/self/ns/mnt",   "/proc/mounts",
					    "/proc/net",	   "/dev/fd",
					    "/dev/stdin",	   "/proc/self/task",
					    "/proc/self/cwd/link", "/proc/self/fd/../cwd"};
	char name[64];
	struct {
		const char *what;
		char *to;
		int size;
	} bad[] = {
		{"NULL", NULL, 9}, {"edge", edge() - 3, 9}, {"fits", edge() - 6, 6}, {"unmapped", edge(), 9}};

	make_tree();
	each_name(readlink_name);
	for (size_t i = 0; i < N(magic); i++)
		readlink_proc(magic[i]);
	snprintf(name, sizeof(name), "/proc/%d/cwd", getpid());
	say("by number:"), result(x_readlink(AT_FDCWD, name, edge() - 8, 1)), done();
	readlink_fds();
	for (size_t i = 0; i < N(bad); i++) {
		say("readlink(link) to %s", bad[i].what);
		result(x_readlink(AT_FDCWD, "link", bad[i].to, bad[i].size)), done();
		say("of a file"), result(x_readlink(AT_FDCWD, "file", bad[i].to, bad[i].size)), done();
		say("path"), result(x_readlink(AT_FDCWD, bad[i].to, name, 9)), done();
	}
	readlink_into_closed();
	say("bad directory"), result(x_readlink(999, "link", name, 9)), done();
	say("of a file"), result(x_readlink(open("file", O_RDONLY), "link", name, 9)), done();
}

/* Attributes in an order of their own are not the file system's promise, but the same in both runs. */
static void xattr_name(const char *name)
{
	static const char *const attrs[] = {
		"user.a",    "user.long", "user.none", "system.posix_acl_access", "security.capability",
		"trusted.x", "nonsense",  ""};
	static const size_t sizes[] = {0, 1, 299, 300};
	char buf[512];
	struct {
		uint64_t value;
		uint32_t size, flags;
	} a = {.value = (uintptr_t)buf};

	for (size_t i = 0; i < N(attrs); i++)
		for (size_t s = 0; s < (i < 2 ? N(sizes) : 1); s++) {
			say("getxattr("), say_path(name), say(", %s, %zu)", attrs[i], sizes[s]);
			memset(buf, '#', sizeof(buf));
			say_buffer(sizes[s] ? result(CALL(getxattr(name, attrs[i], buf, sizes[s]),
							  SYS_getxattr, name, attrs[i], buf, sizes[s]))
					    : result(getxattr(name, attrs[i], NULL, 0)) * 0,
				   buf, sizeof(buf));
			say(" l"), result(lgetxattr(name, attrs[i], buf, sizes[s]));
			a.size = (uint32_t)sizes[s];
			say(" at"), result(syscall(SYS_getxattrat, here, name, AT_SYMLINK_NOFOLLOW, attrs[i],
						   &a, sizeof(a)));
			done();
		}
	for (size_t s = 0; s < N(sizes); s++) {
		say("listxattr("), say_path(name), say(", %zu)", sizes[s]);
		memset(buf, '#', sizeof(buf));
		say_buffer(result(listxattr(name, buf, sizes[s])) * (sizes[s] > 0), buf, sizeof(buf));
		say(" l"), result(llistxattr(name, buf, sizes[s]));
		say(" at"), result(syscall(SYS_listxattrat, here, name, 0, buf, sizes[s]));
		done();
	}
}

static void xattr_odd(void)
{
	static char big[70000], longest[300];
	struct {
		uint64_t value;
		uint32_t size, flags;
		char more[32];
	} a = {.value = (uintptr_t)big, .size = sizeof(big)};
	static const size_t sizes[] = {0, 8, 15, 16, 17, 48, 5000};
	int fds[] = {open("file", O_RDONLY), open("file", O_PATH), open("dir", O_RDONLY), -1, 999};

	memset(longest, 'x', sizeof(longest) - 1);
	memcpy(longest, "user.", 5);
	say("long name"), result(getxattr("file", longest, big, 10)), done();
	longest[255] = '\0';
	say("longest name"), result(getxattr("file", longest, big, 10)), done();
	say("65536"), result(getxattr("file", "user.long", big, 65536)), done();
	say("70000"), result(getxattr("file", "user.long", big, sizeof(big))), done();
	say("huge"), result(syscall(SYS_getxattr, "file", "user.none", big, (size_t)1 << 40)), done();
	say("list 70000"), result(listxattr("file", big, sizeof(big))), done();
	say("to nothing"), result(getxattr("file", "user.long", NULL, 300)), done();
	say("over the edge"), result(getxattr("file", "user.long", edge() - 299, 300)), done();
	say("to the edge"), result(getxattr("file", "user.long", edge() - 300, 300)), done();
	say("list to nothing"), result(listxattr("file", NULL, 300)), done();
	say("list over the edge"), result(listxattr("file", edge() - 9, 300)), done();
	say("no name"), result(syscall(SYS_getxattr, "file", NULL, big, 9)), done();
	say("no path"), result(syscall(SYS_getxattr, NULL, "user.a", big, 9)), done();
	for (size_t i = 0; i < N(sizes); i++)
		say("args of %zu", sizes[i]),
			result(syscall(SYS_getxattrat, here, "file", 0, "user.a", &a, sizes[i])), done();
	a.more[3] = 1;
	say("more"), result(syscall(SYS_getxattrat, here, "file", 0, "user.a", &a, sizeof(a))), done();
	a.flags = 1;
	say("flags"), result(syscall(SYS_getxattrat, here, "file", 0, "user.a", &a, 16)), done();
	a.flags = 0;
	say("at flags"), result(syscall(SYS_getxattrat, here, "file", 1, "user.a", &a, 16)), done();
	say("list flags"), result(syscall(SYS_listxattrat, here, "file", 1, big, 16)), done();
	for (size_t i = 0; i < N(fds); i++) {
		say("empty #%zu", i),
			result(syscall(SYS_getxattrat, fds[i], "", AT_EMPTY_PATH, "user.long", &a, 16));
		result(syscall(SYS_listxattrat, fds[i], "", AT_EMPTY_PATH, big, sizeof(big)));
		result(syscall(SYS_listxattrat, fds[i], "", 0, big, sizeof(big)));
		result(syscall(SYS_listxattrat, fds[i], NULL, AT_EMPTY_PATH, big, sizeof(big)));
		result(syscall(SYS_listxattrat, fds[i], NULL, 0, big, sizeof(big)));
		result(syscall(SYS_getxattrat, fds[i], NULL, AT_EMPTY_PATH, "user.long", &a, 16));
		result(fgetxattr(fds[i], "user.long", big, sizeof(big))), result(flistxattr(fds[i], big, 10)),
			done();
	}
}

static void readxattrs(void)
{
	make_tree();
	each_name(xattr_name);
	xattr_odd();
}

static void say_stat(long rc, const struct stat *st)
{
	if (result(rc) == 0)
		say(" %o n%lu s%lld", st->st_mode, (unsigned long)st->st_nlink,
		    S_ISDIR(st->st_mode) ? 0LL : (long long)st->st_size);
}

static void look_name(const char *name)
{
	static const int flags[] = {0, AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH,
				    AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH, 0x8000};
	static const int modes[] = {F_OK, R_OK, W_OK, X_OK, 8};
	struct stat st;
	struct statfs fs;
	char sx[256];
	char attr[64];

	say("look "), say_path(name);
#ifdef SYS_stat
	say(" stat"), say_stat(OLD(stat(name, &st), SYS_stat, name, &st), &st);
	say(" lstat"), say_stat(OLD(lstat(name, &st), SYS_lstat, name, &st), &st);
#endif
	for (size_t i = 0; i < N(flags); i++) {
		say(" %#x", flags[i]), say_stat(syscall(SYS_newfstatat, here, name, &st, flags[i]), &st);
		result(syscall(SYS_newfstatat, AT_FDCWD, name, &st, flags[i]));
		result(syscall(SYS_statx, here, name, flags[i], STATX_BASIC, sx));
		result(syscall(SYS_faccessat2, here, name, R_OK, flags[i]));
		result(syscall(SYS_file_getattr, here, name, attr, 24, flags[i]));
	}
	say(" access");
	for (size_t i = 0; i < N(modes); i++) {
		result(OLD(access(name, modes[i]), SYS_access, name, modes[i]));
		result(syscall(SYS_faccessat, here, name, modes[i]));
	}
	say(" statfs"), result(statfs(name, &fs)), done();
}

static void enter_name(const char *name)
{
	static const int flags[] = {O_PATH, O_PATH | O_NOFOLLOW, O_PATH | O_DIRECTORY,
				    O_PATH | O_CREAT | O_EXCL};
	struct {
		struct file_handle h;
		char room[128];
	} h;
	int fd, mount, watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	struct stat st;
	char cwd[PATH_MAX];

	say("enter "), say_path(name);
	for (size_t i = 0; i < N(flags); i++) {
		fd = i % 2 ? (int)x_openat(here, name, flags[i], 0) : (int)x_open(name, flags[i], 0);
		say(" O_PATH"), result(fd < 0 ? fd : 0);
		if (fd >= 0 && fstat(fd, &st) == 0)
			say(" %o %d", st.st_mode, fcntl(fd, F_GETFL));
		if (fd >= 0)
			close(fd);
	}
	for (int i = 0; i < 3; i++) {
		h.h.handle_bytes = i < 2 ? sizeof(h.room) : 0;
		say(" handle"),
			result(name_to_handle_at(here, name, &h.h, &mount, i & 1 ? AT_SYMLINK_FOLLOW : 0));
	}
	say(" watch"), result(inotify_add_watch(watch, name, IN_OPEN)),
		result(inotify_add_watch(watch, name, IN_OPEN | IN_DONT_FOLLOW)),
		result(inotify_add_watch(watch, name, IN_OPEN | IN_ONLYDIR)),
		result(inotify_add_watch(here, name, IN_OPEN));
	close(watch);
	say(" chdir");
	if (result(chdir(name)) == 0)
		say(" %s", getcwd(cwd, sizeof(cwd)) ? cwd : "?");
	done();
	if (fchdir(here) < 0)
		die("fchdir");
}

static void looks(void)
{
	make_tree();
	each_name(look_name);
	say("no path"), result(syscall(SYS_newfstatat, here, NULL, edge() - 300, 0)),
		result(syscall(SYS_faccessat, here, NULL, 0)), result(chdir(NULL)), done();
	say("no room"), result(syscall(SYS_newfstatat, here, "file", NULL, 0)),
		result(syscall(SYS_newfstatat, here, "file", edge() - 3, 0)),
		result(syscall(SYS_statx, here, "file", 0, STATX_BASIC, edge() - 3)), done();
	say("bad directory"), result(syscall(SYS_newfstatat, 999, "file", edge() - 300, 0)),
		result(syscall(SYS_faccessat, 999, "file", 0)), done();
}

static void enters(void)
{
	make_tree();
	each_name(enter_name);
}

const struct section look_sections[] = {
	{"readlinks", readlinks},
	{"readxattrs", readxattrs},
	{"looks", looks},
	{"enters", enters},
	{NULL, NULL},
};
