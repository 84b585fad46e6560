#include "supervisor/setup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "supervisor/audit.h"
#include "supervisor/compat.h"
#include "supervisor/execs.h"
#include "supervisor/flights.h"
#include "supervisor/hostfile.h"
#include "supervisor/idset.h"
#include "supervisor/inetdiag.h"
#include "supervisor/ident.h"
#include "supervisor/landlock.h"
#include "supervisor/literals.h"
#include "supervisor/lockdown.h"
#include "supervisor/mounts.h"
#include "supervisor/names.h"
#include "supervisor/nameserver.h"
#include "supervisor/notify.h"
#include "supervisor/pins.h"
#include "supervisor/sockets.h"
#include "supervisor/sticky.h"
#include "supervisor/sysc.h"
#include "supervisor/tracee.h"
#include "supervisor/tracer.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(openat), OWN(openat2), OWN(close));

static bool fail(const char *what)
{
	fprintf(stderr, "cordon: %s: %s\n", what, strerror(errno));
	return false;
}

bool setup_is_one_user(void)
{
	uid_t u[3];
	gid_t g[3];

	/* The ids for the file system are the effective ones after any exec. */
	return getresuid(&u[0], &u[1], &u[2]) == 0 && getresgid(&g[0], &g[1], &g[2]) == 0 && u[0] == u[1] &&
	       u[1] == u[2] && g[0] == g[1] && g[1] == g[2];
}

/*
 * An exec under no_new_privs gives the command its real ids (kernels before 6.16), or leaves it with both, and then nobody may
 * look into it. The supervisor would act as the effective ones.
 */
bool setup_check_user(void)
{
	if (setup_is_one_user())
		return true;
	fprintf(stderr,
		"cordon: real and effective user (%u, %u) or group (%u, %u) differ: the command could be "
		"another "
		"than its supervisor, so it is not started\n",
		getuid(), geteuid(), getgid(), getegid());
	return false;
}

static bool is_kept(const struct opts *o, int fd)
{
	for (size_t i = 0; i < o->n_keep_fds; i++)
		if (o->keep_fds[i] == fd)
			return true;
	return false;
}

static bool check_socket(int fd)
{
	struct sockaddr_storage peer;
	socklen_t len = sizeof(int);
	int type = 0, listening = 0;

	getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len);
	len = sizeof(int);
	getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &len);
	len = sizeof(peer);
	if (type == SOCK_STREAM && !listening && getpeername(fd, (struct sockaddr *)&peer, &len) == 0)
		return true;
	fprintf(stderr,
		"cordon: descriptor %d is a %s socket, which could reach anything; refused (to hand it on: "
		"--keep-fd %d)\n",
		fd,
		listening	      ? "listening"
		: type == SOCK_STREAM ? "unconnected"
				      : "datagram",
		fd);
	return false;
}

bool setup_check_stdio(const struct opts *o)
{
	struct stat st;

	for (int fd = 0; fd <= 2; fd++) {
		if (fstat(fd, &st) < 0) {
			/* A number below 3 would be taken by the first file that cordon opens. */
			if (open("/dev/null", O_RDWR) != fd)
				return fail("descriptors 0 to 2");
			continue;
		}
		if (is_kept(o, fd))
			continue;
		if (S_ISSOCK(st.st_mode) && !check_socket(fd))
			return false;
		if (S_ISDIR(st.st_mode)) {
			fprintf(stderr,
				"cordon: descriptor %d is a directory; refused (to hand it on: --keep-fd "
				"%d)\n",
				fd, fd);
			return false;
		}
	}
	for (size_t i = 0; i < o->n_keep_fds; i++)
		if (fcntl(o->keep_fds[i], F_GETFD) < 0) {
			fprintf(stderr, "cordon: --keep-fd %d: no such descriptor\n", o->keep_fds[i]);
			return false;
		}
	return true;
}

/*
 * It holds descriptors of the whole session, and truncates in the name of callers, each of whom has a limit on file sizes of
 * his own (sysc/attr.c).
 */
void setup_raise_limits(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) == 0) {
		if (lim.rlim_max > 65536 && lim.rlim_cur < 65536)
			lim.rlim_cur = 65536;
		else if (lim.rlim_cur < lim.rlim_max && lim.rlim_max <= 65536)
			lim.rlim_cur = lim.rlim_max;
		setrlimit(RLIMIT_NOFILE, &lim);
	}
	if (getrlimit(RLIMIT_FSIZE, &lim) == 0) {
		lim.rlim_cur = lim.rlim_max;
		setrlimit(RLIMIT_FSIZE, &lim);
	}
}

static void note_stdio(struct session *s, int fd)
{
	struct stat st;
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fstat(fd, &st) < 0 || s->n_stdio == SESSION_STDIO_MAX)
		return;
	s->stdio[s->n_stdio++] = (struct stdio_object){st.st_dev, st.st_ino, flags & O_ACCMODE};
}

/* Two descriptors of one object: what either could do. */
static void merge_stdio(struct session *s)
{
	for (int i = 0; i < s->n_stdio; i++)
		for (int j = 0; j < s->n_stdio; j++)
			if (s->stdio[i].dev == s->stdio[j].dev && s->stdio[i].ino == s->stdio[j].ino &&
			    s->stdio[i].accmode != s->stdio[j].accmode)
				s->stdio[i].accmode = s->stdio[j].accmode = O_RDWR;
}

static void seal_path(struct session *s, const char *path)
{
	struct statx st;

	if (path && statx(AT_FDCWD, path, 0, IDSET_STATX, &st) == 0)
		idset_add(s->sealed, &st);
}

static bool make_sets(struct session *s, const struct loaded *l)
{
	s->sealed = idset_new();
	s->created = idset_new();
	s->own_links = idset_new();
	s->own_ptys = idset_new();
	s->sockets = sockets_new();
	s->inetdiag = inetdiag_new();
	s->flights = flights_new();
	s->pins = pins_new();
	s->hosts = hostfile_new(s, NAMES_HOSTS);
	s->resolv = hostfile_new(s, NAMESERVER_FILE);
	s->nameserver = nameserver_new(NAMESERVER_FILE);
	s->hostnames = names_new(s->hosts);
	s->tracer = tracer_new();
	s->execs = execs_new();
	s->literals = literals_new(s->config, s->identity.cap_effective != 0);
	if (!s->sealed || !s->created || !s->own_links || !s->own_ptys || !s->sockets || !s->inetdiag ||
	    !s->flights || !s->hosts || !s->resolv || !s->nameserver || !s->hostnames || !s->pins ||
	    !s->tracer || !s->execs || !s->literals)
		return fail("memory");
	for (size_t i = 0; i < l->n_files; i++)
		seal_path(s, l->files[i]);
	seal_path(s, "/proc/self/exe");
	return true;
}

/* What a session's first records take, roughly. */
#define AUDIT_ROOM 65536

static bool audit_has_room(const struct session *s)
{
	struct rlimit limit;
	struct statvfs fs;
	struct stat st;
	int fd = audit_fd(s->audit);

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return true;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
	    (rlim_t)st.st_size + AUDIT_ROOM > limit.rlim_cur) {
		fprintf(stderr,
			"cordon: the audit trail: the limit on file sizes (ulimit -f) leaves no room\n");
		return false;
	}
	if (fstatvfs(fd, &fs) == 0 && fs.f_blocks && fs.f_bavail * fs.f_frsize < AUDIT_ROOM) {
		fprintf(stderr, "cordon: the audit trail: no space is left on its file system\n");
		return false;
	}
	return true;
}

static void seal_audit(struct session *s)
{
	struct statx st;

	if (audit_fd(s->audit) > 2 &&
	    statx(audit_fd(s->audit), "", AT_EMPTY_PATH, STATX_TYPE | IDSET_STATX, &st) == 0 &&
	    S_ISREG(st.stx_mode))
		idset_add(s->sealed, &st);
}

bool setup_audit(struct session *s)
{
	const struct config *c = s->config;
	struct audit_opts o = {
		.file = c->audit_file,
		.level = c->audit_level,
		.stderr_messages = c->messages_stderr && !s->quiet &&
				   !(c->audit_file && strcmp(c->audit_file, "-") == 0),
		.stderr_fd = 2,
		.session = s->id,
	};
	char err[512];

	s->audit = audit_open(&o, err, sizeof(err));
	if (!s->audit)
		fprintf(stderr, "cordon: %s\n", err);
	if (!s->audit || !audit_has_room(s))
		return false;
	seal_audit(s);
	return true;
}

static void make_id(struct session *s)
{
	unsigned char r[8];

	if (getrandom(r, sizeof(r), 0) != sizeof(r))
		memset(r, 0, sizeof(r));
	for (int i = 0; i < 8; i++)
		snprintf(s->id + 2 * i, 3, "%02x", r[i]);
}

static unsigned features(const struct session *s, int abi)
{
	unsigned f = 0;

	/* Without Landlock only the supervisor keeps /proc of strangers shut. */
	if (policy_restricts_reads(s->policy) || !abi ||
	    (s->config->audit_level == AUDIT_ALL && s->config->audit_file))
		f |= FEATURE_READS;
	/* What may not be read may not be run, as its memory would show it. */
	if (policy_restricts_programs(s->policy) ||
	    (s->config->audit_level == AUDIT_ALL && s->config->audit_file))
		f |= FEATURE_EXEC;
	if (s->identity.cap_effective)
		f |= FEATURE_IDENT;
	if (s->config->hide && policy_restricts_reads(s->policy))
		f |= FEATURE_HIDE;
	if (abi < LANDLOCK_ABI_SCOPES)
		f |= FEATURE_UNSCOPED;
	return f;
}

/* Writers first: else a busy program's changes would keep renames waiting for ever. */
static void init_names(struct session *s)
{
	pthread_rwlockattr_t attr;

	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&s->names, &attr);
	pthread_rwlockattr_destroy(&attr);
}

bool setup_session(struct session *s, const struct loaded *l, const struct opts *o)
{
	struct stat st;

	s->config = l->config;
	s->policy = l->policy;
	s->home = l->home;
	s->log_only = o->log_only;
	s->quiet = o->quiet;
	s->listener = -1;
	s->supervisor = getpid();
	s->group = getpgid(getppid());
	s->proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	s->self_fd = open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
	s->root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (s->proc < 0 || s->self_fd < 0 || s->root < 0 || fstat(s->proc, &st) < 0)
		return fail("/proc is needed");
	sticky_init(s);
	for (int fd = 0; fd <= 2; fd++)
		note_stdio(s, fd);
	for (size_t i = 0; i < o->n_keep_fds; i++)
		note_stdio(s, o->keep_fds[i]);
	merge_stdio(s);
	make_id(s);
	init_names(s);
	pthread_mutex_init(&s->repositories_lock, NULL);
	if (ident_initial(s) < 0)
		return fail("/proc/self/status");
	s->landlock_abi = landlock_abi();
	s->features = features(s, s->landlock_abi);
	return make_sets(s, l);
}

bool setup_can_follow(const struct session *s)
{
	return !(s->features & FEATURE_IDENT) || !mounts_hides_processes(s->mounts);
}

bool setup_check_kernel(struct session *s, bool readable)
{
	int fd = compat_openat2(s->root, ".", O_PATH | O_CLOEXEC, 0, RESOLVE_NO_MAGICLINKS);
	struct call c = {.s = s, .tid = s->command};
	char byte;
	int rc;

	if (fd < 0) {
		errno = -fd;
		return fail("openat2 is needed (Linux 5.6; see cordon doctor)");
	}
	close(fd);
	if (!setup_can_follow(s)) {
		fprintf(stderr,
			"cordon: /proc is mounted with hidepid, so processes that change their user, as "
			"those of "
			"this command may, could not be followed: mount it without, or start as an ordinary "
			"user\n");
		return false;
	}
	if (!notify_can_send_fd(s->listener)) {
		errno = EINVAL;
		return fail("ADDFD_FLAG_SEND is needed (Linux 5.14; see cordon doctor)");
	}
	/* The command is a copy of us so far, and this address is good in it. */
	rc = readable ? tracee_read(&c, (uintptr_t)s, &byte, 1) : 0;
	if (rc < 0) {
		errno = -rc;
		return fail("the command's memory cannot be read (see cordon doctor)");
	}
	return true;
}

void session_note_repository(struct session *s, int dir, const char *leaf)
{
	pthread_mutex_lock(&s->repositories_lock);
	if (s->n_repositories < SESSION_REPOSITORIES_MAX)
		s->repositories[s->n_repositories] = openat(dir, leaf, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	s->n_repositories++;
	pthread_mutex_unlock(&s->repositories_lock);
}

/* NAME.1, NAME.gz and their kin. */
static bool protect_rotations(struct config *c, const char *name)
{
	char pattern[2 * PATH_MAX];
	size_t n = 0;

	for (; *name && n + 4 < sizeof(pattern); name++) {
		if (strchr("*?[\\", *name))
			pattern[n++] = '\\';
		pattern[n++] = *name;
	}
	strcpy(pattern + n, ".*");
	if (config_add_rule(c, RULE_PROTECT, "protect", pattern, SIZE_MAX) < 0)
		return false;
	c->rules[c->n_rules - 1].literal = false;
	return true;
}

static bool protect(struct loaded *l, const char *path)
{
	return config_add_rule(l->config, RULE_PROTECT, "protect", path, SIZE_MAX) == 0;
}

/*
 * A file by the name it was given, by where that leads, and each symbolic link on the way: to change one of these is to
 * choose the next session's policy, program or trail.
 */
static bool protect_way(struct loaded *l, const char *given)
{
	char path[2 * PATH_MAX], real[PATH_MAX];
	struct stat st;
	bool ok = true;

	if (snprintf(path, sizeof(path), "%s%s%s", given[0] == '/' ? "" : l->cwd, given[0] == '/' ? "" : "/",
		     given) >= PATH_MAX)
		return true;
	for (char *p = path + 1; ok; p++) {
		char end = *p;

		if (end != '/' && end != '\0')
			continue;
		*p = '\0';
		/* By the canonical name of the directory that the link is in. */
		if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode)) {
			char *slash = strrchr(path, '/'), dir[PATH_MAX], name[2 * PATH_MAX];

			*slash = '\0';
			if (realpath(path[0] ? path : "/", dir)) {
				snprintf(name, sizeof(name), "%s/%s", strcmp(dir, "/") == 0 ? "" : dir,
					 slash + 1);
				ok = protect(l, name);
			}
			*slash = '/';
		}
		*p = end;
		if (end == '\0')
			break;
	}
	if (ok && realpath(path, real))
		ok = protect(l, real);
	return ok;
}

bool setup_protect_own(struct loaded *l)
{
	const char *audit = l->config->audit_file;
	char exe[PATH_MAX];
	bool ok = true;
	ssize_t n;

	for (size_t i = 0; ok && i < l->n_files; i++)
		ok = protect_way(l, l->files[i]);
	if (ok && audit && audit[0] == '/')
		ok = protect(l, audit) && protect_rotations(l->config, audit) && protect_way(l, audit);
	n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	if (ok && n > 0) {
		exe[n] = '\0';
		ok = protect(l, exe);
	}
	if (ok && strchr(program_invocation_name, '/'))
		ok = protect_way(l, program_invocation_name);
	if (!ok)
		fprintf(stderr, "cordon: out of memory\n");
	return ok;
}

char **setup_command_line(const struct opts *o)
{
	static const char *const shells[] = {"/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"};
	const char *shell = "/bin/sh";
	char **argv;

	if (!o->shell)
		return o->argv;
	for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++)
		if (access(shells[i], X_OK) == 0) {
			shell = shells[i];
			break;
		}
	argv = calloc((size_t)o->argc + 4, sizeof(*argv));
	if (!argv)
		return NULL;
	argv[0] = (char *)shell;
	argv[1] = (char *)"-c";
	argv[2] = (char *)o->shell;
	memcpy(argv + 3, o->argv, (size_t)o->argc * sizeof(*argv));
	return argv;
}
