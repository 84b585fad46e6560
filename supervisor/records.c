#include "supervisor/records.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "supervisor/audit.h"
#include "supervisor/hostfile.h"
#include "supervisor/jsonw.h"
#include "supervisor/lockdown.h"
#include "supervisor/names.h"
#include "supervisor/nameserver.h"
#include "supervisor/rules.h"
#include "supervisor/sysc.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(readlinkat));

#define MAX_RECORD (64 * 1024)

static void write_command(struct jsonw *w, char *const argv[])
{
	jsonw_key(w, "command");
	jsonw_array_begin(w);
	for (int i = 0; argv[i] && i < 256; i++)
		jsonw_bytes(w, argv[i], strnlen(argv[i], 2048));
	jsonw_array_end(w);
}

static void write_policies(struct jsonw *w, const struct loaded *l)
{
	jsonw_key(w, "policies");
	jsonw_array_begin(w);
	for (size_t i = 0; i < l->n_files; i++) {
		jsonw_object_begin(w);
		jsonw_member_str(w, "file", l->files[i]);
		jsonw_member_str(w, "sha256", l->hashes[i]);
		jsonw_object_end(w);
	}
	if (l->builtin) {
		jsonw_object_begin(w);
		jsonw_member_str(w, "file", "built-in");
		jsonw_object_end(w);
	}
	jsonw_array_end(w);
}

void records_start(struct session *s, const struct loaded *l, char *const argv[], int landlock_abi)
{
	struct utsname u;
	struct jsonw w;

	jsonw_init(&w, MAX_RECORD);
	jsonw_member_str(&w, "version", CORDON_VERSION);
	if (uname(&u) == 0)
		jsonw_member_str(&w, "kernel", u.release);
	write_policies(&w, l);
	jsonw_member_str(&w, "cwd", l->cwd);
	write_command(&w, argv);
	jsonw_member_uint(&w, "landlock_abi", (uint64_t)landlock_abi);
	jsonw_key(&w, "reads_decided");
	jsonw_bool(&w, s->features & FEATURE_READS);
	if (s->log_only) {
		jsonw_key(&w, "log_only");
		jsonw_bool(&w, true);
	}
	if (jsonw_ok(&w))
		audit_emit_record(s->audit, "start", jsonw_text(&w));
	else
		audit_emit_record(s->audit, "start", "\"error\":\"record too long\"");
	jsonw_free(&w);
}

static void say_if_held(struct hostfile *f, const char *path)
{
	if (hostfile_is_held(f))
		fprintf(stderr, "cordon: the command may change %s: names go by what it says now\n", path);
}

void records_say(const struct session *s, const struct loaded *l, int landlock_abi)
{
	char layer[32] = "no Landlock";

	if (landlock_abi)
		snprintf(layer, sizeof(layer), "Landlock ABI %d", landlock_abi);
	fprintf(stderr, "cordon: session %s; policy:", s->id);
	if (l->builtin)
		fputs(" built-in", stderr);
	for (size_t i = 0; i < l->n_files; i++)
		fprintf(stderr, " %s", l->files[i]);
	fprintf(stderr, "; %s; reads %s; supervisor %s; gateway %d; audit: %s\n", layer,
		s->features & FEATURE_READS ? "decided by the supervisor" : "left to the kernel",
		lockdown_is_built() ? "locked down" : "not locked down (a build for tests)",
		(int)s->gateway_pid, l->config->audit_file ? l->config->audit_file : "none");
	say_if_held(s->hosts, NAMES_HOSTS);
	say_if_held(s->resolv, NAMESERVER_FILE);
	rules_hint_programs(l);
	rules_hint_network(l);
}

/* By the name that it has now. */
static void write_repository(struct jsonw *w, const struct session *s, int fd)
{
	char number[16], name[PATH_MAX];
	ssize_t n;

	snprintf(number, sizeof(number), "%d", fd);
	n = fd < 0 ? -1 : readlinkat(s->self_fd, number, name, sizeof(name));
	if (n > 0)
		jsonw_bytes(w, name, (size_t)n);
	else
		jsonw_bytes(w, "(name unknown)", 14);
}

void records_end(struct session *s, int status)
{
	struct audit_totals t = audit_totals(s->audit);
	struct jsonw w;

	jsonw_init(&w, MAX_RECORD);
	jsonw_member_uint(&w, "status", (uint64_t)status);
	jsonw_member_uint(&w, "allowed", t.allowed);
	jsonw_member_uint(&w, "denied", t.denied);
	jsonw_member_uint(&w, "dropped", t.dropped);
	jsonw_key(&w, "repositories_created");
	jsonw_array_begin(&w);
	for (size_t i = 0; i < s->n_repositories && i < SESSION_REPOSITORIES_MAX; i++)
		write_repository(&w, s, s->repositories[i]);
	jsonw_array_end(&w);
	if (s->n_repositories > SESSION_REPOSITORIES_MAX)
		jsonw_member_uint(&w, "repositories_total", s->n_repositories);
	if (jsonw_ok(&w))
		audit_emit_record(s->audit, "end", jsonw_text(&w));
	jsonw_free(&w);
}
