#include "supervisor/answer.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "policy/text.h"
#include "supervisor/device.h"

static void print_shown(const char *s, size_t n)
{
	char buf[8 * PATH_MAX];
	struct text t;

	text_init(&t, buf, sizeof(buf));
	text_add_shown(&t, s, n, sizeof(buf) - 1);
	fputs(buf, stdout);
}

void answer_head(const char *verdict, const char *op, const char *path, size_t len)
{
	printf("%s %s ", verdict, op);
	print_shown(path, len);
	putchar('\n');
}

static bool is_device(const struct answer *an)
{
	return an->exists && !an->entry && (an->access == ACCESS_READ || an->access == ACCESS_WRITE) &&
	       (S_ISCHR(an->st.stx_mode) || S_ISBLK(an->st.stx_mode));
}

/* /proc/PID and what is beneath it. */
static bool is_process(const struct answer *an)
{
	return an->len > 6 && memcmp(an->name, "/proc/", 6) == 0 && isdigit((unsigned char)an->name[6]);
}

static struct request request_of(const struct answer *an)
{
	struct request q = {.access = an->access, .type = OBJ_OTHER, .path = an->name, .len = an->len};

	if (is_device(an))
		q.access = ACCESS_DEVICE;
	else if (an->access == ACCESS_MKDIR || (an->exists && S_ISDIR(an->st.stx_mode)))
		q.type = OBJ_DIR;
	else if (!an->exists)
		q.type = OBJ_ABSENT;
	return q;
}

/* Calls that no rule needs are not trapped: then the kernel alone decides. */
static bool is_left_to_kernel(const struct call *c, const struct answer *an)
{
	if (an->access == ACCESS_READ)
		return !(c->s->features & FEATURE_READS) && !is_process(an);
	return an->access == ACCESS_EXEC && !(c->s->features & FEATURE_EXEC);
}

static void print_line(const char *name, const char *s)
{
	printf("  %s: ", name);
	print_shown(s, strlen(s));
	putchar('\n');
}

static void print_where(const struct rule *r)
{
	printf("  rule: %s = ", r->key);
	print_shown(r->text, strlen(r->text));
	fputs(" (", stdout);
	print_shown(r->origin.file, strlen(r->origin.file));
	if (r->origin.line)
		printf(":%d", r->origin.line);
	puts(")");
}

void answer_rule(const struct rule *r)
{
	print_where(r);
	if (r->reason)
		print_line("reason", r->reason);
}

void answer_asked(const char *asked)
{
	print_line("asked", asked);
}

/* Of a path: perhaps by another name of it. */
static void print_rule(const struct call *c, const struct rule *r)
{
	print_where(r);
	if (r->alias_of < c->s->config->n_rules && r != &c->s->config->rules[r->alias_of])
		print_line("note: the rule holds for this name of the place, too", r->path);
	if (r->reason)
		print_line("reason", r->reason);
}

static const char *default_text(enum access a, bool refused)
{
	if (a == ACCESS_DEVICE)
		return "default (no allow_device names it)";
	if (a == ACCESS_EXEC)
		return refused ? "default (no [exec] allow covers it)" : "default (no [exec] deny covers it)";
	if (a == ACCESS_READ)
		return "default (no deny_read covers it)";
	if (a == ACCESS_CONNECT_UNIX)
		return "default (no allow_unix_socket covers it)";
	return "default (no allow_write covers it)";
}

/* The built-in rule that refused, with the reason that its message gives; NULL when a rule of the policy did. */
static const char *built_in_rule(const struct call *c)
{
	static const char by[] = " refused by ";
	const char *name = c->event.rule_name, *found = NULL;

	if (!name || strcmp(name, "default") == 0)
		return NULL;
	for (const char *p = c->message; (p = strstr(p, by)); p += sizeof(by) - 1)
		found = p + sizeof(by) - 1;
	return found ? found : name;
}

static void print_deciding(const struct call *c, const struct answer *an, const struct verdict *v)
{
	const char *built_in = built_in_rule(c);
	const struct rule *r = c->event.rule;

	if (an->access == ACCESS_READ && is_left_to_kernel(c, an))
		puts("  rule: none: with this policy the kernel alone decides on reading");
	else if (an->access == ACCESS_EXEC && is_left_to_kernel(c, an))
		puts("  rule: none: with this policy the kernel alone decides on programs");
	else if (built_in)
		printf("  rule: %s\n", built_in);
	else if (r || (v->rule && is_device(an)))
		print_rule(c, r ? r : v->rule);
	else if (!an->refused && an->len == 0)
		puts("  rule: inherited descriptor (built-in)");
	else if (!an->refused && is_process(an))
		puts("  rule: process isolation (built-in)");
	else if (!an->refused && is_device(an))
		puts("  rule: the usual devices and terminals (built-in)");
	else
		printf("  rule: %s\n", default_text(request_of(an).access, an->refused));
}

/* What lifts a refusal that no suggestion of the policy does. */
static const char *other_remedy(const struct call *c)
{
	const char *name = built_in_rule(c);

	if (name && strstr(name, "belongs to this sandbox"))
		return "none: it is the policy, the audit trail or cordon itself";
	if (name && strncmp(name, "protect", 7) == 0)
		return "protect = no lifts this for all names";
	if (name && strncmp(name, "hardlinks", 9) == 0)
		return "hardlinks = allow";
	if (name && strncmp(name, "[exec]", 6) == 0)
		return "an [exec] allow that names the file itself, or the program without the loader";
	return c->event.rule && !name ? "remove or narrow that rule" : "none";
}

static void print_remedy(struct call *c, const struct request *q, const struct verdict *v)
{
	bool built_in = built_in_rule(c) != NULL;
	const char *line;

	if (!built_in && !c->event.suggestion)
		policy_suggest(c->s->policy, q, v, c->suggestion, sizeof(c->suggestion));
	if (built_in)
		line = c->event.suggestion;
	else
		line = c->suggestion[0] ? c->suggestion : NULL;
	printf("  remedy: %s%s\n", line ? policy_suggestion_section(line) : "",
	       line ? line : other_remedy(c));
}

static int kernel_mode(const struct answer *an)
{
	if (an->entry)
		return W_OK | X_OK;
	return an->access == ACCESS_READ ? R_OK : an->access == ACCESS_EXEC ? X_OK : W_OK;
}

/* What the file system says by itself, whatever the policy allows. */
static void note_kernel(const struct answer *an)
{
	if (an->fd < 0 || an->len == 0)
		return;
	if (an->entry && !an->exists && an->access != ACCESS_CREATE && an->access != ACCESS_MKDIR)
		return;
	if (faccessat(an->fd, "", kernel_mode(an), AT_EMPTY_PATH | AT_EACCESS) < 0 &&
	    (errno == EACCES || errno == EROFS))
		printf("  note: the kernel refuses it by itself: %s\n", strerror(errno));
}

static void note_program(const struct call *c, const struct answer *an)
{
	const struct bytes *of = &c->event.path;

	if (an->access != ACCESS_EXEC || !an->refused || !of->bytes || of->bytes == an->name)
		return;
	fputs("  note: it starts an interpreter, which is what is refused: ", stdout);
	print_shown(of->bytes, of->len);
	putchar('\n');
}

static void note_hardlinks(const struct call *c, const struct answer *an)
{
	unsigned n = an->st.stx_nlink;

	if (!an->exists || an->entry || !S_ISREG(an->st.stx_mode) || n < 2)
		return;
	if (an->access == ACCESS_READ)
		printf("  note: %u hard links; deny_read rules without wildcards know it by each of its "
		       "names\n",
		       n);
	else if (an->access == ACCESS_WRITE && c->s->config->hardlinks == HARDLINKS_REFUSE)
		printf("  note: %u hard links: not written in place unless the session made them all; "
		       "replacing and removing are no such writes\n",
		       n);
	else if (an->access == ACCESS_WRITE)
		printf("  note: %u hard links: its other names are written, too\n", n);
}

static bool ends_in_git(const struct answer *an)
{
	return an->len >= 5 && strncasecmp(an->name + an->len - 5, "/.git", 5) == 0;
}

static void note_session(const struct call *c, const struct answer *an, const struct verdict *v)
{
	if (v->rule && v->rule->kind == RULE_ALLOW_OWN && v->decision == VERDICT_ALLOW)
		puts("  note: a new entry; afterwards the session may change it because it made it");
	if (v->decision == VERDICT_ALLOW_IF_OWN || v->if_git == VERDICT_ALLOW_IF_OWN)
		puts("  note: allowed for what the session itself makes there");
	if (v->decision == VERDICT_ALLOW_IF_OWN_GIT)
		puts("  note: allowed inside a .git that the session itself makes");
	if (an->entry && an->exists && c->s->config->protect && ends_in_git(an))
		puts("  note: a .git that the session itself made may be removed and replaced");
	if (is_device(an) && an->len > 9 && memcmp(an->name, "/dev/pts/", 9) == 0)
		puts("  note: terminals that the session itself opens may be used");
	if (is_process(an))
		puts("  note: processes of the session are open to it; of others it sees what \"ps\" shows");
	if (an->len == 0)
		puts("  note: it has no name; what descriptors 0 to 2 could do already is allowed");
	if (an->entry && an->exists && an->access == ACCESS_RENAME && S_ISDIR(an->st.stx_mode))
		puts("  note: the new name is judged, too, and what lies beneath must stay under the same "
		     "rules");
}

/* With hide = yes; a new entry of such a name is refused as any other. */
static bool looks_absent(const struct call *c, const struct answer *an)
{
	struct request q = request_of(an);
	bool makes = an->access == ACCESS_CREATE || an->access == ACCESS_MKDIR;
	struct verdict v;

	q.access = ACCESS_READ;
	return (c->s->features & FEATURE_HIDE) && an->len && !makes && policy_hides(c->s->policy, &q, &v);
}

/* In quotes the shell leaves them as they are, and a policy is not read here. */
static void note_spelling(const struct answer *an)
{
	if (an->asked[0] == '~')
		puts("  note: '~' is filled in by the shell, not here: leave it out of the quotes");
	if (strchr(an->asked, '$'))
		puts("  note: '$' is filled in by the shell, not here: leave out the single quotes");
}

static void print_notes(struct call *c, const struct answer *an, const struct verdict *v)
{
	if (an->len != strlen(an->asked) || memcmp(an->asked, an->name, an->len) != 0)
		answer_asked(an->asked);
	if (an->found)
		print_line("note: a name alone is looked for along PATH, which has this", an->found);
	if (an->access == ACCESS_CONNECT_UNIX && an->refused)
		puts("  note: servers that the session itself started may be connected to");
	if (an->access == ACCESS_CONNECT_UNIX && an->name[0] == '@')
		return;
	if (!an->exists)
		printf("  note: it does not exist%s; judged by its name\n",
		       an->fd < 0 ? ", nor does the directory for it" : "");
	else if (strcmp(an->op, "create") == 0)
		puts("  note: it exists; judged as writing it");
	if (!an->exists)
		note_spelling(an);
	note_program(c, an);
	note_hardlinks(c, an);
	note_session(c, an, v);
	if (!an->refused)
		note_kernel(an);
	else if (looks_absent(c, an))
		printf("  note: it looks absent (hide = yes); the program is told: %s\n", strerror(ENOENT));
	else if (c->event.err && c->event.err != EPERM)
		printf("  note: the program is told: %s\n", strerror(c->event.err));
}

static void print_answer(struct call *c, const struct answer *an, const struct verdict *v)
{
	struct request q = request_of(an);
	const char *path = an->len ? an->name : an->asked;

	answer_head(an->refused ? "refused" : "allowed", an->op, path, an->len ? an->len : strlen(path));
	print_deciding(c, an, v);
	if (an->refused)
		print_remedy(c, &q, v);
	print_notes(c, an, v);
}

void answer_judged(struct call *c, struct answer *an)
{
	struct verdict v = {.decision = VERDICT_DENY};
	struct request q;

	an->refused = c->event.denied && !is_left_to_kernel(c, an);
	q = request_of(an);
	if (an->len)
		v = policy_decide(c->s->policy, &q);
	print_answer(c, an, &v);
}

void answer_name(struct call *c, struct answer *an)
{
	struct request q = request_of(an);
	struct verdict v = policy_decide(c->s->policy, &q);

	an->refused = v.decision != VERDICT_ALLOW && !is_left_to_kernel(c, an);
	c->event.rule = v.rule;
	print_answer(c, an, &v);
}

int answer_by_name(struct call *c, struct answer *an, size_t n, const char *rest)
{
	char *name = c->name[0];

	while (*(rest += strspn(rest, "/"))) {
		size_t len = strcspn(rest, "/");

		if (len == 2 && rest[0] == '.' && rest[1] == '.')
			return -ENOENT;
		if (len > NAME_MAX || n + 1 + len >= PATH_MAX)
			return -ENAMETOOLONG;
		if (!(len == 1 && rest[0] == '.')) {
			name[n++] = '/';
			memcpy(name + n, rest, len);
			n += len;
		}
		rest += len;
	}
	name[n] = '\0';
	an->name = name;
	an->len = n;
	answer_name(c, an);
	return 0;
}

void answer_failed(const struct answer *an, int err)
{
	answer_head(err == EACCES ? "refused" : "error", an->op, an->asked, strlen(an->asked));
	if (err == ENOENT && strcmp(an->op, "exec") == 0 && !strchr(an->asked, '/'))
		puts("  rule: none: no program of that name along PATH; a path has a '/'");
	else if (err == EINVAL)
		puts("  rule: none: the path names no entry of a directory");
	else
		printf("  rule: none: the kernel does not resolve the path: %s\n", strerror(err));
}
