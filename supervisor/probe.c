#include "supervisor/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/magic.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#include "supervisor/caps.h"
#include "supervisor/child.h"
#include "supervisor/compat.h"
#include "supervisor/filter.h"
#include "supervisor/landlock.h"
#include "supervisor/notify.h"
#include "supervisor/tmpdir.h"

/* A child that tries something, and our end of a socket pair to it. */
struct helper {
	pid_t pid;
	int sock;
};

/* What the second helper is told to try. */
struct plan {
	int landlock_abi;
	unsigned features;
};

static void tell(int sock, int value)
{
	send(sock, &value, sizeof(value), MSG_NOSIGNAL);
}

/* What the helper tells, or -ETIMEDOUT or -ECHILD. */
static int hear(const struct helper *h)
{
	int value;
	ssize_t n = recv(h->sock, &value, sizeof(value), 0);

	if (n == sizeof(value))
		return value;
	return n < 0 && errno == EAGAIN ? -ETIMEDOUT : -ECHILD;
}

static int start(struct helper *h, void (*fn)(int sock, const struct plan *plan), const struct plan *plan)
{
	const struct timeval limit = {.tv_sec = PROBE_MS / 1000};
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	h->sock = pair[0];
	h->pid = fork();
	if (h->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(pair[0]);
		caps_give_up();
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
			fn(pair[1], plan);
		_exit(0);
	}
	close(pair[1]);
	if (h->pid > 0)
		return 0;
	close(pair[0]);
	return -errno;
}

static void end(const struct helper *h)
{
	kill(h->pid, SIGKILL);
	waitpid(h->pid, NULL, 0);
	close(h->sock);
}

/* With a listener getppid(2), which nothing else calls meanwhile, waits for an answer; all else is allowed. */
static int load_filter(bool listening, unsigned flags)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, listening ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(*code), code};
	long rc = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);

	return rc < 0 ? -errno : (int)rc;
}

static void try_seccomp(int sock, const struct plan *plan)
{
	int listener, killable = 0;
	long fd;

	(void)plan;
	tell(sock, load_filter(false, 0));
	listener =
		load_filter(true, SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
	if (listener == -EINVAL) {
		killable = -EINVAL;
		listener = load_filter(true, SECCOMP_FILTER_FLAG_NEW_LISTENER);
	}
	tell(sock, listener < 0 ? listener : 0);
	tell(sock, killable);
	if (listener < 0 || child_send_listener(sock, listener) < 0)
		return;
	close(listener);
	fd = syscall(SYS_getppid);
	tell(sock, fd >= 0 && fcntl((int)fd, F_GETFD) >= 0 ? 0 : fd < 0 ? -errno : -EBADF);
}

/* Serves the one call of the helper. */
static void serve(const struct helper *h, int listener, struct probe *p)
{
	struct pollfd waiting = {.fd = listener, .events = POLLIN};
	struct seccomp_notif n;

	p->sync_wake = notify_sync_wake_up(listener) ? 0 : -EINVAL;
	if (poll(&waiting, 1, PROBE_MS) != 1)
		p->notified = -ETIMEDOUT;
	else
		p->notified = notify_receive(listener, &n);
	if (p->notified < 0)
		return;
	p->send_fd = notify_answer_fd(listener, n.id, h->sock, true);
	if (p->send_fd >= 0)
		p->send_fd = hear(h);
}

static void probe_seccomp(struct probe *p)
{
	struct child_message m;
	struct helper h;
	int listener;

	p->filter = start(&h, try_seccomp, NULL);
	if (p->filter < 0)
		return;
	p->filter = hear(&h);
	if (p->filter == 0)
		p->listener = hear(&h);
	if (p->listener == 0) {
		p->killable = hear(&h);
		listener = child_receive_listener(h.sock, &m);
		if (listener >= 0) {
			serve(&h, listener, p);
			close(listener);
		} else {
			p->notified = listener;
		}
	}
	end(&h);
}

static void try_own(int sock, const struct plan *plan)
{
	int rc = PROBE_UNKNOWN;

	if (plan->landlock_abi)
		rc = landlock_restrict(plan->landlock_abi, false);
	tell(sock, rc);
	rc = filter_load(plan->features);
	/* From here on only calls that the filter lets through: nobody answers. */
	tell(sock, rc < 0 ? rc : 0);
}

static void probe_own(struct probe *p, const struct plan *plan)
{
	struct helper h;

	p->program = start(&h, try_own, plan);
	if (p->program < 0)
		return;
	p->landlock = hear(&h);
	p->program = hear(&h);
	end(&h);
}

static const char mark[] = "as large as life";

static int read_vm(pid_t pid)
{
	char copy[sizeof(mark)];
	struct iovec local = {copy, sizeof(copy)}, remote = {(void *)mark, sizeof(mark)};
	ssize_t n = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	if (n < 0)
		return -errno;
	return n == sizeof(mark) && memcmp(copy, mark, sizeof(mark)) == 0 ? 0 : -EIO;
}

static int read_mem(pid_t pid)
{
	char name[32], copy[sizeof(mark)];
	ssize_t n;
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/mem", pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = pread(fd, copy, sizeof(copy), (off_t)(uintptr_t)mark);
	n = n < 0 ? -errno : n;
	close(fd);
	if (n < 0)
		return (int)n;
	return n == sizeof(mark) && memcmp(copy, mark, sizeof(mark)) == 0 ? 0 : -EIO;
}

/* What a run looks at of its callers. */
static int look_at(pid_t pid)
{
	static const char *const names[] = {"cwd", "fd/0", "fdinfo/0", "status", "stat"};
	char name[48];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		int fd;

		snprintf(name, sizeof(name), "/proc/%d/%s", pid, names[i]);
		fd = open(name, O_PATH | O_CLOEXEC);
		if (fd < 0)
			return -errno;
		close(fd);
	}
	return 0;
}

static int check_proc(void)
{
	struct statfs fs;

	if (statfs("/proc", &fs) < 0)
		return -errno;
	if (fs.f_type != PROC_SUPER_MAGIC)
		return -ENODEV;
	return access("/proc/self/fd", X_OK) < 0 || access("/proc/self/mountinfo", R_OK) < 0 ? -errno : 0;
}

static void wait_for_end(int sock, const struct plan *plan)
{
	char c;

	(void)plan;
	tell(sock, 0);
	while (recv(sock, &c, 1, 0) < 0 && errno == EINTR)
		;
}

/* A child that does nothing is looked into. */
static void probe_processes(struct probe *p)
{
	struct helper h;

	p->proc = check_proc();
	if (p->proc < 0 || (p->proc = start(&h, wait_for_end, NULL)) < 0)
		return;
	if (hear(&h) == 0) {
		caps_ptrace(1); /* as a run does where it is needed */
		p->proc = look_at(h.pid);
		p->vm_readv = read_vm(h.pid);
		p->mem = read_mem(h.pid);
		p->ptrace = ptrace(PTRACE_SEIZE, h.pid, NULL, NULL) < 0 ? -errno : 0;
		caps_ptrace(0);
	}
	end(&h);
}

static int try_openat2(void)
{
	int fd = compat_openat2(AT_FDCWD, "/", O_PATH | O_CLOEXEC, 0, RESOLVE_NO_MAGICLINKS);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static int try_tmpdir(void)
{
	char path[PATH_MAX];
	int rc = tmpdir_make(path, sizeof(path));

	if (rc == 0)
		tmpdir_remove(path);
	return rc;
}

static int try_loopback(void)
{
	const struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), rc = 0;

	if (fd < 0 || bind(fd, (const struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, 1) < 0)
		rc = -errno;
	if (fd >= 0)
		close(fd);
	return rc;
}

void probe_all(struct probe *p, int landlock_abi, unsigned features)
{
	const struct plan plan = {landlock_abi, features};

	*p = (struct probe){
		.filter = PROBE_UNKNOWN,
		.listener = PROBE_UNKNOWN,
		.killable = PROBE_UNKNOWN,
		.notified = PROBE_UNKNOWN,
		.send_fd = PROBE_UNKNOWN,
		.sync_wake = PROBE_UNKNOWN,
		.vm_readv = PROBE_UNKNOWN,
		.mem = PROBE_UNKNOWN,
		.ptrace = PROBE_UNKNOWN,
		.landlock = PROBE_UNKNOWN,
	};
	fflush(NULL);
	probe_processes(p);
	p->openat2 = try_openat2();
	probe_seccomp(p);
	probe_own(p, &plan);
	p->tmpdir = try_tmpdir();
	p->loopback = try_loopback();
}

void probe_refused_calls(char *buf, size_t size)
{
	/* With these arguments none does anything, and none needs a privilege. */
	static const struct {
		const char *name;
		long nr;
	} calls[] = {
		{"clone3", SYS_clone3},
		{"unshare", SYS_unshare},
		{"io_uring_setup", SYS_io_uring_setup},
		{"pidfd_open", SYS_pidfd_open},
		{"process_vm_readv", SYS_process_vm_readv},
	};
	size_t n = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		long rc = syscall(calls[i].nr, 0, 0, 0, 0, 0, 0);

		if (rc < 0 && (errno == EPERM || errno == ENOSYS) && n < size)
			n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? ", " : "", calls[i].name);
	}
}
