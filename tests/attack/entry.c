/*
 * The ways into the kernel, and what a caller may be: system calls made from odd places, with memory that cannot be read,
 * restarted, by children that others are the parents of, under limits that hurt whoever does the work. What they would do:
 * make $OUT/new.
 */
#include "attack.h"

#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

static bool made(void)
{
	return there(out("new"));
}
static void make(void)
{
	close(open(out("new"), O_WRONLY | O_CREAT, 0644));
}
static bool in_child(void (*fn)(void))
{
	pid_t pid = fork();

	if (pid == 0) {
		fn();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	return made();
}

/* System calls go to a signal handler, except from one range of addresses. */
static char selector;
static void on_sys(int sig)
{
	selector = 0; /* all calls pass again */
	make();
}
static bool by_dispatch(void)
{
	signal(SIGSYS, on_sys);
	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, 0L, 0L, &selector) < 0)
		return false;
	selector = 1;
	syscall(SYS_getppid);
	selector = 0;
	return made();
}

#ifdef __x86_64__
static void sysenter(void)
{
	char *low = mmap((void *)0x10000000, 8192, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	if (low == MAP_FAILED)
		broken("mmap");
	strcpy(low, out("new"));
	/* The sixth argument is read from the stack. */
	__asm__ volatile("mov %0, %%rsp\n"
			 "mov %%rsp, %%rbp\n"
			 "sysenter\n"
			 :
			 : "r"(low + 8000), "a"(5L), "b"(low), "c"(O_WRONLY | O_CREAT), "d"(0644)
			 : "memory");
}
static bool by_sysenter(void)
{
	bool won = in_child(sysenter);

	errno = ENOSYS;
	return won;
}
#endif

/* A call that waits and is restarted reads its arguments again. */
static char path[PATH_MAX];
static void on_alarm(int sig)
{
	strcpy(path, out("new"));
}
static bool restarted(int flags, int with)
{
	struct sigaction sa = {.sa_handler = on_alarm, .sa_flags = with};

	if (mkfifo("fifo", 0644) < 0)
		broken("fifo");
	strcpy(path, "fifo");
	sigaction(SIGALRM, &sa, NULL);
	ualarm(200000, 0);
	close(open(path, flags, 0644));
	if (!(with & SA_RESTART))
		close(open(path, flags, 0644));
	return made();
}
static bool by_restart(void)
{
	return restarted(O_WRONLY | O_CREAT, SA_RESTART);
}
static bool by_interrupt(void)
{
	return restarted(O_WRONLY | O_CREAT, 0);
}

/* Names in memory that others cannot read. */
static bool by_secret_memory(void)
{
	int fd = (int)syscall(447 /* memfd_secret */, 0);
	char *p;

	if (fd < 0 || ftruncate(fd, 4096) < 0)
		return false;
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return false;
	strcpy(p, out("new"));
	close(open(p, O_WRONLY | O_CREAT, 0644));
	return made();
}
static bool by_protection_key(void)
{
	int key = pkey_alloc(0, 0);
	char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (key < 0 || p == MAP_FAILED)
		return false;
	strcpy(p, out("new"));
	pkey_mprotect(p, 4096, PROT_READ | PROT_WRITE, key);
	close(open(p, O_WRONLY | O_CREAT, 0644));
	return made();
}
/* At the very end of what is mapped: a reader that takes too much fails. */
static bool by_last_bytes(void)
{
	char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t n = strlen(out("new")) + 1;

	munmap(p + 4096, 4096);
	strcpy(p + 4096 - n, out("new"));
	close(open(p + 4096 - n, O_WRONLY | O_CREAT, 0644));
	return made();
}
static bool by_two_pages(void)
{
	char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	strcpy(p + 4096 - 3, out("new"));
	mprotect(p, 4096, PROT_READ);
	close(open(p + 4096 - 3, O_WRONLY | O_CREAT, 0644));
	return made();
}
/* Who may not be dumped may not be read. */
static bool by_undumpable(void)
{
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	make();
	return made();
}

/* A program that may be run and not read cannot be looked into. */
static bool by_execute_only(void)
{
	char self[PATH_MAX] = "";
	pid_t pid;

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		broken("exe");
	pid = fork();
	if (pid == 0) {
		execlp("cp", "cp", self, "copy", NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
	chmod("copy", 0111);
	pid = fork();
	if (pid == 0) {
		execl("./copy", "copy", "make", NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
	return made();
}

/* Children that have another parent, or none. */
static bool by_child_of_parent(void)
{
	long pid = syscall(SYS_clone, (long)(CLONE_PARENT | SIGKILL), 0L, 0L, 0L, 0L);

	if (pid == 0) {
		make();
		mkdir("done", 0755);
		_exit(0);
	}
	for (int i = 0; i < 300 && !there("done"); i++)
		usleep(10000);
	return made();
}
static bool by_orphan(void)
{
	if (fork() == 0) {
		setsid();
		if (fork() == 0) {
			pid_t first = getppid();

			for (int i = 0; i < 300 && getppid() == first; i++)
				usleep(10000);
			prctl(PR_SET_PDEATHSIG, 0);
			make();
			mkdir("done", 0755);
		}
		_exit(0);
	}
	for (int i = 0; i < 600 && !there("done"); i++)
		usleep(10000);
	return made();
}
static void *make_in_thread(void *arg)
{
	make();
	mkdir("done", 0755);
	return NULL;
}
/* The first thread, which has the process's number, is gone. */
static void leave_thread(void)
{
	pthread_t t;

	pthread_create(&t, NULL, make_in_thread, NULL);
	pthread_exit(NULL);
}
static bool by_last_thread(void)
{
	return in_child(leave_thread);
}
static void vfork_make(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		make();
		_exit(0);
	}
}
static bool by_vfork(void)
{
	return in_child(vfork_make);
}

/* Limits, which the one who performs the call for another could have in its place. */
static void limit(int what, rlim_t to)
{
	struct rlimit lim = {to, to};

	setrlimit((__rlimit_resource_t)what, &lim);
}
static void no_descriptors(void)
{
	limit(RLIMIT_NOFILE, 0);
	mkdir(out("new"), 0755);
	make();
}
static bool by_no_descriptors(void)
{
	return in_child(no_descriptors);
}
/* SIGXFSZ goes to whoever calls truncate. */
static bool by_file_size(void)
{
	pid_t parent = getppid();

	write_file("mine", "x");
	limit(RLIMIT_FSIZE, 4096);
	signal(SIGXFSZ, SIG_IGN);
	if (truncate("mine", 1 << 20) == 0 || errno != EFBIG)
		broken("no limit");
	signal(SIGXFSZ, SIG_DFL);
	for (int i = 0; i < 3; i++)
		if (fork() == 0) {
			truncate("mine", 1 << 20);
			_exit(0);
		} else {
			int status;

			wait(&status);
			if (!getenv("CONFINED"))
				return WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ;
		}
	make();
	return made() || getppid() != parent;
}
static void no_stack(void)
{
	limit(RLIMIT_STACK, 65536);
	limit(RLIMIT_AS, 1 << 26);
	limit(RLIMIT_CPU, 1);
	limit(RLIMIT_NPROC, 1);
	make();
}
static bool by_small_limits(void)
{
	return in_child(no_stack);
}

/* The listener, if a copy of it could be had. On any other descriptor the command does not exist. */
static bool is_listener(int fd)
{
	uint64_t id = 1;

	return ioctl(fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0 || errno == ENOENT;
}
static bool by_listener(void)
{
	char name[64];

	if (!getenv("CONFINED")) {
		struct {
			uint16_t len;
			struct {
				uint16_t code;
				uint8_t jt, jf;
				uint32_t k;
			} * code;
		} prog = {1, (void *)(uint64_t[]){6UL | 0x7fff0000UL << 32}};

		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		if (syscall(SYS_seccomp, 1, 8 /* NEW_LISTENER */, &prog) < 0)
			return false;
	}
	for (int fd = 0; fd < 1024; fd++) {
		if (is_listener(fd))
			return true;
		for (int i = 0; i < 2; i++) {
			int got;

			snprintf(name, sizeof(name), "/proc/%d/fd/%d", i ? getppid() : getpid(), fd);
			got = open(name, O_RDWR | O_NONBLOCK);
			if (got >= 0 && is_listener(got))
				return true;
			if (got >= 0)
				close(got);
		}
	}
	return false;
}
/* Numbers are not what the supervisor holds: each of its own is overwritten here, in vain. */
static bool by_descriptor_numbers(void)
{
	int fd = open(getenv("OUT"), O_PATH | O_DIRECTORY);

	for (int i = 3; i < 1000; i++)
		if (i != fd)
			dup2(fd, i);
	close(openat(999, "new", O_WRONLY | O_CREAT, 0644));
	close(open("../out/new", O_WRONLY | O_CREAT, 0644));
	syscall(436 /* close_range */, 3, ~0U, 0);
	make();
	return made();
}

static const struct attempt list[] = {
	{"dispatch", by_dispatch},
#ifdef __x86_64__
	{"sysenter", by_sysenter},
#endif
	{"restart", by_restart},
	{"interrupt", by_interrupt},
	{"secret_memory", by_secret_memory},
	{"protection_key", by_protection_key},
	{"last_bytes", by_last_bytes},
	{"two_pages", by_two_pages},
	{"undumpable", by_undumpable},
	{"execute_only", by_execute_only},
	{"child_of_parent", by_child_of_parent},
	{"orphan", by_orphan},
	{"last_thread", by_last_thread},
	{"vfork", by_vfork},
	{"no_descriptors", by_no_descriptors},
	{"file_size", by_file_size},
	{"small_limits", by_small_limits},
	{"listener", by_listener},
	{"descriptor_numbers", by_descriptor_numbers},
};

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && strcmp(argv[1], "make") == 0) {
		make();
		return 0;
	}
	return attack_attempt(list, sizeof(list) / sizeof(*list), argv[1]);
}
