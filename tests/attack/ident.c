/*
 * Root that became another user must not get root's power back through the supervisor, which keeps it. All happens in a
 * place that the policy allows, so that only the kernel's own checks are in the way. Outside nothing is given up, and
 * the attacks work.
 */
#include "attack.h"

#include <grp.h>
#include <sys/prctl.h>
#include <sys/xattr.h>

#define OTHER 1234
#define TRIES 2000

static bool inside(void)
{
	return getenv("CORDON_SESSION") != NULL;
}

/* Only this thread. */
static void ids(int r, int e, int s)
{
	if (!inside())
		return;
	if (syscall(SYS_setresgid, r, e, s) < 0 || syscall(SYS_setresuid, r, e, s) < 0)
		broken("setresuid");
}

static void drop(void)
{
	if (inside() && syscall(SYS_setgroups, 0, NULL) < 0)
		broken("setgroups");
	ids(OTHER, OTHER, OTHER);
}

static bool opens(const char *name, int flags)
{
	int fd = open(name, flags, 0644);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool binds(const char *name)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), rc;

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", name);
	rc = bind(fd, (struct sockaddr *)&a, sizeof(a));
	close(fd);
	return rc == 0;
}

/* What only root may do to "secret" (0600), in "closed" (0755) and in "shut" (0700). */
static int all_of_it(void)
{
	struct stat st;
	int won = 0;

	won += opens("secret", O_RDONLY) + opens("secret", O_RDWR) + opens("secret", O_WRONLY | O_TRUNC);
	won += opens("secret", O_RDWR | O_CREAT) + opens("shut/in", O_RDONLY) + opens("closed/in", O_WRONLY);
	won += opens("closed/new", O_CREAT | O_RDWR) + opens("closed", O_TMPFILE | O_RDWR);
	won += chmod("secret", 0666) == 0;
	won += chown("secret", OTHER, OTHER) == 0;
	won += chown("mine", 0, 0) == 0;
	won += truncate("secret", 0) == 0;
	won += utimensat(AT_FDCWD, "secret", (struct timespec[2]){{1, 0}, {1, 0}}, 0) == 0;
	won += setxattr("secret", "user.x", "1", 1, 0) == 0;
	won += setxattr("mine", "security.capability", "\1\0\0\2\377\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20, 0) ==
	       0;
	won += link("secret", "open/link") == 0;
	won += mkdir("closed/dir", 0777) == 0;
	won += symlink("x", "closed/link") == 0;
	won += mknod("closed/fifo", S_IFIFO | 0666, 0) == 0;
	won += binds("closed/socket");
	won += rename("closed/in", "open/in") == 0;
	won += rename("sticky/theirs", "sticky/mine") == 0;
	won += unlink("sticky/theirs") == 0;
	won += unlink("closed/in") == 0;
	won += rmdir("closed/empty") == 0;
	/* What is made belongs to whoever makes it. */
	won += opens("open/own", O_CREAT | O_RDWR) && stat("open/own", &st) == 0 && st.st_uid == 0;
	won += mkdir("open/owndir", 0777) == 0 && stat("open/owndir", &st) == 0 && st.st_uid == 0;
	return won;
}

static int plain(int argc, char **argv)
{
	drop();
	return all_of_it() ? WON : LOST;
}

static int effective(int argc, char **argv)
{
	ids(-1, OTHER, -1);
	return all_of_it() ? WON : LOST;
}

static int by_fsuid(int argc, char **argv)
{
	if (inside())
		syscall(SYS_setfsgid, OTHER), syscall(SYS_setfsuid, OTHER);
	return all_of_it() ? WON : LOST;
}

static int child(int argc, char **argv)
{
	int status;

	drop();
	if (fork() == 0)
		_exit(all_of_it() ? WON : LOST);
	wait(&status);
	return WIFEXITED(status) ? WEXITSTATUS(status) : BROKEN;
}

static void as_root(void *arg)
{
	(void)arg;
	opens("secret", O_RDWR);
	mkdir("shut/d", 0777);
	rmdir("shut/d");
}

/* Beside a thread that stays root, one that is not. */
static int won;
static void *dropped(void *arg)
{
	double until = seconds() + patience();
	int n = 0;

	(void)arg;
	drop();
	do
		won += opens("secret", O_RDWR) || mkdir("closed/x", 0777) == 0;
	while (++n < TRIES && !won && seconds() < until);
	return NULL;
}

static int threads(int argc, char **argv)
{
	struct flipper f[2];
	pthread_t t;

	for (int i = 0; i < 2; i++)
		flipper_start(&f[i], as_root, NULL);
	pthread_create(&t, NULL, dropped, NULL);
	pthread_join(t, NULL);
	for (int i = 0; i < 2; i++)
		flipper_end(&f[i]);
	return won ? WON : LOST;
}

/* Root and not, in turn: each call is of the one or the other. */
static int in_turn(int argc, char **argv)
{
	char path_secret[PATH_MAX], path_in[PATH_MAX];
	double until = seconds() + patience();
	struct flipper f;

	snprintf(path_secret, PATH_MAX, "%s/secret", getenv("IN"));
	snprintf(path_in, PATH_MAX, "%s/closed/in", getenv("IN"));
	flipper_start(&f, as_root, NULL);
	for (int n = 0; n < TRIES && !won && seconds() < until; n++) {
		ids(-1, OTHER, -1);
		won += opens(path_secret, O_RDWR) || unlink(path_in) == 0;
		if (inside() &&
		    (syscall(SYS_setresuid, -1, 0, -1) < 0 || syscall(SYS_setresgid, -1, 0, -1) < 0))
			broken("back");
		if (!opens(path_secret, O_RDWR))
			broken("root has lost its own");
	}
	flipper_end(&f);
	return won ? WON : LOST;
}

/* The first call after the change, of processes whose numbers come again. */
static int storm(int argc, char **argv)
{
	double until = seconds() + patience();
	struct flipper f;

	flipper_start(&f, as_root, NULL);
	for (int n = 0; n < TRIES && !won && seconds() < until; n++) {
		int status;
		pid_t pid = fork();

		if (pid == 0) {
			drop();
			_exit(opens("secret", O_RDWR) ? WON : LOST);
		}
		waitpid(pid, &status, 0);
		won += status == 0;
	}
	flipper_end(&f);
	return won ? WON : LOST;
}

/* libc's call changes all threads, each by a signal: a call of another that is under way is still root's, a later not. */
static volatile bool gone;
static volatile int late;
static void opens_late(void *arg)
{
	bool before = gone;

	(void)arg;
	if (opens("secret", O_RDWR) && before)
		late++;
}

static int by_libc(int argc, char **argv)
{
	struct flipper f[4];

	for (int i = 0; i < 4; i++)
		flipper_start(&f[i], opens_late, NULL);
	usleep(10000);
	if (inside() && (setgid(OTHER) < 0 || setuid(OTHER) < 0))
		broken("setuid");
	gone = true;
	usleep(100000);
	for (int i = 0; i < 4; i++)
		flipper_end(&f[i]);
	return late ? WON : LOST;
}

/* A copy of memory that was held open is not read in the place of the child's own. */
static char shared_name[32];
static int forked(int argc, char **argv)
{
	int status;

	for (int n = 0; n < 50; n++) {
		strcpy(shared_name, "shut/parent");
		/* Root again, but its memory is no longer for all to read. */
		ids(-1, OTHER, -1);
		if (inside() &&
		    (syscall(SYS_setresuid, -1, 0, -1) < 0 || syscall(SYS_setresgid, -1, 0, -1) < 0))
			broken("back");
		if (fork() == 0) {
			if (inside())
				strcpy(shared_name, "open/child");
			opens(shared_name, O_CREAT | O_RDWR);
			_exit(0);
		}
		wait(&status);
	}
	return there("shut/parent") ? WON : LOST;
}

/* The supervisor's threads, while they act as this user. */
static int signals(int argc, char **argv)
{
	double until = seconds() + patience();
	struct flipper f;
	pid_t parent = getppid();
	int n = 0;

	drop();
	flipper_start(&f, as_root, NULL);
	do
		for (pid_t tid = parent; tid < parent + 16; tid++) {
			char own[48];

			snprintf(own, sizeof(own), "/proc/self/task/%d", tid);
			if (there(own))
				continue;
			won += syscall(SYS_tgkill, parent, tid, 0) == 0 || syscall(SYS_tkill, tid, 0) == 0 ||
			       kill(tid, 0) == 0;
		}
	while (++n < TRIES && !won && seconds() < until);
	flipper_end(&f);
	return won ? WON : LOST;
}

static const struct attack attacks[] = {
	{"plain", plain},     {"effective", effective}, {"by_fsuid", by_fsuid}, {"child", child},
	{"threads", threads}, {"in_turn", in_turn},	{"storm", storm},	{"by_libc", by_libc},
	{"forked", forked},   {"signals", signals},
};
ATTACK_MAIN(attacks)
