/*
 * One run of cordon: what all threads of the supervisor share. Set up before the threads start and read-only
 * afterwards, except for the members that say otherwise.
 */
#ifndef CORDON_SESSION_H
#define CORDON_SESSION_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "policy/config.h"
#include "policy/policy.h"

struct audit;
struct execs;
struct flights;
struct gateway_link;
struct hostfile;
struct idset;
struct inetdiag;
struct mounts;
struct literals;
struct mqueues;
struct names;
struct nameserver;
struct sockets;
struct tracer;
struct pins;
struct proxyenv;
struct sysv;

/* An object that one of descriptors 0 to 2 (or --keep-fd) referred to at the start. */
struct stdio_object {
	dev_t dev;
	ino_t ino;
	int accmode; /* O_RDONLY, O_WRONLY or O_RDWR */
};
#define SESSION_STDIO_MAX 64

#define SESSION_REPOSITORIES_MAX 64

/* The identity that the command starts with. */
struct identity {
	uid_t ruid, euid, suid, fsuid;
	gid_t rgid, egid, sgid, fsgid;
	uint64_t cap_effective;
	gid_t *groups; /* sorted as the kernel shows them; owned */
	int n_groups;
};

struct session {
	const struct config *config;
	const struct policy *policy;
	struct audit *audit;
	const char *home; /* for messages; may be NULL */
	char id[32];
	int landlock_abi; /* 0: none */
	bool log_only;
	bool asking; /* cordon explain: questions with no call behind them */
	bool quiet;
	unsigned features; /* enum sysc_feature */

	int listener;
	int proc;	    /* O_PATH of /proc */
	int self_fd;	    /* O_PATH of /proc/self/fd: names the supervisor's own descriptors */
	int root;	    /* O_PATH of / */
	pid_t supervisor;   /* our own pid */
	pid_t command;	    /* the confined command's pid */
	int usertty;	    /* asks the front: usertty.h */
	pid_t user_session; /* the terminal session that cordon was started in */
	pid_t group;	    /* the process group that the command starts in: the user's pipeline */
	struct identity identity;
	int protected_symlinks, protected_regular, protected_fifos; /* fs.protected_* */

	struct stdio_object stdio[SESSION_STDIO_MAX];
	int n_stdio;

	/* Objects that no access may change: the audit file, the policy files, cordon itself. */
	struct idset *sealed;
	/* Own locks inside. */
	struct idset *created;	 /* objects that this session made where that matters (allow_own, .git) */
	struct idset *own_links; /* counts the names that this session gave to files which had one before */
	struct idset *own_ptys;	 /* slave devices of pseudo-terminals that this session opened */
	struct mounts *mounts;
	struct literals *literals;
	struct sockets *sockets;
	struct flights *flights;   /* the same */
	struct inetdiag *inetdiag; /* a lock inside */
	struct tracer *tracer;	   /* callers that are held by ptrace; a lock inside */
	struct execs *execs;	   /* programs that are being verified; a lock inside */
	struct pins *pins;	   /* memory of processes that change their user */
	struct sysv *sysv;	   /* shared with the front, as is the next */
	struct mqueues *mqueues;
	struct hostfile *hosts,
		*resolv; /* /etc/hosts and /etc/resolv.conf; a lock inside, as in the next two */
	struct nameserver *nameserver;
	struct names *hostnames; /* which names led to which address */
	const struct proxyenv *proxyenv;
	struct gateway_link *gateway; /* gateway.h */
	_Atomic pid_t gateway_pid;    /* a child of the supervisor that is none of the session; 0: none */

	/* Held for reading around "decide and change" of a directory entry, for writing around a rename that changes
	 * which rules hold beneath a directory: so what was scanned is what is renamed. */
	pthread_rwlock_t names;

	/* Repositories (.git) that the session made, for the closing record: O_PATH descriptors, since they may be moved. */
	pthread_mutex_t repositories_lock;
	int repositories[SESSION_REPOSITORIES_MAX];
	size_t n_repositories; /* may exceed the array: then only the count is known */

	atomic_bool identity_changed; /* some process may now be another user than the command at its start */
	atomic_bool
		tables_apart; /* some thread may now have descriptors that others of its process have not */
};

/* Remembers a .git made by the session, an entry of the directory dir. Thread-safe. */
void session_note_repository(struct session *s, int dir, const char *leaf);

#endif
