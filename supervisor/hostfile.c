#include "supervisor/hostfile.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/lockdown.h"
#include "supervisor/session.h"
#include "supervisor/way.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(openat), OWN(fstat), OWN(newfstatat), OWN(pread64), OWN(close));
OWN_CALLS(OWN_GATEWAY, OWN(pread64));

struct hostfile {
	pthread_mutex_t lock;
	const struct session *s;
	const char *path;
	struct stat was; /* all zero: it was not there */
	bool held;
	unsigned number;
	char *text;
	size_t len;
	struct way way;
};

/* A directory matters as the way to what is in it, anything else for what it says, too. */
static bool may_change(const struct session *s, const char *name, mode_t mode)
{
	static const enum access accesses[] = {ACCESS_RENAME,	 ACCESS_DELETE, ACCESS_WRITE,
					       ACCESS_LINK_FROM, ACCESS_CREATE, ACCESS_MKDIR};
	struct request q = {.type = S_ISDIR(mode) ? OBJ_DIR
				    : mode	  ? OBJ_OTHER
						  : OBJ_ABSENT,
			    .path = name,
			    .len = strlen(name)};
	size_t n = S_ISDIR(mode) ? 2 : sizeof(accesses) / sizeof(*accesses);

	for (size_t i = 0; i < n; i++) {
		q.access = accesses[i];
		if (policy_decide(s->policy, &q).decision != VERDICT_DENY)
			return true;
	}
	return false;
}

static void visit(const char *name, mode_t mode, void *arg)
{
	struct hostfile *f = arg;

	f->held |= may_change(f->s, name, mode);
}

/* By a descriptor that the command was started with, or by another name, which hard links are. */
static bool is_reached_otherwise(const struct session *s, const struct stat *st)
{
	for (int i = 0; i < s->n_stdio; i++)
		if (s->stdio[i].dev == st->st_dev && s->stdio[i].ino == st->st_ino &&
		    s->stdio[i].accmode != O_RDONLY)
			return true;
	return S_ISREG(st->st_mode) && st->st_nlink > 1 && s->config->hardlinks == HARDLINKS_ALLOW;
}

/* Each name on the way is judged, and what is opened is the end of that way. */
static void find_out(struct hostfile *f)
{
	f->way.visit = f->s ? visit : NULL;
	f->way.arg = f;
	if (way_follow(&f->way, f->path) < 0)
		f->way.done[0] = '\0'; /* as one that is not there */
	if (f->s && (f->s->log_only || is_reached_otherwise(f->s, &f->was)))
		f->held = true;
}

static int open_end(const struct hostfile *f)
{
	/* A FIFO would wait. */
	return f->way.done[0] ? open(f->way.done, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW) : -1;
}

static void take(struct hostfile *f)
{
	int fd = open_end(f);

	free(f->text);
	f->text = fd >= 0 ? hostfile_read_fd(fd, &f->len) : NULL;
	f->number++;
	if (fd >= 0)
		close(fd);
}

/* Whether it is another file than at the last call, or says something else. */
static bool is_new(struct hostfile *f)
{
	struct stat st;
	bool same;

	if (stat(f->path, &st) < 0)
		memset(&st, 0, sizeof(st));
	same = st.st_dev == f->was.st_dev && st.st_ino == f->was.st_ino && st.st_size == f->was.st_size &&
	       st.st_nlink == f->was.st_nlink && st.st_mtim.tv_sec == f->was.st_mtim.tv_sec &&
	       st.st_mtim.tv_nsec == f->was.st_mtim.tv_nsec;
	f->was = st;
	return !same;
}

struct hostfile *hostfile_new(const struct session *s, const char *path)
{
	struct hostfile *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	pthread_mutex_init(&f->lock, NULL);
	f->s = s;
	f->path = path;
	is_new(f);
	find_out(f);
	take(f);
	return f;
}

void hostfile_free(struct hostfile *f)
{
	if (!f)
		return;
	pthread_mutex_destroy(&f->lock);
	free(f->text);
	free(f);
}

static void look(struct hostfile *f)
{
	if (f->held || !is_new(f))
		return;
	find_out(f);
	if (!f->held)
		take(f);
}

unsigned hostfile_look(struct hostfile *f)
{
	unsigned number;

	pthread_mutex_lock(&f->lock);
	look(f);
	number = f->number;
	pthread_mutex_unlock(&f->lock);
	return number;
}

bool hostfile_pass(struct hostfile *f, unsigned *number, int *fd)
{
	bool passes;

	pthread_mutex_lock(&f->lock);
	look(f);
	passes = !f->held && f->number != *number;
	if (passes) {
		*number = f->number;
		*fd = open_end(f);
	}
	pthread_mutex_unlock(&f->lock);
	return passes;
}

char *hostfile_text(struct hostfile *f, size_t *len)
{
	char *copy;

	pthread_mutex_lock(&f->lock);
	copy = f->text ? malloc(f->len + 1) : NULL;
	if (copy)
		memcpy(copy, f->text, f->len);
	*len = copy ? f->len : 0;
	pthread_mutex_unlock(&f->lock);
	return copy;
}

bool hostfile_is_held(struct hostfile *f)
{
	bool held;

	pthread_mutex_lock(&f->lock);
	held = f->held;
	pthread_mutex_unlock(&f->lock);
	return held;
}

char *hostfile_read_fd(int fd, size_t *len)
{
	size_t size = 4096, n = 0;
	char *buf = malloc(size), *more;
	ssize_t r = -1;

	while (buf && n < HOSTFILE_MAX) {
		r = pread(fd, buf + n, size - n, (off_t)n);
		if (r <= 0)
			break;
		n += (size_t)r;
		if (n < size)
			continue;
		size *= 2;
		more = realloc(buf, size);
		if (!more)
			break;
		buf = more;
	}
	if (r < 0) {
		free(buf);
		return NULL;
	}
	*len = n;
	return buf;
}
