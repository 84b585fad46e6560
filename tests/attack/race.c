/*
 * Arguments that change between the check and the use: path strings, structures, descriptor numbers, working
 * directories, links on the way. "good" may be touched, $OUT/bad may not.
 */
#include "attack.h"

#include <linux/fs.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>
#include <utime.h>

static char *path; /* flips between the two */
static char good[256], bad[256];

static void flip_path(void *arg)
{
	size_t n = strlen(bad) + 1;

	/* Equally long names: every mixture of the two in between is a name in a forbidden place or none. */
	memcpy(path, bad, n);
	memcpy(path, good, n);
}

/* Absolute names of equal length. */
static void set_names(const char *leaf)
{
	size_t a, b;

	snprintf(good, sizeof(good), "%s/%s", getenv("IN"), leaf);
	snprintf(bad, sizeof(bad), "%s", out(leaf));
	a = strlen(good);
	b = strlen(bad);
	for (; a < b; a++)
		memmove(good + 1, good, strlen(good) + 1), good[0] = '/';
	for (; b < a; b++)
		memmove(bad + 1, bad, strlen(bad) + 1), bad[0] = '/';
	strcpy(path, good);
}

struct race {
	const char *leaf;
	void (*act)(void);
	bool (*won)(void);
};

static void act_open(void)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0644);

	if (fd >= 0)
		close(fd);
	unlink(good);
}
static bool won_there(void)
{
	return there(bad);
}
static void act_creat(void)
{
	int fd = creat(path, 0644);

	if (fd >= 0)
		close(fd);
}
static void act_write(void)
{
	int fd = open(path, O_RDWR);

	if (fd >= 0 && write(fd, "attacked", 8) != 8)
		broken("write");
	close(fd);
}
static bool won_written(void)
{
	return file_has(bad, "attacked");
}
static void act_rename_to(void)
{
	close(open("mine", O_WRONLY | O_CREAT, 0644));
	rename("mine", path);
}
static void act_rename_from(void)
{
	close(open(good, O_WRONLY | O_CREAT, 0644));
	rename(path, "taken");
}
static bool won_gone(void)
{
	return !there(bad);
}
static void act_unlink(void)
{
	close(open(good, O_WRONLY | O_CREAT, 0644));
	unlink(path);
}
static void act_rmdir(void)
{
	mkdir(good, 0755);
	rmdir(path);
}
static void act_mkdir(void)
{
	mkdir(path, 0755);
	rmdir(good);
}
static void act_mknod(void)
{
	mknod(path, S_IFIFO | 0644, 0);
	unlink(good);
}
static void act_chmod(void)
{
	chmod(path, 0606);
}
static bool won_mode(void)
{
	struct stat st;

	return stat(bad, &st) == 0 && (st.st_mode & 0777) == 0606;
}
static void act_utime(void)
{
	struct utimbuf t = {1000, 1000};

	utime(path, &t);
}
static bool won_time(void)
{
	struct stat st;

	return stat(bad, &st) == 0 && st.st_mtime == 1000;
}
static void act_link_to(void)
{
	close(open("mine", O_WRONLY | O_CREAT, 0644));
	link("mine", path);
	unlink(good);
}
static void act_link_from(void)
{
	unlink("mine");
	link(path, "mine");
}
static bool won_linked(void)
{
	struct stat st;

	return stat(bad, &st) == 0 && st.st_nlink > 1;
}
static void act_symlink(void)
{
	symlink("x", path);
	unlink(good);
}
static void act_truncate(void)
{
	truncate(path, 0);
}
static bool won_empty(void)
{
	struct stat st;

	return stat(bad, &st) == 0 && st.st_size == 0;
}
static void act_chown(void)
{
	lchown(path, (uid_t)-1, getegid());
	chmod(path, 0606);
}
static void act_xattr(void)
{
	syscall(SYS_setxattr, path, "user.attack", "x", 1, 0);
}
static bool won_xattr(void)
{
	char buf[8];

	return syscall(SYS_getxattr, bad, "user.attack", buf, sizeof(buf)) > 0;
}
static void act_bind(void)
{
	struct sockaddr_un *a = (struct sockaddr_un *)(path - offsetof(struct sockaddr_un, sun_path));
	int s = socket(AF_UNIX, SOCK_STREAM, 0);

	a->sun_family = AF_UNIX;
	if (strlen(bad) < sizeof(a->sun_path))
		bind(s, (struct sockaddr *)a, sizeof(*a));
	close(s);
	unlink(good);
}
static char secret_seen[64];
static void act_read(void)
{
	int fd = open(path, O_RDONLY);

	if (fd >= 0 && read(fd, secret_seen, sizeof(secret_seen) - 1) < 0)
		secret_seen[0] = '\0';
	close(fd);
}
static bool won_read(void)
{
	return strstr(secret_seen, "SECRET") != NULL;
}

static const struct named_race {
	const char *name;
	struct race r;
} races[] = {
	{"open", {"new", act_open, won_there}},
	{"creat", {"new", act_creat, won_there}},
	{"write", {"bad", act_write, won_written}},
	{"rename_to", {"new", act_rename_to, won_there}},
	{"rename_from", {"bad", act_rename_from, won_gone}},
	{"unlink", {"bad", act_unlink, won_gone}},
	{"rmdir", {"empty", act_rmdir, won_gone}},
	{"mkdir", {"new", act_mkdir, won_there}},
	{"mknod", {"new", act_mknod, won_there}},
	{"chmod", {"bad", act_chmod, won_mode}},
	{"chown", {"bad", act_chown, won_mode}},
	{"utime", {"bad", act_utime, won_time}},
	{"link_to", {"new", act_link_to, won_there}},
	{"link_from", {"bad", act_link_from, won_linked}},
	{"symlink", {"new", act_symlink, won_there}},
	{"truncate", {"bad", act_truncate, won_empty}},
	{"setxattr", {"bad", act_xattr, won_xattr}},
	{"bind", {"new", act_bind, won_there}},
	{"read", {"secret", act_read, won_read}},
};

static const struct race *find_race(const char *name)
{
	for (size_t i = 0; i < sizeof(races) / sizeof(*races); i++)
		if (strcmp(races[i].name, name) == 0)
			return &races[i].r;
	broken("no race %s", name);
}

static int try(const struct race *r)
{
	double end = seconds() + patience();
	int tries = 0;

	while (seconds() < end && !r->won()) {
		for (int i = 0; i < 20; i++, tries++)
			r->act();
	}
	printf("# %d tries\n", tries);
	return r->won() ? WON : LOST;
}

/* A thread changes the path while another one makes the call. */
static int by_thread(int argc, char **argv)
{
	static char room[512];
	const struct race *r = find_race(argv[1]);
	struct flipper f;
	int rc;

	path = room + 64;
	set_names(r->leaf);
	flipper_start(&f, flip_path, NULL);
	rc = try(r);
	flipper_end(&f);
	return rc;
}

/* Another process changes it, in memory that they share. */
static int by_process(int argc, char **argv)
{
	const struct race *r = find_race(argv[1]);
	pid_t pid;
	int rc;

	path = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (path == MAP_FAILED)
		broken("mmap");
	path += 64;
	set_names(r->leaf);
	pid = fork();
	if (pid == 0)
		for (;;)
			flip_path(NULL);
	rc = try(r);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return rc;
}

/* The same, by writing into the memory of the caller from outside it. */
static int by_other_memory(int argc, char **argv)
{
	static char room[512];
	const struct race *r = find_race(argv[1]);
	pid_t pid, self = getpid();
	char mem[64];
	int rc;

	path = room + 64;
	set_names(r->leaf);
	pid = fork();
	if (pid == 0) {
		int fd;

		snprintf(mem, sizeof(mem), "/proc/%d/mem", self);
		fd = open(mem, O_RDWR);
		if (fd < 0)
			_exit(1);
		for (;;)
			if (pwrite(fd, bad, strlen(bad), (off_t)(uintptr_t)path) < 0 ||
			    pwrite(fd, good, strlen(good), (off_t)(uintptr_t)path) < 0)
				_exit(1);
	}
	rc = try(r);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return rc;
}

/* The caller is a vfork child; its parent's other threads share its memory. */
static int by_vfork(int argc, char **argv)
{
	static char room[512];
	const struct race *r = find_race(argv[1]);
	double end = seconds() + patience();
	struct flipper f;

	path = room + 64;
	set_names(r->leaf);
	flipper_start(&f, flip_path, NULL);
	while (seconds() < end && !r->won()) {
		pid_t pid = vfork();

		if (pid == 0) {
			for (int i = 0; i < 50; i++)
				r->act();
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	flipper_end(&f);
	return r->won() ? WON : LOST;
}

/* A directory on the way, or the last name, changes places with a link to outside. */
static void flip_link(void *arg)
{
	const char *const *pair = arg;

	syscall(SYS_renameat2, AT_FDCWD, pair[0], AT_FDCWD, pair[1], RENAME_EXCHANGE);
}

static int by_link(int argc, char **argv)
{
	static const char *pair[] = {"sub", "sublink"};
	const struct race *r = find_race(argv[1]);
	struct flipper f;
	int rc;

	mkdir("sub", 0755);
	symlink(getenv("OUT"), "sublink");
	snprintf(bad, sizeof(bad), "%s", out(r->leaf));
	snprintf(good, sizeof(good), "%s/%s", argc > 2 && argv[2][0] == 'a' ? getenv("IN") : ".", "");
	path = malloc(512);
	snprintf(path, 512, "%ssub/%s", good, r->leaf);
	snprintf(good, sizeof(good), "%s", path);
	flipper_start(&f, flip_link, pair);
	rc = try(r);
	flipper_end(&f);
	return rc;
}

static int by_last_link(int argc, char **argv)
{
	static const char *pair[] = {"file", "filelink"};
	const struct race *r = find_race(argv[1]);
	struct flipper f;
	int rc;

	write_file("file", "mine");
	snprintf(bad, sizeof(bad), "%s", out(r->leaf));
	symlink(bad, "filelink");
	path = strdup("file");
	strcpy(good, "unused");
	flipper_start(&f, flip_link, pair);
	rc = try(r);
	flipper_end(&f);
	return rc;
}

static const struct attack list[] = {
	{"thread", by_thread}, {"process", by_process}, {"other_memory", by_other_memory},
	{"vfork", by_vfork},   {"link", by_link},	{"last_link", by_last_link},
};
ATTACK_MAIN(list)
