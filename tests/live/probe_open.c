/*
 * open, openat, openat2 and creat: every kind of object, every flag, every way to write its name.
 */
#include <linux/limits.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "probe_calls.h"

#define TMPFILE_BIT (O_TMPFILE & ~O_DIRECTORY)

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
	return (flags & (O_CREAT | O_TRUNC)) || (flags & O_TMPFILE) == O_TMPFILE || (flags & O_ACCMODE) != O_RDONLY;
}

static void use_fd(int fd, int flags)
{
	char buf[4];
	ssize_t n;

	if (fd < 0)
		return;
	describe_fd(fd);
	if (!(flags & O_PATH)) {
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
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
	return k == K_FIFO && !(flags & (O_NONBLOCK | O_PATH)) && strcmp(form, "o") * strcmp(form, "./o") == 0 &&
	       (flags & O_ACCMODE) != O_RDWR && (flags & O_ACCMODE) != 3;
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
				say("%s(%s as %s, %s)", how_names[how], forms[f], kind_names[k], flag_sets[i].name);
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

/* Names that are special in themselves. */
static void try_name(const char *label, const char *name, int flags)
{
	static const char *const accs[] = {"R", "W", "RW", "3"};
	long fd;

	say("open(%s, %s%s%s%s)", label, accs[flags & O_ACCMODE], flags & O_CREAT ? "|CREAT" : "",
	    flags & O_EXCL ? "|EXCL" : "", flags & O_DIRECTORY ? "|DIRECTORY" : "");
	fd = result(x_open(name, flags, 0666));
	if (fd >= 0) {
		describe_fd((int)fd);
		close((int)fd);
	}
	done();
}

static void try_all(const char *label, const char *name)
{
	try_name(label, name, O_RDONLY);
	try_name(label, name, O_RDWR);
	try_name(label, name, O_RDWR | O_CREAT);
	try_name(label, name, O_RDWR | O_CREAT | O_EXCL);
	try_name(label, name, O_RDONLY | O_DIRECTORY);
}

static char *long_name(char *buf, size_t n, const char *pattern)
{
	size_t m = strlen(pattern);

	for (size_t i = 0; i < n; i++)
		buf[i] = pattern[i % m];
	buf[n] = '\0';
	return buf;
}

static void chain(int n)
{
	char a[16], b[16], label[32];

	for (int i = 0; i < n; i++) {
		snprintf(a, sizeof(a), "c%d", i);
		snprintf(b, sizeof(b), i == 0 ? "end" : "c%d", i - 1);
		remove_all(a);
		if (symlink(b, a) < 0)
			die(a);
	}
	snprintf(label, sizeof(label), "chain of %d links", n);
	remove_all("end");
	try_name(label, a, O_RDONLY);
	try_name(label, a, O_RDWR | O_CREAT);
	describe("end");
	done();
	remove_all("end");
	fresh_file("end", "x", 0644);
	try_all(label, a);
}

static void special_names(void)
{
	static char big[3 * PATH_MAX];
	static const char *const odd[] = {
		"", ".", "..", "/", "//", "/.", "/..", "\n", "a\nb", " ", "\xff\xfe", "\xc3\x28", "\x01\x7f", "*", "a\\b",
		"d/./../d/./x", "d//x", "./././d/x", "d/nothing/../x", "d/x/../x", "t/x", "t/../t/x", "b/x", "s/x",
		"up/d/x", "abs", "absdir/x", "viaempty", "slashdir", "todot", "todotdot", "dangledeep",
		"danglingdir/x", "dangleabs", "dangleslash", "danglechain",
	};
	char target[PATH_MAX];

	fresh("d", K_DIR);
	fresh_file("d/x", "x", 0644);
	symlink("d", "t");
	symlink("./d/", "b");
	symlink("t", "s");
	symlink("..", "d/up");
	symlink("d/up", "up");
	snprintf(target, sizeof(target), "%s/names/d/x", tree);
	symlink(target, "abs");
	snprintf(target, sizeof(target), "%s/names/d", tree);
	symlink(target, "absdir");
	symlink("d/x/", "slashfile");
	symlink("d/", "slashdir");
	symlink(".", "todot");
	symlink("..", "todotdot");
	symlink("none/deep", "dangledeep");
	symlink("none", "danglingdir");
	snprintf(target, sizeof(target), "%s/names/made-by-absolute-link", tree);
	symlink(target, "dangleabs");
	symlink("made-with-slash/", "dangleslash");
	symlink("dangle2", "danglechain");
	symlink("d/up/made-by-chain", "dangle2");
	for (size_t i = 0; i < N(odd); i++) {
		say_path(odd[i]);
		done();
		try_all("that", odd[i]);
	}
	/* With O_CREAT the kernel gives EISDIR for the slash at the link's end; inside it is ENOTDIR. */
	try_name("slashfile", "slashfile", O_RDONLY);
	try_name("slashfile", "slashfile", O_RDWR);
	describe("."), done();
	describe("d"), done();

	static const struct {
		size_t n;
		const char *pattern;
		const char *label;
	} longs[] = {
		{254, "n", "254 bytes"}, {255, "n", "255 bytes"}, {256, "n", "256 bytes"}, {257, "n", "257 bytes"},
		{255, "\xc3\xa4", "255 bytes UTF-8"}, {4000, "d/../", "4000 of d/../"}, {4095, "././", "4095 of ././"},
		{4094, "././", "4094 of ././"}, {4096, "././", "4096 of ././"}, {5000, "/", "5000 slashes"},
		{4095, "/", "4095 slashes"}, {4095, "nn/", "4095 of nn/"}, {4090, "n", "4090 in one"},
		{4096, "n", "4096 in one"}, {9000, "n", "9000 in one"},
	};
	for (size_t i = 0; i < N(longs); i++)
		try_all(longs[i].label, long_name(big, longs[i].n, longs[i].pattern));
	for (int n = 1; n <= 42; n = n < 38 ? n + 37 : n + 1)
		chain(n);
}

/* Strings at the edge of what is mapped. */
static void bad_addresses(void)
{
	long page = sysconf(_SC_PAGESIZE);
	char *map = mmap(NULL, 3 * (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *end = map + page;
	const char *volatile ptr[] = {NULL, (char *)1, (char *)-1, (char *)0xffff800000000000ul, end, end - 3, end - 5, end - 1};
	static const char *const labels[] = {"NULL", "1", "-1", "kernel", "unmapped", "no NUL before the end",
					     "NUL at the end", "one byte"};

	if (map == MAP_FAILED || mprotect(end, (size_t)page, PROT_NONE) < 0)
		die("mmap");
	memset(map, 'x', (size_t)page);
	for (size_t i = 0; i < N(labels); i++) {
		if (i == 6)
			memcpy(end - 5, "some", 5);
		try_all(labels[i], ptr[i]);
		say("mkdir(%s)", labels[i]), result(x_mkdir(ptr[i], 0777)), done();
		say("unlink(%s)", labels[i]), result(x_unlink(ptr[i])), done();
		say("rmdir(%s)", labels[i]), result(x_rmdir(ptr[i])), done();
		say("rename(%s, x)", labels[i]), result(x_rename(ptr[i], "x")), done();
		say("rename(., %s)", labels[i]), result(x_rename(".", ptr[i])), done();
		say("symlink(%s, y)", labels[i]), result(x_symlink(ptr[i], "y")), done();
		unlink("y");
		say("link(%s, x)", labels[i]), result(x_link(ptr[i], "x")), done();
		say("truncate(%s)", labels[i]), result(x_truncate(ptr[i], 0)), done();
		say("chmod(%s)", labels[i]), result(x_chmod(ptr[i], 0600)), done();
		say("utimensat(%s)", labels[i]), result(x_utimensat(AT_FDCWD, ptr[i], NULL, AT_SYMLINK_NOFOLLOW)), done();
	}
	/* A path across two pages, both there. */
	mprotect(end, (size_t)page, PROT_READ | PROT_WRITE);
	memcpy(end - 4, "over-the-page", 14);
	try_all("across pages", end - 4);
	describe("."), done();
	munmap(map, 3 * (size_t)page);
}

static void try_openat2(const char *label, int dir, const char *name, const struct open_how *h, size_t size)
{
	long fd = -1;

	say("openat2(%s, flags %#llx mode %#llo resolve %#llx size %zu)", label, (unsigned long long)h->flags,
	    (unsigned long long)h->mode, (unsigned long long)h->resolve, size);
	/* EAGAIN: something was renamed somewhere meanwhile. */
	for (int i = 0; i < 100 && (fd = x_openat2(dir, name, h, size)) < 0 && errno == EAGAIN; i++)
		;
	if (result(fd) >= 0) {
		describe_fd((int)fd);
		close((int)fd);
	}
	done();
}

static void openat2_arguments(void)
{
	static const uint64_t flags[] = {O_RDONLY, O_RDWR, O_RDWR | O_CREAT, O_RDWR | O_CREAT | O_EXCL, 1ull << 40, 1u << 30,
					 0x8, O_RDWR | O_TMPFILE, TMPFILE_BIT | O_RDWR, O_RDONLY | O_DIRECTORY | O_CREAT};
	static const uint64_t modes[] = {0, 0644, 07777, 010000, 1ull << 33};
	static const uint64_t resolves[] = {0, RESOLVE_NO_XDEV, RESOLVE_NO_MAGICLINKS, RESOLVE_NO_SYMLINKS, RESOLVE_BENEATH,
					    RESOLVE_IN_ROOT, RESOLVE_BENEATH | RESOLVE_IN_ROOT, 1ull << 20, 1ull << 40,
					    RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH | RESOLVE_NO_XDEV};
	static const char *const names[] = {"f", "l", "d/../f", "../args", "/etc/passwd", "/d", "d/out", "d/in",
					    "abs", "new", "d/new", "dangle", "/new2", "", ".", "/", "..", "../../../../d",
					    "/proc/self/status", "dangleout"};
	static const size_t sizes[] = {0, 8, 16, 23, 24, 25, 32, 64, 4096, 4097, 8192};
	unsigned char raw[8192] = {0};
	struct open_how h = {0};
	int dir;

	fresh_file("f", "x", 0644);
	fresh("d", K_FULL);
	symlink("f", "l");
	symlink("../f", "d/out");
	symlink("/etc/passwd", "abs");
	symlink("new-by-link", "dangle");
	symlink("../new-outside", "d/dangleout");
	symlink("d/dangleout", "dangleout");
	dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (size_t r = 0; r < N(resolves); r++)
		for (size_t n = 0; n < N(names); n++)
			for (size_t f = 0; f < 4; f++) {
				h = (struct open_how){.flags = flags[f], .resolve = resolves[r]};
				if (flags[f] & O_CREAT)
					h.mode = 0644;
				/* These may lead out of the tree, where only reading is the same inside. */
				if ((names[n][0] == '/' || strncmp(names[n], "../../", 6) == 0 || strcmp(names[n], "abs") == 0) &&
				    f > 0 && !(resolves[r] & (RESOLVE_BENEATH | RESOLVE_IN_ROOT)))
					continue;
				/*
				 * With restrictions of its own a walk over a dangling link is not continued inside, and
				 * O_CREAT gives ELOOP.
				 */
				if (resolves[r] && (flags[f] & O_CREAT) &&
				    (strncmp(names[n], "dangle", 6) == 0 || strcmp(names[n], "abs") == 0))
					continue;
				try_openat2(names[n], dir, names[n], &h, sizeof(h));
				unlink("new");
				unlink("d/new");
				unlink("new-by-link");
				unlink("new2");
				unlink("new-outside");
			}
	for (size_t f = 0; f < N(flags); f++)
		for (size_t m = 0; m < N(modes); m++) {
			h = (struct open_how){.flags = flags[f], .mode = modes[m]};
			try_openat2("new", dir, "new", &h, sizeof(h));
			unlink("new");
		}
	for (size_t s = 0; s < N(sizes); s++)
		for (int junk = 0; junk < 2; junk++) {
			memset(raw, 0, sizeof(raw));
			h = (struct open_how){.flags = O_RDONLY};
			memcpy(raw, &h, sizeof(h));
			if (junk && sizes[s] > sizeof(h))
				raw[sizes[s] - 1] = 1;
			try_openat2(junk ? "f junk" : "f", dir, "f", (struct open_how *)raw, sizes[s]);
		}
	say("openat2(how NULL)"), result(x_openat2(dir, "f", NULL, sizeof(h))), done();
	say("openat2(how 1)"), result(x_openat2(dir, "f", (void *)1, sizeof(h))), done();
	say("openat2(how NULL, size 5000)"), result(x_openat2(dir, "f", NULL, 5000)), done();
	close(dir);
}

/* Descriptors as the base of a path. */
static void dirfds(void)
{
	static const char *const names[] = {"in", "", ".", "..", "/etc", "none", "../f", "in/"};
	struct {
		const char *label;
		int fd;
	} bases[9] = {{"AT_FDCWD", AT_FDCWD}, {"-1", -1}, {"999", 999}, {"-99", -99}};
	int p[2];

	fresh("d", K_FULL);
	fresh_file("f", "x", 0644);
	bases[4].label = "directory", bases[4].fd = open("d", O_RDONLY | O_DIRECTORY);
	bases[5].label = "O_PATH directory", bases[5].fd = open("d", O_PATH | O_DIRECTORY);
	bases[6].label = "file", bases[6].fd = open("f", O_RDONLY);
	if (pipe(p) < 0)
		die("pipe");
	bases[7].label = "pipe", bases[7].fd = p[0];
	fresh("gone", K_DIR);
	bases[8].label = "removed directory", bases[8].fd = open("gone", O_RDONLY | O_DIRECTORY);
	rmdir("gone");
	for (size_t b = 0; b < N(bases); b++)
		for (size_t n = 0; n < N(names); n++) {
			int flags[] = {O_RDONLY, O_RDWR, O_RDWR | O_CREAT, O_RDONLY | O_DIRECTORY, O_RDWR | O_TMPFILE};

			for (size_t f = 0; f < N(flags); f++) {
				long fd;

				if ((names[n][0] == '/' || b == 8) && flags[f] != O_RDONLY)
					continue;
				say("openat(%s, %s, %#x)", bases[b].label, names[n], flags[f]);
				fd = result(x_openat(bases[b].fd, names[n], flags[f], 0600));
				if (fd >= 0)
					describe_fd((int)fd), close((int)fd);
				done();
			}
			remove_all("none");
			remove_all("d/none");
		}
	for (size_t b = 4; b < N(bases); b++)
		close(bases[b].fd);
	close(p[1]);
}

/* In a working directory that is gone. */
static void gone_cwd(void)
{
	fresh("gone", K_DIR);
	if (chdir("gone") < 0 || rmdir("../gone") < 0)
		die("gone");
	try_all("x in a removed directory", "x");
	try_all(". in a removed directory", ".");
	try_all(".. in a removed directory", "..");
	try_all("../f in a removed directory", "../f");
	say("mkdir"), result(x_mkdir("x", 0777)), done();
	say("symlink"), result(x_symlink("t", "x")), done();
	say("mknod"), result(x_mknod("x", S_IFIFO | 0600, 0)), done();
	say("rename"), result(x_rename("x", "y")), done();
	say("unlink"), result(x_unlink("x")), done();
	say("chmod ."), result(x_chmod(".", 0700)), done();
	say("link"), result(x_link("../f", "x")), done();
	if (chdir(tree) < 0 || chdir("dirfds") < 0)
		die("chdir");
}

static void dirfds_all(void)
{
	dirfds();
	gone_cwd();
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
		2, 0, 0, 0,
		1, 0, 7, 0, 255, 255, 255, 255, /* user:: */
		2, 0, 6, 0, 1, 0, 0, 0,         /* user:1: */
		4, 0, 5, 0, 255, 255, 255, 255, /* group:: */
		16, 0, 6, 0, 255, 255, 255, 255, /* mask:: */
		32, 0, 4, 0, 255, 255, 255, 255, /* other:: */
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

/* What permissions refuse (to root they refuse little). */
static void denied(void)
{
	static const char *const names[] = {"shut/f", "shut/new", "ro/f", "ro/new", "noexec/f", "noexec/new", "noexec", "shut"};

	fresh("shut", K_DIR), fresh("ro", K_DIR), fresh("noexec", K_DIR);
	fresh_file("shut/f", "x", 0644), fresh_file("ro/f", "x", 0644), fresh_file("noexec/f", "x", 0644);
	chmod("shut", 0), chmod("ro", 0555), chmod("noexec", 0666);
	for (size_t i = 0; i < N(names); i++) {
		try_all(names[i], names[i]);
		say("mkdir %s", names[i]), result(x_mkdir(names[i], 0777)), done();
		say("chmod %s", names[i]), result(x_chmod(names[i], 0644)), done();
		say("truncate %s", names[i]), result(x_truncate(names[i], 1)), done();
		say("symlink %s", names[i]), result(x_symlink("x", names[i])), done();
		say("link %s", names[i]), result(x_link(names[i], "l")), done();
		unlink("l");
		say("rename %s", names[i]), result(x_rename(names[i], "moved")), done();
		say("rename back"), result(x_rename("moved", names[i])), done();
		say("unlink %s", names[i]), result(x_unlink(names[i])), done();
		/* Which of two reasons is given first for a file in a closed directory differs. */
		if (strcmp(names[i], "ro/f") != 0)
			say("rmdir %s", names[i]), result(x_rmdir(names[i])), done();
		chmod("shut", 0), chmod("ro", 0555), chmod("noexec", 0666);
	}
	chmod("shut", 0700), chmod("ro", 0700), chmod("noexec", 0700);
}

static void limits(void)
{
	struct rlimit old, r;
	int fds[64], n = 0;

	fresh_file("f", "x", 0644);
	getrlimit(RLIMIT_NOFILE, &old);
	r = old;
	r.rlim_cur = 20;
	setrlimit(RLIMIT_NOFILE, &r);
	while (n < 64 && (fds[n] = (int)x_open("f", O_RDWR, 0)) >= 0)
		n++;
	say("opened %d with RLIMIT_NOFILE 20, then %s", n, errno_name(errno)), done();
	say("open to read"), result(x_open("f", O_RDONLY, 0)), done();
	say("create"), result(x_open("new", O_RDWR | O_CREAT, 0644)), describe("new"), done();
	say("create with O_EXCL"), result(x_open("new2", O_RDWR | O_CREAT | O_EXCL, 0644)), describe("new2"), done();
	say("truncate by open"), result(x_open("f", O_RDWR | O_TRUNC, 0644)), describe("f"), done();
	say("open with O_TMPFILE"), result(x_open(".", O_RDWR | O_TMPFILE, 0600)), done();
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
	{"open", open_matrix},      {"openat", openat_matrix}, {"openat2", openat2_matrix}, {"args", openat2_arguments},
	{"names", special_names},   {"addresses", bad_addresses}, {"dirfds", dirfds_all},   {"modes", modes_section},
	{"denied", denied},         {"limits", limits},        {NULL, NULL},
};
