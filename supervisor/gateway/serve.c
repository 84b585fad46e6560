/*
 * From the fork to the loop. Of what the supervisor has, nothing is kept but the policy (in memory) and the gateway's own
 * descriptors; then the process shuts itself off from files and from all calls that it does not make.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "supervisor/caps.h"
#include "supervisor/gateway/gateway.h"
#include "supervisor/gateway/control.h"
#include "supervisor/gateway/fakes.h"
#include "supervisor/gateway/ownaddr.h"
#include "supervisor/gateway/proxy.h"
#include "supervisor/gateway/stub.h"
#include "supervisor/gateway/sysfiles.h"
#include "supervisor/gateway/upstream.h"
#include "supervisor/landlock.h"
#include "supervisor/lockdown.h"

static void __attribute__((noreturn)) fail(struct gateway *g, const char *what, int err)
{
	struct report r = {.kind = REPORT_FAILED, .err = err};

	snprintf(r.what, sizeof(r.what), "%s", what);
	if (g->control)
		control_report(g->control, &r);
	else if (write(g->socket, &r, sizeof(r)) < 0)
		_exit(1);
	_exit(1);
}

static bool is_own(const struct gateway *g, int fd)
{
	return fd == g->socket || fd == g->dns_listener[0] || fd == g->dns_listener[1] ||
	       fd == g->proxy_listener;
}

/* The standard ones too: nobody is to wait for the end of a pipe because of this process. A build for tests keeps stderr
 * for what its tools say. */
static void close_others(struct gateway *g)
{
	DIR *d = opendir("/proc/self/fd");
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct dirent *e;

	if (!d || null < 0)
		fail(g, "descriptors", errno);
	while ((e = readdir(d))) {
		int fd = atoi(e->d_name);

		if (fd > 2 && fd != dirfd(d) && fd != null && !is_own(g, fd))
			close(fd);
	}
	closedir(d);
	for (int fd = 0; fd <= (lockdown_is_built() ? 2 : 1); fd++)
		dup2(null, fd);
	close(null);
}

/* Before anything of a stranger's is read. */
static void shut(struct gateway *g, int landlock_abi)
{
	int rc = landlock_abi ? landlock_shut(landlock_abi) : 0;

	if (rc < 0)
		fail(g, "Landlock", -rc);
	rc = lockdown_gateway();
	if (rc < 0)
		fail(g, "seccomp", -rc);
}

static void make_parts(struct gateway *g)
{
	g->loop = loop_new();
	if (!g->loop)
		fail(g, "memory", ENOMEM);
	g->control = control_new(g);
	g->files = sysfiles_new(g);
	g->own = ownaddr_new(g->loop);
	g->upstream = g->files ? upstream_new(g, sysfiles_conf(g->files)) : NULL;
	g->fakes = fakes_new();
	g->stub = stub_new(g);
	if (!g->control || !g->files || !g->own || !g->upstream || !g->fakes || !g->stub)
		fail(g, "memory", ENOMEM);
	if (g->proxy_listener >= 0 && !(g->proxy = proxy_new(g)))
		fail(g, "the proxy", errno);
}

void gateway_main(struct gateway *g, pid_t parent, int landlock_abi)
{
	const struct report ready = {.kind = REPORT_READY};
	const struct caps none = {0, 0, 0};
	int rc;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	prctl(PR_SET_DUMPABLE, 0);
	setsid();
	close_others(g);
	prctl(PR_SET_NAME, "cordon-gateway");
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	rc = caps_set(&none);
	if (rc == 0)
		rc = lockdown_prepare(g->socket);
	if (rc < 0)
		fail(g, "capabilities or no_new_privs", -rc);
	make_parts(g);
	shut(g, landlock_abi);
	control_report(g->control, &ready);
	loop_run(g->loop);
	_exit(0);
}
