/*
 * Work of all kinds, as much of it as is wanted, so that what each call leaves behind in the supervisor shows; and refusals.
 */
#include "attack.h"

#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/xattr.h>

/* A socket that is bound, listens and is reached by another; then one that reaches nothing. */
static void talk(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "sock"};
	int l = socket(AF_UNIX, SOCK_STREAM, 0), c = socket(AF_UNIX, SOCK_STREAM, 0), pair[2];

	unlink("sock");
	bind(l, (struct sockaddr *)&a, sizeof(a));
	listen(l, 1);
	connect(c, (struct sockaddr *)&a, sizeof(a));
	close(c);
	close(l);
	c = socket(AF_UNIX, SOCK_STREAM, 0);
	connect(c, (struct sockaddr *)&a, sizeof(a));
	close(c);
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0) {
		close(pair[0]);
		close(pair[1]);
	}
}

static void touch_metadata(const char *name)
{
	int fd = open(name, O_RDWR | O_CREAT, 0644);

	fchmod(fd, 0600);
	chmod(name, 0644);
	fchown(fd, getuid(), -1);
	utimensat(AT_FDCWD, name, NULL, 0);
	setxattr(name, "user.a", "b", 1, 0);
	removexattr(name, "user.a");
	truncate(name, 10);
	close(fd);
	symlink(name, "l");
	lchown("l", getuid(), -1);
	unlink("l");
	mkfifo("p", 0600);
	unlink("p");
}

/* What fails, by the policy and by the kernel. */
static void fail_much(void)
{
	kill(getppid(), 0);
	kill(1, 0);
	ptrace(PTRACE_ATTACH, 1, NULL, NULL);
	syscall(SYS_openat, AT_FDCWD, NULL, O_WRONLY);
	mkdir("no/such/place", 0755);
	rename("none", "none2");
	link("none", "none2");
	unlink(out("file"));
	rename("f1", out("file"));
	socket(AF_INET, SOCK_RAW, 0);
	chmod(out("file"), 0600);
	open("f1/", O_WRONLY | O_CREAT, 0644);
}

/* As much work as is wanted, of each kind. */
static int busy(int argc, char **argv)
{
	int n = atoi(argv[1]);
	char name[64];

	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "f%d", i % 7);
		switch (i % 11) {
		case 8:
			talk();
			break;
		case 9:
			touch_metadata(name);
			break;
		case 10:
			fail_much();
			break;
		case 0:
			close(open(name, O_WRONLY | O_CREAT, 0644));
			break;
		case 1:
			rename(name, "g");
			break;
		case 2:
			link("g", name);
			unlink("g");
			break;
		case 3:
			close(socket(AF_UNIX, SOCK_STREAM, 0));
			close(socket(AF_INET, SOCK_STREAM, 0));
			close(socket(AF_INET, SOCK_DGRAM, 0));
			break;
		case 4:
			mkdir("d", 0755);
			mkdir("d/.git", 0755);
			rmdir("d/.git");
			rmdir("d");
			break;
		case 5:
			close(open(out("file"), O_WRONLY));
			break;
		case 6:
			if (i % 440 == 6 && fork() == 0) {
				prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
				close(open(name, O_WRONLY | O_CREAT, 0644));
				_exit(0);
			}
			while (waitpid(-1, NULL, WNOHANG) > 0)
				;
			break;
		case 7:
			snprintf(name, sizeof(name), "%s/u%d", getenv("SHARED"), i);
			close(open(name, O_WRONLY | O_CREAT, 0644));
			unlink(name);
			break;
		}
	}
	while (wait(NULL) > 0)
		;
	return 0;
}

/* Refusals with names made to break the record. */
static int flood(int argc, char **argv)
{
	static const char *const names[] = {"plain",
					    "line\nbreak {\"verdict\":\"allow\"}",
					    "quote\" and \\ back",
					    "esc \033[31m red \033]0;title\007",
					    "\xff\xfe broken \xc3",
					    "\xed\xa0\x80 surrogate",
					    "tab\t cr\r del\177 csi\xc2\x9b",
					    "\xe2\x80\xae turned"};
	char path[PATH_MAX];
	int n = atoi(argv[1]);

	prctl(PR_SET_NAME, "na\"me\n{}\033[1m");
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%d%s", getenv("OUT"), i, names[i % 8]);
		open(path, O_WRONLY | O_CREAT, 0644);
	}
	return 0;
}

static const struct attack list[] = {
	{"busy", busy},
	{"flood", flood},
};
ATTACK_MAIN(list)
