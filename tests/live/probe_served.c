/*
 * A file system that a process serves. The section "server" is that process: the script starts it first, outside, and it
 * mounts ../fuse. Its file "file" is like any other; who opens "slow" is answered when he is interrupted, and not else.
 */
#include <linux/fuse.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/time.h>

#include "probe_calls.h"

enum { ROOT = 1, FILE_, SLOW };

static int device;

static void answer(const struct fuse_in_header *in, int err, const void *data, size_t len)
{
	struct fuse_out_header out = {(uint32_t)(sizeof(out) + (err ? 0 : len)), -err, in->unique};
	struct iovec iov[] = {{&out, sizeof(out)}, {(void *)data, err ? 0 : len}};

	writev(device, iov, 2);
}

static struct fuse_attr attr_of(uint64_t node)
{
	struct fuse_attr a = {.ino = node, .mode = S_IFREG | 0666, .nlink = 1, .size = 8, .blksize = 4096};

	if (node == ROOT)
		a.mode = S_IFDIR | 0777, a.size = 0;
	return a;
}

static void look_up(const struct fuse_in_header *in, const char *name)
{
	uint64_t node = strcmp(name, "file") == 0 ? FILE_ : strcmp(name, "slow") == 0 ? SLOW : 0;
	struct fuse_entry_out out = {.nodeid = node, .attr = attr_of(node)};

	answer(in, node ? 0 : ENOENT, &out, sizeof(out));
}

static void serve_one(const struct fuse_in_header *in, const void *arg)
{
	struct fuse_init_out init = {.major = 7, .minor = 31, .max_write = 4096};
	struct fuse_attr_out attr = {.attr = attr_of(in->nodeid)};
	struct fuse_open_out open = {.open_flags = FOPEN_DIRECT_IO};
	struct fuse_in_header interrupted = *in;

	switch (in->opcode) {
	case FUSE_INIT:
		answer(in, 0, &init, sizeof(init));
		return;
	case FUSE_LOOKUP:
		look_up(in, arg);
		return;
	case FUSE_GETATTR:
	case FUSE_SETATTR:
		answer(in, 0, &attr, sizeof(attr));
		return;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		if (in->nodeid != SLOW)
			answer(in, 0, &open, sizeof(open));
		return;
	case FUSE_INTERRUPT:
		interrupted.unique = ((const struct fuse_interrupt_in *)arg)->unique;
		answer(&interrupted, EINTR, NULL, 0);
		return;
	case FUSE_READ:
		answer(in, 0, "content\n", 8);
		return;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
	case FUSE_READDIR:
		answer(in, 0, NULL, 0);
		return;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
		return;
	default:
		answer(in,
		       in->opcode == FUSE_MKDIR	   ? EDQUOT
		       : in->opcode == FUSE_UNLINK ? ESTALE
						   : ENOSYS,
		       NULL, 0);
	}
}

static void server(void)
{
	static char buf[1 << 17];
	char options[128];

	device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", device);
	if (device < 0 || mount("probe", "../fuse", "fuse.probe", MS_NODEV | MS_NOSUID, options) < 0)
		die("fuse");
	while (read(device, buf, sizeof(buf)) > 0 || errno == EINTR || errno == ENOENT)
		serve_one((void *)buf, buf + sizeof(struct fuse_in_header));
}

static volatile sig_atomic_t count;

static void on_signal(int sig)
{
	(void)sig;
	if (++count == 3)
		setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
}

/* Ends by a signal: a handler without SA_RESTART, or death. */
static void slow(void)
{
	struct sigaction sa = {.sa_handler = on_signal};
	struct itimerval t = {{0, 40000}, {0, 40000}};
	int status;
	pid_t pid;

	sigaction(SIGALRM, &sa, NULL), setitimer(ITIMER_REAL, &t, NULL);
	say("slow"), result(x_open("../fuse/slow", O_RDWR, 0)),
		say(" %s", count ? "signalled" : "not signalled"), done();
	setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
	for (int i = 0; i < 2; i++) {
		fflush(stdout), pid = fork();
		if (pid == 0)
			x_open("../fuse/slow", i ? O_RDONLY : O_WRONLY, 0), _exit(0);
		nap_ms(60), kill(pid, i ? SIGTERM : SIGKILL), waitpid(pid, &status, 0);
		say("ended %#x", status), done();
	}
}

static void served(void)
{
	static const int flags[] = {
		O_RDONLY,	  O_RDWR | O_NONBLOCK,	     O_WRONLY | O_APPEND,   O_WRONLY | O_TRUNC,
		O_RDWR | O_CREAT, O_RDWR | O_CREAT | O_EXCL, O_RDONLY | O_DIRECTORY};
	static const char *const names[] = {"../fuse/file", "../fuse/none", "../fuse", "../fuse/file/x"};
	char buf[16];

	for (size_t n = 0; n < N(names); n++) {
		for (size_t f = 0; f < N(flags); f++) {
			int fd;

			say("%s %#x", names[n], flags[f]), fd = (int)result(x_open(names[n], flags[f], 0600));
			if (fd >= 0)
				describe_fd(fd), say(" read"), result(read(fd, buf, sizeof(buf)));
			close(fd), done();
		}
		say("mkdir"), result(x_mkdir(names[n], 0700)), say(" unlink"), result(x_unlink(names[n])),
			say(" symlink"), result(x_symlink("t", names[n])), say(" rename"),
			result(x_rename(names[n], "../fuse/new"));
		say(" chmod"), result(x_chmod(names[n], 0600)), say(" truncate"),
			result(x_truncate(names[n], 3));
		say(" setxattr"), result(x_setxattr(names[n], "user.x", "1", 1, 0)), done();
	}
	slow();
}

const struct section served_sections[] = {{"server", server}, {"served", served}, {NULL, NULL}};
