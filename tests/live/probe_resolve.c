/*
 * openat2: each RESOLVE flag against each kind of path, from each kind of base, and each size of its struct.
 */
#include <sys/mman.h>

#include "probe_calls.h"

#ifndef RESOLVE_CACHED
#define RESOLVE_CACHED 0x20
#endif

static const uint64_t flags[] = {0,
				 RESOLVE_NO_XDEV,
				 RESOLVE_NO_MAGICLINKS,
				 RESOLVE_NO_SYMLINKS,
				 RESOLVE_BENEATH,
				 RESOLVE_IN_ROOT,
				 RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
				 RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
				 RESOLVE_IN_ROOT | RESOLVE_NO_XDEV,
				 RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS,
				 RESOLVE_BENEATH | RESOLVE_IN_ROOT,
				 0x40,
				 1ULL << 40};

static const char *const paths[] = {"f",
				    "d/g",
				    "./f",
				    "d/../f",
				    "../resolve/f",
				    "..",
				    "/etc/passwd",
				    "/proc/self/status",
				    "/proc/self/fd/0",
				    "/proc/self/cwd/f",
				    "link",
				    "up",
				    "absolute",
				    "magic",
				    "todir/g",
				    "dangle",
				    "outdangle",
				    "loop",
				    "none",
				    "none/x",
				    "f/x",
				    "f/",
				    "d/",
				    "d",
				    ".",
				    "",
				    "/",
				    "/f",
				    "//d/g",
				    "d/back/f",
				    "/dev/null",
				    "/dev/fd/0",
				    "sub/../../f",
				    "cwdlink/f"};

static const struct {
	int flags;
	const char *label;
} opens[] = {{O_RDONLY, "R"},
	     {O_RDWR, "RW"},
	     {O_RDWR | O_CREAT, "RW|CREAT"},
	     {O_WRONLY | O_CREAT | O_EXCL, "W|CREAT|EXCL"},
	     {O_RDONLY | O_DIRECTORY, "DIRECTORY"},
	     {O_RDONLY | O_NOFOLLOW, "NOFOLLOW"},
	     {O_RDWR | O_TMPFILE, "TMPFILE"}};

static void make(void)
{
	static const char *const made[] = {"none", "t_none", "../t_out", "d/none"};

	for (size_t i = 0; i < N(made); i++)
		unlink(made[i]);
	remove_all("f"), fresh_file("f", "content", 0644);
}

static void setup(void)
{
	char absolute[PATH_MAX];

	mkdir("d", 0755), mkdir("sub", 0755), fresh_file("d/g", "content", 0644),
		fresh_file("f", "content", 0644);
	snprintf(absolute, sizeof(absolute), "%s/resolve/f", tree);
	symlink("f", "link"), symlink("../resolve/f", "up"), symlink(absolute, "absolute"),
		symlink("/proc/self/cwd/f", "magic");
	symlink("d", "todir"), symlink("t_none", "dangle"), symlink("../t_out", "outdangle"),
		symlink("loop", "loop");
	symlink("..", "d/back"), symlink("/proc/self/cwd", "cwdlink");
}

/* A rename anywhere on the machine makes ".." unsafe for the moment: EAGAIN. */
static int open_again(int base, const char *path, const struct open_how *how)
{
	int fd, tries = 0;

	do {
		fd = (int)x_openat2(base, path, how, sizeof(*how));
	} while (fd < 0 && errno == EAGAIN && ++tries < 1000);
	return fd;
}

static void by_flags(void)
{
	int here = (int)x_open(".", O_PATH | O_DIRECTORY | O_CLOEXEC, 0),
	    below = (int)x_open("d", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	const struct {
		int fd;
		const char *name;
	} bases[] = {{AT_FDCWD, "cwd"}, {here, "here"}, {below, "d"}, {0, "null"}, {777, "none"}};

	for (size_t b = 0; b < N(bases); b++)
		for (size_t r = 0; r < N(flags); r++)
			for (size_t p = 0; p < N(paths); p++) {
				say("%s %#llx %s:", bases[b].name, (unsigned long long)flags[r], paths[p]);
				for (size_t o = 0; o < N(opens); o++) {
					struct open_how how = {.flags = (uint64_t)opens[o].flags,
							       .resolve = flags[r]};
					int fd;

					/* Not at the root of the file system. */
					if (paths[p][0] == '/' && opens[o].flags & (O_ACCMODE | O_CREAT) &&
					    !(flags[r] & (RESOLVE_IN_ROOT | RESOLVE_BENEATH)) &&
					    strncmp(paths[p], "/proc", 5) != 0 &&
					    strncmp(paths[p], "/dev", 4) != 0)
						continue;
					if (opens[o].flags & (O_CREAT | TMPFILE_BIT))
						how.mode = 0640;
					say(" %s", opens[o].label);
					fd = open_again(bases[b].fd, paths[p], &how);
					result(fd < 0 ? -1 : 0), close(fd);
					if (opens[o].flags & O_CREAT)
						make();
				}
				done();
			}
	close(here), close(below);
}

/* RESOLVE_CACHED may say EAGAIN at any time, and does natively only for what was not looked up lately. */
static void cached(void)
{
	struct open_how how = {.flags = O_RDONLY, .resolve = RESOLVE_CACHED};
	int fd, err;

	fd = (int)x_openat2(AT_FDCWD, "f", &how, sizeof(how)), err = errno;
	say("cached: %s", fd >= 0 || err == EAGAIN ? "as it should" : errno_name(err)), close(fd);
	how.flags = O_RDWR | O_CREAT, how.mode = 0600;
	say(" CREAT"), result(x_openat2(AT_FDCWD, "f", &how, sizeof(how)));
	how.flags = O_RDWR | O_TRUNC, how.mode = 0;
	say(" TRUNC"), result(x_openat2(AT_FDCWD, "f", &how, sizeof(how)));
	how.flags = O_RDWR | O_TMPFILE, how.mode = 0600;
	say(" TMPFILE"), result(x_openat2(AT_FDCWD, ".", &how, sizeof(how))), describe("f"), done();
}

static void by_size(void)
{
	static const size_t sizes[] = {0, 1, 8, 16, 23, 24, 25, 32, 64, 4095, 4096, 4097, 8192, 1 << 20};
	size_t room = 2 << 20;
	char *area = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct open_how how = {.flags = O_RDONLY};
	char *end;

	if (area == MAP_FAILED)
		die("mmap");
	for (size_t i = 0; i < N(sizes); i++) {
		memset(area, 0, room), memcpy(area, &how, sizeof(how));
		say("size %zu", sizes[i]), close((int)result(x_openat2(AT_FDCWD, "f", area, sizes[i])));
		area[sizes[i] ? sizes[i] - 1 : 0] = 1;
		say(" the last byte set"), result(x_openat2(AT_FDCWD, "f", area, sizes[i]));
		memset(area, 0, room), memcpy(area, &how, sizeof(how)), area[24] = 1;
		say(" the first beyond"), result(x_openat2(AT_FDCWD, "f", area, sizes[i]));
		say(" no path"), result(x_openat2(AT_FDCWD, (char *)8, area, sizes[i])), done();
	}
	end = area + room - 4096;
	/* Not mprotect(): under old Docker profiles what may not be read is read by the supervisor all the same. */
	munmap(end, 4096);
	memset(area, 0, room - 4096);
	for (size_t have = 8; have <= 64; have += 8) {
		memcpy(end - have, &how, have < sizeof(how) ? have : sizeof(how));
		say("%zu bytes readable: 24", have),
			close((int)result(x_openat2(AT_FDCWD, "f", end - have, 24)));
		say(" 64"), close((int)result(x_openat2(AT_FDCWD, "f", end - have, 64))), done();
	}
	say("no struct"), result(x_openat2(AT_FDCWD, "f", NULL, 24)), say(" and no size"),
		result(x_openat2(AT_FDCWD, "f", NULL, 0)), done();
	munmap(area, room);
}

static void by_mode(void)
{
	static const struct open_how odd[] = {{O_RDONLY, 0600, 0},
					      {O_RDWR | O_CREAT, 010000, 0},
					      {O_RDWR | O_CREAT, 07777, 0},
					      {O_RDWR | O_CREAT, ~0ULL, 0},
					      {1ULL << 32, 0, 0},
					      {1ULL << 30, 0, 0},
					      {8, 0, 0},
					      {O_RDWR | O_TMPFILE, 0100600, 0},
					      {O_RDWR | TMPFILE_BIT, 0600, 0},
					      {O_RDONLY | O_TMPFILE, 0600, 0},
					      {O_CREAT | O_DIRECTORY, 0600, 0},
					      {O_RDONLY | O_LARGEFILE, 0, 0},
					      {3, 0, 0}};

	for (size_t i = 0; i < N(odd); i++) {
		say("flags %#llx mode %#llo", (unsigned long long)odd[i].flags,
		    (unsigned long long)odd[i].mode);
		close((int)result(x_openat2(AT_FDCWD, "new", &odd[i], sizeof(odd[i]))));
		say(" there"), close((int)result(x_openat2(AT_FDCWD, "f", &odd[i], sizeof(odd[i]))));
		say(" directory"), close((int)result(x_openat2(AT_FDCWD, ".", &odd[i], sizeof(odd[i]))));
		describe("new"), done(), unlink("new");
	}
}

static void resolve(void)
{
	setup();
	by_flags(), cached(), by_size(), by_mode();
	describe("."), done();
}

const struct section resolve_sections[] = {{"resolve", resolve}, {NULL, NULL}};
