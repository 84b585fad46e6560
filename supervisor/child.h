/*
 * From the fork to the exec of the command. In the child only calls that the filter lets through are made once the
 * filter is loaded, nothing is allocated, and any failure ends it before the command runs.
 */
#ifndef CORDON_CHILD_H
#define CORDON_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

/* Where programs are looked for without a PATH. */
#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* What the child tells on its socket: first the listener (as SCM_RIGHTS) or a failure, later a failed exec. Nothing
 * more (end of file) means that the command runs. */
enum child_stage { CHILD_READY, CHILD_IDENTITY, CHILD_LANDLOCK, CHILD_FILTER, CHILD_EXEC, CHILD_OTHER };
struct child_message {
	enum child_stage stage;
	int err; /* errno */
};

struct config;

struct child {
	char **argv, **envp;
	const char *path;     /* PATH to search, or NULL for the default */
	sigset_t mask;	      /* the original one */
	bool chld_ignored;    /* SIGCHLD was ignored */
	struct rlimit nofile; /* the original one */
	bool no_core;
	int landlock_abi;		 /* 0: none */
	const struct config *core_files; /* NULL: none are left */
	unsigned features;
	pid_t parent; /* whose death ends the command */
	int sock;     /* SOCK_SEQPACKET to the supervisor */
	const int *keep_fds;
	size_t n_keep_fds;
};

void child_main(const struct child *ch) __attribute__((noreturn));

/* Sends the listener with CHILD_READY. 0 or -errno. */
int child_send_listener(int sock, int listener);

/* In the parent: the listener, or -errno with *m filled when the child told a failure. */
int child_receive_listener(int sock, struct child_message *m);

#endif
