#include "supervisor/audit_node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct bytes bytes_of(const char *s)
{
	return (struct bytes){s, s ? strlen(s) : 0};
}

static struct audit_node *node_make(const struct bytes f[NODE_FIELDS])
{
	size_t size = sizeof(struct audit_node);

	for (int i = 0; i < NODE_FIELDS; i++) {
		size_t len = f[i].bytes ? f[i].len : 0;
		if (len >= NODE_ABSENT / NODE_FIELDS)
			return NULL;
		size += len;
	}
	struct audit_node *n = malloc(size);
	if (!n)
		return NULL;
	memset(n, 0, sizeof(*n));
	n->refs = 1;
	n->size = size;
	clock_gettime(CLOCK_REALTIME, &n->ts);
	char *p = n->blob;
	for (int i = 0; i < NODE_FIELDS; i++) {
		n->len[i] = f[i].bytes ? (uint32_t)f[i].len : NODE_ABSENT;
		if (f[i].bytes && f[i].len)
			p = mempcpy(p, f[i].bytes, f[i].len);
	}
	return n;
}

static size_t node_compared_size(const struct audit_node *n)
{
	size_t size = 0;

	for (int i = 0; i < NODE_COMPARED; i++)
		size += n->len[i] == NODE_ABSENT ? 0 : n->len[i];
	return size;
}

struct audit_node *audit_node_event(const struct event *e, const struct siphash_key *key)
{
	const struct rule *r = e->rule;
	struct bytes f[NODE_FIELDS] = {
		[NODE_EXE] = e->exe,
		[NODE_PATH] = e->path,
		[NODE_TARGET] = e->target,
		[NODE_SOURCE] = e->source,
		[NODE_HOST] = e->host,
		[NODE_IP] = e->ip,
		[NODE_RULE] = bytes_of(r ? r->text : NULL),
		[NODE_ORIGIN] = bytes_of(r ? r->origin.file : NULL),
		[NODE_COMM] = e->comm,
		[NODE_CWD] = e->cwd,
		[NODE_SUGGESTION] = bytes_of(e->suggestion),
	};
	struct audit_node *n = node_make(f);

	if (!n)
		return NULL;
	n->syscall = e->syscall;
	n->op = e->op;
	n->rule_key = r ? r->key : NULL;
	n->rule_line = r ? r->origin.line : 0;
	n->rule_name = e->rule_name ? e->rule_name : "default";
	n->port = e->port;
	n->err = e->err;
	n->pid = e->pid;
	n->tid = e->tid;
	n->ppid = e->ppid;
	n->denied = e->denied;
	n->hash = siphash(key, n->blob, node_compared_size(n));
	return n;
}

struct audit_node *audit_node_record(const char *kind, const char *members)
{
	struct bytes f[NODE_FIELDS] = {
		[NODE_KIND] = bytes_of(kind),
		[NODE_MEMBERS] = bytes_of(members),
	};
	struct audit_node *n = node_make(f);

	if (n)
		n->record = true;
	return n;
}

void audit_node_put(struct audit_node *n)
{
	if (n && --n->refs == 0)
		free(n);
}

static bool str_is_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

bool audit_node_is_same(const struct audit_node *a, const struct audit_node *b)
{
	return a->hash == b->hash && a->err == b->err && a->port == b->port && a->rule_line == b->rule_line &&
	       a->denied == b->denied && memcmp(a->len, b->len, NODE_COMPARED * sizeof(a->len[0])) == 0 &&
	       memcmp(a->blob, b->blob, node_compared_size(a)) == 0 && str_is_same(a->syscall, b->syscall) &&
	       str_is_same(a->op, b->op) && str_is_same(a->rule_key, b->rule_key) &&
	       str_is_same(a->rule_name, b->rule_name);
}

void audit_node_head(struct jsonw *w, const struct timespec *ts, uint64_t seq, const char *session,
		     const char *kind)
{
	jsonw_reset(w);
	jsonw_object_begin(w);
	jsonw_key(w, "ts");
	jsonw_time(w, ts);
	jsonw_member_uint(w, "seq", seq);
	jsonw_member_str(w, "session", session);
	jsonw_member_str(w, "kind", kind);
}

static struct bytes node_field(const struct audit_node *n, enum node_field which)
{
	const char *p = n->blob;

	for (int i = 0; i < (int)which; i++)
		p += n->len[i] == NODE_ABSENT ? 0 : n->len[i];
	return n->len[which] == NODE_ABSENT ? (struct bytes){NULL, 0} : (struct bytes){p, n->len[which]};
}

static void render_field(struct jsonw *w, const char *key, const struct audit_node *n, enum node_field which)
{
	struct bytes b = node_field(n, which);

	jsonw_member_bytes(w, key, b.bytes, b.len);
}

/* A process that is gone has none, which is not the same as an empty name. */
static void render_found(struct jsonw *w, const char *key, const struct audit_node *n, enum node_field which)
{
	if (n->len[which] != 0)
		render_field(w, key, n, which);
}

static void render_number(struct jsonw *w, const char *key, int n)
{
	if (n <= 0)
		return;
	jsonw_key(w, key);
	jsonw_int(w, n);
}

static void render_rule(struct jsonw *w, const struct audit_node *n)
{
	struct bytes text = node_field(n, NODE_RULE), file = node_field(n, NODE_ORIGIN);
	char line[16];

	jsonw_key(w, "rule");
	jsonw_string_begin(w);
	if (n->rule_key) {
		jsonw_string_add(w, n->rule_key, strlen(n->rule_key));
		if (text.bytes) {
			jsonw_string_add(w, " = ", 3);
			jsonw_string_add(w, text.bytes, text.len);
		}
	} else {
		jsonw_string_add(w, n->rule_name, strlen(n->rule_name));
	}
	jsonw_string_end(w);
	if (!file.bytes)
		return;
	jsonw_key(w, "origin");
	jsonw_string_begin(w);
	jsonw_string_add(w, file.bytes, file.len);
	if (n->rule_line > 0)
		jsonw_string_add(w, line, (size_t)snprintf(line, sizeof(line), ":%d", n->rule_line));
	jsonw_string_end(w);
}

static void render_errno(struct jsonw *w, int err)
{
	if (err <= 0)
		return;
	const char *name = strerrorname_np(err);
	char number[16];
	snprintf(number, sizeof(number), "%d", err);
	jsonw_member_str(w, "errno", name ? name : number);
}

static void render_event(struct jsonw *w, const struct audit_node *n)
{
	render_number(w, "pid", n->pid);
	render_number(w, "tid", n->tid);
	render_number(w, "ppid", n->ppid);
	render_field(w, "comm", n, NODE_COMM);
	render_found(w, "exe", n, NODE_EXE);
	render_found(w, "cwd", n, NODE_CWD);
	jsonw_member_str(w, "syscall", n->syscall);
	jsonw_member_str(w, "op", n->op);
	render_field(w, "path", n, NODE_PATH);
	render_field(w, "target", n, NODE_TARGET);
	render_field(w, "source", n, NODE_SOURCE);
	render_field(w, "host", n, NODE_HOST);
	render_field(w, "ip", n, NODE_IP);
	render_number(w, "port", n->port);
	jsonw_member_str(w, "verdict", n->denied ? "deny" : "allow");
	render_rule(w, n);
	render_errno(w, n->err);
	render_field(w, "suggestion", n, NODE_SUGGESTION);
}

void audit_node_render(struct jsonw *w, const struct audit_node *n, const char *session, uint64_t seq,
		       uint64_t repeat, const struct timespec *ts)
{
	char kind[32] = "event";

	if (n->record) {
		struct bytes k = node_field(n, NODE_KIND);
		snprintf(kind, sizeof(kind), "%.*s", (int)k.len, k.bytes ? k.bytes : "");
	}
	audit_node_head(w, ts ? ts : &n->ts, seq, session, kind);
	if (n->record) {
		struct bytes m = node_field(n, NODE_MEMBERS);
		jsonw_members(w, m.bytes, m.len);
	} else {
		render_event(w, n);
	}
	if (repeat > 0)
		jsonw_member_uint(w, "repeat", repeat);
	jsonw_object_end(w);
	jsonw_newline(w);
}
