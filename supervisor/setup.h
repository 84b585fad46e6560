/*
 * What is found out and fixed before the command starts: descriptors 0 to 2, the objects that no access
 * may change, the session structure.
 */
#ifndef CORDON_SETUP_H
#define CORDON_SETUP_H

#include "supervisor/load.h"
#include "supervisor/opts.h"
#include "supervisor/session.h"

/* Fills s for this process. Prints one line and returns false when something is missing. */
bool setup_session(struct session *s, const struct loaded *l, const struct opts *o);

/* Opens the trail and seals its file. False, with a line, when it cannot be opened or could not take a record: a full
 * disk, a limit on file sizes. */
bool setup_audit(struct session *s);

/* Whether callers can still be looked at when they change their user, if the command may do that. */
bool setup_can_follow(const struct session *s);

/* What the kernel must give beyond the filter and its flags; asked once there is a listener and the command waits to be
 * let go. readable: whether the command's memory should be open to us. Prints one line and returns false. */
bool setup_check_kernel(struct session *s, bool readable);

/* The command with its arguments; with -c the shell's. NULL when out of memory. */
char **setup_command_line(const struct opts *o);

/* Raises the supervisor's own limits, once the command's process was forked with those that cordon was started with. */
void setup_raise_limits(void);

/* Whether real, effective and saved ids are the same; the second refuses others, with a line. */
bool setup_is_one_user(void);
bool setup_check_user(void);

/* Refuses descriptors 0 to 2 that a policy could not hold (datagram or unconnected sockets, directories). */
bool setup_check_stdio(const struct opts *o);

/* Protects by rule the names of what belongs to the sandbox: policy files, the audit file and its rotations, the
 * program itself. False when memory is out. */
bool setup_protect_own(struct loaded *l);

#endif
