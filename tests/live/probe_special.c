/*
 * What descriptors that somebody else opened must still do: locks and their owners, signals, flags, limits, programs that
 * run while they are written, ends that are seen at once.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>

#include "probe_calls.h"

static int set_lock(int fd, int cmd, short type, off_t start, off_t len)
{
	struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = len};

	return fcntl(fd, cmd, &l);
}

static void say_lock(int fd, int cmd)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	if (fcntl(fd, cmd, &l) < 0)
		say(" getlk %s", errno_name(errno));
	else
		say(" %s of %s",
		    l.l_type == F_UNLCK	  ? "no lock"
		    : l.l_type == F_RDLCK ? "read lock"
					  : "write lock",
		    l.l_type == F_UNLCK	   ? "none"
		    : l.l_pid == getpid()  ? "mine"
		    : l.l_pid == getppid() ? "my parent"
		    : l.l_pid == -1	   ? "a description"
					   : "another");
}

static void lock_child(void *arg)
{
	int fd = (int)x_open("f", O_RDWR, 0), given = *(int *)arg;

	say("child:"), say_lock(fd, F_GETLK), say(" set"), result(set_lock(fd, F_SETLK, F_WRLCK, 0, 10));
	say(" elsewhere"), result(set_lock(fd, F_SETLK, F_WRLCK, 50, 10));
	say(" by the parent's descriptor"), result(set_lock(given, F_SETLK, F_WRLCK, 0, 10));
	say(" OFD"), result(set_lock(fd, F_OFD_SETLK, F_WRLCK, 0, 10)), say_lock(fd, F_OFD_GETLK);
	say(" flock"), result(flock(fd, LOCK_EX | LOCK_NB)), say(" the parent's"),
		result(flock(given, LOCK_EX | LOCK_NB));
	done();
}

static void say_locks_file(void)
{
	char buf[8192], want[64], *p;
	struct stat st;
	int fd = (int)x_open("/proc/locks", O_RDONLY, 0);
	ssize_t n = read(fd, buf, sizeof(buf) - 1);

	close(fd), stat("f", &st);
	buf[n > 0 ? n : 0] = '\0';
	snprintf(want, sizeof(want), ":%lu ", (unsigned long)st.st_ino);
	for (p = strtok(buf, "\n"); p; p = strtok(NULL, "\n")) {
		char kind[16], how[16], mode[16];
		int pid;

		if (!strstr(p, want) || sscanf(p, "%*s %15s %15s %15s %d", kind, how, mode, &pid) != 4)
			continue;
		say(" | %s %s %s %s", kind, how, mode,
		    pid == getpid() ? "mine"
		    : pid < 0	    ? "none's"
				    : "another's");
	}
}

static void locks(void)
{
	int a, b;

	remove_all("f"), fresh_file("f", "some content to be locked", 0644);
	a = (int)x_open("f", O_RDWR, 0), b = (int)x_open("f", O_RDWR, 0);
	say("POSIX"), result(set_lock(a, F_SETLK, F_WRLCK, 0, 20)), say(" again"),
		result(set_lock(b, F_SETLK, F_WRLCK, 0, 20));
	say_locks_file(), done();
	in_child(lock_child, &a);
	close(b);
	say("closing the other descriptor"), say_locks_file(), done(), in_child(lock_child, &a);
	say("OFD"), result(set_lock(a, F_OFD_SETLK, F_WRLCK, 0, 20));
	b = (int)x_open("f", O_RDWR, 0);
	say(" again"), result(set_lock(b, F_OFD_SETLK, F_WRLCK, 0, 20)), say_lock(b, F_GETLK),
		say_locks_file(), done();
	in_child(lock_child, &a);
	close(b), close(a);
	a = (int)x_open("f", O_RDONLY, 0), b = (int)x_open("f", O_RDONLY, 0);
	say("closed"), say_locks_file(), say(" flock"), result(flock(a, LOCK_EX)), say(" the other"),
		result(flock(b, LOCK_SH | LOCK_NB)), say(" write lock by a reader"),
		result(set_lock(a, F_SETLK, F_WRLCK, 0, 0)), say_locks_file(), done();
	in_child(lock_child, &a);
	close(a), say("the other, then"), result(flock(b, LOCK_SH | LOCK_NB)), say_locks_file(), close(b);
	say(" all closed"), say_locks_file(), done();
}

static void *blocked(void *arg)
{
	int fd = (int)x_open("f", O_RDWR, 0), rc;

	rc = set_lock(fd, F_OFD_SETLKW, F_WRLCK, 0, 0) < 0 ? errno : 0;
	*(int *)arg = rc;
	close(fd);
	return NULL;
}

static void waiting_locks(void)
{
	pthread_t t;
	int a = (int)x_open("f", O_RDWR, 0), rc = -1;

	set_lock(a, F_OFD_SETLK, F_WRLCK, 0, 0);
	pthread_create(&t, NULL, blocked, &rc);
	nap_ms(50);
	say("waits %d", rc), close(a), pthread_join(t, NULL), say(", then %d", rc), done();
}

static volatile sig_atomic_t signalled;

static void on_signal(int sig, siginfo_t *i, void *ctx)
{
	(void)ctx;
	signalled = sig == SIGIO ? 1 + (i->si_code == SI_KERNEL || i->si_code == SI_SIGIO) : sig;
}

static void flags(void)
{
	struct sigaction sa = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
	char *buf = NULL;
	int fd, w;

	sigaction(SIGIO, &sa, NULL);
	remove_all("p"), fresh("p", K_FIFO);
	fd = (int)x_open("p", O_RDONLY | O_NONBLOCK | O_ASYNC, 0), w = (int)x_open("p", O_WRONLY, 0);
	say("O_ASYNC"), describe_fd(fd), say(" owner %d", fcntl(fd, F_GETOWN));
	say(" set"), result(fcntl(fd, F_SETOWN, getpid())),
		say(" %s", fcntl(fd, F_GETOWN) == getpid() ? "mine" : "other");
	result(write(w, "x", 1)), nap_ms(20), say(" signalled %d", signalled), done();
	close(fd), close(w);
	remove_all("f"), fresh_file("f", "content", 0644);
	if (posix_memalign((void **)&buf, 4096, 4096))
		die("memory");
	memset(buf, 'd', 4096);
	say("O_DIRECT"), fd = (int)result(x_open("f", O_RDWR | O_DIRECT, 0));
	if (fd >= 0)
		describe_fd(fd), say(" odd"), result(pwrite(fd, buf + 1, 100, 0)), say(" even"),
			result(pwrite(fd, buf, 4096, 0));
	close(fd), describe("f"), done();
	say("O_NOATIME"), fd = (int)result(x_open("f", O_RDONLY | O_NOATIME, 0)), describe_fd(fd), close(fd);
	say(" of another"), fd = (int)result(x_open("/etc/passwd", O_RDONLY | O_NOATIME, 0)), close(fd),
			    done();
	say("O_SYNC"), fd = (int)result(x_open("f", O_RDWR | O_SYNC, 0)), describe_fd(fd), close(fd);
	say(" O_DSYNC"), fd = (int)result(x_open("f", O_RDWR | O_DSYNC, 0)), describe_fd(fd), close(fd),
			 done();
	say("F_SETFL"), fd = (int)x_open("f", O_RDWR | O_APPEND, 0), result(fcntl(fd, F_SETFL, O_NONBLOCK)),
			describe_fd(fd);
	say(" F_DUPFD"), w = (int)result(fcntl(fd, F_DUPFD_CLOEXEC, 20)), describe_fd(w), close(w), close(fd),
			 done();
	free(buf);
}

static void say_fdinfo(const char *label, int fd)
{
	char name[64], buf[1024], *p;
	int info;
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/self/fdinfo/%d", fd);
	info = (int)x_open(name, O_RDONLY, 0), n = read(info, buf, sizeof(buf) - 1), close(info);
	buf[n > 0 ? n : 0] = '\0';
	say("%s:", label);
	for (p = strtok(buf, "\n"); p; p = strtok(NULL, "\n"))
		if (strncmp(p, "pos:", 4) == 0 || strncmp(p, "flags:", 6) == 0)
			say(" %s", p);
	done();
}

static void fdinfo(void)
{
	static const struct {
		const char *name;
		int flags;
	} opens[] = {{"f", O_RDONLY},
		     {"f", O_RDWR | O_CLOEXEC},
		     {"f", O_WRONLY | O_APPEND},
		     {"f", O_WRONLY | O_TRUNC},
		     {"f", O_RDWR | O_CREAT},
		     {"g", O_RDWR | O_CREAT | O_EXCL},
		     {".", O_RDONLY | O_DIRECTORY},
		     {"/dev/null", O_RDWR},
		     {"p", O_RDWR | O_NONBLOCK},
		     {".", O_RDWR | O_TMPFILE},
		     {"f", O_RDONLY | O_NOCTTY}};

	for (size_t i = 0; i < N(opens); i++) {
		int fd = (int)x_open(opens[i].name, opens[i].flags, 0600);

		say_fdinfo(opens[i].name, fd), close(fd);
	}
	remove_all("g");
}

static void over(int sig)
{
	signalled = sig;
}

static void limit_child(void *arg)
{
	struct rlimit r = {4096, 8192};
	int fd;

	(void)arg;
	setrlimit(RLIMIT_FSIZE, &r);
	signal(SIGXFSZ, over);
	signalled = 0, say("truncate"), result(x_truncate("f", 5000)), say(" signal %d", signalled);
	signalled = 0, say(" to the limit"), result(x_truncate("f", 4096)), say(" signal %d", signalled),
	done();
	fd = (int)x_open("f", O_RDWR | O_TRUNC, 0);
	signalled = 0, say("ftruncate"), result(x_ftruncate(fd, 5000)), say(" signal %d", signalled);
	signalled = 0, say(" write"), result(pwrite(fd, "x", 1, 4096)), say(" signal %d", signalled);
	signalled = 0, say(" fallocate"), result(fallocate(fd, 0, 0, 8000)), say(" signal %d", signalled);
	describe("f"), done();
	signal(SIGXFSZ, SIG_DFL);
	x_truncate("f", 5000);
	say("not reached"), done();
}

static void limits_of_size(void)
{
	int status;

	remove_all("f"), fresh_file("f", "content", 0644);
	status = in_child(limit_child, NULL);
	say("ended %#x", status), describe("f"), done();
}

static void copy_program(const char *to)
{
	int from = (int)x_open("/bin/true", O_RDONLY, 0),
	    fd = (int)x_open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	struct stat st;

	fstat(from, &st);
	if (from < 0 || fd < 0 || sendfile(fd, from, NULL, (size_t)st.st_size) != st.st_size)
		die(to);
	close(from), close(fd);
}

static int run_program(const char *name)
{
	int status;
	pid_t pid = vfork();

	if (pid == 0) {
		execl(name, name, (char *)NULL);
		_exit(errno == ETXTBSY ? 99 : 98);
	}
	waitpid(pid, &status, 0);
	return status;
}

static void sleeper(const char *name)
{
	execl(name, name, "100", (char *)NULL);
	_exit(1);
}

static void busy_text(void)
{
	static const int tries[] = {O_RDONLY, O_WRONLY, O_RDWR, O_WRONLY | O_TRUNC,
				    O_WRONLY | O_CREAT | O_APPEND};
	char exe[64], target[64];
	int fd, from;
	struct stat st;
	pid_t pid;

	from = (int)x_open("/bin/sleep", O_RDONLY, 0), fd = (int)x_open("s", O_WRONLY | O_CREAT, 0755),
	fstat(from, &st);
	if (sendfile(fd, from, NULL, (size_t)st.st_size) != st.st_size)
		die("s");
	close(from);
	say("being written"), fflush(stdout);
	pid = fork();
	if (pid == 0) {
		execl("./s", "s", "0", (char *)NULL);
		_exit(errno == ETXTBSY ? 99 : 98);
	}
	waitpid(pid, &from, 0);
	say(" %#x", from), done();
	close(fd), pid = fork();
	if (pid == 0)
		sleeper("./s");
	snprintf(exe, sizeof(exe), "/proc/%d/exe", pid);
	for (int i = 0; i < 500; i++) {
		ssize_t n = readlink(exe, target, sizeof(target) - 1);

		if (n > 2 && target[n - 1] == 's' && target[n - 2] == '/')
			break;
		nap_ms(2);
	}
	nap_ms(30);
	for (size_t i = 0; i < N(tries); i++)
		say("running, %#x", tries[i]), fd = (int)result(x_open("s", tries[i], 0)), close(fd), done();
	say("truncate"), result(x_truncate("s", 1)), say(" chmod"), result(x_chmod("s", 0700)),
		say(" rename"), result(x_rename("s", "s2")), say(" unlink"), result(x_unlink("s2")), done();
	kill(pid, SIGKILL), waitpid(pid, NULL, 0);
}

/* A close is the last one, at once. */
static void at_once(void)
{
	int bad[5] = {0}, in = inotify_init1(IN_NONBLOCK | IN_CLOEXEC), fd, n, zero = 0;
	char buf[4096], name[64];

	copy_program("t");
	remove_all("p"), fresh("p", K_FIFO), mkdir("watched", 0755);
	inotify_add_watch(in, "watched", IN_CLOSE_WRITE);
	for (int i = 0; i < 100; i++) {
		close((int)x_open("t", O_WRONLY, 0)), bad[0] += run_program("./t") != 0;
		close((int)x_open("p", O_RDONLY | O_NONBLOCK, 0));
		fd = (int)x_open("p", O_WRONLY | O_NONBLOCK, 0), bad[1] += fd >= 0;
		close((int)x_open("watched/f", O_WRONLY | O_CREAT, 0600)),
			bad[2] += read(in, buf, sizeof(buf)) <= 0;
		fd = (int)x_open("p", O_RDWR, 0), n = (int)x_open("p", O_WRONLY, 0), close(fd);
		signal(SIGPIPE, SIG_IGN), bad[3] += write(n, "x", 1) >= 0, close(n);
		fd = (int)x_open("/dev/ptmx", O_RDWR | O_NOCTTY, 0), ioctl(fd, TIOCSPTLCK, &zero),
		ioctl(fd, TIOCGPTN, &n);
		snprintf(name, sizeof(name), "/dev/pts/%d", n);
		close((int)x_open(name, O_RDWR | O_NOCTTY, 0)), fcntl(fd, F_SETFL, O_NONBLOCK);
		bad[4] += read(fd, buf, 1) >= 0 || errno != EIO, close(fd);
	}
	say("late: programs %d, readers %d, events %d, writers %d, terminals %d", bad[0], bad[1], bad[2],
	    bad[3], bad[4]),
		done();
	close(in);
}

static void mapped(void)
{
	int fd;
	char *p;

	remove_all("f"), fresh_file("f", "content", 0644);
	fd = (int)x_open("f", O_RDWR, 0);
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), say("mmap"),
	result(p == MAP_FAILED ? -1 : 0);
	if (p != MAP_FAILED)
		p[0] = 'C', munmap(p, 4096);
	close(fd), describe("f");
	fd = (int)x_open("f", O_RDONLY, 0);
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), say(" a reader"),
	result(p == MAP_FAILED ? -1 : 0);
	p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0), say(" private"),
	result(p == MAP_FAILED ? -1 : 0);
	close(fd);
	say(" leases: F_GETLEASE"), fd = (int)x_open("f", O_RDONLY, 0), result(fcntl(fd, F_GETLEASE)),
				    close(fd), done();
}

static void given(void)
{
	locks(), waiting_locks(), flags(), fdinfo(), limits_of_size(), busy_text(), at_once(), mapped();
}

const struct section special_sections[] = {{"given", given}, {NULL, NULL}};
