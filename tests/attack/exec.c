/*
 * Starting a program that may not run. $IN/good may, $OUT/bad may not; both are this program, which leaves a mark when it
 * finds itself in $OUT, without a name, or run by a loader. Where that is a race, it is tried until it is won or time is up.
 */
#include "attack.h"

#include <elf.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/ptrace.h>

static char good[PATH_MAX], bad[PATH_MAX];
static char *path; /* changed meanwhile */
static char *const marks[] = {"prog", "mark", NULL};
static char home[PATH_MAX + 4] = "IN="; /* where marks are left */
static char *const env[] = {home, NULL};

static int mark(void)
{
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	exe[n > 0 ? n : 0] = '\0';
	if (!getenv("IN") || chdir(getenv("IN")) < 0)
		return 0;
	if (strstr(exe, "/out/") || strstr(exe, "(deleted)") || strstr(exe, "/ld-") || strstr(exe, "copy"))
		close(open("won", O_WRONLY | O_CREAT, 0644));
	return 0;
}

static void flip_path(void *arg)
{
	strcpy(path, bad);
	strcpy(path, good);
}

static void run_path(void)
{
	execve(path, marks, env);
}

/* Tries run in a new process until the mark is there. */
static int race(const char *way, void (*run)(void))
{
	double end = seconds() + patience();
	long tries = 0;
	int status;

	do {
		pid_t pid = fork();

		if (pid == 0) {
			alarm(20);
			run();
			_exit(3);
		}
		if (pid < 0 || waitpid(pid, &status, 0) < 0)
			broken("fork");
		tries++;
	} while (!there("won") && goes_on(end, tries));
	tell_tries(way, there("won"), tries);
	return there("won") ? WON : LOST;
}

static void by_thread(void)
{
	struct flipper f;

	flipper_start(&f, flip_path, NULL);
	run_path();
}

static void *exec_thread(void *arg)
{
	run_path();
	_exit(3);
}

static void by_leader(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, exec_thread, NULL) != 0)
		broken("thread");
	for (;;)
		flip_path(NULL);
}

static void by_vfork(void)
{
	struct flipper f;
	pid_t pid;

	flipper_start(&f, flip_path, NULL);
	pid = vfork();
	if (pid == 0) {
		execve(path, marks, env);
		_exit(3);
	}
	waitpid(pid, NULL, 0);
	_exit(0);
}

static int flip_for_ever(void *arg)
{
	for (;;)
		flip_path(NULL);
	return 0;
}

/* A process that shares all memory but is no thread. */
static void by_process(void)
{
	static char stack[65536];
	pid_t pid = clone(flip_for_ever, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
	pid_t child = vfork();

	if (child == 0) {
		run_path();
		_exit(3);
	}
	waitpid(child, NULL, 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	_exit(0);
}

static void by_mapping(void)
{
	pid_t pid = fork(), child;

	if (pid == 0)
		flip_for_ever(NULL);
	child = fork();
	if (child == 0) {
		run_path();
		_exit(3);
	}
	waitpid(child, NULL, 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	_exit(0);
}

static void link_to(const char *what)
{
	unlink("new");
	if (symlink(what, "new") < 0 || rename("new", "link") < 0)
		_exit(4);
}

static void flip_link(void *arg)
{
	link_to(bad);
	link_to(good);
}

static void by_link(void)
{
	struct flipper f;

	strcpy(path, "link");
	link_to(good);
	flipper_start(&f, flip_link, NULL);
	run_path();
}

static void put_script(const char *interpreter)
{
	char text[2 * PATH_MAX];

	unlink("new");
	snprintf(text, sizeof(text), "#! %s mark\n", interpreter);
	if (!write_file("new", text) || chmod("new", 0755) < 0 || rename("new", "script") < 0)
		_exit(4);
}

static void flip_script(void *arg)
{
	put_script(bad);
	put_script(good);
}

static void by_script(void)
{
	struct flipper f;

	strcpy(path, "script");
	put_script(good);
	flipper_start(&f, flip_script, NULL);
	run_path();
}

static int slot, fd_good, fd_bad;

static void flip_descriptor(void *arg)
{
	dup2(fd_bad, slot);
	dup2(fd_good, slot);
}

static void at_descriptor(const char *a, const char *b, const char *name, int flags)
{
	struct flipper f;

	fd_good = open(a, O_PATH);
	fd_bad = open(b, O_PATH);
	slot = dup(fd_good);
	if (fd_good < 0 || fd_bad < 0 || slot < 0)
		_exit(4);
	flipper_start(&f, flip_descriptor, NULL);
	syscall(SYS_execveat, slot, name, marks, env, flags);
}

static void by_dirfd(void)
{
	at_descriptor("dir", out("."), "bad", 0);
}

static void by_fd(void)
{
	at_descriptor(good, bad, "", AT_EMPTY_PATH);
}

static void flip_cwd(void *arg)
{
	if (fchdir(fd_bad) < 0 || fchdir(fd_good) < 0)
		_exit(4);
}

static void by_cwd(void)
{
	struct flipper f;

	fd_good = open("dir", O_PATH);
	fd_bad = open(out("."), O_PATH);
	flipper_start(&f, flip_cwd, NULL);
	execve("bad", marks, env);
}

static void copy_to(int to)
{
	char buf[65536];
	int from = open("/proc/self/exe", O_RDONLY);
	ssize_t n;

	while ((n = read(from, buf, sizeof(buf))) > 0)
		if (write(to, buf, (size_t)n) != n)
			_exit(4);
	close(from);
}

static void by_memfd(void)
{
	int fd = memfd_create("copy", MFD_CLOEXEC);

	copy_to(fd);
	syscall(SYS_execveat, fd, "", marks, env, AT_EMPTY_PATH);
}

static void by_copy(void)
{
	int fd = open("copy", O_WRONLY | O_CREAT, 0755);

	copy_to(fd);
	close(fd);
	execve("copy", marks, env);
}

static void by_deleted(void)
{
	int fd = open("good.gone", O_WRONLY | O_CREAT, 0755), pin;

	copy_to(fd);
	close(fd);
	pin = open("good.gone", O_PATH);
	unlink("good.gone");
	syscall(SYS_execveat, pin, "", marks, env, AT_EMPTY_PATH);
}

/* Where this program names its loader. */
static bool find_loader(int fd, Elf64_Phdr *ph)
{
	Elf64_Ehdr eh;

	if (pread(fd, &eh, sizeof(eh), 0) != sizeof(eh))
		return false;
	for (int i = 0; i < eh.e_phnum; i++) {
		off_t at = (off_t)(eh.e_phoff + (size_t)i * sizeof(*ph));

		if (pread(fd, ph, sizeof(*ph), at) == sizeof(*ph) && ph->p_type == PT_INTERP)
			return true;
	}
	return false;
}

static const char *loader(void)
{
	static char name[PATH_MAX];
	int fd = open("/proc/self/exe", O_RDONLY);
	Elf64_Phdr ph;

	if (!find_loader(fd, &ph) || pread(fd, name, sizeof(name) - 1, (off_t)ph.p_offset) <= 0)
		return NULL;
	return name;
}

static void by_loader(void)
{
	char *const args[] = {"ld", bad, "mark", NULL};

	execve(loader(), args, env);
}

/* "asks", a copy of this program that asks to be loaded by name. */
static void ask_for(const char *name)
{
	int fd = open("asks", O_RDWR | O_CREAT | O_TRUNC, 0755);
	char field[PATH_MAX] = "";
	Elf64_Phdr ph;

	copy_to(fd);
	strcpy(field, name);
	if (!find_loader(fd, &ph) || strlen(name) >= ph.p_filesz ||
	    pwrite(fd, field, ph.p_filesz, (off_t)ph.p_offset) < 0)
		_exit(4);
	close(fd);
}

/* The kernel starts what a program asks to be loaded by. $OUT/stub needs no loader itself. */
static void by_interp(void)
{
	ask_for("../out/stub");
	execve("asks", marks, env);
}

static void flip_interp(void *arg)
{
	link_to("../out/stub");
	link_to(loader());
}

static void by_interp_race(void)
{
	struct flipper f;

	ask_for("link");
	link_to(loader());
	flipper_start(&f, flip_interp, NULL);
	execve("asks", marks, env);
}

/* A program that can be run but not read: nobody can look at what it started. */
static void by_interp_closed(void)
{
	ask_for("../out/stub");
	chmod("asks", 0111);
	execve("asks", marks, env);
}

/* A debugger changes the name after all checks that come before the kernel's own look. */
static void by_tracer(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		by_thread();
		_exit(3);
	}
	waitpid(pid, &status, 0);
	while (ptrace(PTRACE_CONT, pid, 0, 0) == 0 && waitpid(pid, &status, 0) == pid && WIFSTOPPED(status))
		;
	_exit(0);
}

static int names(void)
{
	snprintf(good, sizeof(good), "%s/good", getenv("IN"));
	snprintf(bad, sizeof(bad), "%s", out("bad"));
	path = mmap(NULL, 2 * PATH_MAX, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	snprintf(home, sizeof(home), "IN=%s", getenv("IN"));
	if (path != MAP_FAILED)
		strcpy(path, good);
	return path == MAP_FAILED ? -1 : 0;
}

#define RACE(name)                                                                                           \
	static int try_##name(int argc, char **argv)                                                         \
	{                                                                                                    \
		if (names() < 0)                                                                             \
			broken("memory");                                                                    \
		return race(#name, by_##name);                                                               \
	}
RACE(thread)
RACE(leader)
RACE(vfork)
RACE(process)
RACE(mapping)
RACE(link)
RACE(script)
RACE(dirfd)
RACE(fd)
RACE(cwd)
RACE(memfd)
RACE(copy)
RACE(deleted)
RACE(loader)
RACE(interp)
RACE(interp_race)
RACE(interp_closed)
RACE(tracer)

static const struct attack attacks[] = {
	{"thread", try_thread},
	{"leader", try_leader},
	{"vfork", try_vfork},
	{"process", try_process},
	{"mapping", try_mapping},
	{"link", try_link},
	{"script", try_script},
	{"dirfd", try_dirfd},
	{"fd", try_fd},
	{"cwd", try_cwd},
	{"memfd", try_memfd},
	{"copy", try_copy},
	{"deleted", try_deleted},
	{"loader", try_loader},
	{"tracer", try_tracer},
	{"interp", try_interp},
	{"interp_race", try_interp_race},
	{"interp_closed", try_interp_closed},
};

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "mark") == 0)
		return mark();
	return attack_main(attacks, sizeof(attacks) / sizeof(*attacks), argc, argv);
}
