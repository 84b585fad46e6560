/*
 * A small file of the system's that says what names are: /etc/hosts, /etc/resolv.conf. It may change while a session runs, and
 * is then followed, unless the session itself could have changed it: it could give any address the name of an allowed host. What
 * was said before is held then, until the session ends. Thread-safe.
 */
#ifndef CORDON_HOSTFILE_H
#define CORDON_HOSTFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/hosts.h"

/* What is beyond is not read. */
#define HOSTFILE_MAX HOSTS_BYTES_MAX

struct hostfile;
struct session;

/* Reads it. s: whose rules decide; NULL: it is followed whoever changes it. path is borrowed. NULL when out of memory. */
struct hostfile *hostfile_new(const struct session *s, const char *path);
void hostfile_free(struct hostfile *f);

/* Looks at the file. The number of the text that holds, another one after each change. */
unsigned hostfile_look(struct hostfile *f);
/* A copy of that text, to be freed; NULL: there is none. */
char *hostfile_text(struct hostfile *f, size_t *len);
/* For somebody else to read: whether another text than that of *number holds, which *number then is; *fd: its file, -1: there is
 * none. */
bool hostfile_pass(struct hostfile *f, unsigned *number, int *fd);
/* Whether changes are not followed. */
bool hostfile_is_held(struct hostfile *f);

/* What an open file says, from its beginning; to be freed, NULL: it cannot be read. */
char *hostfile_read_fd(int fd, size_t *len);

#endif
