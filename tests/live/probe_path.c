/*
 * Names that are special in themselves: odd, long, badly placed, relative to descriptors, restricted by openat2.
 */
#include <linux/limits.h>
#include <sys/mman.h>

#include "probe_calls.h"

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

/* clang-format off */
static const char *const odd[] = {
	"", ".", "..", "/", "//", "/.", "/..", "\n", "a\nb", " ", "\xff\xfe", "\xc3\x28", "\x01\x7f", "*",
	"a\\b", "d/./../d/./x", "d//x", "./././d/x", "d/nothing/../x", "d/x/../x", "t/x", "t/../t/x", "b/x",
	"s/x", "up/d/x", "abs", "absdir/x", "viaempty", "slashdir", "todot", "todotdot", "dangledeep",
	"danglingdir/x", "dangleabs", "dangleslash", "danglechain",
};
/* clang-format on */

static void link_to(const char *below, const char *name)
{
	char target[PATH_MAX];

	snprintf(target, sizeof(target), "%s/names/%s", tree, below);
	symlink(target, name);
}

static void make_links(void)
{
	fresh("d", K_DIR);
	fresh_file("d/x", "x", 0644);
	symlink("d", "t");
	symlink("./d/", "b");
	symlink("t", "s");
	symlink("..", "d/up");
	symlink("d/up", "up");
	link_to("d/x", "abs");
	link_to("d", "absdir");
	symlink("d/x/", "slashfile");
	symlink("d/", "slashdir");
	symlink(".", "todot");
	symlink("..", "todotdot");
	symlink("none/deep", "dangledeep");
	symlink("none", "danglingdir");
	link_to("made-by-absolute-link", "dangleabs");
	symlink("made-with-slash/", "dangleslash");
	symlink("dangle2", "danglechain");
	symlink("d/up/made-by-chain", "dangle2");
}

static void odd_names(void)
{
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
}

static void long_names(void)
{
	static char big[3 * PATH_MAX];
	static const struct {
		size_t n;
		const char *pattern;
		const char *label;
	} longs[] = {
		{254, "n", "254 bytes"},
		{255, "n", "255 bytes"},
		{256, "n", "256 bytes"},
		{257, "n", "257 bytes"},
		{255, "\xc3\xa4", "255 bytes UTF-8"},
		{4000, "d/../", "4000 of d/../"},
		{4095, "././", "4095 of ././"},
		{4094, "././", "4094 of ././"},
		{4096, "././", "4096 of ././"},
		{5000, "/", "5000 slashes"},
		{4095, "/", "4095 slashes"},
		{4095, "nn/", "4095 of nn/"},
		{4090, "n", "4090 in one"},
		{4096, "n", "4096 in one"},
		{9000, "n", "9000 in one"},
	};
	for (size_t i = 0; i < N(longs); i++)
		try_all(longs[i].label, long_name(big, longs[i].n, longs[i].pattern));
}

static void special_names(void)
{
	make_links();
	odd_names();
	long_names();
	for (int n = 1; n <= 42; n = n < 38 ? n + 37 : n + 1)
		chain(n);
}

/* Strings at the edge of what is mapped. */
static void bad_addresses(void)
{
	long page = sysconf(_SC_PAGESIZE);
	char *map = mmap(NULL, 3 * (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *end = map + page;
	const char *volatile ptr[] = {NULL, (char *)1, (char *)-1, (char *)0xffff800000000000ul,
				      end,  end - 3,   end - 5,	   end - 1};
	static const char *const labels[] = {"NULL",	       "1",	   "-1",
					     "kernel",	       "unmapped", "no NUL before the end",
					     "NUL at the end", "one byte"};

	if (map == MAP_FAILED || munmap(end, (size_t)page) < 0)
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
		say("utimensat(%s)", labels[i]),
			result(x_utimensat(AT_FDCWD, ptr[i], NULL, AT_SYMLINK_NOFOLLOW)), done();
	}
	/* A path across two pages, both there. */
	if (mmap(end, (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
	    end)
		die("mmap");
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

static void openat2_links(void)
{
	fresh_file("f", "x", 0644);
	fresh("d", K_FULL);
	symlink("f", "l");
	symlink("../f", "d/out");
	symlink("/etc/passwd", "abs");
	symlink("new-by-link", "dangle");
	symlink("../new-outside", "d/dangleout");
	symlink("d/dangleout", "dangleout");
}

/* May it be tried, and does it then have to be the same? */
static bool openat2_comparable(const char *name, uint64_t flags, uint64_t resolve)
{
	bool leads_out = name[0] == '/' || strncmp(name, "../../", 6) == 0 || strcmp(name, "abs") == 0;
	bool dangles = strncmp(name, "dangle", 6) == 0 || strcmp(name, "abs") == 0;

	/* Out of the tree only reading is the same inside. */
	if (leads_out && flags != O_RDONLY && !(resolve & (RESOLVE_BENEATH | RESOLVE_IN_ROOT)))
		return false;
	/* With restrictions a dangling link is not followed inside to make what it points to: ELOOP. */
	return !(dangles && resolve && (flags & O_CREAT));
}

static void openat2_walks(int dir)
{
	static const uint64_t flags[] = {O_RDONLY, O_RDWR, O_RDWR | O_CREAT, O_RDWR | O_CREAT | O_EXCL};
	static const uint64_t resolves[] = {0,
					    RESOLVE_NO_XDEV,
					    RESOLVE_NO_MAGICLINKS,
					    RESOLVE_NO_SYMLINKS,
					    RESOLVE_BENEATH,
					    RESOLVE_IN_ROOT,
					    RESOLVE_BENEATH | RESOLVE_IN_ROOT,
					    1ull << 20,
					    1ull << 40,
					    RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH | RESOLVE_NO_XDEV};
	/* clang-format off */
	static const char *const names[] = {
		"f", "l", "d/../f", "../args", "/etc/passwd", "/d", "d/out", "d/in", "abs", "new", "d/new", "dangle", "/new2",
		"", ".", "/", "..", "../../../../d", "/proc/self/status", "dangleout"};
	static const char *const made[] = {"new", "d/new", "new-by-link", "new2", "new-outside"};
	/* clang-format on */

	for (size_t r = 0; r < N(resolves); r++)
		for (size_t n = 0; n < N(names); n++)
			for (size_t f = 0; f < N(flags); f++) {
				struct open_how h = {.flags = flags[f], .resolve = resolves[r]};

				if (flags[f] & O_CREAT)
					h.mode = 0644;
				if (!openat2_comparable(names[n], flags[f], resolves[r]))
					continue;
				try_openat2(names[n], dir, names[n], &h, sizeof(h));
				for (size_t i = 0; i < N(made); i++)
					unlink(made[i]);
			}
}

static void openat2_flags(int dir)
{
	static const uint64_t flags[] = {O_RDONLY,
					 O_RDWR,
					 O_RDWR | O_CREAT,
					 O_RDWR | O_CREAT | O_EXCL,
					 1ull << 40,
					 1u << 30,
					 0x8,
					 O_RDWR | O_TMPFILE,
					 TMPFILE_BIT | O_RDWR,
					 O_RDONLY | O_DIRECTORY | O_CREAT};
	static const uint64_t modes[] = {0, 0644, 07777, 010000, 1ull << 33};

	for (size_t f = 0; f < N(flags); f++)
		for (size_t m = 0; m < N(modes); m++) {
			struct open_how h = {.flags = flags[f], .mode = modes[m]};

			try_openat2("new", dir, "new", &h, sizeof(h));
			unlink("new");
		}
}

static void openat2_sizes(int dir)
{
	static const size_t sizes[] = {0, 8, 16, 23, 24, 25, 32, 64, 4096, 4097, 8192};
	unsigned char raw[8192] = {0}; /* all zero is a valid struct: O_RDONLY */
	const size_t size = sizeof(struct open_how);

	for (size_t s = 0; s < N(sizes); s++) {
		try_openat2("f", dir, "f", (struct open_how *)raw, sizes[s]);
		if (sizes[s] <= size)
			continue;
		raw[sizes[s] - 1] = 1;
		try_openat2("f junk", dir, "f", (struct open_how *)raw, sizes[s]);
		raw[sizes[s] - 1] = 0;
	}
	say("openat2(how NULL)"), result(x_openat2(dir, "f", NULL, size)), done();
	say("openat2(how 1)"), result(x_openat2(dir, "f", (void *)1, size)), done();
	say("openat2(how NULL, size 5000)"), result(x_openat2(dir, "f", NULL, 5000)), done();
}

static void openat2_arguments(void)
{
	int dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	openat2_links();
	openat2_walks(dir);
	openat2_flags(dir);
	openat2_sizes(dir);
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
			int flags[] = {O_RDONLY, O_RDWR, O_RDWR | O_CREAT, O_RDONLY | O_DIRECTORY,
				       O_RDWR | O_TMPFILE};

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

/* What permissions refuse (to root they refuse little). */
static void denied(void)
{
	static const char *const names[] = {"shut/f",	"shut/new",   "ro/f",	"ro/new",
					    "noexec/f", "noexec/new", "noexec", "shut"};

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

const struct section path_sections[] = {
	{"args", openat2_arguments}, {"names", special_names}, {"addresses", bad_addresses},
	{"dirfds", dirfds_all},	     {"denied", denied},       {NULL, NULL},
};
