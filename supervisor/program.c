#include "supervisor/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/judge.h"
#include "supervisor/lockdown.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(openat), OWN(close), OWN(pread64));

/* The kernel follows no more scripts than this (exec_binprm). */
#define MAX_CHAIN 5
/* More headers or entries than any program has. */
#define MAX_HEADERS 128
#define MAX_DYNAMIC 512

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

static bool read_at(int fd, void *buf, size_t n, uint64_t at)
{
	return at <= INT64_MAX && pread(fd, buf, n, (off_t)at) == (ssize_t)n;
}

/* A program that needs no loader says so; a library does not. */
static bool is_static_pie(int fd, const Elf64_Phdr *dynamic)
{
	Elf64_Dyn d;

	for (uint64_t i = 0; i < MAX_DYNAMIC && (i + 1) * sizeof(d) <= dynamic->p_filesz; i++) {
		if (!read_at(fd, &d, sizeof(d), dynamic->p_offset + i * sizeof(d)) || d.d_tag == DT_NULL)
			break;
		if (d.d_tag == DT_FLAGS_1)
			return d.d_un.d_val & DF_1_PIE;
	}
	return false;
}

bool program_is_loader(int fd)
{
	Elf64_Phdr dynamic = {.p_type = PT_NULL}, ph;
	Elf64_Ehdr eh;

	if (!read_at(fd, &eh, sizeof(eh), 0) || memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 ||
	    eh.e_ident[EI_CLASS] != ELFCLASS64)
		return false; /* a script, or another machine's: what runs those is judged by itself */
	if (eh.e_type != ET_DYN)
		return false;
	for (unsigned i = 0; i < eh.e_phnum; i++) {
		if (i == MAX_HEADERS || !read_at(fd, &ph, sizeof(ph), eh.e_phoff + (uint64_t)i * sizeof(ph)))
			return true;
		if (ph.p_type == PT_INTERP)
			return false;
		if (ph.p_type == PT_DYNAMIC)
			dynamic = ph;
	}
	return dynamic.p_type == PT_NULL || !is_static_pie(fd, &dynamic);
}

/* Opens the pin for reading, as the caller. */
static int open_pin(struct call *c, const struct object *o)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", o->fd);
	return openat(c->s->self_fd, number, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
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
	bool loader;
	int fd;

	if (o->len == 0)
		return refuse(c, "[exec] allow",
			      "a program without a name was refused: no [exec] allow can cover it");
	if (is_named(c->event.rule, o))
		return 0;
	fd = open_pin(c, o);
	loader = fd >= 0 && program_is_loader(fd);
	if (fd >= 0)
		close(fd);
	if (!loader)
		return 0;
	snprintf(c->message, sizeof(c->message),
		 "exec %.*s refused: a loader runs any file; only an [exec] allow that names it lifts this",
		 (int)(o->len < 400 ? o->len : 400), o->name);
	return refuse(c, "[exec] allow", c->message);
}

int program_judge_one(struct call *c, struct object *o)
{
	int rc;

	rc = judge_object(c, ACCESS_EXEC, o, O_RDONLY);
	/* A search along PATH goes on after EACCES, and ends with EPERM. */
	if (rc == EPERM)
		c->event.err = rc = EACCES;
	if (rc != 0 || c->event.denied || !policy_has(c->s->policy, RULE_ALLOW_EXEC))
		return rc;
	return judge_listed(c, o);
}

/* Whether o is a script; then its interpreter's name is in c->path[1]. -errno: not readable. */
static int read_head(struct call *c, const struct object *o)
{
	char head[PROGRAM_HEAD] = "";
	int fd;

	if (!S_ISREG(o->st.stx_mode))
		return 0;
	fd = open_pin(c, o);
	if (fd < 0)
		return -errno;
	if (pread(fd, head, sizeof(head), 0) < 0)
		head[0] = '\0';
	close(fd);
	return program_interpreter(head, c->path[1]);
}

/* Judges the interpreter that c->path[1] names. A failure to find it is the kernel's to tell. */
static int judge_interpreter(struct call *c, struct object *o)
{
	struct event script = c->event;
	int rc;

	memset(&c->event, 0, sizeof(c->event));
	rc = resolve_object(c, 1, AT_FDCWD, 0, 0, o);
	if (rc < 0) {
		*o = (struct object){.fd = -1};
		if (c->event.denied) /* what looks absent is there, and would be run */
			return -rc;
		c->event = script;
		return 0;
	}
	rc = program_judge_one(c, o);
	if (rc == 0 && !c->event.denied)
		c->event = script;
	return rc;
}

int program_judge(struct call *c, struct object *o, struct program *p)
{
	int rc = program_judge_one(c, o), script;

	*p = (struct program){.script.fd = -1, .end = *o};
	o->fd = -1;
	o->has_parent = false;
	for (int depth = 0; rc == 0 && depth <= MAX_CHAIN && p->end.fd >= 0; depth++) {
		script = read_head(c, &p->end);
		p->unreadable = script == -EACCES;
		if (script <= 0)
			break;
		if (depth == 0)
			p->script = p->end;
		else
			object_close(&p->end);
		rc = judge_interpreter(c, &p->end);
	}
	return rc;
}

void program_close(struct program *p)
{
	object_close(&p->script);
	object_close(&p->end);
}
