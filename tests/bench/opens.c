/*
 * opens [-n] FILE: nanoseconds for one open (to read) and close of FILE, the median of many small batches.
 *
 * -n: each open is notified to another process, which says "continue" and does nothing else: what a notification
 * costs by itself, with both processes on one CPU and the kernel told so.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS	   SECCOMP_IOW(4, __u64)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif

#define BATCHES 301
#define EACH	100

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int measure(const char *file)
{
	static double each[BATCHES];

	for (int b = -BATCHES / 10; b < BATCHES; b++) {
		double begin = now();

		for (int i = 0; i < EACH; i++) {
			int fd = open(file, O_RDONLY | O_CLOEXEC);

			if (fd < 0) {
				perror(file);
				return 1;
			}
			close(fd);
		}
		if (b >= 0)
			each[b] = (now() - begin) / EACH;
	}
	qsort(each, BATCHES, sizeof(*each), compare);
	printf("%.1f\n", each[BATCHES / 2]);
	return fflush(stdout) != 0;
}

static int listen_to_opens(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_openat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {.len = sizeof(code) / sizeof(*code), .filter = code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &prog);
}

static void answer(int listener)
{
	struct seccomp_notif n;
	struct seccomp_notif_resp r;

	ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
	for (;;) {
		memset(&n, 0, sizeof(n));
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &n) < 0) {
			if (errno == EINTR)
				continue;
			return;
		}
		memset(&r, 0, sizeof(r));
		r.id = n.id;
		r.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &r);
	}
}

/* Both on the CPU that this runs on. */
static void pin(void)
{
	cpu_set_t set;
	int cpu = sched_getcpu();

	CPU_ZERO(&set);
	CPU_SET(cpu < 0 ? 0 : cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static int measure_notified(const char *file)
{
	int ready[2], listener = -1, status = 0;
	pid_t caller, server;

	pin();
	if (pipe(ready) < 0)
		return 1;
	/* One table of descriptors, so that the listener needs no handing over; not one memory. */
	caller = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, NULL);
	if (caller == 0) {
		listener = listen_to_opens();
		if (write(ready[1], &listener, sizeof(listener)) != sizeof(listener) || listener < 0)
			_exit(1);
		_exit(measure(file));
	}
	if (caller < 0 || read(ready[0], &listener, sizeof(listener)) != sizeof(listener) || listener < 0)
		return 1;
	server = fork();
	if (server == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		answer(listener);
		_exit(0);
	}
	waitpid(caller, &status, 0);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	return status != 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "-n") == 0)
		return measure_notified(argv[2]);
	return argc == 2 ? measure(argv[1]) : 2;
}
