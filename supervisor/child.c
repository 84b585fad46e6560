#include "supervisor/child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/caps.h"
#include "supervisor/compat.h"
#include "supervisor/fdpass.h"
#include "supervisor/filter.h"
#include "supervisor/landlock.h"
#include "supervisor/lockdown.h"

static void __attribute__((noreturn)) fail(const struct child *ch, enum child_stage stage, int err)
{
	struct child_message m = {stage, err};

	send(ch->sock, &m, sizeof(m), MSG_NOSIGNAL);
	_exit(125);
}

static bool is_kept(const struct child *ch, int fd)
{
	for (size_t i = 0; i < ch->n_keep_fds; i++)
		if (ch->keep_fds[i] == fd)
			return true;
	return false;
}

/*
 * Descriptors above 2 that were handed to cordon: pipes and FIFOs go on to the command (process substitution, make's
 * jobserver), all else is closed, for the policy judged none of it. The supervisor's own are close-on-exec anyway.
 */
static void close_inherited(const struct child *ch)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;
	struct stat st;

	if (!d)
		fail(ch, CHILD_OTHER, errno);
	while ((e = readdir(d))) {
		int fd = atoi(e->d_name);

		if (fd <= 2 || fcntl(fd, F_GETFD) & FD_CLOEXEC || is_kept(ch, fd))
			continue;
		if (fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode))
			fcntl(fd, F_SETFD, FD_CLOEXEC);
	}
	closedir(d);
}

int child_send_listener(int sock, int listener)
{
	struct child_message m = {CHILD_READY, 0};

	return fdpass_send(sock, &m, sizeof(m), listener);
}

/* As execvp(3), without allocation: EACCES is remembered while the search goes on. */
static int exec_command(const struct child *ch)
{
	const char *name = ch->argv[0], *p = ch->path ? ch->path : DEFAULT_PATH;
	char full[PATH_MAX];
	int err = ENOENT;

	if (strchr(name, '/')) {
		execve(name, ch->argv, ch->envp);
		return errno;
	}
	if (!*name)
		return ENOENT;
	for (;;) {
		size_t n = strcspn(p, ":");

		if (n + strlen(name) + 2 <= sizeof(full)) {
			memcpy(full, p, n);
			if (n > 0)
				full[n++] = '/';
			strcpy(full + n, name);
			execve(full, ch->argv, ch->envp);
			if (errno == EACCES)
				err = EACCES;
			else if (errno != ENOENT && errno != ENOTDIR)
				return errno;
		}
		p += strcspn(p, ":");
		if (*p++ != ':')
			return err;
	}
}

void child_main(const struct child *ch)
{
	const struct rlimit none = {0, 0};
	int listener, rc;
	char go;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != ch->parent)
		_exit(125);
	close_inherited(ch);
	setrlimit(RLIMIT_NOFILE, &ch->nofile);
	if (ch->no_core)
		setrlimit(RLIMIT_CORE, &none);
	rc = caps_give_up();
	if (rc < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		fail(ch, CHILD_IDENTITY, rc < 0 ? -rc : errno);
	if (ch->landlock_abi) {
		rc = landlock_restrict(ch->landlock_abi, ch->core_files);
		if (rc < 0)
			fail(ch, CHILD_LANDLOCK, -rc);
	}
	listener = filter_load(ch->features);
	if (listener < 0)
		fail(ch, CHILD_FILTER, -listener);
	rc = child_send_listener(ch->sock, listener);
	close(listener);
	if (rc < 0 || recv(ch->sock, &go, 1, 0) != 1)
		_exit(125);
	if (ch->chld_ignored)
		sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
	sigprocmask(SIG_SETMASK, &ch->mask, NULL);
	fail(ch, CHILD_EXEC, exec_command(ch));
}

int child_receive_listener(int sock, struct child_message *m)
{
	int fd;

	if (fdpass_receive(sock, m, sizeof(*m), &fd) != sizeof(*m)) {
		*m = (struct child_message){CHILD_OTHER, ECHILD};
		return -ECHILD;
	}
	if (m->stage == CHILD_READY && fd >= 0)
		return fd;
	return m->err ? -m->err : -EPROTO;
}
