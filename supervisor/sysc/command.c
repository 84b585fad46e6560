/*
 * Calls whose command lies in a register: fcntl, ioctl, prctl.
 */
#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/kd.h>
#include <linux/prctl.h>
#include <linux/sockios.h>
#include <linux/userfaultfd.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "supervisor/change.h"
#include "supervisor/datagram.h"
#include "supervisor/dumpable.h"
#include "supervisor/isolate.h"
#include "supervisor/lockdown.h"
#include "supervisor/member.h"
#include "supervisor/path.h"
#include "supervisor/tracee.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(openat), OWN(close), OWN_IF(fcntl, ARG_IS(1, F_SET_RW_HINT)),
	  OWN_IF(ioctl, ARG_IS(1, FS_IOC_SETFLAGS)), OWN_IF(ioctl, ARG_IS(1, FS_IOC_FSSETXATTR)),
	  OWN_IF(ioctl, ARG_IS(1, FS_IOC_SETVERSION)));

/* Signals of a descriptor go to a process that is named here, without any kill call. */
static void set_owner(struct call *c)
{
	int who = call_int(c, 2);

	if (who == 0 || (who > 0 && member_is(c->s, who)) ||
	    (who < -1 && who != INT_MIN && isolate_group_is_own(c->s, -who)))
		call_continue(c);
	else
		isolate_refuse(c, "signal", who);
}

/* The commands that change a file through a descriptor that is open for reading only. */
struct file_command {
	bool by_fcntl;
	bool no_address; /* what is behind cannot be read */
	unsigned long command;
	union {
		int flags;
		long version;
		uint64_t hint;
		struct fsxattr fsx;
	} u;
};

static int act_file_command(struct call *c, const struct object *o, void *arg)
{
	struct file_command *f = arg;
	void *u = f->no_address ? NULL : &f->u; /* each file system looks when it likes */
	char number[16];
	int fd, rc;

	if (!S_ISREG(o->st.stx_mode) && !S_ISDIR(o->st.stx_mode))
		return f->by_fcntl ? -EINVAL : -ENOTTY;
	snprintf(number, sizeof(number), "%d", o->fd);
	fd = openat(c->s->self_fd, number, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	rc = f->by_fcntl ? fcntl(fd, (int)f->command, u) : ioctl(fd, f->command, u);
	rc = rc < 0 ? -errno : 0;
	close(fd);
	return rc;
}

/* The kernel looks at the descriptor first; at what kind of file it is, only after that. */
static void answer_no_address(struct call *c)
{
	int flags = tracee_fd_flags(c, call_int(c, 0));

	if (flags < 0)
		path_copy_failed(c, flags);
	else
		call_error(c, flags & O_PATH ? EBADF : EFAULT);
}

static void change_file(struct call *c, struct file_command *f, size_t size)
{
	int rc = tracee_read(c, c->arg[2], &f->u, size);

	f->no_address = rc == -EFAULT;
	if (rc < 0 && !f->no_address)
		path_copy_failed(c, rc);
	else if (f->no_address && f->command != FS_IOC_SETVERSION)
		answer_no_address(c);
	else
		change_descriptor(c, call_int(c, 0), false, act_file_command, f);
}

static void handle_fcntl(struct call *c)
{
	struct file_command f = {.by_fcntl = true, .command = (uint32_t)c->arg[1]};

	if (f.command == F_SETOWN)
		set_owner(c);
	else if (f.command == F_SET_RW_HINT) /* it stays with the file, not with the descriptor */
		change_file(c, &f, sizeof(f.u.hint));
	else /* a lease would let a reader hold up the file's other users */
		call_error(c, EAGAIN);
}

const struct sysc sysc_fcntl = {
	.name = "fcntl",
	.op = "signal",
	.action = SYSC_ERRNO,
	.err = EINVAL,
	SYSC_WHEN(SYSC_IF_ON(FEATURE_UNSCOPED, SYSC_EPERM, ARG_IS(1, F_SETFL), ARG_ANY(2, O_ASYNC)),
		  SYSC_IF(SYSC_ALLOW, ARG_NONE(1, ~7U)), /* F_DUPFD to F_SETLKW */
		  SYSC_IF(SYSC_NOTIFY, ARG_IS(1, F_SETOWN)), SYSC_IF(SYSC_EPERM, ARG_IS(1, F_SETOWN_EX)),
		  SYSC_IF(SYSC_NOTIFY, ARG_IS(1, F_SETLEASE)), SYSC_IF(SYSC_NOTIFY, ARG_IS(1, F_SET_RW_HINT)),
		  SYSC_IF(SYSC_ALLOW, ARG_IS(1, F_GETOWN)),
		  SYSC_IF(SYSC_ALLOW, ARG_BITS(1, ~1U, F_SETSIG)),    /* and F_GETSIG */
		  SYSC_IF(SYSC_ALLOW, ARG_BITS(1, ~1U, F_GETOWN_EX)), /* and F_GETOWNER_UIDS */
		  SYSC_IF(SYSC_ALLOW, ARG_BITS(1, ~1U, F_OFD_GETLK)), /* and F_OFD_SETLK */
		  SYSC_IF(SYSC_ALLOW, ARG_IS(1, F_OFD_SETLKW)),
		  SYSC_IF(SYSC_ALLOW, ARG_BITS(1, ~15U, F_SETLEASE))), /* to F_GETDELEG (6.19) */
	.handle = handle_fcntl,
	.doc = "F_SETOWN takes a process of the session only, F_SETOWN_EX is refused, as is O_ASYNC where "
	       "the "
	       "kernel would send its signals to anyone; leases answer EAGAIN; a file's write hint is set on "
	       "the judged object; commands newer than Linux 6.18 do not exist.",
};

static void handle_ioctl(struct call *c)
{
	struct file_command f = {.command = (uint32_t)c->arg[1]};

	if (f.command >> 8 == SIOCGIFADDR >> 8) {
		/* They only tell, of whatever the number is by then. */
		if (!datagram_ioctl(c, tracee_socket_inode(c, call_int(c, 0))))
			call_continue(c);
		return;
	}
	/* linux/fs.h has FS_IOC_SETVERSION with a long, of which the file systems read an int. */
	change_file(c, &f, f.command == FS_IOC_FSSETXATTR ? sizeof(struct fsxattr) : sizeof(int));
}

/*
 * The types, by what uses them for its files: f and v all, X and r what XFS and FAT began, 0x94 btrfs, 0xf5 f2fs, 0x97 ceph,
 * 0xbc bcachefs, o ocfs2 (whose reflink makes a new name), 0x83 ZFS, 0xcf CIFS.
 */
#define TYPE(x)		    ARG_BITS(1, 0xff00, (unsigned)(x) << 8)
#define ZFS_IOC_GETDOSFLAGS _IOR(0x83, 1, uint64_t)
/*
 * On a console, what a key types is a string that stays after the session: KDSK* are TIOCSTI with patience.
 * /dev/userfaultfd needs only an open for reading.
 */
const struct sysc sysc_ioctl = {
	.name = "ioctl",
	.op = "metadata",
	.action = SYSC_ALLOW,
	SYSC_WHEN(SYSC_IF(SYSC_EPERM, ARG_IS(1, TIOCSTI)), SYSC_IF(SYSC_EPERM, ARG_IS(1, TIOCLINUX)),
		  SYSC_IF(SYSC_EPERM, ARG_IS(1, TIOCCONS)), SYSC_IF(SYSC_EPERM, ARG_IS(1, KDSKBENT)),
		  SYSC_IF(SYSC_EPERM, ARG_IS(1, KDSKBSENT)), SYSC_IF(SYSC_EPERM, ARG_IS(1, KDSKBDIACR)),
		  SYSC_IF(SYSC_EPERM, ARG_IS(1, KDSKBDIACRUC)), SYSC_IF(SYSC_EPERM, ARG_IS(1, KDSETKEYCODE)),
		  SYSC_IF(SYSC_EPERM, ARG_IS(1, FIOSETOWN)),
		  SYSC_IF_ON(FEATURE_UNSCOPED, SYSC_EPERM, ARG_IS(1, FIOASYNC)),
		  SYSC_IF(SYSC_EPERM, ARG_IS(1, SIOCSPGRP)), SYSC_IF(SYSC_NOTIFY, ARG_IS(1, FS_IOC_SETFLAGS)),
		  SYSC_IF(SYSC_NOTIFY, ARG_IS(1, FS_IOC_FSSETXATTR)),
		  SYSC_IF(SYSC_NOTIFY, ARG_IS(1, FS_IOC_SETVERSION)),
		  SYSC_IF(SYSC_NOTIFY, ARG_IS(1, SIOCGIFADDR)),
		  SYSC_IF(SYSC_NOTIFY, ARG_IS(1, SIOCGIFDSTADDR)),
		  SYSC_IF(SYSC_NOTIFY, ARG_IS(1, SIOCGIFBRDADDR)),
		  SYSC_IF(SYSC_NOTIFY, ARG_IS(1, SIOCGIFNETMASK)),
		  SYSC_IF(SYSC_ALLOW, ARG_IS(1, FS_IOC_GETFLAGS)),
		  SYSC_IF(SYSC_ALLOW, ARG_IS(1, FS_IOC_FSGETXATTR)),
		  SYSC_IF(SYSC_ALLOW, ARG_IS(1, FS_IOC_GETVERSION)),
		  SYSC_IF(SYSC_ALLOW, ARG_IS(1, FS_IOC_FIEMAP)), SYSC_IF(SYSC_ALLOW, ARG_IS(1, FICLONE)),
		  SYSC_IF(SYSC_ALLOW, ARG_IS(1, FICLONERANGE)), SYSC_IF(SYSC_ALLOW, ARG_IS(1, FIDEDUPERANGE)),
		  SYSC_IF_ERRNO(ENOTTY, TYPE('f')), SYSC_IF_ERRNO(ENOTTY, TYPE('X')),
		  SYSC_IF_ERRNO(ENOTTY, TYPE('v')), SYSC_IF_ERRNO(ENOTTY, TYPE('r')),
		  SYSC_IF_ERRNO(ENOTTY, TYPE(0x94)), SYSC_IF_ERRNO(ENOTTY, TYPE(0xf5)),
		  SYSC_IF_ERRNO(ENOTTY, TYPE(0x97)), SYSC_IF_ERRNO(ENOTTY, TYPE(0xbc)),
		  SYSC_IF_ERRNO(ENOTTY, TYPE('o')), SYSC_IF(SYSC_ALLOW, ARG_IS(1, ZFS_IOC_GETDOSFLAGS)),
		  SYSC_IF_ERRNO(ENOTTY, TYPE(0x83)), SYSC_IF_ERRNO(ENOTTY, TYPE(0xcf)),
		  SYSC_IF(SYSC_EPERM, ARG_IS(1, USERFAULTFD_IOC_NEW))),
	.handle = handle_ioctl,
	.doc = "Typing into terminals, giving keys another meaning and sending signals are refused, FIOASYNC "
	       "where the kernel would send "
	       "them to anyone; setting file flags, project ids and "
	       "versions is performed on the judged object; other file system commands do not exist; the "
	       "addresses of an "
	       "interface are told as a datagram socket would, of which there are only stand-ins; "
	       "/dev/userfaultfd is refused.",
};

/*
 * A process that made itself undumpable could no longer be read, and all its trapped calls would have to be refused.
 * It is told that it is, and stays as it was.
 */
static void handle_prctl(struct call *c)
{
	bool set = call_int(c, 0) == PR_SET_DUMPABLE;
	struct tracee_status st;
	struct member_stat ms;

	if (set && c->arg[1] > 1) {
		call_error(c, EINVAL);
		return;
	}
	if (tracee_status(c->s, c->tid, &st) < 0 || !dumpable_look(c->s, st.tgid, &ms)) {
		call_error(c, EPERM);
		return;
	}
	if (set)
		dumpable_set(st.tgid, &ms, c->arg[1] == 1);
	/* To be readable is what the supervisor wants: that is done. */
	if (set ? c->arg[1] == 0 : !dumpable_get(c->s, st.tgid))
		call_return(c, 0);
	else
		call_continue(c);
}

/*
 * All of Linux 6.18 concern the caller alone, or ask for capabilities that nobody has here; PR_SCHED_CORE takes other
 * processes. A filter of PR_SET_SECCOMP has no listener.
 */
#ifndef PR_SCHED_CORE
#define PR_SCHED_CORE 62
#endif
#ifndef PR_GET_AUXV
#define PR_GET_AUXV 0x41555856
#endif
#define PR_FUTEX_HASH_NR 78
const struct sysc sysc_prctl = {
	.name = "prctl",
	.op = "trace",
	.action = SYSC_ERRNO,
	.err = EINVAL,
	SYSC_WHEN(SYSC_IF(SYSC_NOTIFY, ARG_IS(0, PR_SET_DUMPABLE)),
		  SYSC_IF(SYSC_NOTIFY, ARG_IS(0, PR_GET_DUMPABLE)),
		  SYSC_IF(SYSC_EPERM, ARG_IS(0, PR_SCHED_CORE)), SYSC_IF(SYSC_ALLOW, ARG_NONE(0, ~63U)),
		  SYSC_IF(SYSC_ALLOW, ARG_BITS(0, ~7U, 64)), SYSC_IF(SYSC_ALLOW, ARG_BITS(0, ~3U, 72)),
		  SYSC_IF(SYSC_ALLOW, ARG_BITS(0, ~1U, 76)), SYSC_IF(SYSC_ALLOW, ARG_IS(0, PR_FUTEX_HASH_NR)),
		  SYSC_IF(SYSC_ALLOW, ARG_IS(0, PR_SET_VMA)), SYSC_IF(SYSC_ALLOW, ARG_IS(0, PR_GET_AUXV)),
		  SYSC_IF(SYSC_ALLOW, ARG_IS(0, PR_SET_PTRACER))),
	.handle = handle_prctl,
	.doc = "PR_SET_DUMPABLE with 0 is answered without being done, since the supervisor must be able to "
	       "read the caller's arguments; PR_SCHED_CORE is refused; options newer than Linux 6.18 do not "
	       "exist.",
};
