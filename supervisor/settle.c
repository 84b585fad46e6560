#include "supervisor/settle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "supervisor/compat.h"
#include "supervisor/idset.h"
#include "supervisor/lockdown.h"
#include "supervisor/path.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(readlinkat), OWN(statx), OWN(getrandom), OWN(unlinkat), OWN_RENAMEAT2,
	  OWN_OLD(chmod, fchmodat));

/* How often it is tried against another session that takes away the right to write in the directory, which takes that one
 * longer than this takes us. */
#define TRIES 1000

bool settle_has_moved(const struct call *c, const struct object *dir)
{
	char name[PATH_MAX], number[16];
	ssize_t n;

	snprintf(number, sizeof(number), "%d", dir->fd);
	n = readlinkat(c->s->self_fd, number, name, sizeof(name));
	return n < 0 || (size_t)n != dir->len || memcmp(name, dir->name, dir->len) != 0;
}

int settle_judge(struct call *c, enum access a, struct entry *e, struct entry_verdict *ev)
{
	int rc;

	if (!settle_has_moved(c, &e->dir))
		return 0;
	rc = -entry_reread(c, e);
	if (rc || !e->exists) /* somebody removed it meanwhile */
		return rc;
	c->event.path = (struct bytes){NULL, 0};
	e->exists = e->hidden = false;
	return judge_entry(c, a, e, ev);
}

/* An act that removes an entry from a directory, and perhaps puts it into another. */
struct act {
	int dir;
	const char *leaf;
	int to;
	const char *as;
	unsigned flags;
};

static int act_unlink(const struct act *x)
{
	return unlinkat(x->dir, x->leaf, (int)x->flags) < 0 ? -errno : 0;
}

static int act_rename(const struct act *x)
{
	return renameat2(x->dir, x->leaf, x->to, x->as, x->flags) < 0 ? -errno : 0;
}

/* Makes it a directory that its owner may write in. Returns the mode that it had. */
static mode_t open_up(int dir)
{
	char proc[PATH_PROC_SIZE];
	struct statx st = {0};

	statx(dir, "", AT_EMPTY_PATH, STATX_MODE, &st);
	chmod(path_proc(dir, proc), (st.stx_mode & 07777) | S_IWUSR | S_IXUSR);
	return st.stx_mode & 07777;
}

static int insist(int (*fn)(const struct act *x), const struct act *x)
{
	char proc[PATH_PROC_SIZE];
	int rc = fn(x);

	for (int i = 0; rc == -EACCES && i < TRIES; i++) {
		mode_t dir = open_up(x->dir), to = open_up(x->to);

		rc = fn(x);
		chmod(path_proc(x->to, proc), to);
		chmod(path_proc(x->dir, proc), dir);
	}
	return rc;
}

/* One directory or the other: the one that it came from may be gone. */
bool settle_set_aside(struct call *c, const struct entry *e, const struct object *first)
{
	const int dirs[] = {first->fd, e->dir.fd};
	unsigned long long number = 0;
	char name[40];
	int rc = -ENOENT;

	for (size_t i = 0; rc < 0 && i < 2; i++) {
		struct act x = {.dir = e->dir.fd, .leaf = e->leaf, .to = dirs[i], .as = name};

		/* Early after the start of a machine there may be none: then it is only unlikely to be guessed. */
		if (getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0)
			number += (uintptr_t)&number;
		snprintf(name, sizeof(name), "undone-%016llx", number);
		rc = insist(act_rename, &x);
	}
	snprintf(c->message, sizeof(c->message),
		 "renaming was refused: another session changed the directory meanwhile; it %s %s (%.300s)",
		 rc < 0 ? "could not be taken back:" : "is now", rc < 0 ? strerror(-rc) : name, e->name);
	c->event.message = c->message;
	return rc == 0;
}

int settle_made(struct call *c, enum access a, struct entry *e, struct entry_verdict *ev)
{
	int rc = settle_judge(c, a, e, ev), err;
	struct act x = {.dir = e->dir.fd, .leaf = e->leaf, .to = e->dir.fd};

	if (rc == 0)
		return 0;
	x.flags = S_ISDIR(e->becomes) ? AT_REMOVEDIR : 0;
	err = -insist(act_unlink, &x);
	if (err == 0)
		idset_change(c->s->own_links, &e->st, 0, -1);
	else if (err != ENOENT)
		settle_set_aside(c, e, &e->dir);
	return rc;
}
