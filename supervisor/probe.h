/*
 * What this kernel and container let cordon do: each thing is tried, in a child where it would leave traces. Nothing
 * waits longer than PROBE_MS, and every child is ended by its number.
 */
#ifndef CORDON_PROBE_H
#define CORDON_PROBE_H

#include <stdbool.h>
#include <sys/types.h>

#define PROBE_MS      2000
#define PROBE_UNKNOWN 1 /* not tried, because what it builds on is missing */

/* Each is 0, -errno or PROBE_UNKNOWN. */
struct probe {
	int proc; /* /proc is a proc file system, and shows what a run needs */
	int openat2;
	int filter;    /* a seccomp filter */
	int listener;  /* one with a listener; -EBUSY: there is one above already */
	int killable;  /* WAIT_KILLABLE_RECV */
	int notified;  /* a call arrived and its answer, too */
	int send_fd;   /* ADDFD_FLAG_SEND, and the descriptor arrived */
	int sync_wake; /* SYNC_WAKE_UP */
	int vm_readv;  /* process_vm_readv of a child */
	int mem;       /* /proc/PID/mem of a child */
	int ptrace;    /* PTRACE_SEIZE of a child */
	int landlock;  /* a domain can be entered; PROBE_UNKNOWN: there is no Landlock */
	int program;   /* cordon's own filter, as a run loads it */
	int tmpdir;    /* a private TMPDIR can be made */
	int loopback;  /* a port of 127.0.0.1 can be listened on */
};

/* landlock_abi: 0 for none. features: of the policy, for the filter's program. */
void probe_all(struct probe *p, int landlock_abi, unsigned features);

/* Names of harmless calls that are refused here though the kernel has them, separated by ", "; "" for none. */
void probe_refused_calls(char *buf, size_t size);

#endif
