/*
 *     sequence make SEED COUNT CALLS     prints COUNT sequences of so many calls
 *     sequence run TREE <SEQUENCES       performs each in a fresh TREE, which it makes and removes; prints what happened
 */
#include "sequence.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define OUT_FD	     800
#define SEQUENCE_MAX (1 << 20)
#define PATIENCE     20 /* seconds for one sequence; nothing in it should wait */

static char root[PATH_MAX];
static struct rlimit limit;
static FILE *out;

static void die(const char *what)
{
	fprintf(stderr, "sequence: %s: %s\n", what, strerror(errno));
	_exit(70);
}

static void make_chain(int n)
{
	char name[16], target[16] = "f";

	for (int i = 1; i <= n; i++) {
		snprintf(name, sizeof(name), "k%d", i);
		symlink(target, name);
		memcpy(target, name, sizeof(name));
	}
}

static void set_limit(rlim_t n)
{
	struct rlimit l = {.rlim_cur = n, .rlim_max = limit.rlim_max};

	if (setrlimit(RLIMIT_NOFILE, &l) < 0)
		die("setrlimit");
}

static bool opens(const struct call *call)
{
	return strncmp(call->name, "open", 4) == 0 || strcmp(call->name, "creat") == 0 ||
	       call->nr == SYS_truncate;
}

static bool removes(const struct call *call)
{
	return strncmp(call->name, "unlink", 6) == 0 || strcmp(call->name, "rmdir") == 0 ||
	       strncmp(call->name, "rename", 6) == 0;
}

/* What the call would touch is in the tree. */
static bool is_allowed(const struct call *call, const struct args *a)
{
	bool allowed = true;

	set_limit(limit.rlim_max);
	if (a->descriptor >= 0 && call->nr != SYS_close)
		allowed = guard_descriptor(root, (int)a->value[a->descriptor]);
	for (int i = 0; allowed && i < a->n_paths; i++) {
		const char *path = args_string(a->value[a->path[i]]);
		int base = a->base[i] < 0 ? AT_FDCWD : (int)a->value[a->base[i]];

		allowed = path ? guard_path(root, base, path) : guard_descriptor(root, base);
		if (allowed && path && opens(call))
			allowed = guard_object(base, path);
		if (allowed && path && removes(call))
			allowed = guard_entry(base, path);
	}
	/* With AT_EMPTY_PATH and no path: a difference that is documented. */
	if (strstr(call->name, "xattrat") && (!args_string(a->value[1]) || !*args_string(a->value[1])))
		allowed = false;
	set_limit(limit.rlim_cur);
	return allowed;
}

/* A FIFO would be waited for. False: it cannot be helped. */
static bool make_patient(const struct call *call, struct args *a)
{
	int base = a->n_paths && a->base[0] >= 0 ? (int)a->value[a->base[0]] : AT_FDCWD;
	const char *path = a->n_paths ? args_string(a->value[a->path[0]]) : NULL;
	uint64_t nonblock = O_NONBLOCK;
	struct stat st;

	if (!path || fstatat(base, path, &st, 0) < 0 || !S_ISFIFO(st.st_mode))
		return true;
	if (a->flags >= 0)
		a->value[a->flags] |= O_NONBLOCK;
	if (call->nr == SYS_openat2 && a->value[3] >= 8) {
		nonblock |= a->how_flags;
		memcpy((void *)a->value[2], &nonblock, sizeof(nonblock));
	}
	return strcmp(call->name, "creat") != 0;
}

static bool gives_descriptor(const struct call *call)
{
	return (opens(call) && call->nr != SYS_truncate) || strncmp(call->name, "dup", 3) == 0 ||
	       strcmp(call->name, "F_DUPFD") == 0;
}

static void tell_descriptor(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	if (fstat(fd, &st) < 0)
		st.st_mode = 0;
	/* O_NOFOLLOW is gone from what the supervisor opened: it opens what it has pinned, by a link. */
	fprintf(out, " flags %#x %d mode %o links %lu", flags & ~O_NOFOLLOW, fcntl(fd, F_GETFD), st.st_mode,
		(unsigned long)st.st_nlink);
}

static void tell_bytes(const char *p, long n)
{
	if (memchr(p, '#', (size_t)n)) /* the name of a file that has none is its number */
		return;
	fputc(' ', out);
	for (long i = 0; i < n && i < 300; i++)
		fprintf(out, p[i] > 32 && p[i] < 127 ? "%c" : "\\x%02x", (unsigned char)p[i]);
}

static void tell_stat(const char *room)
{
	struct stat st;

	memcpy(&st, room, sizeof(st));
	fprintf(out, " %o %u:%u n%lu s%lld", st.st_mode, st.st_uid, st.st_gid, (unsigned long)st.st_nlink,
		S_ISDIR(st.st_mode) ? 0 : (long long)st.st_size);
}

static void tell(const struct call *call, const struct args *a, long rc)
{
	if (rc < 0) {
		fprintf(out, " = %s", errno_name(errno));
		return;
	}
	fprintf(out, " = %ld", rc);
	if (gives_descriptor(call))
		tell_descriptor((int)rc);
	else if (call->nr == SYS_newfstatat)
		tell_stat(a->room);
	else if (a->room && call->nr != SYS_getdents64)
		tell_bytes(a->room, rc);
}

static void perform(const struct call *call, struct args *a)
{
	long rc;

	if (call->nr == -1) {
		limit.rlim_cur = (rlim_t)a->value[0];
		set_limit(limit.rlim_cur);
	} else if (call->nr == -2) {
		make_chain((int)a->value[0]);
	} else if (!is_allowed(call, a)) {
		fputs(" outside", out);
	} else if (!make_patient(call, a)) {
		fputs(" would wait", out);
	} else {
		rc = syscall(call->nr, a->value[0], a->value[1], a->value[2], a->value[3], a->value[4],
			     a->value[5]);
		tell(call, a, rc);
	}
}

static void perform_line(char *line)
{
	char copy[LINE_MAX_], *word[WORDS_MAX + 1], *save;
	const struct call *call;
	struct args a;
	int n = 0;

	snprintf(copy, sizeof(copy), "%s", line);
	for (char *p = strtok_r(copy, " ", &save); p && n <= WORDS_MAX; p = strtok_r(NULL, " ", &save))
		word[n++] = p;
	if (n == 0 || word[0][0] == '#')
		return;
	fprintf(out, "%s", line);
	call = call_find(word[0]);
	if (!call || !args_parse(call, word + 1, n - 1, root, &a))
		fputs(" is not understood", out);
	else
		perform(call, &a);
	fputc('\n', out);
}

static void list_tree(void)
{
	fchmodat(AT_FDCWD, root, 0700, 0);
	tree_list(out, open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

/* In a process of its own: descriptors, working directory, umask and limits are the sequence's. */
static void run_lines(char *lines)
{
	char *save;

	alarm(PATIENCE);
	umask(022);
	if (mkdir(root, 0755) < 0 || chdir(root) < 0)
		die(root);
	tree_make(root);
	for (char *line = strtok_r(lines, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		perform_line(line);
	set_limit(limit.rlim_max);
	for (int fd = 3; fd < 100; fd++)
		close(fd);
	list_tree();
	_exit(0);
}

static void run_sequence(const char *name, char *lines)
{
	int status;
	pid_t pid;

	fprintf(out, "sequence %s\n", name);
	fflush(out);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0)
		run_lines(lines);
	if (waitpid(pid, &status, 0) < 0)
		die("waitpid");
	if (status) {
		fprintf(out, "ended with status %#x\n", status);
		list_tree();
	}
	if (rmdir(root) < 0 && errno != ENOENT)
		fprintf(out, "the tree is left: %s\n", errno_name(errno));
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

	for (int fd = 3; fd < OUT_FD; fd++)
		close(fd);
	null = open("/dev/null", O_RDWR);
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		die("getrlimit");
	if (limit.rlim_max > 1024)
		limit.rlim_max = 1024;
	limit.rlim_cur = limit.rlim_max;
	set_limit(limit.rlim_cur);
	if (fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, OUT_FD) != OUT_FD)
		die("output");
	out = fdopen(OUT_FD, "w");
	setvbuf(out, NULL, _IOLBF, 0);
	if (!out || dup2(null, STDOUT_FILENO) < 0)
		die("output");
	close(null);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGIO, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
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
	fflush(out);
	return 0;
}
