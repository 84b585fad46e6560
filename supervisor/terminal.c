#include "supervisor/terminal.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "supervisor/crew.h"
#include "supervisor/device.h"
#include "supervisor/lockdown.h"
#include "supervisor/member.h"
#include "supervisor/tracee.h"
#include "supervisor/tracer.h"

/* isatty() */
OWN_CALLS(OWN_SUPERVISOR, OWN_IF(ioctl, ARG_IS(1, TCGETS)));

static bool is_leader_without(struct call *c)
{
	struct tracee_status st;
	struct member_stat stat;

	return member_stat(c->s, c->tid, &stat) && stat.tty_nr == 0 &&
	       tracee_status(c->s, c->tid, &st) == 0 && stat.session == st.tgid;
}

bool terminal_is_taken(struct call *c, const struct object *o, int fd, int flags)
{
	int mode = flags & O_ACCMODE;

	if (!S_ISCHR(o->st.stx_mode) || (flags & O_NOCTTY) || (mode != O_RDONLY && mode != O_RDWR))
		return false;
	return !device_is_builtin(&o->st) && isatty(fd) && is_leader_without(c);
}

void terminal_give(struct call *c, int fd, int flags)
{
	struct tracer_hold h;
	bool held = crew_step_aside(c) && tracer_hold(c, &h, false) == 0;
	int number = call_fd_alone(c, fd, flags & O_CLOEXEC);
	long result;

	if (!held)
		return;
	if (tracer_wait(&h) == TRACER_STOPPED && number >= 0) {
		/* Without an argument nobody else's terminal is taken. What else the number may stand for by now, the caller
		 * may ask this of. */
		uint64_t arg[6] = {(uint64_t)number, TIOCSCTTY, 0};

		tracer_inject(&h, SYS_ioctl, arg, &result);
	}
	tracer_release(&h);
}
