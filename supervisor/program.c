#include "supervisor/program.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/dispatch.h"
#include "supervisor/elf.h"
#include "supervisor/judge.h"
#include "supervisor/lockdown.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(openat), OWN(close), OWN(pread64));

/* The kernel follows no more scripts than this (exec_binprm). */
#define MAX_CHAIN 5

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* fs/binfmt_script.c: the line ends at a newline; without one, what is there must hold a whole name. */
bool program_interpreter(const char head[PROGRAM_HEAD], char name[PROGRAM_HEAD])
{
	const char *end = head + strnlen(head, PROGRAM_HEAD),
		   *line = memchr(head, '\n', (size_t)(end - head));
	const char *from = head + 2, *to;

	if (head[0] != '#' || head[1] != '!')
		return false;
	if (line)
		end = line;
	while (from < end && is_blank(*from))
		from++;
	for (to = from; to < end && !is_blank(*to); to++)
		;
	/* Perhaps cut off by the end of what the kernel looks at. */
	if (from == to || to == head + PROGRAM_HEAD)
		return false;
	memcpy(name, from, (size_t)(to - from));
	name[to - from] = '\0';
	return true;
}

/* Opens the pin for reading, as the caller. */
static int open_pin(struct call *c, const struct object *o)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", o->fd);
	return openat(c->s->self_fd, number, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

static bool is_loader(struct call *c, const struct object *o)
{
	int fd = open_pin(c, o);
	bool loader = fd >= 0 && elf_is_loader(fd);

	if (fd >= 0)
		close(fd);
	return loader;
}

/* Does the rule that allowed it name the very file? */
static bool is_named(const struct rule *r, const struct object *o)
{
	return r && r->kind == RULE_ALLOW_EXEC && r->literal && strlen(r->path) == o->len;
}

static int refuse(struct call *c, const char *rule, const char *message)
{
	return judge_refuse(c, "exec", rule, EACCES, message);
}

/* What only lists of allowed programs ask for. */
static int judge_listed(struct call *c, struct object *o)
{
	if (o->len == 0)
		return refuse(c, "[exec] allow",
			      "a program without a name was refused: no [exec] allow can cover it");
	if (is_named(c->event.rule, o))
		return 0;
	if (!is_loader(c, o))
		return 0;
	snprintf(c->message, sizeof(c->message),
		 "exec %.*s refused: a loader runs any file; only an [exec] allow that names it lifts this",
		 (int)(o->len < 400 ? o->len : 400), o->name);
	return refuse(c, "[exec] allow", c->message);
}

/* A search along PATH goes on after EACCES, and ends with EPERM. */
static int judge_as(struct call *c, enum access a, struct object *o)
{
	int rc = judge_object(c, a, o, O_RDONLY);

	if (c->event.denied && c->event.err == EPERM)
		c->event.err = EACCES; /* with --log-only as well, which goes on */
	return rc == EPERM ? EACCES : rc;
}

int program_judge_one(struct call *c, struct object *o)
{
	int rc = judge_as(c, ACCESS_EXEC, o);

	if (rc != 0 || c->event.denied || !policy_has(c->s->policy, RULE_ALLOW_EXEC))
		return rc;
	return judge_listed(c, o);
}

static struct verdict verdict_on(const struct call *c, enum access a, const struct object *o)
{
	struct request q = {.access = a, .type = OBJ_OTHER, .path = o->name, .len = o->len};

	return policy_decide(c->s->policy, &q);
}

bool program_may_be_own(const struct call *c, const struct object *o)
{
	return o->len == 0 || verdict_on(c, ACCESS_WRITE, o).decision != VERDICT_DENY;
}

/* By what it is called where it lies, not by the link that led to it, and by what it is. */
static bool is_system_loader(struct call *c, const struct object *o)
{
	static const char *const names[] = {"ld-*.so*", "ld.so*", "ld64.so*", "libc.so", "libc.musl-*.so*"};
	const char *slash = memrchr(o->name, '/', o->len);
	bool named = false;

	for (size_t i = 0; slash && i < sizeof(names) / sizeof(*names); i++)
		named = named || fnmatch(names[i], slash + 1, 0) == 0;
	return named && S_ISREG(o->st.stx_mode) && !program_may_be_own(c, o) && is_loader(c, o);
}

/* Whether only a list of allowed programs speaks against it. */
static bool is_unlisted(const struct call *c, const struct object *o)
{
	struct verdict v = verdict_on(c, ACCESS_EXEC, o);

	return o->len && v.decision == VERDICT_DENY && !v.rule;
}

int program_judge_loader(struct call *c, struct object *o)
{
	if (is_unlisted(c, o) && is_system_loader(c, o))
		return judge_as(c, ACCESS_READ, o);
	return judge_as(c, ACCESS_EXEC, o);
}

/* What starts a file in its stead, when it says so. */
enum starter { STARTED_ITSELF, STARTED_BY_INTERPRETER, STARTED_BY_LOADER };

/* The starter's name goes to c->path[1]. -errno: not readable. */
static int read_head(struct call *c, const struct object *o)
{
	char head[PROGRAM_HEAD] = "";
	int fd, starter = STARTED_ITSELF;

	if (!S_ISREG(o->st.stx_mode))
		return STARTED_ITSELF;
	fd = open_pin(c, o);
	if (fd < 0)
		return -errno;
	if (pread(fd, head, sizeof(head), 0) < 0)
		head[0] = '\0';
	if (program_interpreter(head, c->path[1]))
		starter = STARTED_BY_INTERPRETER;
	else if (elf_loader(fd, c->path[1]))
		starter = STARTED_BY_LOADER;
	close(fd);
	return starter;
}

/*
 * A refusal that --log-only lets pass has its record before the next file is judged, in whose name the words of this one
 * would be lost.
 */
static void report_passed(struct call *c)
{
	if (!c->event.denied)
		return;
	call_report(c);
	c->recorded = false;
	memset(&c->event, 0, sizeof(c->event));
}

/* Judges what c->path[1] names. A failure to find it is the kernel's to tell. */
static int judge_starter(struct call *c, struct object *o, int (*judge)(struct call *c, struct object *o))
{
	struct event program;
	int rc;

	report_passed(c);
	program = c->event;
	memset(&c->event, 0, sizeof(c->event));
	rc = resolve_object(c, 1, AT_FDCWD, 0, 0, o);
	if (rc < 0) {
		*o = (struct object){.fd = -1};
		if (c->event.denied) /* what looks absent is there, and would be run */
			return -rc;
		c->event = program;
		return 0;
	}
	rc = judge(c, o);
	if (rc == 0 && !c->event.denied)
		c->event = program;
	return rc;
}

int program_judge(struct call *c, struct object *o, struct program *p)
{
	int rc = program_judge_one(c, o), starter;

	*p = (struct program){.script.fd = -1, .end = *o, .loader.fd = -1};
	o->fd = -1;
	o->has_parent = false;
	for (int depth = 0; rc == 0 && depth <= MAX_CHAIN && p->end.fd >= 0; depth++) {
		starter = read_head(c, &p->end);
		p->unreadable = starter == -EACCES;
		if (starter == STARTED_BY_LOADER && policy_restricts_programs(c->s->policy))
			rc = judge_starter(c, &p->loader, program_judge_loader);
		if (starter != STARTED_BY_INTERPRETER)
			break;
		if (depth == 0)
			p->script = p->end;
		else
			object_close(&p->end);
		rc = judge_starter(c, &p->end, program_judge_one);
	}
	return rc;
}

void program_close(struct program *p)
{
	object_close(&p->script);
	object_close(&p->end);
	object_close(&p->loader);
}
