/*
 * Random sequences. One generator, one seed: the same sequence on every machine.
 */
#include "names.h"
#include "sequence.h"

#include <linux/fs.h>
#include <linux/openat2.h>
#include <sys/file.h>

static uint64_t state;
/* How much of this sequence is odd, in percent: calls that succeed make the states that others need. */
static unsigned wild;

/* splitmix64 */
static uint64_t next(void)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static unsigned below(unsigned n)
{
	return (unsigned)(next() % n);
}

static bool percent(unsigned p)
{
	return below(100) < p;
}

#define PICK(array) ((array)[below(N(array))])

static void say_path(void)
{
	if (percent(1 + wild / 10)) {
		fputs(PICK(bad), stdout);
		return;
	}
	putchar('"');
	if (percent(wild)) {
		fputs(PICK(odd), stdout);
	} else {
		if (percent(35))
			printf("%s/", PICK(dirs));
		fputs(PICK(names), stdout);
	}
	if (percent(wild))
		fputs(PICK(ends), stdout);
	putchar('"');
}

static void say_target(void)
{
	static const char *const targets[] = {"",
					      "{4095*t}",
					      "../t/f",
					      "f/",
					      "d/",
					      "n/",
					      "n",
					      "n2",
					      "..",
					      ".",
					      "k40",
					      "lf",
					      "dang",
					      "d/n",
					      "{root}/d/n",
					      "{root}/d/",
					      "/proc/self/fd/4",
					      "loop/",
					      "dang/"};

	if (percent(50))
		say_path();
	else
		printf("\"%s\"", PICK(targets));
}

/* A descriptor; mostly one that is likely to be open. */
static void say_descriptor(bool directory)
{
	if (directory && percent(75))
		fputs("cwd", stdout);
	else if (percent(1 + wild / 5))
		printf("%d", (int[]){-1, 99, -100000, INT_MAX}[below(4)]);
	else
		printf("%u", 3 + below(percent(80) ? 4 : 10));
}

static unsigned open_flags(void)
{
	static const unsigned bits[] = {O_CREAT,
					O_CREAT,
					O_EXCL,
					O_TRUNC,
					O_APPEND,
					O_NOFOLLOW,
					O_DIRECTORY,
					O_NOATIME,
					O_DIRECT,
					O_ASYNC,
					O_PATH,
					O_CLOEXEC,
					O_NONBLOCK,
					O_NOCTTY,
					O_TMPFILE,
					O_SYNC,
					O_DSYNC,
					__O_TMPFILE,
					O_TMPFILE | O_RDWR,
					O_CREAT | O_EXCL,
					O_DIRECTORY | O_NOFOLLOW};
	unsigned f = percent(6) ? 3 : below(3);

	for (unsigned n = percent(wild) ? below(5) : below(2); n > 0; n--)
		f |= PICK(bits);
	if (percent(wild / 5))
		f |= 1u << below(32);
	return f;
}

static unsigned mode(void)
{
	static const unsigned modes[] = {0644,	0755,  0777, 0600, 0,	  04755,
					 02777, 01777, 0111, 0444, 07777, 0700};

	return percent(3) ? (unsigned)next() : PICK(modes);
}

/* The O_PATH of openat2 lies in memory: inside it is told to be unknown. */
static void say_how(void)
{
	static const unsigned resolves[] = {RESOLVE_NO_XDEV, RESOLVE_NO_MAGICLINKS, RESOLVE_NO_SYMLINKS,
					    RESOLVE_BENEATH, RESOLVE_IN_ROOT,	    RESOLVE_CACHED};
	static const unsigned sizes[] = {0, 8, 23, 25, 32, 64, 4095, 4096, 4097};
	unsigned f = open_flags() & ~(unsigned)O_PATH, r = 0;
	unsigned m = f & (O_CREAT | __O_TMPFILE) ? mode() & 07777 : 0;

	for (unsigned n = below(3); n > 0; n--)
		r |= PICK(resolves);
	if (percent(wild / 5))
		r |= 1u << below(32);
	if (percent(wild / 5))
		m = mode();
	/* Whether a name is in the cache is not the same at every time. */
	r &= ~(unsigned)RESOLVE_CACHED;
	printf("%#x,%o,%#x,%u,%u", f, m, r, !percent(wild) ? (unsigned)sizeof(struct open_how) : PICK(sizes),
	       percent(20) ? 1 : 0);
}

static void say_times(char kind)
{
	static const long parts[] = {0,		1,	    999999999, 1000000000, -1,
				     UTIME_NOW, UTIME_OMIT, UTIME_NOW, UTIME_OMIT, 500};
	static const long small[] = {0, 1, 999999, 1000000, -1};

	if (percent(25)) {
		fputs("NULL", stdout);
		return;
	}
	if (percent(3)) {
		fputs("1", stdout);
		return;
	}
	printf("%u.%ld,%u.%ld", below(1000) * 1000, kind == 'V' ? PICK(small) : PICK(parts),
	       below(1000) * 1000, kind == 'V' ? PICK(small) : PICK(parts));
}

static void say_attribute(void)
{
	static const char *const attributes[] = {"\"user.a\"",
						 "\"user.a\"",
						 "\"user.b\"",
						 "\"user.\"",
						 "\"\"",
						 "\"nodot\"",
						 "\"trusted.x\"",
						 "\"security.x\"",
						 "\"system.posix_acl_access\"",
						 "\"system.posix_acl_default\"",
						 "\"user.{250*x}\"",
						 "\"user.{251*x}\"",
						 "\"{300*x}\"",
						 "NULL",
						 "edge\"user.a\"",
						 "\"system.x\"",
						 "\"security.capability\""};

	fputs(PICK(attributes), stdout);
}

#define ACL_TAG(tag, perm) "\\x" tag "\\x00\\x" perm "\\x00\\xff\\xff\\xff\\xff"
static void say_value(void)
{
	static const char *const values[] = {
		"\"v\"",
		"\"value\"",
		"\"\"",
		"NULL",
		"\"{4000*v}\"",
		"\"{65536*v}\"",
		"\"{65537*v}\"",
		"1",
		"\"\\x02\\x00\\x00\\x00" ACL_TAG("01", "07") ACL_TAG("04", "05") ACL_TAG("20", "00") "\"",
		"\"\\x02\\x00\\x00\\x00" ACL_TAG("01", "06") ACL_TAG("04", "04") ACL_TAG("20", "04") "\"",
		"\"\\x02\\x00\\x00\\x00\""};

	fputs(PICK(values), stdout);
}

static void say_node(void)
{
	static const unsigned types[] = {0,	  S_IFREG, S_IFIFO, S_IFSOCK, S_IFIFO,
					 S_IFDIR, S_IFLNK, 0130000, S_IFCHR,  S_IFBLK};

	printf("%#o", PICK(types) | (mode() & 07777));
}

/* Numbers that are one of a few. */
static const long ids[] = {0, 1000, 1001, 65534, -1, -1};
static const long at_flags[] = {0,
				0,
				0,
				AT_SYMLINK_NOFOLLOW,
				AT_SYMLINK_NOFOLLOW,
				AT_EMPTY_PATH,
				AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW,
				AT_SYMLINK_FOLLOW,
				0x4000};
static const long link_flags[] = {0,
				  0,
				  0,
				  AT_SYMLINK_FOLLOW,
				  AT_SYMLINK_FOLLOW,
				  AT_EMPTY_PATH,
				  AT_EMPTY_PATH | AT_SYMLINK_FOLLOW,
				  AT_SYMLINK_NOFOLLOW};
static const long unlink_flags[] = {0, 0, AT_REMOVEDIR, AT_REMOVEDIR, 1};
static const long rename_flags[] = {0,
				    0,
				    RENAME_NOREPLACE,
				    RENAME_EXCHANGE,
				    RENAME_EXCHANGE,
				    RENAME_WHITEOUT,
				    RENAME_NOREPLACE | RENAME_EXCHANGE,
				    8};
static const long lengths[] = {0, 1, 5, 4096, 100000, -1, LONG_MIN, LONG_MAX};
static const long locks[] = {LOCK_SH | LOCK_NB, LOCK_EX | LOCK_NB, LOCK_UN, LOCK_NB, 64};
/* Not O_ASYNC, which is refused without Landlock. */
static const long settable[] = {0, O_APPEND, O_NONBLOCK, O_DIRECT, O_NOATIME};
static const long limits[] = {0, 1, 5, 7, 4096, 100000, -1, -1};
/* Without FS_EXTENT_FL ext4 would lay the file out anew, which works as the disk has it. */
static const long file_flags[] = {FS_EXTENT_FL,
				  FS_EXTENT_FL | FS_NODUMP_FL,
				  FS_EXTENT_FL | FS_NOATIME_FL,
				  FS_EXTENT_FL | FS_IMMUTABLE_FL,
				  FS_EXTENT_FL | FS_APPEND_FL,
				  FS_EXTENT_FL | FS_SYNC_FL,
				  0x7fffffff};
static const long devices[] = {0, 0, 259}; /* nobody here may make one */

#define CHOICE(kind, array)                                                                                  \
	{                                                                                                    \
		kind, array, N(array)                                                                        \
	}
static const struct {
	char kind;
	const long *values;
	unsigned n;
} choices[] = {
	CHOICE('u', ids),	   CHOICE('a', at_flags), CHOICE('A', link_flags), CHOICE('R', unlink_flags),
	CHOICE('r', rename_flags), CHOICE('l', lengths),  CHOICE('L', locks),	   CHOICE('F', settable),
	CHOICE('n', devices),	   CHOICE('z', limits),	  CHOICE('P', file_flags),
};

static void say_number(char kind)
{
	for (size_t i = 0; i < N(choices); i++)
		if (choices[i].kind == kind) {
			printf("%ld", choices[i].values[below(choices[i].n)]);
			return;
		}
	if (kind == 'f')
		printf("%#x", open_flags());
	else if (kind == 'm')
		printf("%#o", mode());
	else if (kind == 'c')
		printf("%u", below(9));
	else if (kind == 'i')
		printf("%d", (int)below(100) - 10);
	else if (kind == 'N')
		printf("%u", 3 + below(10));
	else /* 's' */
		printf("%u", below(4));
}

static void say_word(char kind)
{
	switch (kind) {
	case 'p':
		say_path();
		return;
	case 't':
		say_target();
		return;
	case 'd':
	case 'D':
		say_descriptor(kind == 'd');
		return;
	case 'o':
		say_how();
		return;
	case 'w':
	case 'V':
	case 'U':
		say_times(kind);
		return;
	case 'k':
		say_attribute();
		return;
	case 'v':
		say_value();
		return;
	case 'x':
		printf("%u", percent(60) ? 0 : below(5));
		return;
	case 'e':
		printf("%u,%u", percent(80) ? 16 : below(40), percent(60) ? 0 : below(4));
		return;
	case 'K':
		printf("%u,%u,%u", below(4), below(20), below(20));
		return;
	case 'y':
		say_node();
		return;
	case 'G':
		printf("%#x,%u", percent(50) ? FS_XFLAG_NODUMP : below(0x100), percent(70) ? 24 : below(30));
		return;
	default:
		say_number(kind);
	}
}

static void say_call(const struct call *call)
{
	fputs(call->name, stdout);
	if (strcmp(call->name, "nofile") == 0) {
		printf(" %u", 4 + below(percent(60) ? 60 : 10));
	} else if (strcmp(call->name, "chain") == 0) {
		fputs(" 41", stdout);
	} else {
		for (const char *k = call->kinds; *k; k++) {
			if (*k == 'b' || *k == 'B' || *k == '=')
				continue;
			putchar(' ');
			say_word(*k);
		}
	}
	putchar('\n');
}

/* States that single calls hardly make: objects without a name, and places that are gone. */
static void say_several(void)
{
	static const char *const several[] = {
		"mkdir \"n\" 0755\nchdir \"n\"\nrmdir \"../n\"\n",
		"mkdir \"new\" 0755\nopenat cwd \"new\" 0x10000 0\nrmdir \"new\"\n",
		"mkdir \"n2\" 0755\nmkdir \"n2/s\" 0755\nchdir \"n2/s\"\nrename \"../../n2\" \"../../n3\"\n",
		"openat cwd \"h1\" 0x2 0\nunlink \"h1\"\n",
		"openat cwd \"e\" 0 0\nunlink \"e\"\n",
		"openat cwd \"d\" 0x410002 0600\nlinkat 3 \"\" cwd \"new\" 0x1000\nlinkat 4 \"\" cwd \"n2\" "
		"0x1000\n",
		"openat cwd \".\" 0x410002 0644\nlinkat cwd \"/proc/self/fd/5\" cwd \"n3\" 0x400\n",
		"openat cwd \".\" 0x410082 0644\nlinkat cwd \"/proc/self/fd/6\" cwd \"n\" 0x400\n",
		"chmod \"f\" 0\nchmod \"d\" 0\n",
		"symlinkat \"new\" cwd \"n\"\nsymlinkat \"n/\" cwd \"n2\"\n",
		"chdir \"{root}\"\n",
		"chdir \"{root}\"\n",
		"link \"f\" \"n\"\nunlink \"f\"\n",
		"mknod \"n\" 010666 0\nopenat cwd \"n\" 0x802 0\nunlink \"n\"\n",
	};

	fputs(PICK(several), stdout);
}

static void say_calls(int n)
{
	/* Something to refer to. */
	static const char *const begins[] = {
		"at cwd \".\" 0x200000 0",     "at cwd \"d\" 0x10000 0",  "at cwd \"f\" 0x2 0",
		"at cwd \"dd\" 0 0",	       "at cwd \"n\" 0x42 0666",  "at cwd \"e\" 0x401 0",
		"at cwd \"sticky\" 0x10000 0", "at cwd \"f\" 0x200000 0", "at cwd \"h1\" 0 0"};
	unsigned total = 0;

	for (size_t i = 0; i < n_calls; i++)
		total += (unsigned)calls[i].weight;
	for (size_t i = 0; i < 4; i++)
		printf("open%s\n", PICK(begins));
	while (n-- > 0) {
		const struct call *call = calls;

		for (int at = (int)below(total); at >= call->weight; call++)
			at -= call->weight;
		say_call(call);
		if (percent(4))
			say_several();
	}
}

void make_sequence(uint64_t seed, int n)
{
	bool two;

	state = seed;
	wild = (unsigned[]){2, 8, 8, 20}[below(4)];
	two = percent(20);
	printf("sequence %llu\n", (unsigned long long)seed);
	say_calls(two ? n / 2 : n);
	if (two) {
		printf("beside %s\n", percent(60) ? "threads" : "files");
		say_calls(n / 2);
	}
}
