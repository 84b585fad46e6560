/*
 *     sequence make SEED COUNT CALLS     prints COUNT sequences of so many calls
 *     sequence run TREE <SEQUENCES       performs each in a fresh TREE, which it makes and removes; prints what happened
 */
#include "sequence.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define OUT_FD	     800
#define SEQUENCE_MAX (1 << 20)
#define PATIENCE     20 /* seconds for one sequence; nothing in it should wait */

static char root[PATH_MAX];
static struct runner alone = {.root = root};

static void die(const char *what)
{
	fprintf(stderr, "sequence: %s: %s\n", what, strerror(errno));
	_exit(70);
}

static void list_tree(void)
{
	fchmodat(AT_FDCWD, root, 0700, 0);
	tree_list(alone.out, open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

static void make_tree(const char *where)
{
	if (mkdir(where, 0755) < 0 || chdir(where) < 0)
		die(where);
	tree_make(where);
}

static void perform_all(struct runner *r, char *lines)
{
	char *save;

	for (char *line = strtok_r(lines, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		perform_line(r, line);
	fflush(r->out);
}

/* Two that share the descriptors, each with a tree, a working directory and a umask of its own. */
struct half {
	struct runner runner;
	char root[PATH_MAX + 16];
	char *lines;
	int results;
	bool shares_cwd; /* to be ended first */
};

static void half_prepare(struct half *h, int i)
{
	int fd = memfd_create("results", 0);

	snprintf(h->root, sizeof(h->root), "%s/%d", root, i);
	if (mkdir(h->root, 0755) < 0)
		die(h->root);
	snprintf(h->root, sizeof(h->root), "%s/%d/t", root, i);
	make_tree(h->root);
	h->results = fcntl(fd, F_DUPFD_CLOEXEC, OUT_FD);
	close(fd);
	h->runner = alone;
	h->runner.root = h->root;
	h->runner.base = i * BESIDE_FDS;
	h->runner.out = fdopen(h->results, "w");
	if (!h->runner.out)
		die("results");
}

static void *half_run(void *arg)
{
	struct half *h = arg;

	if ((h->shares_cwd && unshare(CLONE_FS) < 0) || chdir(h->root) < 0)
		die(h->root);
	perform_all(&h->runner, h->lines);
	return NULL;
}

static void half_tell(struct half *h)
{
	char block[4096];
	ssize_t n;

	lseek(h->results, 0, SEEK_SET);
	fprintf(alone.out, "in %s\n", strrchr(h->root, '/') - 1);
	while ((n = read(h->results, block, sizeof(block))) > 0)
		fwrite(block, 1, (size_t)n, alone.out);
}

/* Whether threads may have a working directory of their own; engines of containers refuse that. */
static void *try_unshare(void *arg)
{
	*(bool *)arg = unshare(CLONE_FS) == 0;
	return NULL;
}
static bool can_unshare(void)
{
	bool can = false;
	pthread_t t;

	if (pthread_create(&t, NULL, try_unshare, &can) != 0)
		die("thread");
	pthread_join(t, NULL);
	return can;
}

static void run_threads(struct half *halves)
{
	pthread_t t[2];

	for (int i = 0; i < 2; i++) {
		halves[i].shares_cwd = true;
		if (pthread_create(&t[i], NULL, half_run, &halves[i]) != 0)
			die("thread");
	}
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
}

static void run_processes(struct half *halves)
{
	int status;

	for (int i = 0; i < 2; i++) {
		long pid = syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0L, 0L, 0L, 0L);

		if (pid < 0)
			die("clone");
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			half_run(&halves[i]);
			_exit(0);
		}
	}
	for (int i = 0; i < 2; i++)
		if (wait(&status) < 0 || status)
			fprintf(alone.out, "one of both ended with %#x\n", status);
}

/* beside: the line between the two parts. */
static void run_beside(char *lines, char *beside)
{
	static struct half halves[2];
	bool threads = strncmp(beside, "\nbeside threads\n", 16) == 0;

	halves[0].lines = lines;
	halves[1].lines = strchr(beside + 1, '\n');
	*beside = '\0';
	if (!halves[1].lines)
		halves[1].lines = beside;
	/* The numbers that paths speak of are nobody's. */
	for (int fd = FIRST_FD; fd < 30; fd++)
		if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0)
			die("/dev/null");
	for (int i = 0; i < 2; i++)
		half_prepare(&halves[i], i + 1);
	if (chdir(root) < 0)
		die(root);
	if (threads && can_unshare())
		run_threads(halves);
	else
		run_processes(halves);
	for (int i = 0; i < 2; i++)
		half_tell(&halves[i]);
}

/* In a process of its own: descriptors, working directory, umask and limits are the sequence's. */
static void run_lines(char *lines)
{
	char *beside = strstr(lines, "\nbeside ");

	alarm(PATIENCE);
	umask(022);
	if (beside) {
		if (mkdir(root, 0755) < 0)
			die(root);
		run_beside(lines, beside);
	} else {
		make_tree(root);
		perform_all(&alone, lines);
		perform_limit(&alone, alone.nofile.rlim_max);
	}
	for (int fd = FIRST_FD; fd < OUT_FD; fd++)
		close(fd);
	list_tree();
	_exit(0);
}

static void run_sequence(const char *name, char *lines)
{
	int status;
	pid_t pid;

	fprintf(alone.out, "sequence %s\n", name);
	fflush(alone.out);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0)
		run_lines(lines);
	if (waitpid(pid, &status, 0) < 0)
		die("waitpid");
	if (status) {
		fprintf(alone.out, "ended with status %#x\n", status);
		list_tree();
	}
	if (rmdir(root) < 0 && errno != ENOENT)
		fprintf(alone.out, "the tree is left: %s\n", errno_name(errno));
}

static void run_all(void)
{
	static char line[LINE_MAX_], lines[SEQUENCE_MAX], name[64];
	size_t n = 0;

	while (fgets(line, sizeof(line), stdin)) {
		if (strncmp(line, "sequence ", 9) == 0) {
			if (name[0])
				run_sequence(name, lines);
			snprintf(name, sizeof(name), "%.*s", (int)strcspn(line + 9, "\n"), line + 9);
			n = 0;
			lines[0] = '\0';
		} else if (n + strlen(line) < sizeof(lines)) {
			strcpy(lines + n, line);
			n += strlen(line);
		}
	}
	if (name[0])
		run_sequence(name, lines);
}

/* Descriptors from 3 on are the sequence's; 0 to 2 lead nowhere. */
static void prepare(void)
{
	int null;

	for (int fd = FIRST_FD; fd < OUT_FD; fd++)
		close(fd);
	null = open("/dev/null", O_RDWR);
	if (getrlimit(RLIMIT_NOFILE, &alone.nofile) < 0 || getrlimit(RLIMIT_FSIZE, &alone.fsize) < 0)
		die("getrlimit");
	if (alone.nofile.rlim_max > 1024)
		alone.nofile.rlim_max = 1024;
	alone.nofile.rlim_cur = alone.nofile.rlim_max;
	perform_limit(&alone, alone.nofile.rlim_cur);
	if (fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, OUT_FD) != OUT_FD)
		die("output");
	alone.out = fdopen(OUT_FD, "w");
	if (!alone.out || dup2(null, STDOUT_FILENO) < 0)
		die("output");
	setvbuf(alone.out, NULL, _IOLBF, 0);
	close(null);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGIO, SIG_IGN);
	perform_begin();
}

int main(int argc, char **argv)
{
	if (argc == 5 && strcmp(argv[1], "make") == 0) {
		for (long i = 0; i < atol(argv[3]); i++)
			make_sequence(strtoull(argv[2], NULL, 10) + (uint64_t)i, atoi(argv[4]));
		return 0;
	}
	if (argc != 3 || strcmp(argv[1], "run") != 0) {
		fprintf(stderr, "usage: sequence make SEED COUNT CALLS | sequence run TREE\n");
		return 2;
	}
	snprintf(root, sizeof(root), "%s", argv[2]);
	prepare();
	run_all();
	fflush(alone.out);
	return 0;
}
