/*
 * Processes outside ($VICTIM) by descriptors that stand for them, and by calls that programs seldom make. $ADDRESS is
 * readable in the victim's memory. Where only the supervisor could be behind a descriptor, getting it is enough.
 */
#include "attack.h"

#include <linux/kcmp.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/fanotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>

/* Newer than the headers of Linux 6.1. */
#ifndef SO_PASSPIDFD
#define SO_PASSPIDFD 76
#define SO_PEERPIDFD 77
#endif
#define CMSG_PIDFD	     4
#define PIDFD_GET_NET_NS     _IO(0xff, 4)
#define PIDFD_GET_INFO_64    _IOWR(0xff, 11, char[64])
#define SCHED_CORE_SHARE_TO  2
#define SCHED_CORE_CREATE    1
#define OTHER_PIDFD_THREAD   O_EXCL
#define SIGNAL_THREAD_GROUP  2
#define SIGNAL_PROCESS_GROUP 4

static pid_t victim(void)
{
	return atoi(getenv("VICTIM"));
}
static void *address(void)
{
	return (void *)strtoul(getenv("ADDRESS"), NULL, 16);
}
static int proc_dir(const char *what)
{
	char name[64];

	snprintf(name, sizeof(name), "/proc/%d%s", victim(), what);
	return open(name, O_RDONLY | O_NONBLOCK);
}
static int pidfd(void)
{
	int fd = (int)syscall(SYS_pidfd_open, victim(), 0);

	return fd < 0 ? proc_dir("") : fd;
}

/* Behind the far end of a connection stands whoever made the call. */
static bool by_peer(void)
{
	struct sockaddr_un a = {AF_UNIX, "s"};
	int server = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0), fd, conn;
	socklen_t len = sizeof(fd);

	if (bind(server, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(server, 1) < 0 ||
	    connect(client, (struct sockaddr *)&a, sizeof(a)) < 0)
		broken("own socket");
	conn = accept(server, NULL, NULL);
	return getsockopt(client, SOL_SOCKET, SO_PEERPIDFD, &fd, &len) == 0 ||
	       getsockopt(conn, SOL_SOCKET, SO_PEERPIDFD, &fd, &len) == 0;
}
static bool by_pair(void)
{
	int p[2], fd;
	socklen_t len = sizeof(fd);

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, p) < 0)
		broken("socketpair");
	return getsockopt(p[0], SOL_SOCKET, SO_PEERPIDFD, &fd, &len) == 0;
}
static bool send_and_receive(int option, const void *control_out, size_t out_len, int wanted)
{
	char control[256] = "", byte = 'x';
	struct iovec io = {&byte, 1};
	struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1};
	int p[2], one = 1;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, p) < 0)
		broken("socketpair");
	if (setsockopt(p[1], SOL_SOCKET, option, &one, sizeof(one)) < 0)
		return false;
	m.msg_control = (void *)(uintptr_t)control_out;
	m.msg_controllen = out_len;
	if (sendmsg(p[0], &m, 0) < 0)
		return false;
	m.msg_control = control;
	m.msg_controllen = sizeof(control);
	if (recvmsg(p[1], &m, 0) < 0)
		return false;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c))
		if (c->cmsg_type == wanted)
			return true;
	errno = ENOPROTOOPT;
	return false;
}
static bool by_message(void)
{
	return send_and_receive(SO_PASSPIDFD, NULL, 0, CMSG_PIDFD);
}
/* Who a message comes from, said to be another. */
static bool by_credentials(void)
{
	struct {
		struct cmsghdr h;
		struct ucred c;
	} m = {{CMSG_LEN(sizeof(struct ucred)), SOL_SOCKET, SCM_CREDENTIALS}, {victim(), 0, 0}};

	return send_and_receive(SO_PASSCRED, &m, CMSG_SPACE(sizeof(struct ucred)), SCM_CREDENTIALS);
}

static bool by_thread(void)
{
	return syscall(SYS_pidfd_open, victim(), OTHER_PIDFD_THREAD) >= 0;
}
static bool by_signal_scope(void)
{
	return syscall(SYS_pidfd_send_signal, pidfd(), SIGWINCH, NULL, SIGNAL_THREAD_GROUP) == 0;
}
static bool by_group(void)
{
	return syscall(SYS_pidfd_send_signal, pidfd(), SIGWINCH, NULL, SIGNAL_PROCESS_GROUP) == 0;
}
static bool by_namespace(void)
{
	return ioctl(pidfd(), PIDFD_GET_NET_NS, 0L) >= 0;
}
static bool by_info(void)
{
	uint64_t info[8] = {1};

	return ioctl(pidfd(), PIDFD_GET_INFO_64, info) == 0;
}
static bool by_setns(void)
{
	return setns(pidfd(), CLONE_NEWNET) == 0;
}
static bool by_setns_file(void)
{
	return setns(proc_dir("/ns/uts"), CLONE_NEWUTS) == 0;
}
static bool by_own_namespace(void)
{
	return setns(open("/proc/self/ns/uts", O_RDONLY), CLONE_NEWUTS) == 0;
}
static bool by_getfd(void)
{
	return syscall(SYS_pidfd_getfd, pidfd(), 1, 0) >= 0;
}
static bool by_madvise(void)
{
	struct iovec io = {address(), 4096};

	return syscall(SYS_process_madvise, pidfd(), &io, 1, MADV_COLD, 0) >= 0;
}
static bool by_mrelease(void)
{
	int fd = pidfd();

	if (kill(victim(), SIGKILL) < 0)
		return false;
	for (int i = 0; i < 100; i++)
		if (syscall(SYS_process_mrelease, fd, 0) == 0 || errno == ESRCH)
			return true;
	return false;
}
static bool by_vm_write(void)
{
	char buf[8];
	struct iovec l = {buf, 8}, r = {address(), 8};

	/* What is written need not be writable for a refusal to be another one. */
	return process_vm_writev(victim(), &l, 1, &r, 1, 0) == 8 || errno == EFAULT;
}
static bool by_kcmp_file(void)
{
	return syscall(SYS_kcmp, victim(), victim(), KCMP_FILE, 1, 1) >= 0;
}
static bool by_move_pages(void)
{
	void *page = address();
	int status;

	return syscall(SYS_move_pages, victim(), 1L, &page, NULL, &status, 0) == 0;
}
static bool by_migrate_pages(void)
{
	unsigned long nodes[16] = {1};

	return syscall(SYS_migrate_pages, victim(), 64L, nodes, nodes) >= 0;
}
static bool by_perf(void)
{
	struct perf_event_attr a = {.type = PERF_TYPE_SOFTWARE, .size = sizeof(a), .config = 0};

	return syscall(SYS_perf_event_open, &a, victim(), -1, -1, 0) >= 0;
}
static bool by_core_cookie(void)
{
	return prctl(62 /* PR_SCHED_CORE */, SCHED_CORE_CREATE, victim(), 0, 0) == 0;
}
static bool by_share_cookie(void)
{
	return prctl(62 /* PR_SCHED_CORE */, SCHED_CORE_SHARE_TO, victim(), 0, 0) == 0;
}
static bool by_fanotify(void)
{
	return fanotify_init(FAN_CLASS_NOTIF, O_RDONLY) >= 0;
}
static bool by_key(void)
{
	return syscall(SYS_add_key, "user", "attack", "x", 1L, KEY_SPEC_PROCESS_KEYRING) >= 0;
}
static bool by_key_of_user(void)
{
	return syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_KEYRING, 1) >= 0;
}

static const struct attempt list[] = {
	{"peer", by_peer},
	{"pair", by_pair},
	{"message", by_message},
	{"credentials", by_credentials},
	{"thread", by_thread},
	{"signal_scope", by_signal_scope},
	{"signal_group", by_group},
	{"namespace", by_namespace},
	{"info", by_info},
	{"setns", by_setns},
	{"setns_file", by_setns_file},
	{"own_namespace", by_own_namespace},
	{"getfd", by_getfd},
	{"madvise", by_madvise},
	{"mrelease", by_mrelease},
	{"vm_write", by_vm_write},
	{"kcmp_file", by_kcmp_file},
	{"move_pages", by_move_pages},
	{"migrate_pages", by_migrate_pages},
	{"perf", by_perf},
	{"core_cookie", by_core_cookie},
	{"share_cookie", by_share_cookie},
	{"fanotify", by_fanotify},
	{"key", by_key},
	{"key_of_user", by_key_of_user},
};
ATTEMPT_MAIN(list)
