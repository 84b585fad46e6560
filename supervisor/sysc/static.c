/*
 * Rows that registers alone decide: no handler, nothing here ever waits for the supervisor.
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <sys/socket.h>

#include "supervisor/sysc.h"

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
