/*
 * Linux interfaces newer than the oldest headers that cordon builds with (6.1), and thin wrappers for calls
 * that libc lacks. Values are the kernel's (include/uapi/linux).
 */
#ifndef CORDON_COMPAT_H
#define CORDON_COMPAT_H

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif
#ifndef SECCOMP_ADDFD_FLAG_SEND
#define SECCOMP_ADDFD_FLAG_SEND (1UL << 1)
#endif
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif
#ifndef SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif

/* si_code of a SIGSYS that a seccomp filter raised; glibc 2.36 does not name it. */
#define COMPAT_SYS_SECCOMP 1

/* linux/fs.h of 6.11 and later. */
struct compat_procmap_query {
	uint64_t size, query_flags, query_addr;
	uint64_t vma_start, vma_end, vma_flags, vma_page_size, vma_offset, inode;
	uint32_t dev_major, dev_minor, vma_name_size, build_id_size;
	uint64_t vma_name_addr, build_id_addr;
};
#define COMPAT_PROCMAP_QUERY		_IOWR('f', 17, struct compat_procmap_query)
#define COMPAT_PROCMAP_WRITABLE		0x02
#define COMPAT_PROCMAP_COVERING_OR_NEXT 0x10

/* linux/landlock.h of 6.12 and later. */
struct compat_landlock_ruleset_attr {
	uint64_t handled_access_fs;
	uint64_t handled_access_net;
	uint64_t scoped;
};
#define COMPAT_LANDLOCK_FS_ABI_1	((1ULL << 13) - 1)
#define COMPAT_LANDLOCK_FS_REFER	(1ULL << 13)
#define COMPAT_LANDLOCK_FS_TRUNCATE	(1ULL << 14)
#define COMPAT_LANDLOCK_FS_IOCTL_DEV	(1ULL << 15)
#define COMPAT_LANDLOCK_NET_BIND_TCP	(1ULL << 0)
#define COMPAT_LANDLOCK_NET_CONNECT_TCP (1ULL << 1)
#define COMPAT_LANDLOCK_SCOPE_ABSTRACT	(1ULL << 0)
#define COMPAT_LANDLOCK_SCOPE_SIGNAL	(1ULL << 1)

/* The kernel's own restart code. Answered to a caller with a pending signal it makes the kernel handle the
 * signal and restart or interrupt the call as it would have done itself. Never seen by programs then. */
#define COMPAT_ERESTARTSYS 512

/* linux/pidfd.h of 6.9 (a pidfd of a thread; what a signal is for) and of 6.14 (numbers that stand for the caller). */
#define COMPAT_PIDFD_THREAD		   O_EXCL
#define COMPAT_PIDFD_SIGNAL_PROCESS_GROUP  (1U << 2)
#define COMPAT_PIDFD_SELF_THREAD	   -10000
#define COMPAT_PIDFD_SELF_THREAD_GROUP	   -10001
#define COMPAT_PIDFD_SELF_THREAD_GROUP_OLD -20000

/* glibc 2.36 does not name it. */
#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

#ifndef __O_TMPFILE
#define __O_TMPFILE 020000000
#endif

static inline int compat_openat2(int dir, const char *path, uint64_t flags, uint64_t mode, uint64_t resolve)
{
	struct open_how how = {.flags = flags, .mode = mode, .resolve = resolve};
	long r = syscall(SYS_openat2, dir, path, &how, sizeof(how));

	return r < 0 ? -errno : (int)r;
}

#endif
