/*
 * The same file operations as whoever a process can become: each change of identity in a child of its own, absolute names
 * first (they need no more than the caller's memory), then names that start from the working directory and from a
 * descriptor. Root only.
 */
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "probe_calls.h"

#define OTHER 1234
#define GROUP 77

static char base[TREE_MAX]; /* of this section */

static const char *abs_name(const char *name)
{
	static char buf[4][TREE_MAX + 64];
	static int next;
	char *b = buf[next++ % 4];

	snprintf(b, sizeof(buf[0]), "%s/%s", base, name);
	return b;
}

/* By number: libc would change all threads, and the raw probe has none of it. */
static void ids(int r, int e, int s)
{
	if (syscall(SYS_setresgid, r, e, s) < 0 || syscall(SYS_setresuid, r, e, s) < 0)
		die("setres*id");
}

static void groups(int n, gid_t group)
{
	if (syscall(SYS_setgroups, n, &group) < 0)
		die("setgroups");
}

#define CAP(x) (1ULL << (x))
static void caps(uint64_t effective, uint64_t permitted)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct d[2] = {{(uint32_t)effective, (uint32_t)permitted, 0},
					      {(uint32_t)(effective >> 32), (uint32_t)(permitted >> 32), 0}};

	if (syscall(SYS_capset, &h, d) < 0)
		die("capset");
}

static uint64_t permitted(void)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct d[2];

	if (syscall(SYS_capget, &h, d) < 0)
		die("capget");
	/* Inside there may be fewer: only those that the operations below make use of. */
	return ((uint64_t)d[1].permitted << 32 | d[0].permitted) &
	       (CAP(CAP_CHOWN) | CAP(CAP_DAC_OVERRIDE) | CAP(CAP_FOWNER) | CAP(CAP_FSETID) | CAP(CAP_SETUID) |
		CAP(CAP_SETGID));
}

static void by_setuid(void)
{
	if (syscall(SYS_setgid, OTHER) < 0 || syscall(SYS_setuid, OTHER) < 0)
		die("setuid");
}

static void file_system_ids(void)
{
	syscall(SYS_setfsgid, OTHER), syscall(SYS_setfsuid, OTHER);
}

static void only_gid(void)
{
	if (syscall(SYS_setresgid, OTHER, OTHER, OTHER) < 0)
		die("setresgid");
}

static void give_up_caps(void)
{
	caps(0, 0);
}

static void keep_chown(void)
{
	syscall(SYS_prctl, PR_SET_KEEPCAPS, 1, 0, 0, 0), ids(OTHER, OTHER, OTHER);
	caps(CAP(CAP_CHOWN), CAP(CAP_CHOWN));
}

static void come_back(void)
{
	if (syscall(SYS_setresuid, -1, 0, -1) < 0 || syscall(SYS_setresgid, -1, 0, -1) < 0)
		die("back");
}

static const struct change {
	const char *name;
	int groups;  /* how many, of GROUP; -1: as they are */
	int ids[3];  /* real, effective, saved, of user and group alike; -1: as it is */
	bool mixed;  /* they are not all the same then, or were not */
	int without; /* a capability; -1: all, which stay permitted */
	void (*more)(void);
} changes[] = {
	{"root", -1, {-1, -1, -1}},
	{"all ids", 0, {OTHER, OTHER, OTHER}},
	{"all ids, a group", 1, {OTHER, OTHER, OTHER}},
	{"setuid()", 0, {-1, -1, -1}, .more = by_setuid},
	{"effective ids", 0, {-1, OTHER, -1}, true},
	{"real ids", 0, {OTHER, -1, -1}, true},
	{"mixed ids", 0, {1111, OTHER, 0}, true},
	{"file system ids", 0, {-1, -1, -1}, .more = file_system_ids},
	{"only the gid", 0, {-1, -1, -1}, .more = only_gid},
	{"only groups", 1, {-1, -1, -1}},
	{"no effective capabilities", 0, {-1, -1, -1}, .without = -1},
	{"no capabilities", 0, {-1, -1, -1}, .more = give_up_caps},
	{"no CHOWN", -1, {-1, -1, -1}, .without = 1 + CAP_CHOWN},
	{"no DAC_OVERRIDE", 0, {-1, -1, -1}, .without = 1 + CAP_DAC_OVERRIDE},
	{"no FOWNER", -1, {-1, -1, -1}, .without = 1 + CAP_FOWNER},
	{"no FSETID", 0, {-1, -1, -1}, .without = 1 + CAP_FSETID},
	{"another with CHOWN", 0, {-1, -1, -1}, .more = keep_chown},
	{"and back", 0, {-1, OTHER, -1}, true, .more = come_back},
};

static void become(const struct change *w)
{
	if (w->groups >= 0)
		groups(w->groups, GROUP);
	ids(w->ids[0], w->ids[1], w->ids[2]);
	if (w->without)
		caps(w->without < 0 ? 0 : permitted() & ~CAP(w->without - 1), permitted());
	if (w->more)
		w->more();
}

static const char *const files[] = {"f/mine",  "f/root", "f/secret", "f/shared",
				    "f/group", "f/set",	 "shut/in"};
static const char *const dirs[] = {"dmine", "dopen", "dsticky", "dsetgid", "dgroup", "shut"};

static void make_owned(const char *name, mode_t mode, uid_t uid, gid_t gid)
{
	fresh_file(name, "content", 0600);
	if (chown(name, uid, gid) < 0 || chmod(name, mode) < 0)
		die(name);
}

static void make_dir(const char *name, mode_t mode, uid_t uid, gid_t gid)
{
	fresh(name, K_DIR);
	if (chown(name, uid, gid) < 0 || chmod(name, mode) < 0)
		die(name);
}

static void make_tree(void)
{
	umask(022);
	if (!getcwd(base, sizeof(base)))
		die("getcwd");
	make_dir("f", 01777, 0, 0), make_dir("shut", 0700, 0, 0);
	make_owned("f/mine", 0640, OTHER, OTHER), make_owned("f/root", 0644, 0, 0);
	make_owned("f/secret", 0600, 0, 0), make_owned("f/shared", 0666, 0, 0);
	make_owned("f/group", 0660, 0, GROUP), make_owned("f/set", 06755, OTHER, GROUP);
	make_owned("shut/in", 0644, 0, 0);
	make_dir("dmine", 0755, OTHER, OTHER), make_dir("dopen", 0777, 0, 0);
	make_dir("dsticky", 01777, 0, 0), make_dir("dsetgid", 02777, 0, GROUP);
	make_dir("dgroup", 0770, 0, GROUP);
	for (size_t i = 0; i < N(dirs); i++) {
		char name[64];

		snprintf(name, sizeof(name), "%s/theirs", dirs[i]);
		make_owned(name, 0644, 0, 0);
	}
}

/* By its absolute name, without reading. */
static void it_is(const char *name)
{
	struct stat st;

	say(" | %s", name);
	if (lstat(abs_name(name), &st) < 0)
		say(" %s", errno_name(errno));
	else
		say(" %o %u:%u n%lu %lld", st.st_mode, st.st_uid, st.st_gid, (unsigned long)st.st_nlink,
		    S_ISREG(st.st_mode) ? (long long)st.st_size : 0);
}

static void try(const char *what, const char *name, long rc)
{
	say("%s %s", what, name), result(rc < 0 ? -1 : 0), done();
	if (rc > 2 && strncmp(what, "open", 4) == 0)
		close((int)rc);
}

static void on_file(const char *file)
{
	const char *p = abs_name(file);
	struct timespec t[2] = {{OLD_TIME + 1, 0}, {OLD_TIME + 2, 0}};

	try("open r", file, x_open(p, O_RDONLY, 0));
	try("open noatime", file, x_open(p, O_RDONLY | O_NOATIME, 0));
	try("open w", file, x_open(p, O_WRONLY, 0));
	try("open creat", file, x_open(p, O_RDWR | O_CREAT, 0644));
	try("chmod", file, x_chmod(p, 0646));
	try("chmod sgid", file, x_chmod(p, 02755));
	try("chown own", file, x_chown(p, OTHER, -1));
	try("chgrp own", file, x_chown(p, -1, OTHER));
	try("chgrp group", file, x_chown(p, -1, GROUP));
	try("chown root", file, x_chown(p, 0, 0));
	try("chown same", file, x_chown(p, -1, -1));
	try("utimes now", file, x_utimensat(AT_FDCWD, p, NULL, 0));
	try("utimes set", file, x_utimensat(AT_FDCWD, p, t, 0));
	try("truncate", file, x_truncate(p, 3));
	try("xattr user", file, x_setxattr(p, "user.a", "1", 1, 0));
	try("link", file, x_link(p, abs_name("dopen/link")));
	try("unlink link", file, x_unlink(abs_name("dopen/link")));
	try("rename", file, x_rename(p, abs_name("dopen/moved")));
	try("rename back", file, x_rename(abs_name("dopen/moved"), p));
	say("now"), it_is(file), done();
}

static void in_dir(const char *dir)
{
	static const char *const made[] = {"file", "dir", "fifo", "link"};
	char name[64];
	const char *p;

	for (size_t i = 0; i < N(made); i++) {
		snprintf(name, sizeof(name), "%s/%s", dir, made[i]);
		p = abs_name(name);
		switch (i) {
		case 0:
			try("open new", name, x_open(p, O_RDWR | O_CREAT | O_EXCL, 02777));
			break;
		case 1:
			try("mkdir", name, x_mkdir(p, 0777));
			break;
		case 2:
			try("mkfifo", name, x_mknod(p, S_IFIFO | 0666, 0));
			break;
		default:
			try("symlink", name, x_symlink("file", p));
		}
		say("it is"), it_is(name), done();
	}
	snprintf(name, sizeof(name), "%s/theirs", dir);
	try("rename theirs", name, x_rename(abs_name(name), abs_name("dopen/theirs2")));
	try("rename back", name, x_rename(abs_name("dopen/theirs2"), abs_name(name)));
	try("unlink theirs", name, x_unlink(abs_name(name)));
	snprintf(name, sizeof(name), "%s/dir", dir);
	try("rmdir", name, x_rmdir(abs_name(name)));
}

/* A peer sees who connected: the effective ids. */
static void unix_peer(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int l = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0),
	    c = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), s;
	struct ucred cred = {0};
	socklen_t len = sizeof(cred);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", abs_name("dopen/socket"));
	say("bind"), result(bind(l, (struct sockaddr *)&a, sizeof(a))), it_is("dopen/socket"), done();
	say("listen"), result(listen(l, 1)), say(" connect"),
		result(connect(c, (struct sockaddr *)&a, sizeof(a)));
	s = accept(l, NULL, NULL);
	say(" accept"), result(s < 0 ? -1 : 0), getsockopt(s, SOL_SOCKET, SO_PEERCRED, &cred, &len);
	say(" from %u:%u", cred.uid, cred.gid), done();
	close(l), close(c), close(s);
	try("unlink", "socket", x_unlink(abs_name("dopen/socket")));
}

static volatile sig_atomic_t too_large;
static void on_xfsz(int sig)
{
	(void)sig;
	too_large++;
}

static void file_size(void)
{
	struct rlimit was, l = {.rlim_cur = 100, .rlim_max = RLIM_INFINITY};

	getrlimit(RLIMIT_FSIZE, &was);
	l.rlim_max = was.rlim_max;
	signal(SIGXFSZ, on_xfsz);
	setrlimit(RLIMIT_FSIZE, &l);
	try("truncate within", "f/shared", x_truncate(abs_name("f/shared"), 100));
	try("truncate beyond", "f/shared", x_truncate(abs_name("f/shared"), 101));
	say("%d signals", too_large), done();
	setrlimit(RLIMIT_FSIZE, &was);
}

static void operations(void)
{
	for (size_t i = 0; i < N(files); i++)
		on_file(files[i]);
	for (size_t i = 0; i < N(dirs); i++)
		in_dir(dirs[i]);
	file_size();
	say("getuid %d %d %d", (int)getuid(), (int)geteuid(), (int)getgid()), done();
}

static void as(void *arg)
{
	become(arg);
	operations();
}

enum { EVERY, UNIFORM, NOT_UNIFORM };
static void each(void (*fn)(void *arg), int which)
{
	if (!is_root) {
		say("as an ordinary user there is nothing to change to"), done();
		return;
	}
	for (size_t i = 0; i < N(changes); i++) {
		if (which != EVERY && changes[i].mixed != (which == NOT_UNIFORM))
			continue;
		make_tree();
		say("--- %s", changes[i].name), done();
		in_child(fn, (void *)&changes[i]);
	}
}

static void identities(void)
{
	each(as, EVERY);
}

/* One thread changes, the others stay: what each does is done as itself. */
static void *other_thread(void *arg)
{
	return as(arg), NULL;
}

static void as_thread(void *arg)
{
	pthread_t t;

	if (pthread_create(&t, NULL, other_thread, arg) != 0)
		die("thread");
	pthread_join(t, NULL);
	try("the first thread: open", "f/secret", x_open(abs_name("f/secret"), O_RDWR, 0));
	try("the first thread: mkdir", "shut/by", x_mkdir(abs_name("shut/by"), 0777));
}

static void identity_threads(void)
{
	each(as_thread, EVERY);
}

/* What is one's own is known by being it. */
static void own_proc(void)
{
	static const char *const own[] = {"status", "maps", "fd"};
	char name[64];

	snprintf(name, sizeof(name), "/proc/self/task/%d/comm", (int)syscall(SYS_gettid));
	try("open own thread's", "comm", x_open(name, O_RDWR, 0));
	for (size_t i = 0; i < N(own); i++)
		snprintf(name, sizeof(name), "/proc/self/%s", own[i]),
			try("open own", own[i], x_open(name, O_RDONLY, 0));
}

static void relative(int dir)
{
	char name[32];
	int fd;

	try("open", "f/mine", x_open("f/mine", O_RDWR, 0));
	try("open", "f/secret", x_open("f/secret", O_RDONLY, 0));
	try("mkdir", "dmine/rel", x_mkdir("dmine/rel", 0777));
	say("it is"), it_is("dmine/rel"), done();
	try("open at", "dopen/at", x_openat(dir, "at", O_RDWR | O_CREAT, 0666));
	say("it is"), it_is("dopen/at"), done();
	if (chdir("dopen") < 0)
		die("chdir");
	try("open", "at", x_open("at", O_RDWR, 0));
	try("open", "../f/secret", x_open("../f/secret", O_RDONLY, 0));
	fd = x_open("at", O_RDWR, 0);
	say("fchmod"), result(x_fchmod(fd, 0604)), say(" fchown"), result(x_fchown(fd, 0, 0)),
		it_is("dopen/at"), done();
	snprintf(name, sizeof(name), "/dev/fd/%d", fd);
	try("open by", "/dev/fd", x_open(name, O_RDWR, 0));
	try("open by", "cwd", x_open("/proc/self/cwd/at", O_RDWR, 0));
	close(fd);
	if (chdir("..") < 0)
		die("chdir");
}

static void grandchild(void *arg)
{
	relative(*(int *)arg);
}

static void as_relative(void *arg)
{
	const struct change *w = arg;
	int dir = x_open(abs_name("dopen"), O_RDONLY | O_DIRECTORY, 0);

	become(w);
	relative(dir), unix_peer(), own_proc();
	if (w->mixed)
		return;
	/* Forked, it has memory of its own, which nobody held open before. */
	say("forked"), done();
	x_rmdir("dmine/rel"), x_unlink("dopen/at");
	in_child(grandchild, &dir);
}

static void identities_relative(void)
{
	each(as_relative, UNIFORM);
}

static void identities_mixed(void)
{
	each(as_relative, NOT_UNIFORM);
}

/* A child of vfork changes the memory of both. */
static void identity_vfork(void)
{
	int status = 0;
	pid_t pid;

	make_tree();
	pid = vfork();
	if (pid == 0) {
		syscall(SYS_setresgid, OTHER, OTHER, OTHER);
		syscall(SYS_setresuid, OTHER, OTHER, OTHER);
		execl("/bin/sh", "sh", "-c", "echo x >dmine/sh; echo x >f/secret; echo done", NULL);
		_exit(70);
	}
	waitpid(pid, &status, 0);
	say("child %d", status), it_is("dmine/sh"), done();
	try("parent: open", "f/secret", x_open(abs_name("f/secret"), O_RDWR, 0));
	try("parent: mkdir", "shut/by", x_mkdir(abs_name("shut/by"), 0777));
}

/* The "dumpable" mark: of the memory, so children begin with it and a new program does not. */
#define mark() ((int)syscall(SYS_prctl, PR_GET_DUMPABLE, 0, 0, 0, 0))

static void set_mark(int value)
{
	say("set %d", value), result(syscall(SYS_prctl, PR_SET_DUMPABLE, value, 0, 0, 0)),
		say(" get %d", mark());
	done();
}

static void marked_child(void *arg)
{
	say("child %d", mark()), done();
	set_mark(1);
	set_mark(0);
	try("open", "m", x_open("m", O_RDWR | O_CREAT, 0666));
	execl("/proc/self/exe", "probe", "mark", (char *)NULL);
	(void)arg;
	die("exec");
}

static void changed(void *arg)
{
	become(arg), say("changed %d", mark()), done();
	in_child(marked_child, NULL), marked_child(NULL);
}

static void marks(void)
{
	/* As it is inside: root gains nothing by exec. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || chmod(".", 0777) < 0)
		die("marks");
	say("begin %d", mark()), done();
	set_mark(2), set_mark(7), set_mark(0);
	in_child(marked_child, NULL), set_mark(1);
	for (size_t i = 0; is_root && i < N(changes); i++)
		/* What those start whose file system ids differ, the kernel shuts. */
		if (!changes[i].mixed && changes[i].more != file_system_ids)
			x_unlink("m"), in_child(changed, (void *)&changes[i]);
}

const struct section ident_sections[] = {
	{"marks", marks},
	{"identities", identities},
	{"identitythreads", identity_threads},
	{"identityrelative", identities_relative},
	{"identitymixed", identities_mixed},
	{"identityvfork", identity_vfork},
	{NULL, NULL},
};
