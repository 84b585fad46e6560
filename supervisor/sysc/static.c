/*
 * Rows that registers alone decide: no handler, nothing here ever waits for the supervisor.
 */
#include <errno.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/socket.h>

#include "supervisor/sysc.h"

/* CLONE_NEWTIME is for unshare only: in clone's flags it lies in the exit signal. */
#define NEW_NAMESPACE                                                                                        \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |        \
	 CLONE_NEWNET)

const struct sysc sysc_clone = {
	.name = "clone",
	.action = SYSC_ALLOW,
	SYSC_WHEN(SYSC_IF(SYSC_EPERM, ARG_ANY(0, NEW_NAMESPACE))),
	.doc = "New processes and threads are free; a new namespace is refused, since it would change what "
	       "names and addresses mean.",
};

const struct sysc sysc_unshare = {
	.name = "unshare",
	.action = SYSC_ALLOW,
	SYSC_WHEN(SYSC_IF(SYSC_EPERM, ARG_ANY(0, NEW_NAMESPACE | CLONE_NEWTIME))),
	.doc = "Sharing with other threads may be ended; a new namespace is refused, as in clone.",
};

/*
 * While the supervisor lives the kernel itself refuses a second listener. After its death a new one would answer for all
 * calls that were the supervisor's, and could let them go on.
 */
const struct sysc sysc_seccomp = {
	.name = "seccomp",
	.action = SYSC_ALLOW,
	SYSC_WHEN(SYSC_IF_ERRNO(EBUSY, ARG_ANY(1, SECCOMP_FILTER_FLAG_NEW_LISTENER))),
	.doc = "Filters of a program's own can only forbid more; one with a listener, which could also "
	       "allow, is "
	       "refused.",
};
