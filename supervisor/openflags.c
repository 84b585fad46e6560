#include "supervisor/openflags.h"

#include <linux/openat2.h>

#include "supervisor/tracee.h"

/* What the kernel refuses before it looks at the path. With O_CREAT and O_DIRECTORY together kernels differ; the newer ones
 * refuse. */
bool openflags_possible(int flags)
{
	if ((flags & (O_CREAT | O_DIRECTORY)) == (O_CREAT | O_DIRECTORY))
		return false;
	if (!(flags & OPENFLAGS_TMPFILE))
		return true;
	return (flags & O_DIRECTORY) && !(flags & O_CREAT) && (flags & O_ACCMODE) != O_RDONLY;
}

#define KNOWN_RESOLVE                                                                                        \
	(RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH | RESOLVE_IN_ROOT | \
	 RESOLVE_CACHED)

int openflags_copy_how(struct call *c, uint64_t addr, uint64_t size, struct open_how *how)
{
	int rc = tracee_read_struct(c, addr, size, how, sizeof(*how));

	if (rc < 0)
		return rc;
	if (how->flags & ~(uint64_t)OPENFLAGS_KNOWN || how->resolve & ~(uint64_t)KNOWN_RESOLVE ||
	    how->mode & ~(uint64_t)07777 || (how->mode && !(how->flags & (O_CREAT | OPENFLAGS_TMPFILE))) ||
	    (how->resolve & (RESOLVE_BENEATH | RESOLVE_IN_ROOT)) == (RESOLVE_BENEATH | RESOLVE_IN_ROOT))
		return -EINVAL;
	/* What changes something is not done with what the kernel has at hand only. */
	if (how->resolve & RESOLVE_CACHED && how->flags & (O_CREAT | O_TRUNC | OPENFLAGS_TMPFILE))
		return -EAGAIN;
	return 0;
}

bool openflags_write(int flags)
{
	int m = flags & O_ACCMODE;

	/* Mode 3 asks for permission to read and write and gives a descriptor for ioctl only. */
	return m != O_RDONLY || (flags & O_TRUNC);
}

int openflags_accmode(int flags)
{
	int m = flags & O_ACCMODE;

	if (m == 3 || (m == O_RDONLY && (flags & O_TRUNC)))
		return O_RDWR;
	return m;
}
