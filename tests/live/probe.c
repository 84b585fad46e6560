/*
 * Output, fresh objects and the choice of what to run.
 *     probe TREE SECTION      performs a section's operations in TREE/SECTION, which it makes
 *     probe TREE list         prints all that TREE holds
 *     probe sections          prints the names of the sections
 */
#include "probe.h"

#include <dirent.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/xattr.h>

char tree[TREE_MAX];
bool is_root;
static time_t started;

const char *const kind_names[K_KINDS] = {"absent", "file",    "ro",	"secret", "hard", "dir", "full",
					 "link",   "linkdir", "dangle", "loop",	  "fifo", "sock"};

void die(const char *what)
{
	int err = errno;

	fflush(stdout);
	fprintf(stderr, "probe: %s: %s\n", what, strerror(err));
	_exit(70);
}

void nap_ms(int ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000L};

	nanosleep(&t, NULL);
}

static char line[65536]; /* being made */
static size_t line_len;

static void add(const char *p, size_t n)
{
	if (line_len + n > sizeof(line) - 1)
		n = sizeof(line) - 1 - line_len;
	memcpy(line + line_len, p, n);
	line_len += n;
	line[line_len] = '\0';
}

void say_bytes(const char *p, size_t n)
{
	char hex[8];

	for (size_t i = 0; i < n; i++) {
		unsigned char b = (unsigned char)p[i];

		if (b > 32 && b < 127 && b != '\\') {
			add(p + i, 1);
			continue;
		}
		snprintf(hex, sizeof(hex), "\\x%02x", b);
		add(hex, 4);
	}
}

void say(const char *fmt, ...)
{
	static char text[16384];
	size_t n = strlen(tree);
	const char *at, *from = text;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	while (n && (at = strstr(from, tree))) {
		add(from, (size_t)(at - from));
		add("@", 1);
		from = at + n;
	}
	add(from, strlen(from));
}

void done(void)
{
	add("\n", 1);
	fwrite(line, 1, line_len, stdout);
	fflush(stdout);
	line_len = 0;
}

void say_path(const char *path)
{
	size_t n = strlen(path);

	if (n > 60) {
		say_bytes(path, 20);
		say("...(%zu)", n);
	} else {
		say_bytes(path, n);
	}
}

#define E(x)                                                                                                 \
	{                                                                                                    \
		x, #x                                                                                        \
	}
static const struct {
	int err;
	const char *name;
} errnos[] = {
	E(EPERM),	    E(ENOENT),	     E(ESRCH),	     E(EINTR),	       E(EIO),
	E(ENXIO),	    E(E2BIG),	     E(ENOEXEC),     E(EBADF),	       E(ECHILD),
	E(EAGAIN),	    E(ENOMEM),	     E(EACCES),	     E(EFAULT),	       E(ENOTBLK),
	E(EBUSY),	    E(EEXIST),	     E(EXDEV),	     E(ENODEV),	       E(ENOTDIR),
	E(EISDIR),	    E(EINVAL),	     E(ENFILE),	     E(EMFILE),	       E(ENOTTY),
	E(ETXTBSY),	    E(EFBIG),	     E(ENOSPC),	     E(ESPIPE),	       E(EROFS),
	E(EMLINK),	    E(EPIPE),	     E(EDOM),	     E(ERANGE),	       E(ENAMETOOLONG),
	E(ENOSYS),	    E(ENOTEMPTY),    E(ELOOP),	     E(ENODATA),       E(EOPNOTSUPP),
	E(EPROTONOSUPPORT), E(EAFNOSUPPORT), E(EADDRINUSE),  E(EADDRNOTAVAIL), E(ECONNREFUSED),
	E(ENOTCONN),	    E(EISCONN),	     E(ENOPROTOOPT), E(EPROTOTYPE),    E(ESOCKTNOSUPPORT),
	E(EINPROGRESS),	    E(EALREADY),     E(ECONNRESET),  E(ENOTSOCK),      E(EDESTADDRREQ),
	E(EMSGSIZE),	    E(EOVERFLOW),    E(ETIMEDOUT),   E(ENETUNREACH),   E(EHOSTUNREACH),
	E(EDQUOT),	    E(ESTALE),
};

const char *errno_name(int err)
{
	static char buf[16];

	for (size_t i = 0; i < N(errnos); i++)
		if (errnos[i].err == err)
			return errnos[i].name;
	snprintf(buf, sizeof(buf), "E%d", err);
	return buf;
}

long result(long rc)
{
	if (rc < 0)
		say(" = %ld %s", rc, errno_name(errno));
	else
		say(" = %ld", rc);
	return rc;
}

static const char *when(const struct timespec *t)
{
	static char buf[4][48];
	static int i;
	time_t now = time(NULL);

	i = (i + 1) % 4;
	if (t->tv_sec == OLD_TIME && t->tv_nsec == 0)
		return "old";
	if (t->tv_sec >= started - 2 && t->tv_sec <= now + 2)
		return "new";
	snprintf(buf[i], sizeof(buf[i]), "%lld.%09ld", (long long)t->tv_sec, t->tv_nsec);
	return buf[i];
}

static char type_of(mode_t m)
{
	return S_ISREG(m)    ? '-'
	       : S_ISDIR(m)  ? 'd'
	       : S_ISLNK(m)  ? 'l'
	       : S_ISFIFO(m) ? 'p'
	       : S_ISSOCK(m) ? 's'
	       : S_ISCHR(m)  ? 'c'
	       : S_ISBLK(m)  ? 'b'
			     : '?';
}

static void describe_stat(const struct stat *st)
{
	say(" %c%04o %u:%u n%lu", type_of(st->st_mode), st->st_mode & 07777, st->st_uid, st->st_gid,
	    (unsigned long)st->st_nlink);
	if (S_ISREG(st->st_mode))
		say(" s%lld", (long long)st->st_size);
	say(" m:%s", when(&st->st_mtim));
}

static void describe_content(const char *name)
{
	char buf[64];
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0) {
		say(" unreadable:%s", errno_name(errno));
		return;
	}
	n = read(fd, buf, sizeof(buf));
	say(" '");
	say_bytes(buf, n > 0 ? (size_t)n : 0);
	say("'");
	close(fd);
}

static int not_dots(const struct dirent *d)
{
	return strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void describe_dir(const char *name)
{
	struct dirent **list;
	int n = scandir(name, &list, not_dots, by_bytes);

	say(" [");
	if (n < 0)
		say("%s", errno_name(errno));
	for (int i = 0; i < n; i++) {
		say("%s", i ? " " : "");
		say_path(list[i]->d_name);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	say("]");
}

void describe(const char *name)
{
	char target[PATH_MAX];
	struct stat st;
	ssize_t n;

	say(" | ");
	say_path(name);
	if (fstatat(AT_FDCWD, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		say(" %s", errno == ENOENT ? "-" : errno_name(errno));
		return;
	}
	describe_stat(&st);
	if (S_ISREG(st.st_mode)) {
		describe_content(name);
	} else if (S_ISDIR(st.st_mode)) {
		describe_dir(name);
	} else if (S_ISLNK(st.st_mode)) {
		n = readlink(name, target, sizeof(target) - 1);
		target[n > 0 ? n : 0] = '\0';
		say(" -> %s", target);
	}
}

void nonblocking(int fd)
{
	fcntl(fd, F_SETFL, (fcntl(fd, F_GETFL) | O_NONBLOCK) & ~O_ASYNC);
}

void describe_fd(int fd)
{
	int fl = fcntl(fd, F_GETFL), cloexec = fcntl(fd, F_GETFD);
	struct stat st;

	/*
	 * O_NOFOLLOW stays visible in F_GETFL and nowhere else. An existing object is opened through its pin inside, which
	 * cannot carry it.
	 */
	say(" fd=%d fl=%#x%s", fd, fl < 0 ? fl : fl & ~O_NOFOLLOW, cloexec & FD_CLOEXEC ? " cloexec" : "");
	if (fstat(fd, &st) == 0)
		say(" %c%04o n%lu", type_of(st.st_mode), st.st_mode & 07777, (unsigned long)st.st_nlink);
	else
		say(" fstat %s", errno_name(errno));
}

void set_old(const char *name)
{
	struct timespec t[2] = {{OLD_TIME, 0}, {OLD_TIME, 0}};

	utimensat(AT_FDCWD, name, t, AT_SYMLINK_NOFOLLOW);
}

static int remove_one(const char *name, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	return type == FTW_DP || type == FTW_DNR || type == FTW_D ? rmdir(name) : unlink(name);
}

void remove_all(const char *name)
{
	if (unlink(name) == 0 || errno == ENOENT || errno == ENOTDIR)
		return;
	if (chmod(name, 0700) < 0 && errno != ENOENT)
		die(name);
	nftw(name, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void fresh_file(const char *name, const char *text, mode_t mode)
{
	mode_t old = umask(0);
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	umask(old);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) || fchmod(fd, mode) < 0)
		die(name);
	close(fd);
	set_old(name);
}

static void fresh_dir(const char *name, bool full)
{
	char in[PATH_MAX];

	if (mkdir(name, 0755) < 0 || chmod(name, 0755) < 0)
		die(name);
	snprintf(in, sizeof(in), "%s/in", name);
	if (full)
		fresh_file(in, "inner", 0644);
	set_old(name);
}

static void fresh_socket(const char *name)
{
	if (mknod(name, S_IFSOCK | 0644, 0) < 0)
		die(name);
	set_old(name);
}

static void fresh_link(const char *name, const char *to)
{
	if (symlink(to, name) < 0)
		die(name);
	set_old(name);
}

void fresh(const char *name, enum kind k)
{
	char other[PATH_MAX];

	remove_all(name);
	snprintf(other, sizeof(other), "%s.hard", name);
	switch (k) {
	case K_ABSENT:
	case K_KINDS:
		break;
	case K_FILE:
		fresh_file(name, "content", 0644);
		break;
	case K_RO:
		fresh_file(name, "content", 0444);
		break;
	case K_SECRET:
		fresh_file(name, "content", 0);
		break;
	case K_HARD:
		fresh_file(name, "content", 0644);
		remove_all(other);
		if (link(name, other) < 0)
			die(other);
		break;
	case K_DIR:
	case K_FULL:
		fresh_dir(name, k == K_FULL);
		break;
	case K_LINK:
		remove_all("t_file");
		fresh_file("t_file", "target", 0644);
		fresh_link(name, "t_file");
		break;
	case K_LINKDIR:
		remove_all("t_dir");
		fresh_dir("t_dir", true);
		fresh_link(name, "t_dir");
		break;
	case K_DANGLE:
		remove_all("t_none");
		fresh_link(name, "t_none");
		break;
	case K_LOOP:
		fresh_link(name, name);
		break;
	case K_FIFO:
		if (mkfifo(name, 0644) < 0)
			die(name);
		set_old(name);
		break;
	case K_SOCK:
		fresh_socket(name);
		break;
	}
}

int in_child(void (*fn)(void *), void *arg)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		fn(arg);
		fflush(stdout);
		_exit(0);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			die("waitpid");
	return status;
}

/* All that is beneath the tree, with extended attributes. */
static int list_one(const char *name, const struct stat *st, int type, struct FTW *ftw)
{
	char names[4096], value[256];
	ssize_t n;

	(void)ftw;
	say("%s", name);
	if (type == FTW_NS) {
		say(" ?"), done();
		return 0;
	}
	describe_stat(st);
	if (S_ISREG(st->st_mode))
		describe_content(name);
	n = readlink(name, value, sizeof(value) - 1);
	if (n >= 0)
		say(" -> %.*s", (int)n, value);
	n = llistxattr(name, names, sizeof(names));
	for (char *p = names; n > 0 && p < names + n; p += strlen(p) + 1) {
		say(" %s=", p);
		ssize_t m = lgetxattr(name, p, value, sizeof(value));
		say_bytes(value, m > 0 ? (size_t)m : 0);
	}
	done();
	return 0;
}

static const struct section *const all[] = {
	look_sections,	  open_sections,    path_sections,   name_sections,	attr_sections,
	socket_sections,  fifo_sections,    proc_sections,   process_sections,	deep_sections,
	ident_sections,	  ipc_sections,	    magic_sections,  term_sections,	share_sections,
	special_sections, resolve_sections, notice_sections, exec_sections,	ground_sections,
	wait_sections,	  vm_sections,	    inet_sections,   datagram_sections, held_sections,
	beside_sections,  full_sections,    arch_sections,   sticky_sections,	signal_sections,
	served_sections};

static int run(const char *name)
{
	for (size_t i = 0; i < N(all); i++)
		for (const struct section *s = all[i]; s->name; s++) {
			if (strcmp(s->name, name) != 0)
				continue;
			if (mkdir(name, 0755) < 0 || chdir(name) < 0)
				die(name);
			s->run();
			fflush(stdout);
			return 0;
		}
	fprintf(stderr, "probe: no section %s\n", name);
	return 64;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "sections") == 0) {
		for (size_t i = 0; i < N(all); i++)
			for (const struct section *s = all[i]; s->name; s++)
				puts(s->name);
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "mark") == 0) {
		say("a new program %ld", syscall(SYS_prctl, 3, 0, 0, 0, 0)), done();
		return 0;
	}
	if (argc < 3)
		return 64;
	if (chdir(argv[1]) < 0 || !getcwd(tree, sizeof(tree)))
		die(argv[1]);
	started = time(NULL);
	is_root = geteuid() == 0;
	umask(022);
	if (strcmp(argv[2], "list") == 0) {
		started -= 300;
		return nftw(tree, list_one, 8, FTW_PHYS) < 0;
	}
	/* What the caller of this program left open shifts the numbers. */
	for (int fd = 3; fd < 256; fd++)
		close(fd);
	alarm(40);
	for (int i = 2; i < argc; i++) {
		int rc = run(argv[i]);

		if (rc || chdir(tree) < 0)
			return rc ? rc : 70;
	}
	return 0;
}
