/*
 * What a symbolic link says and what extended attributes hold is content as a file's text is. The policy denies reading
 * "hidden" (a directory), "*.key", and $OUT/secret and $OUT/link. Also: where links of strangers in /proc lead.
 */
#include "attack.h"

#include <sys/xattr.h>

#ifndef SYS_getxattrat
#define SYS_getxattrat	464
#define SYS_listxattrat 465
#endif

struct value_args {
	uint64_t value;
	uint32_t size, flags;
};

static int won;

static void got(const char *what, const char *path, ssize_t n, const char *buf)
{
	if (n <= 0 || !memmem(buf, (size_t)n, "SECRET", 6))
		return;
	printf("# %s %s\n", what, path);
	won++;
}

static void try_attributes(const char *path, int dir, const char *relative)
{
	char buf[1024];
	struct value_args a = {.value = (uintptr_t)buf, .size = sizeof(buf)};

	got("getxattr", path, getxattr(path, "user.SECRET", buf, sizeof(buf)), buf);
	got("lgetxattr", path, lgetxattr(path, "user.SECRET", buf, sizeof(buf)), buf);
	got("listxattr", path, listxattr(path, buf, sizeof(buf)), buf);
	got("llistxattr", path, llistxattr(path, buf, sizeof(buf)), buf);
	/* The sizes alone would do, for who tries. */
	won += getxattr(path, "user.SECRET", NULL, 0) > 0;
	won += listxattr(path, NULL, 0) > 0;
	if (syscall(SYS_getxattrat, dir, relative, 0, "user.SECRET", &a, sizeof(a)) > 0)
		got("getxattrat", path, 6, buf);
	got("listxattrat", path, syscall(SYS_listxattrat, dir, relative, 0, buf, sizeof(buf)), buf);
}

static void attributes_by_descriptor(const char *path)
{
	static const char *const ways[] = {"/proc/self/fd/%d", "/dev/fd/%d", "/proc/thread-self/fd/%d"};
	int fd = open(path, O_PATH);
	char buf[1024], name[64];
	struct value_args a = {.value = (uintptr_t)buf, .size = sizeof(buf)};

	if (fd < 0)
		broken("O_PATH");
	got("fgetxattr", path, fgetxattr(fd, "user.SECRET", buf, sizeof(buf)), buf);
	got("flistxattr", path, flistxattr(fd, buf, sizeof(buf)), buf);
	if (syscall(SYS_getxattrat, fd, "", AT_EMPTY_PATH, "user.SECRET", &a, sizeof(a)) > 0)
		got("getxattrat", path, 6, buf);
	got("listxattrat", path, syscall(SYS_listxattrat, fd, "", AT_EMPTY_PATH, buf, sizeof(buf)), buf);
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		snprintf(name, sizeof(name), ways[i], fd);
		try_attributes(name, AT_FDCWD, name);
	}
	close(fd);
}

static const char *const files[] = {"hidden/secret", "x.key", NULL};

static const char *file(int i)
{
	return files[i] ? files[i] : out("secret");
}
#define FILES 3

static int attributes(int argc, char **argv)
{
	char path[PATH_MAX];
	int dir = open(".", O_PATH | O_DIRECTORY), sub = open("hidden", O_PATH | O_DIRECTORY);

	symlink("hidden", "around");
	for (int i = 0; i < FILES; i++) {
		try_attributes(file(i), dir, file(i));
		unlink("l");
		symlink(file(i), "l");
		try_attributes("l", dir, "l");
		attributes_by_descriptor(file(i));
	}
	snprintf(path, sizeof(path), "/proc/self/root%s", out("secret"));
	try_attributes(path, AT_FDCWD, path);
	try_attributes("/proc/self/cwd/x.key", AT_FDCWD, "/proc/self/cwd/x.key");
	try_attributes("around/../hidden/./secret", sub, "secret");
	return won ? WON : LOST;
}

/* Attributes of the files, for the others to steal; where they cannot be had nothing is there to test. */
static int prepare(void)
{
	for (int i = 0; i < FILES; i++)
		if (setxattr(file(i), "user.SECRET", "SECRET", 6, 0) < 0)
			return SKIP;
	return 0;
}

static void try_link(const char *path, int dir, const char *relative)
{
	char buf[256];

	got("readlink", path, readlink(path, buf, sizeof(buf)), buf);
	got("readlink of 6", path, readlink(path, buf, 6), buf);
	got("readlinkat", path, readlinkat(dir, relative, buf, sizeof(buf)), buf);
}

static int links(int argc, char **argv)
{
	static const char *const names[] = {"hidden/link", "l.key", NULL};
	int dir = open(".", O_PATH | O_DIRECTORY), sub = open("hidden", O_PATH | O_DIRECTORY);
	char path[PATH_MAX], buf[256];

	symlink("hidden", "around");
	for (int i = 0; i < 3; i++) {
		const char *name = names[i] ? names[i] : out("link");
		int fd = open(name, O_PATH | O_NOFOLLOW);

		if (fd < 0)
			broken("O_PATH");
		try_link(name, dir, name);
		got("by descriptor", name, readlinkat(fd, "", buf, sizeof(buf)), buf);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		got("by /proc", name, readlinkat(AT_FDCWD, path, buf, sizeof(buf)), buf);
		close(fd);
	}
	snprintf(path, sizeof(path), "/proc/self/root%s", out("link"));
	try_link(path, AT_FDCWD, path);
	try_link("/proc/self/cwd/l.key", AT_FDCWD, "/proc/self/cwd/l.key");
	try_link("around/../hidden//link", sub, "link");
	return won ? WON : LOST;
}

/* Its name is removed from outside while a descriptor is held. The script does that. */
static int removed_link(int argc, char **argv)
{
	int fd = open(out("link"), O_PATH | O_NOFOLLOW);
	struct stat st;
	char buf[256];

	if (fd < 0)
		broken("O_PATH");
	write_file("ready", "x");
	for (int i = 0; i < 500 && fstat(fd, &st) == 0 && st.st_nlink > 0; i++)
		usleep(10000);
	if (st.st_nlink > 0)
		broken("nobody removed it");
	got("by descriptor", "", readlinkat(fd, "", buf, sizeof(buf)), buf);
	return won ? WON : LOST;
}

/* Where the links of a process outside lead. argv[1]: its number. */
static int strangers(int argc, char **argv)
{
	static const char *const names[] = {"cwd", "root", "exe", "fd/0", "ns/mnt", "task/%s/cwd"};
	char path[256], name[64], buf[256];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(name, sizeof(name), names[i], argv[1]);
		snprintf(path, sizeof(path), "/proc/%s/%s", argv[1], name);
		if (readlink(path, buf, sizeof(buf)) > 0)
			won += printf("# readlink %s\n", path) > 0;
		if (open(path, O_PATH) >= 0)
			won += printf("# O_PATH %s\n", path) > 0;
		if (chdir(path) == 0)
			won += printf("# chdir %s\n", path) > 0;
		if (getxattr(path, "user.none", buf, sizeof(buf)) < 0 && errno == ENODATA)
			won += printf("# getxattr %s\n", path) > 0;
	}
	return won ? WON : LOST;
}

static const struct attack list[] = {
	{"attributes", attributes},
	{"links", links},
	{"removed_link", removed_link},
	{"strangers", strangers},
};

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "prepare") == 0)
		return prepare();
	return attack_main(list, sizeof(list) / sizeof(*list), argc, argv);
}
