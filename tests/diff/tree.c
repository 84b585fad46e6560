/*
 * The tree that each sequence begins with, and what is left of it.
 */
#include "sequence.h"

#include <dirent.h>
#include <sys/xattr.h>
#include <time.h>

static void must(long rc, const char *what)
{
	if (rc < 0) {
		fprintf(stderr, "sequence: %s: %s\n", what, strerror(errno));
		_exit(70);
	}
}

static void file(const char *name, const char *text, mode_t mode)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	must(fd, name);
	must(write(fd, text, strlen(text)), name);
	must(fchmod(fd, mode), name);
	close(fd);
}

static void dir(const char *name, mode_t mode)
{
	must(mkdir(name, 0700), name);
	must(chmod(name, mode), name);
}

/* Entries that are later closed by the modes of their directories. */
static void make_dirs(void)
{
	static const struct {
		const char *name;
		mode_t mode;
	} dirs[] = {{"d", 0755},       {"dd", 0755},	{"noex", 0644},	  {"noread", 0311},
		    {"nowrite", 0555}, {"sgid", 02777}, {"sticky", 01777}};
	char name[64];

	for (size_t i = 0; i < N(dirs); i++) {
		dir(dirs[i].name, 0755);
		if (strcmp(dirs[i].name, "dd") == 0)
			continue;
		snprintf(name, sizeof(name), "%s/f", dirs[i].name);
		file(name, "within", 0644);
		snprintf(name, sizeof(name), "%s/s", dirs[i].name);
		dir(name, 0755);
	}
	for (size_t i = 0; i < N(dirs); i++)
		must(chmod(dirs[i].name, dirs[i].mode), dirs[i].name);
}

static void make_links(const char *root)
{
	static const char *const links[][2] = {
		{"f", "lf"},
		{"d", "ld"},
		{"d/", "ldd"},
		{"none", "dang"},
		{"d/none", "dang2"},
		{"none/", "dangs"},
		{"d/none/", "dangs2"},
		{"loop", "loop"},
		{"d/f/", "lfs"},
		{".", "dot"},
		{"..", "d/up"},
		{"dang", "dang3"},
		{"nothing/x", "far"},
		{"/proc/self/cwd/f", "self"},
		{"/proc/self/fd/3", "fd3"},
		{"noex/f", "closed"},
		{"../t/d", "again"},
	};
	char target[PATH_MAX];

	for (size_t i = 0; i < N(links); i++)
		must(symlink(links[i][0], links[i][1]), links[i][1]);
	snprintf(target, sizeof(target), "%s/d", root);
	must(symlink(target, "abs"), "abs");
	snprintf(target, sizeof(target), "%s/none", root);
	must(symlink(target, "absdang"), "absdang");
}

/* A default ACL as bytes; not every file system has them. */
static void make_acl(void)
{
	static const unsigned char acl[] = {2,	  0,	0,    0,    1,	  0,	7,    0,    0xff, 0xff, 0xff,
					    0xff, 2,	0,    7,    0,	  0xe9, 3,    0,    0,	  4,	0,
					    5,	  0,	0xff, 0xff, 0xff, 0xff, 0x10, 0,    7,	  0,	0xff,
					    0xff, 0xff, 0xff, 0x20, 0,	  0,	0,    0xff, 0xff, 0xff, 0xff};

	dir("acl", 0755);
	setxattr("acl", "system.posix_acl_default", acl, sizeof(acl), 0);
	setxattr("f", "user.a", "value", 5, 0);
}

static void make_old(const char *name)
{
	struct timespec t[2] = {{OLD_TIME, 0}, {OLD_TIME, 0}};

	utimensat(AT_FDCWD, name, t, AT_SYMLINK_NOFOLLOW);
}

void tree_make(const char *root)
{
	struct dirent *e;
	DIR *d;

	file("f", "content", 0644);
	file("e", "", 0666);
	file("ro", "read", 0444);
	file("secret", "nobody", 0);
	file("suid", "set", 06755);
	file("h1", "linked", 0644);
	must(link("h1", "h2"), "h2");
	must(mknod("fifo", S_IFIFO | 0644, 0), "fifo");
	must(mknod("sock", S_IFSOCK | 0644, 0), "sock");
	make_dirs();
	make_links(root);
	make_acl();
	if (geteuid() == 0) {
		must(chown("e", 1000, 1000), "e");
		must(chown("sticky", 1000, 1000), "sticky");
	}
	/* A group in which not everybody is. */
	if (lchown("sgid", (uid_t)-1, 1001) == 0)
		must(chmod("sgid", 02777), "sgid");
	d = opendir(".");
	must(d ? 0 : -1, "opendir");
	while ((e = readdir(d)))
		if (strcmp(e->d_name, "..") != 0)
			make_old(e->d_name);
	closedir(d);
}

#define E(x)                                                                                                 \
	{                                                                                                    \
		x, #x                                                                                        \
	}
const char *errno_name(int err)
{
	static const struct {
		int err;
		const char *name;
	} names[] = {
		E(EPERM),  E(ENOENT),  E(EINTR),   E(EIO),	 E(ENXIO),	E(E2BIG),     E(EBADF),
		E(EAGAIN), E(ENOMEM),  E(EACCES),  E(EFAULT),	 E(EBUSY),	E(EEXIST),    E(EXDEV),
		E(ENODEV), E(ENOTDIR), E(EISDIR),  E(EINVAL),	 E(EMFILE),	E(ENOTTY),    E(ETXTBSY),
		E(EFBIG),  E(ENOSPC),  E(ESPIPE),  E(EROFS),	 E(EMLINK),	E(EPIPE),     E(ERANGE),
		E(ENOSYS), E(ELOOP),   E(ENODATA), E(ENOTEMPTY), E(EOPNOTSUPP), E(EOVERFLOW), E(ENAMETOOLONG),
	};
	static _Thread_local char other[16];

	for (size_t i = 0; i < N(names); i++)
		if (names[i].err == err)
			return names[i].name;
	snprintf(other, sizeof(other), "E%d", err);
	return other;
}

static void print_bytes(FILE *out, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fprintf(out, p[i] > 32 && p[i] < 127 ? "%c" : "\\x%02x", (unsigned char)p[i]);
}

static void print_name(FILE *out, const char *name)
{
	size_t n = strlen(name);

	print_bytes(out, name, n < 40 ? n : 40);
	if (n > 40)
		fprintf(out, "...(%zu)", n);
}

static void print_stat(FILE *out, const struct stat *st)
{
	fprintf(out, " %06o %u:%u n%lu", st->st_mode, st->st_uid, st->st_gid, (unsigned long)st->st_nlink);
	if (!S_ISDIR(st->st_mode))
		fprintf(out, " s%lld", (long long)st->st_size);
	/* What a sequence sets lies before this. */
	if (st->st_mtim.tv_sec < time(NULL) - 100000000)
		fprintf(out, " %lld.%09ld", (long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec);
}

/* By the number of the directory: names may be too long for a path. */
static const char *by_descriptor(int dirfd, const char *name)
{
	static char path[NAME_MAX + 64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", dirfd, name);
	return path;
}

static void print_attributes(FILE *out, int dirfd, const char *name)
{
	char names[4096], value[1024];
	ssize_t n = llistxattr(by_descriptor(dirfd, name), names, sizeof(names)), size;

	for (const char *p = names; n > 0 && p < names + n; p += strlen(p) + 1) {
		size = lgetxattr(by_descriptor(dirfd, name), p, value, sizeof(value));
		fprintf(out, " %s=", p);
		print_bytes(out, value, size > 0 ? (size_t)size : 0);
	}
}

static void print_content(FILE *out, int dirfd, const char *name, const struct stat *st)
{
	unsigned char block[4096];
	unsigned long hash = 5381;
	long left = st->st_size < 1 << 20 ? st->st_size : 1 << 20;
	ssize_t n;
	int fd;

	if (!(st->st_mode & S_IRUSR))
		fchmodat(dirfd, name, 0600, 0);
	fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	while (fd >= 0 && left > 0 && (n = read(fd, block, sizeof(block))) > 0) {
		for (ssize_t i = 0; i < n; i++)
			hash = hash * 33 + block[i];
		left -= n;
	}
	fprintf(out, fd < 0 ? " unreadable" : " #%lx", hash);
	if (fd >= 0)
		close(fd);
}

static void list_entry(FILE *out, int dirfd, const char *name)
{
	char target[PATH_MAX];
	struct stat st;
	ssize_t n;
	int fd;

	print_name(out, name);
	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		fprintf(out, " %s\n", errno_name(errno));
		return;
	}
	print_stat(out, &st);
	print_attributes(out, dirfd, name);
	if (S_ISLNK(st.st_mode)) {
		n = readlinkat(dirfd, name, target, sizeof(target));
		fputs(" -> ", out);
		print_bytes(out, target, n > 0 ? (size_t)n : 0);
	}
	if (S_ISREG(st.st_mode))
		print_content(out, dirfd, name, &st);
	fputc('\n', out);
	if (S_ISDIR(st.st_mode)) {
		fchmodat(dirfd, name, 0700, 0);
		fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		fputs("{\n", out);
		tree_list(out, fd);
		fputs("}\n", out);
	}
	if (unlinkat(dirfd, name, S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0) < 0)
		fprintf(out, "cannot be removed: %s\n", errno_name(errno));
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* dir is taken over. */
void tree_list(FILE *out, int dir)
{
	DIR *d = dir < 0 ? NULL : fdopendir(dir);
	char **names = NULL;
	struct dirent *e;
	size_t n = 0;

	if (!d) {
		fprintf(out, "cannot be listed\n");
		return;
	}
	while ((e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		names = realloc(names, (n + 1) * sizeof(*names));
		if (!names || !(names[n++] = strdup(e->d_name)))
			abort();
	}
	if (names)
		qsort(names, n, sizeof(*names), by_name);
	for (size_t i = 0; i < n; i++) {
		list_entry(out, dirfd(d), names[i]);
		free(names[i]);
	}
	free(names);
	closedir(d);
}
