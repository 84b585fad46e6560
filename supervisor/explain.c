/*
 * A child of the process plays the command, so that /proc/self and its kin are those of a member of the session.
 * Nothing is changed: objects are pinned with O_PATH and judged, and that is all.
 */
#include "supervisor/explain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/answer.h"
#include "supervisor/child.h"
#include "supervisor/explain_net.h"
#include "supervisor/idset.h"
#include "supervisor/judge.h"
#include "supervisor/longname.h"
#include "supervisor/path.h"
#include "supervisor/program.h"
#include "supervisor/rules.h"
#include "supervisor/setup.h"

#define ALLOWED 0
#define REFUSED 1
#define FAILED	125

#define MAX_LINKS 40

static const struct operation {
	const char *name;
	enum access access; /* to what exists */
	enum access absent; /* to what does not */
	bool entry;	    /* acts on the entry: a symbolic link is not followed */
} operations[] = {
	{"read", ACCESS_READ, ACCESS_READ, false},
	{"write", ACCESS_WRITE, ACCESS_CREATE, false},
	{"create", ACCESS_WRITE, ACCESS_CREATE, false},
	{"delete", ACCESS_DELETE, ACCESS_DELETE, true},
	{"rename", ACCESS_RENAME, ACCESS_RENAME, true},
	{"exec", ACCESS_EXEC, ACCESS_EXEC, false},
	{"connect", ACCESS_CONNECT_UNIX, ACCESS_CONNECT_UNIX, false},
};
#define N_OPERATIONS (sizeof(operations) / sizeof(*operations))

static const struct operation *find_operation(const char *name)
{
	for (size_t i = 0; i < N_OPERATIONS; i++)
		if (strcmp(name, operations[i].name) == 0)
			return &operations[i];
	return NULL;
}

/* Begins a question anew: path is resolved by functions that change the buffer. */
static void set_path(struct call *c, const char *path)
{
	memset(&c->event, 0, sizeof(c->event));
	c->message[0] = c->suggestion[0] = '\0';
	snprintf(c->path[0], PATH_MAX, "%s", path);
}

static int accmode_of(enum access a)
{
	return a == ACCESS_WRITE ? O_WRONLY : O_RDONLY;
}

static int ask_entry(struct call *c, struct answer *an, struct entry *e)
{
	struct entry_verdict ev;

	an->name = e->name;
	an->len = e->len;
	an->exists = e->exists;
	an->entry = true;
	an->fd = e->dir.fd;
	an->st = e->exists ? e->st : e->dir.st;
	judge_entry(c, an->access, e, &ev);
	answer_judged(c, an);
	return 0;
}

/* Deeper than one missing name: the way that exists, then the rest as it is written. */
static int ask_far(struct call *c, struct answer *an, const char *path)
{
	char copy[PATH_MAX], *rest;
	struct object o;
	size_t n;
	int rc;

	snprintf(copy, sizeof(copy), "%s", path);
	do {
		rest = strrchr(copy, '/');
		if (!rest)
			break;
		*rest = '\0';
		set_path(c, *copy ? copy : "/");
		rc = resolve_object(c, 0, AT_FDCWD, 0, 0, &o);
	} while (rc == -ENOENT && *copy);
	if (!rest) {
		set_path(c, ".");
		rc = resolve_object(c, 0, AT_FDCWD, 0, 0, &o);
	}
	if (rc < 0)
		return rc;
	n = o.len == 1 ? 0 : o.len;
	rest = strdup(rest ? path + (rest - copy) : path);
	if (!rest)
		return -ENOMEM;
	rc = answer_by_name(c, an, n, rest);
	free(rest);
	object_close(&o);
	return rc;
}

/* Nothing is there, or only a symbolic link to nothing, which a program that makes the file follows. */
static int ask_absent(struct call *c, struct answer *an, const char *path, bool follow)
{
	char target[PATH_MAX], next[PATH_MAX];
	struct entry e;
	ssize_t n;
	int rc;

	if (path_wants_directory(path) && an->access == ACCESS_CREATE)
		an->access = ACCESS_MKDIR;
	snprintf(next, sizeof(next), "%s", path);
	for (int links = 0; links < MAX_LINKS; links++) {
		set_path(c, next);
		rc = resolve_entry(c, 0, AT_FDCWD, 0, &e);
		if (rc == -ENOENT)
			return ask_far(c, an, next);
		if (rc < 0)
			return rc;
		if (e.special)
			rc = -EINVAL;
		else if (!follow || !e.exists || !S_ISLNK(e.st.stx_mode))
			rc = ask_entry(c, an, &e);
		else
			rc = 1;
		if (rc == 1) {
			n = readlinkat(e.dir.fd, e.leaf, target, sizeof(target));
			rc = n < 0 || n >= PATH_MAX ? -ENAMETOOLONG
						    : path_join(c, 0, next, target, (size_t)n);
			snprintf(next, sizeof(next), "%s", c->path[0]);
			rc = rc < 0 ? rc : 1;
		}
		entry_close(&e);
		if (rc != 1)
			return rc;
	}
	return -ELOOP;
}

/* Takes over o. */
static void ask_program(struct call *c, struct answer *an, struct object *o)
{
	struct program p;

	program_judge(c, o, &p);
	an->fd = p.script.fd >= 0 ? p.script.fd : p.end.fd;
	answer_judged(c, an);
	program_close(&p);
}

static int ask_object(struct call *c, struct answer *an, struct object *o)
{
	an->name = o->name;
	an->len = o->len;
	an->exists = true;
	an->fd = o->fd;
	an->st = o->st;
	if (an->access == ACCESS_EXEC) {
		ask_program(c, an, o);
		return 0;
	}
	judge_object(c, an->access, o, accmode_of(an->access));
	answer_judged(c, an);
	return 0;
}

/* 0 when an is filled and told, or -errno. */
static int ask(struct call *c, struct answer *an, const struct operation *op, const char *path)
{
	struct object o;
	struct entry e;
	int rc;

	set_path(c, path);
	an->access = op->access;
	if (op->entry) {
		rc = resolve_entry(c, 0, AT_FDCWD, 0, &e);
		if (rc == 0 && e.special)
			rc = -EINVAL;
		else if (rc == 0 && e.exists)
			rc = ask_entry(c, an, &e);
		else if (rc == 0)
			rc = -e.err;
		entry_close(&e);
	} else {
		rc = resolve_object(c, 0, AT_FDCWD, 0, 0, &o);
		if (rc == 0)
			rc = ask_object(c, an, &o);
		object_close(&o);
	}
	if (rc != -ENOENT)
		return rc;
	an->access = op->absent;
	return ask_absent(c, an, path, !op->entry);
}

/* As the C library looks for a program: the first of that name that may be run. NULL: there is none. */
static const char *find_along_path(const char *name, char *buf, size_t size)
{
	const char *p = getenv("PATH");
	struct stat st;
	size_t n;

	for (p = p ? p : DEFAULT_PATH;; p += n + 1) {
		n = strcspn(p, ":");
		if ((size_t)snprintf(buf, size, "%.*s%s%s", (int)n, p, n ? "/" : "./", name) < size &&
		    access(buf, X_OK) == 0 && stat(buf, &st) == 0 && S_ISREG(st.st_mode))
			return buf;
		if (!p[n])
			return NULL;
	}
}

/* A host with its port, or a Unix socket by its @name: no path that leads somewhere. */
static int answer_connect(struct call *c, const char *target)
{
	struct answer an = {
		.op = "connect", .asked = target, .access = ACCESS_CONNECT_UNIX, .fd = -1, .name = target};

	if (*target != '@')
		switch (explain_connect(c->s, target)) {
		case EXPLAINED_ALLOWED:
			return ALLOWED;
		case EXPLAINED_REFUSED:
			return REFUSED;
		case EXPLAINED_FAILED:
			return FAILED;
		}
	set_path(c, "");
	an.len = strlen(target);
	answer_name(c, &an);
	return an.refused ? REFUSED : ALLOWED;
}

static int answer_one(struct call *c, const struct operation *op, const char *path)
{
	struct answer an = {.op = op->name, .asked = path, .fd = -1};
	bool bare = op->access == ACCESS_EXEC && *path && !strchr(path, '/');
	static char found[PATH_MAX];
	struct stat st;
	int rc;

	if (op->access == ACCESS_CONNECT_UNIX &&
	    (*path == '@' || (!explain_is_unix(path) && lstat(path, &st) < 0)))
		return answer_connect(c, path);
	if (bare)
		an.found = find_along_path(path, found, sizeof(found));
	if (an.found)
		path = an.found;
	if (strlen(path) >= PATH_MAX)
		rc = -ENAMETOOLONG;
	else if (bare && !an.found)
		rc = -ENOENT;
	else
		rc = *path ? ask(c, &an, op, path) : -ENOENT;
	if (rc < 0) {
		answer_failed(&an, -rc);
		return rc == -EACCES ? REFUSED : FAILED;
	}
	return an.refused ? REFUSED : ALLOWED;
}

static int answer_all(struct session *s, pid_t asker, const struct operation *op, int argc, char **paths)
{
	static char path[CALL_PATHS][PATH_MAX], name[CALL_PATHS][CALL_NAME_MAX];
	static const struct sysc question = {.name = "explain", .op = "explain"};
	static struct call c;
	int worst = ALLOWED;

	c.s = s;
	c.sysc = &question;
	c.tid = asker;
	for (int i = 0; i < CALL_PATHS; i++) {
		c.path[i] = path[i];
		c.name[i] = name[i];
	}
	for (int i = 0; i < argc; i++) {
		int status = answer_one(&c, op, paths[i]);

		longname_release(&c);
		worst = status > worst ? status : worst;
	}
	return fflush(stdout) == 0 ? worst : FAILED;
}

/* The audit file belongs to the sandbox, as it will when a session has opened it. */
static void seal_audit(struct session *s)
{
	const char *file = s->config->audit_file;
	struct statx st;

	if (file && file[0] == '/' && statx(AT_FDCWD, file, 0, STATX_TYPE | IDSET_STATX, &st) == 0 &&
	    S_ISREG(st.stx_mode))
		idset_add(s->sealed, &st);
}

/* The asker's part: to be there until the other end is closed. */
static void __attribute__((noreturn)) wait_for_end(int pair[2])
{
	char c;

	close(pair[0]);
	while (read(pair[1], &c, 1) < 0 && errno == EINTR)
		;
	_exit(0);
}

int explain_command(const struct opts *o)
{
	const struct operation *op = o->argc ? find_operation(o->argv[0]) : NULL;
	static struct session s;
	static struct loaded l;
	int status, pair[2];
	pid_t asker;

	for (int i = 1; i < o->argc; i++)
		if (o->argv[i][0] == '-') {
			fprintf(stderr, "cordon: options go before the operation; a path is written ./%s\n",
				o->argv[i]);
			return FAILED;
		}
	if (!op || o->argc < 2) {
		fprintf(stderr, "cordon: usage: cordon [OPTION...] explain "
				"read|write|create|delete|rename|exec PATH... or connect HOST:PORT...\n");
		return FAILED;
	}
	if (!rules_load(&l, o, &s.mounts) || !setup_session(&s, &l, o))
		return FAILED;
	s.log_only = false;
	s.asking = true;
	seal_audit(&s);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 || (asker = fork()) < 0) {
		fprintf(stderr, "cordon: the question cannot be put: %s\n", strerror(errno));
		return FAILED;
	}
	if (asker == 0)
		wait_for_end(pair);
	close(pair[1]);
	status = answer_all(&s, asker, op, o->argc - 1, o->argv + 1);
	close(pair[0]);
	waitpid(asker, NULL, 0);
	return status;
}
