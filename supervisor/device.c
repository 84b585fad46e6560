#include "supervisor/device.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <termios.h>

#include "supervisor/compat.h"
#include "supervisor/idset.h"
#include "supervisor/lockdown.h"
#include "supervisor/member.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(openat), OWN(statx), OWN_IF(ioctl, ARG_IS(1, TIOCGPTN)));

/* Documentation/admin-guide/devices.txt */
#define MEM_MAJOR    1
#define TTYAUX_MAJOR 5
#define PTS_MAJOR    136 /* 136 to 143, 2^20 minors each are in use by devpts */

static bool is_char(const struct statx *st, unsigned major, unsigned minor)
{
	return S_ISCHR(st->stx_mode) && st->stx_rdev_major == major && st->stx_rdev_minor == minor;
}

bool device_is_tty(const struct statx *st)
{
	return is_char(st, TTYAUX_MAJOR, 0);
}

bool device_is_ptmx(const struct statx *st)
{
	return is_char(st, TTYAUX_MAJOR, 2);
}

/* 0:0 is what an overlay's whiteout has: there is no such device, and the kernel says so. */
bool device_is_builtin(const struct statx *st)
{
	return is_char(st, 0, 0) || is_char(st, MEM_MAJOR, 3) || is_char(st, MEM_MAJOR, 5) ||
	       is_char(st, MEM_MAJOR, 7) || is_char(st, MEM_MAJOR, 8) || is_char(st, MEM_MAJOR, 9) ||
	       device_is_tty(st) || device_is_ptmx(st);
}

int device_pin_tty(struct call *c, int slot, struct object *o)
{
	struct member_stat caller;
	char name[32];
	int fd;

	if (!member_stat(c->s, c->tid, &caller) || caller.tty_nr == 0)
		return -ENXIO;
	if (caller.session == c->s->user_session)
		return 1;
	/* Another session's terminal: by its number. major() of tty_nr as the kernel packs it. */
	if (major((dev_t)caller.tty_nr) < PTS_MAJOR || major((dev_t)caller.tty_nr) > PTS_MAJOR + 7)
		return -ENXIO;
	snprintf(name, sizeof(name), "/dev/pts/%u",
		 (major((dev_t)caller.tty_nr) - PTS_MAJOR) * 256 + minor((dev_t)caller.tty_nr));
	fd = open(name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : object_from_pin(c, slot, fd, o);
}

/*
 * devpts keeps no birth time and reuses numbers at once, but a slave's inode is made, with a new change time, when
 * its master is opened; only a change of mode or owner alters that, and those of the session pass through here.
 */
static void stamp_by_change(struct statx *st)
{
	st->stx_btime = st->stx_ctime;
	st->stx_mask |= STATX_BTIME;
}

bool device_is_own_pty(const struct session *s, const struct statx *st)
{
	struct statx key = *st;

	stamp_by_change(&key);
	return idset_has(s->own_ptys, &key);
}

void device_pty_changed(const struct session *s, const struct statx *before, int fd)
{
	struct statx now;

	if (!S_ISCHR(before->stx_mode) || !device_is_own_pty(s, before))
		return;
	if (statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_CTIME, &now) < 0)
		return;
	stamp_by_change(&now);
	idset_add(s->own_ptys, &now);
}

void device_note_pty(struct call *c, int master)
{
	struct statx st;
	char name[32];
	unsigned n;

	if (ioctl(master, TIOCGPTN, &n) < 0)
		return;
	snprintf(name, sizeof(name), "/dev/pts/%u", n);
	if (statx(AT_FDCWD, name, AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_CTIME, &st) < 0)
		return;
	stamp_by_change(&st);
	idset_add(c->s->own_ptys, &st);
}
