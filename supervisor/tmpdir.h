/*
 * The session's private TMPDIR: made with mode 0700 before the command starts, removed with all that is in it at the end.
 */
#ifndef CORDON_TMPDIR_H
#define CORDON_TMPDIR_H

#include <stddef.h>

/* What it would be called, ending in XXXXXX. 0 or -errno. */
int tmpdir_name(char *path, size_t size);
/* Makes one below $TMPDIR, else /tmp. path: at least PATH_MAX bytes. 0 or -errno. */
int tmpdir_make(char *path, size_t size);
void tmpdir_remove(const char *path);

#endif
