/*
 * One call of a sequence: is it harmless, what does it give.
 */
#include "sequence.h"

#include <linux/stat.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Signals of the limit that the thread got. */
static _Thread_local volatile sig_atomic_t beyond_limit;

static void note_signal(int sig __attribute__((unused)))
{
	beyond_limit++;
}

void perform_begin(void)
{
	struct sigaction act = {.sa_handler = note_signal};

	sigaction(SIGXFSZ, &act, NULL);
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

static void set_limit(int what, rlim_t n, rlim_t most)
{
	struct rlimit l = {.rlim_cur = n, .rlim_max = most};

	if (setrlimit(what, &l) < 0)
		abort();
}

void perform_limit(struct runner *r, rlim_t n)
{
	set_limit(RLIMIT_NOFILE, n, r->nofile.rlim_max);
}

static bool opens(const struct call *call)
{
	return strncmp(call->name, "open", 4) == 0 || strcmp(call->name, "creat") == 0 ||
	       call->nr == SYS_truncate;
}

static bool reads_attributes(const struct call *call)
{
	return strstr(call->name, "getxattr") || strstr(call->name, "listxattr");
}

/* What the call would touch is in the tree. */
static bool is_harmless(struct runner *r, const struct call *call, const struct args *a)
{
	bool allowed = true;

	if (a->descriptor >= 0 && call->nr != SYS_close)
		allowed = guard_descriptor(r->root, (int)a->value[a->descriptor]);
	for (int i = 0; allowed && i < a->n_paths; i++) {
		const char *path = args_string(a->value[a->path[i]]);
		int base = a->base[i] < 0 ? AT_FDCWD : (int)a->value[a->base[i]];

		allowed = path ? guard_path(r->root, base, path) : guard_descriptor(r->root, base);
		if (allowed && path && (opens(call) || reads_attributes(call)))
			allowed = guard_object(base, path);
	}
	/* Of the working directory itself, without a name: kernels do not agree. */
	if (strstr(call->name, "xattrat") && a->value[0] == AT_FDCWD &&
	    (!args_string(a->value[1]) || !*args_string(a->value[1])))
		allowed = false;
	if (allowed && call->nr == SYS_ioctl)
		allowed = guard_reopen((int)a->value[0]);
	return allowed;
}

static bool is_allowed(struct runner *r, const struct call *call, const struct args *a)
{
	bool allowed;

	/* The limits belong to all. */
	if (r->base)
		return is_harmless(r, call, a);
	perform_limit(r, r->nofile.rlim_max);
	allowed = is_harmless(r, call, a);
	perform_limit(r, r->nofile.rlim_cur);
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

/* Which number the kernel gives depends on what others hold at that moment: to the first that is free of the own ones. */
static int move_descriptor(const struct runner *r, int fd)
{
	int to = r->base + FIRST_FD, flags = fcntl(fd, F_GETFD);

	if (!r->base || fd >= to)
		return fd;
	while (fcntl(to, F_GETFD) >= 0)
		to++;
	to = dup3(fd, to, flags & FD_CLOEXEC ? O_CLOEXEC : 0);
	close(fd);
	return to;
}

static void tell_descriptor(struct runner *r, int fd)
{
	int flags;
	struct stat st;

	fd = move_descriptor(r, fd);
	flags = fcntl(fd, F_GETFL);
	if (fstat(fd, &st) < 0)
		st.st_mode = 0;
	/* O_NOFOLLOW is gone from what the supervisor opened: it opens what it has pinned, by a link. */
	fprintf(r->out, " = %d flags %#x %d mode %o links %lu", fd - r->base, flags & ~O_NOFOLLOW,
		fcntl(fd, F_GETFD), st.st_mode, (unsigned long)st.st_nlink);
}

static void tell_bytes(FILE *out, const char *p, long n)
{
	if (memchr(p, '#', (size_t)n)) /* the name of a file that has none is its number */
		return;
	fputc(' ', out);
	for (long i = 0; i < n && i < 300; i++)
		fprintf(out, p[i] > 32 && p[i] < 127 ? "%c" : "\\x%02x", (unsigned char)p[i]);
}

static void tell_stat(FILE *out, const char *room)
{
	struct stat st;

	memcpy(&st, room, sizeof(st));
	fprintf(out, " %o %u:%u n%lu s%lld", st.st_mode, st.st_uid, st.st_gid, (unsigned long)st.st_nlink,
		S_ISDIR(st.st_mode) ? 0 : (long long)st.st_size);
}

static void tell_statx(FILE *out, const char *room)
{
	struct statx st;

	memcpy(&st, room, sizeof(st));
	fprintf(out, " %o %u:%u n%u s%llu", st.stx_mode, st.stx_uid, st.stx_gid, st.stx_nlink,
		S_ISDIR(st.stx_mode) ? 0 : (unsigned long long)st.stx_size);
}

static void tell_result(struct runner *r, const struct call *call, const struct args *a, long rc)
{
	if (rc < 0) {
		fprintf(r->out, " = %s", errno_name(errno));
		return;
	}
	if (gives_descriptor(call)) {
		tell_descriptor(r, (int)rc);
		return;
	}
	fprintf(r->out, " = %ld", rc);
	switch (call->tells) {
	case TELLS_STAT:
		tell_stat(r->out, a->room);
		break;
	case TELLS_STATX:
		tell_statx(r->out, a->room);
		break;
	case TELLS_BYTES:
		tell_bytes(r->out, a->room, rc);
		break;
	case TELLS_FLAGS:
		tell_bytes(r->out, a->room, 4);
		break;
	case TELLS_NOTHING:
		break;
	}
}

/* A socket's name. The address has room for less than a path. */
static long bind_name(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	size_t n = strnlen(path, sizeof(a.sun_path));
	long rc;
	int err;

	if (fd < 0)
		return fd;
	memcpy(a.sun_path, path, n);
	rc = bind(fd, (struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
	err = errno;
	close(fd);
	errno = err;
	return rc;
}

static void do_call(struct runner *r, const struct call *call, struct args *a)
{
	rlim_t fsize = r->base ? RLIM_INFINITY : r->fsize.rlim_cur;
	const char *path;
	long rc;
	int err;

	beyond_limit = 0;
	if (fsize != RLIM_INFINITY)
		set_limit(RLIMIT_FSIZE, fsize, r->fsize.rlim_max);
	if (call->nr == CALL_BIND)
		rc = (path = args_string(a->value[0])) && *path ? bind_name(path) : (errno = EFAULT, -1);
	else
		rc = syscall(call->nr, a->value[0], a->value[1], a->value[2], a->value[3], a->value[4],
			     a->value[5]);
	err = errno;
	if (fsize != RLIM_INFINITY)
		set_limit(RLIMIT_FSIZE, RLIM_INFINITY, r->fsize.rlim_max);
	errno = err;
	tell_result(r, call, a, rc);
	if (beyond_limit)
		fprintf(r->out, " SIGXFSZ %d", (int)beyond_limit);
}

/* Limits, which a call has together with those of the same process. */
static bool set_limits(struct runner *r, const struct call *call, const struct args *a)
{
	if (call->nr == CALL_NOFILE && !r->base) {
		r->nofile.rlim_cur = (rlim_t)a->value[0];
		perform_limit(r, r->nofile.rlim_cur);
	} else if (call->nr == CALL_FSIZE) {
		r->fsize.rlim_cur = a->value[0] < 0 ? RLIM_INFINITY : (rlim_t)a->value[0];
	}
	return call->nr == CALL_NOFILE || call->nr == CALL_FSIZE;
}

static void perform(struct runner *r, const struct call *call, struct args *a)
{
	if (set_limits(r, call, a))
		return;
	if (call->nr == CALL_CHAIN)
		make_chain((int)a->value[0]);
	else if (!is_allowed(r, call, a))
		fputs(" outside", r->out);
	else if (!make_patient(call, a))
		fputs(" would wait", r->out);
	else
		do_call(r, call, a);
}

void perform_line(struct runner *r, const char *line)
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
	fprintf(r->out, "%s", line);
	call = call_find(word[0]);
	if (!call || !args_parse(call, word + 1, n - 1, r, &a))
		fputs(" is not understood", r->out);
	else
		perform(r, call, &a);
	fputc('\n', r->out);
}
