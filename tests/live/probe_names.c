/*
 * Names made, given, exchanged and removed: mkdir, mknod, symlink, link, rename, unlink, rmdir.
 */
#include <sys/sysmacros.h>

#include "probe_calls.h"

/* Suffixes that a name may carry. */
static const char *const tails[] = {"", "/", "/.", "/.."};

static void with_tail(char *buf, size_t size, const char *name, size_t t)
{
	snprintf(buf, size, "%s%s", name, tails[t]);
}

static void rename_one(enum kind a, enum kind b, size_t ta, size_t tb, int how, int dir)
{
	char from[64], to[64];

	fresh("a", a);
	fresh("b", b);
	with_tail(from, sizeof(from), "a", ta);
	with_tail(to, sizeof(to), "b", tb);
	switch (how) {
	case 0:
		say("rename(%s as %s, %s as %s)", from, kind_names[a], to, kind_names[b]);
		result(x_rename(from, to));
		break;
	case 1:
		say("renameat(%s as %s, %s as %s)", from, kind_names[a], to, kind_names[b]);
		result(x_renameat(dir, from, dir, to));
		break;
	default:
		say("renameat2(%s as %s, %s as %s, %#x)", from, kind_names[a], to, kind_names[b], how >> 4);
		result(x_renameat2(dir, from, AT_FDCWD, to, how >> 4));
		break;
	}
	describe("a");
	describe("b");
	done();
}

#define FLAGGED(flags) ((flags) << 4)

static void renames(void)
{
	static const int hows[] = {0, 1, FLAGGED(RENAME_NOREPLACE), FLAGGED(RENAME_EXCHANGE)};
	int dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (int a = 0; a < K_KINDS; a++)
		for (int b = 0; b < K_KINDS; b++)
			for (size_t h = 0; h < N(hows); h++)
				rename_one((enum kind)a, (enum kind)b, 0, 0, hows[h], dir);
	/* With tails: fewer kinds. */
	static const enum kind few[] = {K_ABSENT, K_FILE, K_DIR, K_FULL, K_LINK, K_LINKDIR, K_DANGLE};
	for (size_t a = 0; a < N(few); a++)
		for (size_t b = 0; b < N(few); b++)
			for (size_t ta = 0; ta < N(tails); ta++)
				for (size_t tb = 0; tb < N(tails); tb++)
					for (size_t h = 0; (ta || tb) && h < N(hows); h += 3)
						rename_one(few[a], few[b], ta, tb, hows[h], dir);
	close(dir);
}

static void say_rename(const char *from, const char *to, int flags)
{
	say("rename(%s, %s, %d)", from, to, flags);
	result(flags < 0 ? x_rename(from, to) : x_renameat2(AT_FDCWD, from, AT_FDCWD, to, flags));
	done();
}

static void rename_specials(void)
{
	static const char *const pairs[][2] = {
		{"f", "f"},	{"f", "./f"},	    {"f", "d/../f"},   {"d", "d"},	  {"d", "./d"},
		{"d", "d/sub"}, {"d", "d/sub/new"}, {"d/sub", "d"},    {"d/sub", "."},	  {".", "x"},
		{"..", "x"},	{"f", "."},	    {"f", ".."},       {"f", "/"},	  {"/", "x"},
		{"f", ""},	{"", "f"},	    {"f", "none/x"},   {"none/x", "f"},	  {"f", "f/x"},
		{"f/x", "x"},	{"f", "hard"},	    {"hard", "f"},     {"l", "f"},	  {"f", "l"},
		{"d", "full"},	{"full", "d"},	    {"f", "\xff"},     {"\xff", "f"},	  {"f", "a\nb"},
		{"a\nb", "f"},	{"l/", "x"},	    {"f", "ld/moved"}, {"ld/moved", "f"}, {"ld/../f", "x"},
		{"x", "f"},
	};
	static const unsigned odd[] = {
		3, 4, 5, 6, 8, 0x80000000u, RENAME_EXCHANGE | RENAME_NOREPLACE, RENAME_WHITEOUT};
	char big[300];

	fresh("f", K_FILE), fresh("d", K_DIR), fresh("full", K_FULL), fresh("l", K_LINK),
		fresh("ld", K_LINKDIR);
	mkdir("d/sub", 0755);
	if (link("f", "hard") < 0)
		die("link");
	for (size_t i = 0; i < N(pairs); i++)
		for (int flags = -1; flags <= 2; flags++) {
			say_rename(pairs[i][0], pairs[i][1], flags);
			describe("."), done();
		}
	fresh("f", K_FILE);
	memset(big, 'n', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	say("rename to 299 bytes"), result(x_rename("f", big)), done();
	say("rename from 299 bytes"), result(x_rename(big, "f")), done();
	for (size_t i = 0; i < N(odd); i++) {
		/* A whiteout needs a device's rights: compared for its refusals only. */
		if (odd[i] == RENAME_WHITEOUT)
			continue;
		say("renameat2 flags %#x", odd[i]), result(x_renameat2(AT_FDCWD, "f", AT_FDCWD, "g", odd[i])),
			done();
	}
	say("renameat bad dirfd"), result(x_renameat(999, "f", AT_FDCWD, "g")), done();
	say("renameat bad second dirfd"), result(x_renameat(AT_FDCWD, "f", 999, "g")), done();
	say("renameat bad second dirfd, absent first"), result(x_renameat(AT_FDCWD, "no", 999, "g")), done();
	say("rename across mounts"), result(x_rename("f", "/proc/self/comm")), done();
	say("rename from another mount"), result(x_rename("/proc/self/comm", "g")), done();
	/* The sticky bit: only root meets files of others here. */
	fresh("sticky", K_DIR);
	chmod("sticky", 01777);
	fresh_file("sticky/a", "x", 0666);
	say_rename("sticky/a", "sticky/b", -1);
	describe("sticky"), done();
}

static void links(void)
{
	static const int flags[] = {-1, 0, AT_SYMLINK_FOLLOW, AT_EMPTY_PATH, AT_SYMLINK_NOFOLLOW, 0x1};
	int dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char from[64], to[64];

	for (int a = 0; a < K_KINDS; a++)
		for (size_t b = 0; b < 8; b++)
			for (size_t ta = 0; ta < N(tails); ta++)
				for (size_t f = 0; f < N(flags); f++) {
					static const enum kind targets[] = {K_ABSENT, K_FILE, K_DIR,
									    K_DANGLE};
					size_t tb = b / 4;

					if (ta > 1 && f > 1)
						continue;
					fresh("a", (enum kind)a);
					fresh("b", targets[b % 4]);
					with_tail(from, sizeof(from), "a", ta);
					with_tail(to, sizeof(to), "b", tb);
					say("link(%s as %s, %s as %s, %#x)", from, kind_names[a], to,
					    kind_names[targets[b % 4]], (unsigned)flags[f]);
					result(flags[f] < 0 ? x_link(from, to)
							    : x_linkat(dir, from, dir, to, flags[f]));
					describe("a");
					describe("b");
					done();
				}
	close(dir);
}

/* Files without a name, given one. */
static void link_unnamed(void)
{
	char proc[64], buf[16];
	int fd = (int)x_open(".", O_RDWR | O_TMPFILE, 0644), ex;

	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	say("write"), result(write(fd, "unnamed", 7)), done();
	say("linkat by /proc"), result(x_linkat(AT_FDCWD, proc, AT_FDCWD, "byproc", AT_SYMLINK_FOLLOW)),
		describe("byproc"), done();
	say("linkat again"), result(x_linkat(AT_FDCWD, proc, AT_FDCWD, "byproc2", AT_SYMLINK_FOLLOW)),
		describe("byproc2"), done();
	say("linkat without following"), result(x_linkat(AT_FDCWD, proc, AT_FDCWD, "byproc3", 0)),
		describe("byproc3"), done();
	describe_fd(fd), done();
	say("write after"), result(pwrite(fd, "U", 1, 0)), describe("byproc"), done();
	close(fd);
	fd = (int)x_open("byproc", O_RDWR, 0);
	say("opened again"), result(pwrite(fd, "V", 1, 0)), describe("byproc2"), done();
	close(fd);
	fd = (int)x_open(".", O_RDWR | O_TMPFILE, 0600);
	say("linkat AT_EMPTY_PATH"), result(x_linkat(fd, "", AT_FDCWD, "byempty", AT_EMPTY_PATH)),
		describe("byempty"), done();
	say("to an existing name"), result(x_linkat(fd, "", AT_FDCWD, "byproc", AT_EMPTY_PATH)), done();
	close(fd);
	ex = (int)x_open(".", O_RDWR | O_TMPFILE | O_EXCL, 0600);
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", ex);
	say("with O_EXCL"), result(x_linkat(AT_FDCWD, proc, AT_FDCWD, "byexcl", AT_SYMLINK_FOLLOW)),
		describe("byexcl"), done();
	close(ex);
	fd = (int)x_open("gone", O_RDWR | O_CREAT, 0600);
	unlink("gone");
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	say("a removed file"), result(x_linkat(AT_FDCWD, proc, AT_FDCWD, "back", AT_SYMLINK_FOLLOW)),
		describe("back"), done();
	say("a removed file by AT_EMPTY_PATH"), result(x_linkat(fd, "", AT_FDCWD, "back", AT_EMPTY_PATH)),
		done();
	close(fd);
	fd = (int)x_open("byproc", O_PATH, 0);
	say("an O_PATH descriptor"), result(x_linkat(fd, "", AT_FDCWD, "bypath", AT_EMPTY_PATH)),
		describe("bypath"), done();
	close(fd);
	fd = (int)x_open("byproc", O_RDONLY, 0);
	say("AT_EMPTY_PATH with a path"), result(x_linkat(AT_FDCWD, "byproc", AT_FDCWD, "p", AT_EMPTY_PATH)),
		done();
	say("read"), result(read(fd, buf, sizeof(buf))), done();
	close(fd);
}

static const enum kind made_over[] = {K_ABSENT,	 K_FILE,   K_DIR,  K_FULL, K_LINK,
				      K_LINKDIR, K_DANGLE, K_LOOP, K_FIFO, K_SOCK};
static const char *const made_names[] = {"m", "m/", "./m", "m/.", "m/..", "m/x", "m/none/x", "."};

static void makes(void)
{
	static const struct {
		const char *label;
		mode_t mode;
		dev_t dev;
	} nodes[] = {
		{"regular", S_IFREG | 0644, 0},	  {"0", 0644, 0},
		{"fifo", S_IFIFO | 0644, 0},	  {"socket", S_IFSOCK | 0644, 0},
		{"directory", S_IFDIR | 0755, 0}, {"link", S_IFLNK | 0777, 0},
		{"nonsense", 0130000 | 0644, 0},  {"regular with a number", S_IFREG | 0644, 0x105},
	};
	int dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (size_t k = 0; k < N(made_over); k++)
		for (size_t n = 0; n < N(made_names); n++) {
			fresh("m", made_over[k]);
			say("over %s: mkdir(%s)", kind_names[made_over[k]], made_names[n]);
			result(x_mkdir(made_names[n], 0777)), describe("m"), describe("t_none"), done();
			remove_all("t_none"), fresh("m", made_over[k]);
			say("mkdirat(%s)", made_names[n]), result(x_mkdirat(dir, made_names[n], 0700)),
				describe("m"), done();
			remove_all("t_none"), fresh("m", made_over[k]);
			say("symlink(%s)", made_names[n]), result(x_symlink("to/where", made_names[n])),
				describe("m"), done();
			fresh("m", made_over[k]);
			say("symlinkat(%s)", made_names[n]), result(x_symlinkat("\xff", dir, made_names[n])),
				describe("m"), done();
			for (size_t i = 0; i < N(nodes); i++) {
				fresh("m", made_over[k]);
				say("mknod(%s, %s)", made_names[n], nodes[i].label);
				result(i % 2 ? x_mknodat(dir, made_names[n], nodes[i].mode, nodes[i].dev)
					     : x_mknod(made_names[n], nodes[i].mode, nodes[i].dev));
				describe("m"), describe("t_none"), done();
				remove_all("t_none");
			}
		}
	fresh("m", K_ABSENT);
	say("symlink to nothing"), result(x_symlink("", "m")), done();
	char big[PATH_MAX + 10];
	for (size_t n = 4090; n < 4100; n++) {
		memset(big, 'x', n);
		big[n] = '\0';
		say("symlink to %zu bytes", n), result(x_symlink(big, "m")), done();
		remove_all("m");
	}
	close(dir);
}

static void removes(void)
{
	static const int flags[] = {0, AT_REMOVEDIR, AT_SYMLINK_NOFOLLOW, AT_REMOVEDIR | 1, AT_EMPTY_PATH};
	static const char *const names[] = {"r",      "r/", "./r", "r/.", "r/..", "r/in",  "r/in/",
					    "r/none", ".",  "..",  "/",	  "",	  "none/x"};
	int dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (int k = 0; k < K_KINDS; k++)
		for (size_t n = 0; n < N(names); n++) {
			fresh("r", (enum kind)k);
			say("unlink(%s as %s)", names[n], kind_names[k]), result(x_unlink(names[n])),
				describe("r");
			done();
			fresh("r", (enum kind)k);
			say("rmdir(%s as %s)", names[n], kind_names[k]), result(x_rmdir(names[n])),
				describe("r");
			done();
			for (size_t f = 0; f < N(flags); f++) {
				fresh("r", (enum kind)k);
				say("unlinkat(%s as %s, %#x)", names[n], kind_names[k], flags[f]);
				result(x_unlinkat(dir, names[n], flags[f])), describe("r"), done();
			}
		}
	close(dir);
	/* Open files outlive their names. */
	fresh("r", K_FILE);
	dir = (int)x_open("r", O_RDWR, 0);
	x_unlink("r");
	say("write to a removed file"), result(pwrite(dir, "after", 5, 0)), describe_fd(dir), done();
	close(dir);
}

static void trees(void)
{
	char path[PATH_MAX] = "deep";
	size_t n = 4;
	int depth = 0;

	/* Inside nothing can be made where a name becomes longer than PATH_MAX. */
	mkdir(path, 0755);
	if (chdir(path) < 0)
		die(path);
	while (n < 3000 && depth < 60) {
		char name[101];

		memset(name, 'd', 100);
		name[100] = '\0';
		if (x_mkdir(name, 0755) < 0 || chdir(name) < 0) {
			say("at depth %d: %s", depth, errno_name(errno)), done();
			break;
		}
		n += 101;
		depth++;
	}
	say("depth %d", depth), done();
	say("create down there"), result(x_open("file", O_RDWR | O_CREAT | O_EXCL, 0644) >= 0 ? 0 : -1),
		describe("file"), done();
	say("rename down there"), result(x_rename("file", "file2")), describe("file2"), done();
	say("chmod down there"), result(x_chmod("file2", 0600)), describe("file2"), done();
	say("unlink down there"), result(x_unlink("file2")), done();
	for (int i = 0; i < depth; i++)
		if (chdir("..") < 0)
			die("..");
	describe("."), done();
	if (chdir("..") < 0)
		die("..");
	/* A tree moved with all that is in it. */
	fresh("from", K_DIR);
	for (int i = 0; i < 50; i++) {
		snprintf(path, sizeof(path), "from/%d", i);
		mkdir(path, 0755);
		strcat(path, "/f");
		fresh_file(path, "x", 0644);
	}
	fresh("to", K_DIR);
	say_rename("from", "to/from", -1);
	describe("to/from"), done();
	say_rename("to/from", "from", RENAME_NOREPLACE);
	fresh("b", K_FULL);
	say_rename("from", "b", RENAME_EXCHANGE);
	describe("from"), describe("b"), done();
}

const struct section name_sections[] = {
	{"renames", renames}, {"renames2", rename_specials}, {"links", links}, {"unnamed", link_unnamed},
	{"makes", makes},     {"removes", removes},	     {"trees", trees}, {NULL, NULL},
};
