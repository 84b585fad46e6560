/*
 * What a call is about changes between the check and the use: "race CALL [VECTOR...]". Each vector is a way to change it:
 *
 *   thread     a thread writes another name over the path
 *   vm         a process that shares all memory, and is no thread, does
 *   shared     a process that shares the page does
 *   memory     a process writes it by /proc/PID/mem
 *   vfork      the caller is a vfork child; a thread of its parent does
 *   parent     a thread lets a directory on the way change places with a link
 *   parent_vm  a process that shares all memory does
 *   last       the file itself changes places with a link
 *   dup        a thread puts another descriptor on the number
 *   files      a process with the same descriptors does
 *   chdir      a thread changes the working directory
 *   cwd        a process with the same working directory does
 *
 * Without names: all that the call has use for but memory, vfork and last. Outside every vector must win, inside none. "prepare" makes what is attacked in $OUT; "serve" listens there.
 */
#include "race_calls.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>

static char *path; /* what the call is given */
static char good[PATH_MAX], bad[PATH_MAX];
static int in_dir, out_dir; /* of $IN and $OUT */
static int good_dir;	    /* where the good one is */
static int number;	    /* the descriptor of the call, when that flips */
static int flip_to[2];	    /* what it flips between */
static const struct call *call;

static const char *leaf(void)
{
	return leaf_names[call->leaf];
}

/* Everything in $OUT as it was. */
static void prepare(void)
{
	struct stat st;

	if (!getenv("CONFINED")) {
		unlink(out("new"));
		rmdir(out("new"));
		unlink(out("bad"));
		/* The server may still be at connections of before. */
		while (unlink(out("reached")) == 0)
			usleep(50000);
		write_file(out("bad"), "original");
		write_file(out("secret"), "SECRET");
		setxattr(out("secret"), "user.SECRET", "SECRET", 6, 0);
		if (symlink("SECRET", out("link")) < 0 && errno != EEXIST)
			broken("link");
		setxattr(out("bad"), "user.note", "x", 1, 0);
		mkdir(out("empty"), 0755);
	}
	seen[0] = '\0';
	if (stat(out("bad"), &st) == 0)
		changed_at = st.st_ctim;
}

/* The good one, anew for each try. */
static void set_good(void)
{
	switch (call->leaf) {
	case LEAF_FILE:
		shut(openat(good_dir, leaf(), O_WRONLY | O_CREAT, 0644));
		break;
	case LEAF_NEW:
		if (unlinkat(good_dir, leaf(), 0) < 0 && errno == EISDIR)
			unlinkat(good_dir, leaf(), AT_REMOVEDIR);
		break;
	case LEAF_DIR:
		mkdirat(good_dir, leaf(), 0755);
		break;
	case LEAF_SECRET:
	case LEAF_LINK:
	case LEAF_SOCKET:
		break;
	}
}

/* One that answers, so that a connection to it is one. */
static void *accept_all(void *arg)
{
	for (;;)
		shut(accept((int)(intptr_t)arg, NULL, NULL));
	return NULL;
}
static void listen_on(const char *name, void *(*fn)(void *))
{
	struct sockaddr_un a = {AF_UNIX, ""};
	int s = socket(AF_UNIX, SOCK_STREAM, 0);
	pthread_t t;

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", name);
	if (bind(s, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(s, 4096) < 0 ||
	    pthread_create(&t, NULL, fn, (void *)(intptr_t)s) != 0)
		broken("%s", name);
}
/* What is there all the time. */
static void set_good_once(const char *name)
{
	if (call->leaf == LEAF_SOCKET && !there(name))
		listen_on(name, accept_all);
	if (call->leaf == LEAF_SECRET)
		write_file(name, "harmless");
	if (call->leaf == LEAF_LINK && symlink("harmless", name) < 0 && errno != EEXIST)
		broken("%s", name);
}

/* Absolute names of equal length: every mixture of the two is a name in a forbidden place or none. */
static void absolute_names(void)
{
	size_t a, b;

	snprintf(good, sizeof(good), "%s/%s", getenv("IN"), leaf());
	snprintf(bad, sizeof(bad), "%s", out(leaf()));
	a = strlen(good);
	b = strlen(bad);
	for (; a < b; a++)
		memmove(good + 1, good, strlen(good) + 1), good[0] = '/';
	for (; b < a; b++)
		memmove(bad + 1, bad, strlen(bad) + 1), bad[0] = '/';
	strcpy(path, good);
}

static void flip_path(void *arg)
{
	memcpy(path, bad, strlen(bad) + 1);
	memcpy(path, good, strlen(good) + 1);
}
static void flip_links(void *arg)
{
	const char *const *pair = arg;

	syscall(SYS_renameat2, in_dir, pair[0], in_dir, pair[1], RENAME_EXCHANGE);
}
/* As it was before the flipping, which ends anywhere. */
static void have_links_back(const char **pair)
{
	struct stat st;

	if (lstat(pair[0], &st) == 0 && S_ISLNK(st.st_mode))
		flip_links(pair);
}
static void flip_number(void *arg)
{
	dup2(flip_to[1], number);
	dup2(flip_to[0], number);
}
static void flip_cwd(void *arg)
{
	if (fchdir(out_dir) < 0 || fchdir(in_dir) < 0)
		_exit(1);
}
static void flip_memory(void *arg)
{
	int fd = *(int *)arg;

	if (pwrite(fd, bad, strlen(bad), (off_t)(uintptr_t)path) < 0 ||
	    pwrite(fd, good, strlen(good), (off_t)(uintptr_t)path) < 0)
		_exit(1);
}

static long tries;
static void try_some(int d, int n)
{
	for (int i = 0; i < n; i++, tries++) {
		set_good();
		call->act(d, path);
	}
}

/* A vfork child calls, in the memory of its parent. */
static void try_in_vfork(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		try_some(AT_FDCWD, 20);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static bool try_while(int d, bool in_vfork)
{
	double end = seconds() + patience();

	for (tries = 0; !call->won() && goes_on(end, tries);)
		if (in_vfork)
			try_in_vfork();
		else
			try_some(d, 8);
	return call->won();
}

static bool with_thread(int d, void (*fn)(void *), void *arg, bool in_vfork)
{
	struct flipper f;
	bool won;

	flipper_start(&f, fn, arg);
	won = try_while(d, in_vfork);
	flipper_end(&f);
	return won;
}

static void (*process_fn)(void *);
static void *process_arg;
static int process_main(void *arg)
{
	for (;;)
		process_fn(process_arg);
	return 0;
}
/* flags: what it shares; with CLONE_VM it needs a stack of its own. */
static bool with_process(int flags, int d, void (*fn)(void *), void *arg)
{
	static char stack[65536] __attribute__((aligned(16)));
	bool won;
	pid_t pid;

	process_fn = fn;
	process_arg = arg;
	if (flags & CLONE_VM)
		pid = clone(process_main, stack + sizeof(stack), flags | SIGCHLD, NULL);
	else
		pid = (pid_t)syscall(SYS_clone, flags | SIGCHLD, 0L, 0L, 0L, 0L);
	if (pid < 0)
		broken("clone");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		process_main(NULL);
	}
	won = try_while(d, false);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return won;
}

static bool by_thread(void)
{
	absolute_names();
	return with_thread(AT_FDCWD, flip_path, NULL, false);
}
static bool by_vm(void)
{
	absolute_names();
	return with_process(CLONE_VM, AT_FDCWD, flip_path, NULL);
}
static bool by_shared(void)
{
	absolute_names();
	return with_process(0, AT_FDCWD, flip_path, NULL);
}
static bool by_memory(void)
{
	char name[64];
	int mem;

	absolute_names();
	snprintf(name, sizeof(name), "/proc/%d/mem", getpid());
	mem = open(name, O_RDWR);
	if (mem < 0)
		broken("%s", name);
	return with_process(0, AT_FDCWD, flip_memory, &mem);
}
static bool by_vfork(void)
{
	absolute_names();
	return with_thread(AT_FDCWD, flip_path, NULL, true);
}

static bool by_parent_of(bool (*with)(void (*)(void *), void *))
{
	static const char *pair[] = {"sub", "sublink"};
	char name[64];
	bool won;

	mkdir("sub", 0755);
	symlink(getenv("OUT"), "sublink");
	snprintf(name, sizeof(name), "sub/%s", leaf());
	set_good_once(name);
	snprintf(path, PATH_MAX, "%s/%s", getenv("IN"), name);
	good_dir = open("sub", O_PATH | O_DIRECTORY);
	won = with(flip_links, pair);
	have_links_back(pair);
	good_dir = in_dir;
	return won;
}
static bool plain_thread(void (*fn)(void *), void *arg)
{
	return with_thread(AT_FDCWD, fn, arg, false);
}
static bool vm_process(void (*fn)(void *), void *arg)
{
	return with_process(CLONE_VM, AT_FDCWD, fn, arg);
}
static bool by_parent(void)
{
	return by_parent_of(plain_thread);
}
static bool by_parent_vm(void)
{
	return by_parent_of(vm_process);
}
static bool by_last(void)
{
	static const char *pair[] = {"file", "filelink"};
	bool won;

	write_file("file", "mine");
	symlink(out(leaf()), "filelink");
	strcpy(path, "file");
	won = with_thread(AT_FDCWD, flip_links, pair, false);
	have_links_back(pair);
	return won;
}

/* The number of the directory, of the file, or in the path. */
static void set_number(void)
{
	flip_to[0] = in_dir;
	flip_to[1] = out_dir;
	if (call->takes == TAKES_FD) {
		set_good();
		flip_to[0] = openat(in_dir, leaf(), call->fd_flags);
		flip_to[1] = open(out(leaf()), call->fd_flags);
	}
	number = dup(flip_to[0]);
	if (flip_to[0] < 0 || flip_to[1] < 0 || number < 0)
		broken("descriptors");
	if (call->takes == TAKES_PATH)
		snprintf(path, PATH_MAX, "/proc/self/fd/%d/%s", number, leaf());
	else
		strcpy(path, leaf());
}
static bool by_dup(void)
{
	set_number();
	return with_thread(number, flip_number, NULL, false);
}
static bool by_files(void)
{
	set_number();
	return with_process(CLONE_FILES, number, flip_number, NULL);
}
static bool back_in(bool won)
{
	if (fchdir(in_dir) < 0)
		broken("fchdir");
	return won;
}
static bool by_chdir(void)
{
	strcpy(path, leaf());
	return back_in(with_thread(AT_FDCWD, flip_cwd, NULL, false));
}
static bool by_cwd(void)
{
	strcpy(path, leaf());
	return back_in(with_process(CLONE_FS, AT_FDCWD, flip_cwd, NULL));
}

static const struct {
	const char *name;
	bool (*fn)(void);
} vectors[] = {
	{"thread", by_thread}, {"vm", by_vm},	      {"shared", by_shared},	   {"memory", by_memory},
	{"vfork", by_vfork},   {"parent", by_parent}, {"parent_vm", by_parent_vm}, {"last", by_last},
	{"dup", by_dup},       {"files", by_files},   {"chdir", by_chdir},	   {"cwd", by_cwd},
};
#define N_VECTORS (sizeof(vectors) / sizeof(*vectors))

/* Whether it won; a machine may lack what the call needs. */
static int run_vector(size_t i)
{
	bool won;

	prepare();
	set_good_once(leaf());
	errno = 0;
	won = vectors[i].fn();
	tell_tries(vectors[i].name, won, tries);
	return won;
}

static bool is_lacking(void)
{
	set_good();
	strcpy(path, leaf());
	errno = 0;
	call->act(call->takes == TAKES_FD ? openat(in_dir, leaf(), call->fd_flags) : in_dir, path);
	return errno == ENOSYS || errno == EOPNOTSUPP || errno == ENOTTY || errno == EINVAL;
}

static int run_call(int argc, char **argv)
{
	static const char *const usual[] = {"thread", "vm",    "shared", "parent", "parent_vm",
					    "dup",    "files", "chdir",	 "cwd"};
	static const char *const of_fd[] = {"dup", "files"};
	const char *const *wanted = call->takes == TAKES_FD ? of_fd : usual;
	size_t n = call->takes == TAKES_FD ? sizeof(of_fd) / sizeof(*of_fd) : sizeof(usual) / sizeof(*usual);
	size_t won = 0;

	if (argc > 0) {
		wanted = (const char *const *)argv;
		n = (size_t)argc;
	}
	in_dir = good_dir = open(".", O_PATH | O_DIRECTORY);
	out_dir = open(getenv("OUT"), O_PATH | O_DIRECTORY);
	snprintf(mine, sizeof(mine), "%s/mine", getenv("IN"));
	/* An address has its family before its name. */
	path = mmap(NULL, 4 * PATH_MAX, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (path == MAP_FAILED || in_dir < 0 || out_dir < 0)
		broken("setup");
	path += 64;
	prepare();
	if (!getenv("CONFINED") && is_lacking()) {
		printf("# not possible here\n");
		return SKIP;
	}
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < N_VECTORS; i++)
			won += strcmp(vectors[i].name, wanted[k]) == 0 && run_vector(i);
	return getenv("CONFINED") ? won == 0 ? LOST : WON : won == n ? WON : LOST;
}

/* A server outside: whoever connects has got there. */
static void *note_connections(void *arg)
{
	for (;;) {
		shut(accept((int)(intptr_t)arg, NULL, NULL));
		write_file(out("reached"), "x");
	}
	return NULL;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && strcmp(argv[1], "prepare") == 0) {
		prepare();
		return 0;
	}
	if (argc > 1 && strcmp(argv[1], "serve") == 0) {
		listen_on(out("sock"), note_connections);
		for (;;)
			pause();
	}
	for (size_t i = 0; argc > 1 && i < sizeof(list) / sizeof(*list); i++)
		if (strcmp(list[i].name, argv[1]) == 0) {
			call = &list[i];
			return run_call(argc - 2, argv + 2);
		}
	printf("# no such call\n");
	return BROKEN;
}
