/*
 * What a new process or thread shares with its maker, and no longer sharing it. All is decided by registers; of descriptors
 * that a thread gets for itself the supervisor is told, since it looks for sockets in those of whole processes otherwise.
 */
#include <linux/close_range.h>
#include <linux/sched.h>
#include <stdatomic.h>

#include "supervisor/call.h"

/* CLONE_NEWTIME is for unshare only: in clone's flags it lies in the exit signal. */
#define NEW_NAMESPACE                                                                                        \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |        \
	 CLONE_NEWNET)

/* Before it happens. See sockheld.c. */
static void handle_apart(struct call *c)
{
	atomic_store(&c->s->tables_apart, true);
	call_continue(c);
}

const struct sysc sysc_clone = {
	.name = "clone",
	.op = "syscall",
	.action = SYSC_ALLOW,
	SYSC_WHEN(SYSC_IF(SYSC_EPERM, ARG_ANY(0, NEW_NAMESPACE)),
		  SYSC_IF(SYSC_NOTIFY, ARG_BITS(0, CLONE_THREAD | CLONE_FILES, CLONE_THREAD))),
	.handle = handle_apart,
	.doc = "New processes and threads are free; a new namespace is refused, since it would change what "
	       "names and addresses mean. The supervisor is told of a thread with descriptors of its own.",
};

const struct sysc sysc_unshare = {
	.name = "unshare",
	.op = "syscall",
	.action = SYSC_ALLOW,
	SYSC_WHEN(SYSC_IF(SYSC_EPERM, ARG_ANY(0, NEW_NAMESPACE | CLONE_NEWTIME)),
		  SYSC_IF(SYSC_NOTIFY, ARG_ANY(0, CLONE_FILES))),
	.handle = handle_apart,
	.doc = "Sharing with other threads may be ended, of which the supervisor is told if it is that of "
	       "descriptors; a new namespace is refused, as in clone.",
};

const struct sysc sysc_close_range = {
	.name = "close_range",
	.op = "syscall",
	.action = SYSC_ALLOW,
	SYSC_WHEN(SYSC_IF(SYSC_NOTIFY, ARG_ANY(2, CLOSE_RANGE_UNSHARE))),
	.handle = handle_apart,
	.doc = "The supervisor is told when the thread gets descriptors of its own by it.",
};
