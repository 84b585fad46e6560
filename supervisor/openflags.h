/*
 * The flags of open(2) and the struct of openat2(2): what this kernel's headers name, and what the kernel refuses before it
 * looks at the path.
 */
#ifndef CORDON_OPENFLAGS_H
#define CORDON_OPENFLAGS_H

#include <fcntl.h>
#include <stdbool.h>

#include "supervisor/call.h"
#include "supervisor/compat.h"

/* O_TMPFILE is this and O_DIRECTORY. */
#define OPENFLAGS_TMPFILE (__O_TMPFILE & ~O_DIRECTORY)

/* glibc calls it 0 where all files may be large; other programs pass what the kernel calls it. */
#ifdef __aarch64__
#define KERNEL_O_LARGEFILE 0400000
#else
#define KERNEL_O_LARGEFILE 0100000
#endif

/* open(2) ignores what it does not know; keep to what this kernel's headers name, so that a later flag is not
 * passed on undecided. */
#define OPENFLAGS_KNOWN                                                                                      \
	(O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK | O_DSYNC | O_SYNC |      \
	 O_ASYNC | O_DIRECT | KERNEL_O_LARGEFILE | O_DIRECTORY | O_NOFOLLOW | O_NOATIME | O_CLOEXEC |        \
	 O_PATH | O_TMPFILE)

/* False: EINVAL. */
bool openflags_possible(int flags);

/* Copies the struct of size bytes at addr from the caller, and checks it. 0 or the kernel's -errno. */
int openflags_copy_how(struct call *c, uint64_t addr, uint64_t size, struct open_how *how);

/* Whether an open with these may change the object, and the access mode that is to be judged. */
bool openflags_write(int flags);
int openflags_accmode(int flags);

#endif
