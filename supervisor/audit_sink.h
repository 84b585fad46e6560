/*
 * The place the audit trail goes to: a file, FIFO or device opened by path, stderr, or an inherited
 * descriptor. Knows whole lines: a line that could be written only in part is finished by the next call, so
 * that no line is ever torn for a reader.
 *
 * A file is held by its directory and last name: when another program has moved or removed it (log rotation),
 * that name is opened again there. Nothing the workload does to the directories above can lead elsewhere.
 * One thread at a time.
 */
#ifndef CORDON_AUDIT_SINK_H
#define CORDON_AUDIT_SINK_H

#include <stdint.h>

#include "supervisor/outfd.h"

struct audit_sink {
	struct outfd out;
	char *name;	  /* as the user gave it, "stderr" for "-" */
	int dir;	  /* of a regular file opened by path, else -1 */
	const char *base; /* its last name; part of name */
	size_t off;	  /* bytes of the present line that are written */
	off_t end;	  /* where the file ended after them */
	bool torn_before; /* the file ends within a line of another, killed writer */
	uint64_t checked; /* monotonic seconds, last look for a rotation */
};

/* file: a path, "-" or "fd:N". 0, or -1 with one line in err. */
int audit_sink_open(struct audit_sink *s, const char *file, int stderr_fd, char *err, size_t size);
/* line ends with a newline. 0 when all of it is written; -errno when not: call again with the same line. */
int audit_sink_write(struct audit_sink *s, const char *line, size_t len);
/* Forgets the present line; ends it with a newline if a part of it is in the sink and that can be done. */
void audit_sink_skip(struct audit_sink *s);
/* fsync, for a regular file. */
void audit_sink_sync(const struct audit_sink *s);
void audit_sink_close(struct audit_sink *s);

#endif
