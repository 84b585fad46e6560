#include "supervisor/reopen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "supervisor/device.h"
#include "supervisor/execs.h"
#include "supervisor/lockdown.h"
#include "supervisor/mounts.h"
#include "supervisor/usertty.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(openat), OWN(close), OWN_IF(fcntl, ARG_IS(1, F_SETFL)));

/* What the kernel keeps of the flags of open, of those that it may be asked to change. */
#define CHANGEABLE (O_APPEND | O_ASYNC | O_DIRECT | O_NOATIME)

static int open_pin(struct call *c, const struct object *o, int flags)
{
	char number[16];
	int fd;

	if (device_is_tty(&o->st))
		return usertty_open(c->s, flags);
	snprintf(number, sizeof(number), "%d", o->fd);
	fd = openat(c->s->self_fd, number, flags | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 && errno == EACCES && atomic_load_explicit(&c->s->identity_changed, memory_order_relaxed))
		return walk_open_own(c, o, flags);
	return fd < 0 ? -errno : fd;
}

/* FIFOs, terminals and other devices. */
static bool is_waited_for(const struct object *o)
{
	return S_ISFIFO(o->st.stx_mode) || S_ISCHR(o->st.stx_mode) || S_ISBLK(o->st.stx_mode);
}

/* A file that somebody outside has a lease on is waited for as well. That is rare, and to be watched costs: so it is asked for
 * without waiting first. -EAGAIN: it has to be waited for. */
static int open_file(struct call *c, const struct object *o, int flags)
{
	int fd = execs_open(c, o, flags | O_NONBLOCK, open_pin);

	if (fd >= 0 && fcntl(fd, F_SETFL, flags & CHANGEABLE) < 0) {
		close(fd);
		return -EAGAIN;
	}
	return fd;
}

int reopen(struct call *c, const struct object *o, int flags, enum crew_wake *wake)
{
	bool waits = is_waited_for(o), served = !waits && mounts_is_served(c->s->mounts, o->st.stx_mnt_id);
	int fd;

	*wake = CREW_DONE;
	if (!served && ((flags & O_NONBLOCK) || !(waits || S_ISREG(o->st.stx_mode))))
		return execs_open(c, o, flags, open_pin);
	if (!served && !waits) {
		fd = open_file(c, o, flags);
		if (fd != -EAGAIN)
			return fd;
	}
	if (!waits)
		crew_linger_begin(c);
	else if (!crew_block_begin(c))
		return -EAGAIN;
	fd = execs_open(c, o, flags, open_pin);
	*wake = crew_block_end(c);
	return fd;
}
