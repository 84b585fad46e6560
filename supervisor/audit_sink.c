#include "supervisor/audit_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "supervisor/jsonw.h"
#include "supervisor/lockdown.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(openat), OWN(close), OWN(dup3), OWN(fstat), OWN(newfstatat), OWN(pread64),
	  OWN(lseek), OWN(fsync), OWN(geteuid));

#define SINK_FLAGS (O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)

/* "audit trail NAME: TEXT" in err; bytes that act on a terminal are shown as \xNN. Returns -1. */
__attribute__((format(printf, 4, 5))) static int sink_fail(char *err, size_t size, const char *name,
							   const char *fmt, ...)
{
	va_list ap;
	int n = snprintf(err, size, "audit trail ");
	size_t len = n > 0 ? (size_t)n : 0, left = strlen(name), ch;

	/* The name gets what the reason leaves. */
	for (; left > 0 && len + 100 < size; name += ch ? ch : 1, left -= ch ? ch : 1) {
		ch = jsonw_char_shown(name, left);
		if (ch > 0)
			memcpy(err + len, name, ch);
		else
			snprintf(err + len, 5, "\\x%02x", (unsigned char)*name);
		len += ch ? ch : 4;
	}
	n = snprintf(err + len, size - len, "%s: ", left > 0 ? "..." : "");
	len += n > 0 ? (size_t)n : 0;
	va_start(ap, fmt);
	vsnprintf(err + len, size - len, fmt, ap);
	va_end(ap);
	return -1;
}

/* Opens the directory that holds the last name of path and makes the missing ones above it, for the owner
 * only. Returns the descriptor or -errno. */
static int dir_open(const char *path, const char *base)
{
	char name[NAME_MAX + 1];
	int dir = open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	while (dir >= 0) {
		path += strspn(path, "/");
		if (path >= base)
			return dir;
		size_t n = strcspn(path, "/");
		int next = -1, e = ENAMETOOLONG;
		if (n <= NAME_MAX) {
			memcpy(name, path, n);
			name[n] = '\0';
			next = openat(dir, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
			e = errno;
		}
		if (next < 0 && e == ENOENT) {
			if (mkdirat(dir, name, 0700) == 0 || errno == EEXIST)
				next = openat(dir, name, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
			e = errno;
		}
		close(dir);
		if (next < 0)
			return -e;
		dir = next;
		path += n;
	}
	return -errno;
}

static const char *open_reason(int dir, const char *base, int e)
{
	struct stat st;

	switch (e) {
	case ELOOP:
		return "is a symbolic link; name the file itself (or use - or fd:N)";
	case EISDIR:
		return "is a directory";
	case ENXIO:
		if (fstatat(dir, base, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISFIFO(st.st_mode))
			return "nobody reads this FIFO; start the reader first";
		return "is a socket or has no device behind it";
	default:
		return strerror(e);
	}
}

/* Why this object may not be the trail, or NULL. A second name could be written to by that name, and may be
 * one that somebody else chose, such as a start-up file that the trail would then be appended to. */
static const char *kind_refused(const struct stat *st)
{
	if (S_ISREG(st->st_mode))
		return st->st_nlink > 1 ? "has more than one hard link" : NULL;
	if (S_ISFIFO(st->st_mode) || S_ISCHR(st->st_mode))
		return NULL;
	return "is neither a file nor a FIFO";
}

/* True when the file ends within a line, as a killed writer or a full disk leaves it. */
static bool ends_in_line(int dir, const char *base, const struct stat *st)
{
	struct stat now;
	char last = '\n';
	int fd = openat(dir, base, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return false;
	if (fstat(fd, &now) == 0 && now.st_dev == st->st_dev && now.st_ino == st->st_ino && now.st_size > 0 &&
	    pread(fd, &last, 1, now.st_size - 1) != 1)
		last = '\n';
	close(fd);
	return last != '\n';
}

static int sink_open_path(struct audit_sink *s, char *err, size_t size)
{
	struct stat st;
	const char *slash = strrchr(s->name, '/');

	s->base = slash ? slash + 1 : s->name;
	if (!*s->base)
		return sink_fail(err, size, s->name, "%s", *s->name ? "is a directory" : "empty name");
	int dir = dir_open(s->name, s->base);
	if (dir < 0)
		return sink_fail(err, size, s->name, "its directory: %s", strerror(-dir));
	int fd = openat(dir, s->base, SINK_FLAGS | O_CREAT, 0600);
	if (fd < 0) {
		sink_fail(err, size, s->name, "%s", open_reason(dir, s->base, errno));
		close(dir);
		return -1;
	}
	const char *refused = fstat(fd, &st) < 0 ? strerror(errno) : kind_refused(&st);
	if (refused || outfd_adopt(&s->out, fd) < 0) {
		close(fd);
		close(dir);
		return sink_fail(err, size, s->name, "%s", refused ? refused : "cannot be looked at");
	}
	if (s->out.regular) {
		s->torn_before = ends_in_line(dir, s->base, &st);
		s->dir = dir;
	} else {
		close(dir);
	}
	return 0;
}

static int sink_open_fd(struct audit_sink *s, const char *digits, char *err, size_t size)
{
	char *end;

	errno = 0;
	long n = strtol(digits, &end, 10);
	if (*digits < '0' || *digits > '9' || *end || errno || n > INT_MAX)
		return sink_fail(err, size, s->name, "not a descriptor number");
	int r = outfd_borrow(&s->out, (int)n);
	if (r == -EBADF)
		return sink_fail(err, size, s->name, "not open for writing");
	if (r < 0)
		return sink_fail(err, size, s->name, "%s", strerror(-r));
	/* The command must not get it: it could write records of its own. */
	if (n > STDERR_FILENO)
		fcntl((int)n, F_SETFD, FD_CLOEXEC);
	return 0;
}

int audit_sink_open(struct audit_sink *s, const char *file, int stderr_fd, char *err, size_t size)
{
	bool is_stderr = strcmp(file, "-") == 0;
	int r;

	*s = (struct audit_sink){.out.fd = -1, .dir = -1};
	s->name = strdup(is_stderr ? "stderr" : file);
	if (!s->name)
		return sink_fail(err, size, file, "out of memory");
	if (is_stderr) {
		r = outfd_borrow(&s->out, stderr_fd);
		if (r < 0)
			sink_fail(err, size, s->name, "%s", strerror(-r));
	} else if (strncmp(file, "fd:", 3) == 0) {
		r = sink_open_fd(s, file + 3, err, size);
	} else {
		r = sink_open_path(s, err, size);
	}
	if (r < 0)
		audit_sink_close(s);
	return r < 0 ? -1 : 0;
}

/* A new file under the old name: made by us, or by the program that rotates, for us alone. */
static int sink_open_again(const struct audit_sink *s)
{
	struct stat st;
	int fd = openat(s->dir, s->base, SINK_FLAGS | O_CREAT | O_EXCL, 0600);

	if (fd < 0 && errno == EEXIST)
		fd = openat(s->dir, s->base, SINK_FLAGS);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink != 1 || st.st_uid != geteuid()) {
		close(fd);
		return -1;
	}
	return fd;
}

/* The new file takes the number of the old one, so that audit_fd() stays true. When the name holds something
 * that is not acceptable, the old file goes on. */
static void sink_follow(struct audit_sink *s)
{
	struct timespec now;
	struct stat st, mine;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (s->dir < 0 || s->checked == (uint64_t)now.tv_sec)
		return;
	s->checked = (uint64_t)now.tv_sec;
	if (fstat(s->out.fd, &mine) < 0)
		return;
	if (fstatat(s->dir, s->base, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_dev == mine.st_dev &&
	    st.st_ino == mine.st_ino)
		return;
	int fd = sink_open_again(s);
	if (fd < 0)
		return;
	if (dup3(fd, s->out.fd, O_CLOEXEC) >= 0) {
		s->torn_before = false;
		s->off = 0;
	}
	close(fd);
}

/* Another session may have appended to the file behind our part of a line (its own line is spoilt then);
 * the rest of ours would make no sense after it. */
static bool sink_part_is_last(const struct audit_sink *s)
{
	struct stat st;

	return !s->out.regular || fstat(s->out.fd, &st) < 0 || st.st_size == s->end;
}

int audit_sink_write(struct audit_sink *s, const char *line, size_t len)
{
	sink_follow(s);
	if (s->off > 0 && !sink_part_is_last(s))
		s->off = 0;
	if (s->torn_before) {
		ssize_t n = outfd_write(&s->out, "\n", 1);
		if (n < 0)
			return (int)n;
		s->torn_before = false;
	}
	while (s->off < len) {
		ssize_t n = outfd_write(&s->out, line + s->off, len - s->off);
		if (n < 0) {
			s->end = s->out.regular ? lseek(s->out.fd, 0, SEEK_CUR) : 0;
			return (int)n;
		}
		s->off += (size_t)n;
	}
	s->off = 0;
	return 0;
}

void audit_sink_skip(struct audit_sink *s)
{
	if (s->off > 0 && sink_part_is_last(s))
		s->torn_before = outfd_write(&s->out, "\n", 1) != 1;
	s->off = 0;
}

void audit_sink_sync(const struct audit_sink *s)
{
	if (s->out.regular)
		fsync(s->out.fd);
}

void audit_sink_close(struct audit_sink *s)
{
	outfd_close(&s->out);
	if (s->dir >= 0)
		close(s->dir);
	free(s->name);
	*s = (struct audit_sink){.out.fd = -1, .dir = -1};
}
