/*
 * The audit trail and the messages on stderr: events in, one JSON line per event out.
 *
 * A writer thread owns the sink; audit_emit() copies the event into a bounded queue and never waits for
 * the sink longer than AUDIT_WAIT_MS. What could not be queued is counted and the count is written as a
 * record of its own as soon as there is room. A denial is never dropped without being counted.
 * The workload cannot reach this: only the supervisor emits.
 */
#ifndef CORDON_AUDIT_H
#define CORDON_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/config.h"
#include "policy/rule.h"

#define AUDIT_WAIT_MS 1000

/* A byte string that is not NUL-terminated and may hold anything; bytes == NULL: absent. */
struct bytes {
	const char *bytes;
	size_t len;
};

/* Op names in records: "read", "write", "create", "delete", "rename", "link", "metadata", "exec",
 * "connect", "bind", "socket", "send", "resolve", "signal", "trace", "device", "ipc", "syscall". */
struct event {
	const char *syscall;  /* static */
	const char *op;	      /* static */
	pid_t pid, tid, ppid; /* 0: unknown */
	struct bytes comm, exe, cwd;
	struct bytes path; /* the object, canonical where it could be resolved, else as given */
	struct bytes
		target; /* the new name of rename and link, what a symlink says, the process of a signal */
	struct bytes source; /* the old name of rename and link when path is the new one */
	struct bytes host;   /* network only */
	struct bytes ip;
	int port; /* 0: none */
	bool denied;
	const struct rule *rule; /* NULL: rule_name */
	const char *rule_name;	 /* static; "default" if both are NULL */
	int err;		 /* errno answered; 0 for success */
	const char *suggestion;	 /* policy line that would allow it, or NULL; copied */
	const char *message;	 /* the human line without "cordon: ", or NULL: nothing on stderr; copied */
};

struct audit;
struct message;

struct audit_opts {
	const char *file; /* path, "-", "fd:N", or NULL: no trail */
	enum audit_level level;
	bool stderr_messages; /* one line per distinct denial on stderr_fd */
	int stderr_fd;	      /* borrowed */
	const char *session;  /* id, copied */
};

/* Opens the sink (append, 0600, O_NOFOLLOW, O_CLOEXEC) without starting a thread, so that it can be
 * called before fork. Returns NULL with one line in err (size at least 256). */
struct audit *audit_open(const struct audit_opts *o, char *err, size_t size);
/* Starts the writer thread. 0 or -errno. What is emitted before waits in the queue. */
int audit_start(struct audit *a);

/* The channel to stderr, for lines about cordon itself (message_warn()); NULL when stderr cannot be written. */
struct message *audit_messages(const struct audit *a);

/* The descriptor of the sink for the protected set (fstat), or -1. */
int audit_fd(const struct audit *a);

/* True when an allowed event would be written (level all and a sink). */
bool audit_wants_allowed(const struct audit *a);

/* Thread-safe. Copies all it needs. */
void audit_emit(struct audit *a, const struct event *e);

/* A record made by the supervisor itself: first and last of the session, warnings. json_members is the inside
 * of a JSON object without braces, already escaped (see jsonw.h). kind: "start", "end", ... */
void audit_emit_record(struct audit *a, const char *kind, const char *json_members);

/* Counts so far, for the closing record. */
struct audit_totals {
	uint64_t allowed, denied, dropped;
};
struct audit_totals audit_totals(const struct audit *a);

/* Flushes (waiting at most 2 s for a stalled sink), fsyncs a regular file, ends the thread, frees. */
void audit_close(struct audit *a);

#endif
