#include "supervisor/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "supervisor/caps.h"
#include "supervisor/inetdiag.h"
#include "supervisor/landlock.h"
#include "supervisor/lockdown.h"
#include "supervisor/probe.h"
#include "supervisor/rules.h"
#include "supervisor/setup.h"
#include "supervisor/tracee.h"

/* All probes have limits of their own; this is the last resort. */
#define LIMIT_SECONDS 30
#define MAX_ALIASES   8

enum state {
	YES,
	NO,	  /* without it no command is run */
	OPTIONAL, /* it is not there, and cordon does without */
	FACT,
};

struct report {
	char missing[512];
	size_t n;
	int aliases;
	const struct mounts *mounts;
	const char *point;
};

static void __attribute__((format(printf, 4, 5)))
row(struct report *r, const char *name, enum state state, const char *fmt, ...)
{
	static const char *const words[] = {
		[YES] = "yes", [NO] = "no", [OPTIONAL] = "optional", [FACT] = "-"};
	va_list ap;

	printf("%-19s %-9s ", name, words[state]);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	if (state == NO && r->n < sizeof(r->missing))
		r->n += (size_t)snprintf(r->missing + r->n, sizeof(r->missing) - r->n, "%s%s",
					 r->n ? ", " : "", name);
}

static const char *why(int rc)
{
	return rc == PROBE_UNKNOWN ? "not tried" : strerror(-rc);
}

/* Inside a run of cordon, whose own answers say nothing about the machine. */
static bool is_inside(const struct probe *p)
{
	return p->listener == -EBUSY;
}

/* A thing without which no command is run. */
static void needed(struct report *r, const char *name, int rc, const char *is_for, const char *since)
{
	if (rc == 0)
		row(r, name, YES, "%s", is_for);
	else if (rc == PROBE_UNKNOWN)
		row(r, name, FACT, "not tried: %s", is_for);
	else
		row(r, name, NO, "%s (%s; %s)", why(rc), is_for, since);
}

static void report_kernel(struct report *r)
{
	struct utsname u = {.release = "?"};
	int major = 0, minor = 0;

	uname(&u);
	sscanf(u.release, "%d.%d", &major, &minor);
	if (major > 5 || (major == 5 && minor >= 19))
		row(r, "kernel", YES, "Linux %s on %s", u.release, u.machine);
	else
		row(r, "kernel", OPTIONAL, "Linux %s on %s; 5.19 or newer has all that is needed", u.release,
		    u.machine);
}

static void report_seccomp(struct report *r, const struct probe *p)
{
	needed(r, "seccomp filter", p->filter, "holds the command", "Linux 3.17");
	if (is_inside(p))
		row(r, "seccomp listener", NO,
		    "already inside cordon or another supervisor, and there can be only one");
	else
		needed(r, "seccomp listener", p->listener ? p->listener : p->notified,
		       "calls are decided by the supervisor", "Linux 5.0");
	needed(r, "WAIT_KILLABLE_RECV", p->killable, "a signal does not make a call run twice", "Linux 5.19");
	needed(r, "ADDFD_SEND", p->send_fd, "opened files are handed over", "Linux 5.14");
	if (p->sync_wake == 0)
		row(r, "SYNC_WAKE_UP", YES, "the supervisor wakes on the caller's processor");
	else
		row(r, "SYNC_WAKE_UP", OPTIONAL, "calls take a little longer without it (Linux 6.6)");
	needed(r, "filter program", is_inside(p) ? PROBE_UNKNOWN : p->program,
	       "the filter of a run can be loaded", "memory");
}

static void report_memory(struct report *r, const struct probe *p)
{
	enum state lack = p->mem == 0 ? OPTIONAL : NO;

	if (p->vm_readv == 0)
		row(r, "process_vm_readv", YES, "reads the arguments of calls");
	else
		row(r, "process_vm_readv", lack, "%s; %s", why(p->vm_readv),
		    p->mem == 0 ? "/proc/PID/mem is read instead" : "the arguments of calls cannot be read");
	lack = p->vm_readv == 0 ? OPTIONAL : NO;
	if (p->mem == 0)
		row(r, "/proc/PID/mem", YES, "reads the arguments of calls where process_vm_readv cannot");
	else
		row(r, "/proc/PID/mem", lack, "%s", why(p->mem));
	if (p->ptrace == 0)
		row(r, "ptrace", YES, "what exec starts is verified; debuggers work inside");
	else
		row(r, "ptrace", OPTIONAL, "%s; [exec] rules let nothing run, debuggers do not work inside",
		    why(p->ptrace));
}

static void report_landlock(struct report *r, int abi, int rc)
{
	if (abi && rc == 0)
		row(r, "Landlock", YES,
		    "ABI %d: guards changes of files a second time, /proc of strangers and core files%s%s",
		    abi, abi >= 4 ? ", TCP" : "", abi >= 6 ? ", signals and abstract sockets" : "");
	else if (abi)
		row(r, "Landlock", NO, "ABI %d, but no domain can be entered: %s", abi, why(rc));
	else
		row(r, "Landlock", OPTIONAL,
		    "none: all reads are decided by the supervisor, core files are off (Linux 5.13)");
}

/* The first line of a file; false when there is none. */
static bool read_line(const char *name, char *buf, size_t size)
{
	FILE *f = fopen(name, "re");
	bool ok = f && fgets(buf, (int)size, f);

	if (f)
		fclose(f);
	if (ok)
		buf[strcspn(buf, "\n")] = '\0';
	return ok && buf[0];
}

static void report_modules(struct report *r)
{
	char line[256];

	if (!read_line("/proc/sys/kernel/yama/ptrace_scope", line, sizeof(line)))
		row(r, "Yama", FACT, "none");
	else
		row(r, "Yama", FACT, "scope %s%s", line,
		    line[0] >= '2' ? ": the arguments of calls can be read with CAP_SYS_PTRACE only" : "");
	if (read_line("/proc/self/attr/apparmor/current", line, sizeof(line)))
		row(r, "AppArmor", FACT, "%s", line);
	else if (read_line("/proc/self/attr/current", line, sizeof(line)))
		row(r, "security label", FACT, "%s", line);
	else
		row(r, "AppArmor", FACT, "none");
}

static void report_identity(struct report *r, const struct caps *caps)
{
	if (caps->permitted)
		row(r, "capabilities", FACT, "uid %d; permitted %llx, the command keeps %llx", (int)geteuid(),
		    (unsigned long long)caps->permitted, (unsigned long long)(caps->permitted & CAPS_KEPT));
	else
		row(r, "capabilities", FACT, "uid %d; none", (int)geteuid());
}

static void report_container(struct report *r, bool inside)
{
	char line[256], refused[256] = "", filters[32] = "";
	FILE *f = fopen("/proc/self/status", "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Seccomp_filters: %31s", filters) == 1)
			break;
	if (f)
		fclose(f);
	if (!inside)
		probe_refused_calls(refused, sizeof(refused));
	row(r, "seccomp above", FACT, "%s%s%s%s", filters[0] && strcmp(filters, "0") != 0 ? filters : "no",
	    strcmp(filters, "1") == 0 ? " filter" : " filters", refused[0] ? "; refused here: " : "",
	    refused);
}

/* Containers mount much of it a second time. */
static bool is_pseudo(const char *path)
{
	return strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/sys/", 5) == 0;
}

static void alias_row(const char *alias, void *arg)
{
	struct report *r = arg;

	if (is_pseudo(alias))
		return;
	if (r->aliases++ < MAX_ALIASES)
		row(r, "mount alias", FACT, "%s is in part also %s; rules with wildcards may miss it",
		    r->point, alias);
}

static void each_point(const char *point, void *arg)
{
	struct report *r = arg;

	if (is_pseudo(point) || strcmp(point, "/") == 0)
		return;
	r->point = point;
	mounts_aliases((struct mounts *)r->mounts, point, alias_row, r);
}

static void report_aliases(struct report *r, struct mounts *m)
{
	r->mounts = m;
	mounts_each(m, each_point, r);
	if (r->aliases == 0)
		row(r, "mount alias", FACT, "none");
	else if (r->aliases > MAX_ALIASES)
		row(r, "mount alias", FACT, "and %d more", r->aliases - MAX_ALIASES);
}

/* Its listeners are on loopback, which a machine without network may lack. */
static void report_gateway(struct report *r, const struct probe *p)
{
	if (p->loopback == 0)
		row(r, "gateway", YES, "resolves names for the session in a process without file access");
	else
		row(r, "gateway", OPTIONAL, "no port of loopback: %s; no DNS over TCP, no proxy",
		    why(p->loopback));
}

static void report_sockets(struct report *r)
{
	struct inetdiag *d = inetdiag_new();

	if (d && inetdiag_knows_tcp(d))
		row(r, "sock_diag", YES, "the kernel tells who listens on this machine");
	else
		row(r, "sock_diag", OPTIONAL,
		    "none (CONFIG_INET_DIAG): /proc/net/tcp is read instead, which takes longer");
	inetdiag_free(d);
}

static void report_lockdown(struct report *r)
{
	if (lockdown_is_built())
		row(r, "lockdown", YES, "the supervisor makes the system calls of its own list only");
	else
		row(r, "lockdown", OPTIONAL, "none: this is a build for tests");
}

/* What the policy that a run would use makes of the layers. */
static void report_policy(struct report *r, const struct loaded *l, unsigned features, bool loaded, int abi)
{
	if (!loaded)
		row(r, "policy", NO, "it could not be loaded; see above");
	else
		row(r, "policy", YES, "%s", l->builtin ? "built-in" : l->files[0]);
	if (!loaded)
		return;
	if (!(features & FEATURE_READS))
		row(r, "fast reads", YES, "files are opened for reading without the supervisor");
	else
		row(r, "fast reads", OPTIONAL, "off: %s",
		    policy_restricts_reads(l->policy) ? "the policy has deny_read rules"
		    : abi			      ? "the policy has all reads recorded"
						      : "there is no Landlock to guard /proc");
	if (features & FEATURE_HIDE)
		row(r, "hide", FACT,
		    "each look at a file is decided, so that what may not be read is absent");
}

static void report_probes(struct report *r, const struct probe *p, const struct caps *caps, int abi,
			  bool private_tmp)
{
	report_kernel(r);
	needed(r, "/proc", p->proc, "what callers are and hold is read there",
	       "mount it, and not with hidepid");
	needed(r, "openat2", is_inside(p) ? PROBE_UNKNOWN : p->openat2, "finds paths without following links",
	       "Linux 5.6");
	report_seccomp(r, p);
	report_memory(r, p);
	report_landlock(r, abi, p->landlock);
	report_lockdown(r);
	report_gateway(r, p);
	report_sockets(r);
	report_modules(r);
	report_identity(r, caps);
	if (!setup_is_one_user())
		row(r, "one user", NO, "real, effective and saved ids differ; see cordon(1)");
	report_container(r, is_inside(p));
	if (private_tmp)
		needed(r, "private TMPDIR", p->tmpdir, "made for each session", "or private_tmp = no");
}

static void too_late(int sig)
{
	static const char text[] = "cordon: doctor: took too long and was ended\n";

	(void)sig;
	if (write(2, text, sizeof(text) - 1) < 0)
		_exit(1);
	_exit(1);
}

int doctor_command(const struct opts *o)
{
	static struct session s;
	static struct loaded l;
	struct report r = {.n = 0};
	const struct sigaction late = {.sa_handler = too_late};
	struct caps caps = {.effective = 0};
	struct probe p;
	bool loaded;
	int abi = landlock_abi();

	if (o->argc) {
		fprintf(stderr, "cordon: doctor takes no arguments\n");
		return 125;
	}
	sigaction(SIGALRM, &late, NULL);
	alarm(LIMIT_SECONDS);
	caps_get(&caps);
	caps_supervisor();
	loaded = rules_load(&l, o, &s.mounts) && setup_session(&s, &l, o);
	probe_all(&p, abi, s.features);
	if (loaded && p.proc == 0 && !setup_can_follow(&s))
		p.proc = -EACCES;
	report_probes(&r, &p, &caps, abi, !l.config || l.config->private_tmp);
	report_policy(&r, &l, s.features, loaded, abi);
	if (s.mounts)
		report_aliases(&r, s.mounts);
	if (r.n == 0)
		puts("\ncordon can run commands here.");
	else
		printf("\ncordon cannot run commands here. Missing: %s.\n", r.missing);
	return r.n ? 1 : 0;
}
