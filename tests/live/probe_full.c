/*
 * What there is no room for: connects to a Unix socket whose queue is full, which wait, with a limit or without, and are
 * interrupted; file systems that are full, or become read-only.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "probe_calls.h"

static volatile sig_atomic_t count;

static void on_signal(int sig)
{
	(void)sig;
	count++;
}

static void every_40ms(bool on, int flags)
{
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = flags};
	struct itimerval t = {{0, 40000}, {0, 40000}}, none = {{0, 0}, {0, 0}};

	if (on)
		count = 0, sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, on ? &t : &none, NULL);
}

static struct sockaddr_un name_of(const char *name, socklen_t *len)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	if (name[0] == '@')
		*len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
				   (size_t)snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "%s-%d", name,
						    getpid()) +
				   1);
	else
		*len = sizeof(a), strcpy(a.sun_path, name);
	return a;
}

struct full {
	struct sockaddr_un a;
	socklen_t len;
	int type, listener, waiting[2];
};

static void fill(struct full *f, const char *name, int type)
{
	f->type = type, f->a = name_of(name, &f->len);
	f->listener = socket(AF_UNIX, type, 0);
	if (bind(f->listener, (void *)&f->a, f->len) < 0 || listen(f->listener, 0) < 0)
		die(name);
	f->waiting[0] = socket(AF_UNIX, type, 0), f->waiting[1] = socket(AF_UNIX, type | SOCK_NONBLOCK, 0);
	say("%s %d: first", name, type), result(connect(f->waiting[0], (void *)&f->a, f->len)),
		say(" second"), result(connect(f->waiting[1], (void *)&f->a, f->len)), done();
}

static int new_socket(const struct full *f, int ms)
{
	struct timeval tv = {ms / 1000, ms % 1000 * 1000};
	int s = socket(AF_UNIX, f->type, 0);

	if (ms)
		setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
	return s;
}

static void *accept_later(void *arg)
{
	const struct full *f = arg;

	nap_ms(150);
	close(accept(f->listener, NULL, NULL));
	return NULL;
}

static void start_accepting(pthread_t *t, struct full *f)
{
	sigset_t set, old;

	sigemptyset(&set), sigaddset(&set, SIGALRM), pthread_sigmask(SIG_BLOCK, &set, &old);
	pthread_create(t, NULL, accept_later, f);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* The queue is full before and after: one is taken out, the one that waited comes in. */
static void interrupted(struct full *f)
{
	for (int i = 0; i < 8; i++) {
		bool restart = i & 1, limit = i & 2, room = i & 4;
		int s = new_socket(f, limit ? 400 : 0);
		pthread_t t;

		if (restart && !limit && !room) /* for ever */
			continue;
		if (room)
			start_accepting(&t, f);
		every_40ms(!room || restart, restart ? SA_RESTART : 0);
		say("%s, %s, %s:", restart ? "SA_RESTART" : "no SA_RESTART", limit ? "a limit" : "no limit",
		    room ? "room" : "full");
		result(connect(s, (void *)&f->a, f->len));
		every_40ms(false, 0);
		say(" %s", count ? "signalled" : "not signalled"), count = 0;
		if (room)
			pthread_join(t, NULL);
		close(s);
		say(" again"), s = new_socket(f, 1), result(connect(s, (void *)&f->a, f->len)), close(s),
			       done();
	}
}

static void limited(struct full *f)
{
	struct timeval tv = {0, 0};
	int s = new_socket(f, 60);

	say("a limit"), result(connect(s, (void *)&f->a, f->len)), say(" again"),
		result(connect(s, (void *)&f->a, f->len));
	setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)), fcntl(s, F_SETFL, O_NONBLOCK);
	say(" O_NONBLOCK"), result(connect(s, (void *)&f->a, f->len)), close(s), done();
}

static void ended(struct full *f)
{
	static const int signals[] = {SIGKILL, SIGTERM};
	int status;
	pid_t pid;

	for (size_t i = 0; i < N(signals); i++) {
		fflush(stdout), pid = fork();
		if (pid == 0)
			connect(new_socket(f, 0), (void *)&f->a, f->len), _exit(0);
		nap_ms(50), kill(pid, signals[i]), waitpid(pid, &status, 0);
		say("signal %d: ended %#x", signals[i], status), done();
	}
}

static void *connect_now(void *arg)
{
	const struct full *f = arg;
	int s = new_socket(f, 0), rc = connect(s, (void *)&f->a, f->len) < 0 ? errno : 0;

	close(s);
	return (void *)(intptr_t)rc;
}

/* Many wait at once, and the listener goes. */
static void closed(struct full *f)
{
	pthread_t t[12];
	int refused = 0;
	void *rc;

	for (size_t i = 0; i < N(t); i++)
		pthread_create(&t[i], NULL, connect_now, f);
	nap_ms(60), shutdown(f->listener, SHUT_RDWR), close(f->listener);
	for (size_t i = 0; i < N(t); i++)
		pthread_join(t[i], &rc), refused += (intptr_t)rc == ECONNREFUSED;
	say("the listener goes: %d refused", refused), done();
	close(f->waiting[0]), close(f->waiting[1]);
}

static void unix_waits(void)
{
	static const struct {
		const char *name;
		int type;
	} kinds[] = {{"s", SOCK_STREAM}, {"q", SOCK_SEQPACKET}, {"@waits", SOCK_STREAM}};

	for (size_t i = 0; i < N(kinds); i++) {
		struct full f;

		fill(&f, kinds[i].name, kinds[i].type), limited(&f), interrupted(&f), ended(&f), closed(&f);
	}
}

/* Everything that takes room, when there is none; whether anything was left behind. dir has files a and b, of which b fills it. */
static void without_room(const char *dir)
{
	static const int flags[] = {O_RDONLY,
				    O_RDWR,
				    O_WRONLY | O_APPEND,
				    O_WRONLY | O_CREAT,
				    O_RDWR | O_TMPFILE,
				    O_WRONLY | O_CREAT | O_EXCL};
	char value[4096];
	int fd;

	memset(value, 'v', sizeof(value));
	if (chdir(dir) < 0)
		die(dir);
	for (size_t i = 0; i < N(flags); i++) {
		const char *name = flags[i] & O_TMPFILE & ~O_DIRECTORY ? "."
				   : flags[i] & O_CREAT		       ? "new"
								       : "a";

		say("open %#x %s", flags[i], name), fd = (int)result(x_open(name, flags[i], 0600));
		if (fd >= 0)
			say(" write"), result(pwrite(fd, value, sizeof(value), 1 << 16)), say(" one"),
				result(pwrite(fd, value, 1, 0)), say(" reserve"),
				result(fallocate(fd, 0, 0, 1 << 17));
		close(fd), describe(name[0] == '.' ? "a" : name), x_unlink("new"), done();
	}
	say("mkdir"), result(x_mkdir("dir", 0700)), result(x_rmdir("dir")), say(" mknod"),
		result(x_mknod("fifo", S_IFIFO | 0600, 0)), result(x_unlink("fifo"));
	memset(value, 'l', 3000), value[3000] = '\0';
	say(" symlink"), result(x_symlink(value, "link")), result(x_unlink("link")), say(" short"),
		result(x_symlink("a", "link")), result(x_unlink("link"));
	say(" link"), result(x_link("a", "hard")), result(x_unlink("hard")), say(" rename"),
		result(x_rename("a", "c")), result(x_rename("c", "a"));
	memset(value, 'v', sizeof(value));
	say(" setxattr"), result(x_setxattr("a", "user.x", value, 4000, 0)), say(" truncate"),
		result(x_truncate("a", 1 << 18)), result(x_truncate("a", 3)), done();
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	say("bind"),
		result(bind(fd, (void *)&(struct sockaddr_un){AF_UNIX, "sock"}, sizeof(struct sockaddr_un)));
	result(x_unlink("sock")), close(fd), done();
	if (chdir("../fulls") < 0)
		die("fulls");
}

/* ../small has room for some blocks, ../few for some files. */
static void fill_blocks(void)
{
	char block[4096];
	int fd = (int)x_open("../small/b", O_WRONLY | O_CREAT, 0600), n = 0;

	memset(block, 'b', sizeof(block));
	fresh_file("../small/a", "x", 0644);
	while (n < 100 && write(fd, block, sizeof(block)) == sizeof(block))
		n++;
	say("%d blocks, then %s", n, errno_name(errno)), done();
	close(fd);
}

static void fill_inodes(void)
{
	char name[32];
	int n = 0, fd;

	fresh_file("../few/a", "x", 0644);
	for (;; n++) {
		snprintf(name, sizeof(name), "../few/n%d", n),
			fd = (int)x_open(name, O_WRONLY | O_CREAT, 0600);
		if (fd < 0)
			break;
		close(fd);
	}
	say("%d files, then %s", n, errno_name(errno)), done();
}

/* The script makes the file system read-only while a file in it is open, which a writer would keep it from. */
static void becomes_read_only(void)
{
	static const int flags[] = {O_RDONLY, O_RDWR, O_WRONLY | O_TRUNC, O_RDONLY | O_CREAT,
				    O_RDONLY | O_PATH};
	int fd, dir = (int)x_open("../turns", O_RDONLY | O_DIRECTORY, 0);
	char name[64];

	fresh_file("../turns/f", "content", 0644), close((int)x_open("../turns/g", O_RDWR | O_CREAT, 0600));
	fd = (int)x_open("../turns/f", O_RDONLY, 0), snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	x_mkdir("../turn", 0700);
	for (int i = 0; i < 1000 && access("../turned", F_OK) < 0; i++)
		nap_ms(10);
	say("%s", access("../turned", F_OK) < 0 ? "not turned" : "turned");
	say(" fchmod"), result(x_fchmod(fd, 0600)), say(" fchown"),
		result(x_fchown(fd, geteuid(), getegid()));
	say(" futimens"), result(x_futimens(fd, NULL)), say(" fsetxattr"),
		result(x_fsetxattr(fd, "user.x", "1", 1, 0));
	say(" truncate"), result(x_truncate("../turns/f", 1)), done();
	for (size_t i = 0; i < N(flags); i++)
		say("open %#x", flags[i]), result(x_open("../turns/f", flags[i], 0600) < 0 ? -1 : 0),
			say(" again"), result(x_open(name, flags[i] & ~O_CREAT, 0) < 0 ? -1 : 0), done();
	say("mkdirat"), result(x_mkdirat(dir, "d", 0700)), say(" there"), result(x_mkdirat(dir, "g", 0700));
	say(" unlinkat"), result(x_unlinkat(dir, "f", 0)), say(" absent"), result(x_unlinkat(dir, "x", 0));
	say(" renameat"), result(x_renameat(dir, "f", dir, "g")), say(" absent"),
		result(x_renameat(dir, "x", dir, "g"));
	say(" linkat"), result(x_linkat(dir, "f", dir, "h", 0)), say(" symlinkat"),
		result(x_symlinkat("t", dir, "l"));
	say(" creat"), result(x_creat("../turns/new", 0600)), done(), describe("../turns/f"), done();
}

static void fulls(void)
{
	fill_blocks(), without_room("../small");
	fill_inodes(), without_room("../few");
	becomes_read_only();
}

/* ../quota gives each user some blocks and files. Root may have more. */
static void fill_quota(void *arg)
{
	char block[4096], name[32];
	int fd, n = 0;

	(void)arg;
	if (is_root &&
	    (syscall(SYS_setresgid, 1234, 1234, 1234) < 0 || syscall(SYS_setresuid, 1234, 1234, 1234) < 0))
		die("setresuid");
	fd = (int)x_open("../quota/own", O_WRONLY | O_CREAT, 0600);
	memset(block, 'b', sizeof(block));
	while (n < 100 && write(fd, block, sizeof(block)) == sizeof(block))
		n++;
	say("%d blocks, then %s", n, errno_name(errno)), done();
	for (n = 0; n < 100; n++) {
		snprintf(name, sizeof(name), "../quota/n%d", n);
		if (x_mknod(name, S_IFREG | 0600, 0) < 0)
			break;
	}
	say("%d files, then %s", n, errno_name(errno)), done();
	say("open"), result(x_open("../quota/x", O_WRONLY | O_CREAT, 0600)), say(" mkdir"),
		result(x_mkdir("../quota/d", 0700)), say(" symlink"), result(x_symlink("t", "../quota/l")),
		done();
	say("link"), result(x_link("../quota/own", "../quota/h")), say(" rename"),
		result(x_rename("../quota/own", "../quota/r")), say(" truncate"),
		result(x_truncate("../quota/r", 1)), say(" unlink"), result(x_unlink("../quota/r")), done();
	close(fd);
}

static void quotas(void)
{
	in_child(fill_quota, NULL);
}

const struct section full_sections[] = {
	{"unixwaits", unix_waits}, {"fulls", fulls}, {"quotas", quotas}, {NULL, NULL}};
