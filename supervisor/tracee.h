/*
 * What the supervisor learns from a caller: memory, working directory, descriptors, status. The only module that
 * reads them. Each value is copied once; a handler calls tracee_check() after its last copy and before its
 * first effect, which proves that all came from the caller and not from a later process with its number.
 *
 * All return 0 or a value >= 0, or -errno. Callable from any worker.
 */
#ifndef CORDON_TRACEE_H
#define CORDON_TRACEE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "supervisor/call.h"

/* Copies exactly len bytes. -EFAULT when the caller's memory is not readable there, -EPERM when the kernel
 * lets the supervisor read nothing of this caller. */
int tracee_read(struct call *c, uint64_t addr, void *buf, size_t len);
/* Copies a struct whose size the caller states: shorter than known is -EINVAL; what a later kernel may know behind that has to
 * be zero, else -E2BIG. */
int tracee_read_struct(struct call *c, uint64_t addr, uint64_t size, void *known, size_t known_size);
/* Writes exactly len bytes into the caller's memory, where it may itself, or less and gives -EFAULT. -ESRCH when it is
 * gone: nothing was written, to nobody. */
int tracee_write(struct call *c, uint64_t addr, const void *buf, size_t len);
/* Copies a path into buf (PATH_MAX bytes). Returns its length, -EFAULT or -ENAMETOOLONG. */
int tracee_path(struct call *c, uint64_t addr, char *buf);
/* Copies a string of at most size - 1 bytes; -ERANGE when longer. */
int tracee_string(struct call *c, uint64_t addr, char *buf, size_t size);

/* O_PATH descriptor of the program that the caller runs. */
int tracee_exe(struct call *c);
/* Whether that is the file of st (OBJECT_STATX). False also when it cannot be seen. */
bool tracee_runs(struct call *c, const struct statx *st);
/* A descriptor to read the list of what its memory maps from. */
int tracee_maps(struct call *c);
/* The name by which it was started, from its own memory, into buf (PATH_MAX bytes). */
int tracee_execfn(struct call *c, char *buf);
/* O_PATH descriptor of the caller's working directory (per thread). */
int tracee_cwd(struct call *c);
/* O_PATH descriptor of what the caller's descriptor refers to; -EBADF when it has no such descriptor. A socket
 * or pipe works too. */
int tracee_fd(struct call *c, int fd);
/* The open flags of the caller's descriptor (O_PATH among them), or -EBADF. */
int tracee_fd_flags(struct call *c, int fd);
/* The text of /proc/TID/fdinfo/FD, 0 or -errno; and these flags from it. */
int tracee_fd_info(struct call *c, int fd, char *buf, size_t size);
int tracee_info_flags(const char *info);
/* A descriptor of our own for the process, or thread, that the caller's descriptor stands for: a pidfd of the same kind, or a
 * directory /proc/PID. *pid: its number. -EBADF when it stands for none, -ESRCH when that is gone. */
int tracee_pidfd(struct call *c, int fd, pid_t *pid);
/*
 * Whether the caller has numbers left for n more descriptors: creating and truncating cannot be taken back, nor can the first
 * of two. Where that cannot be known, true, and so for one on kernels before 6.2, where it takes long to find out: it shows
 * only afterwards.
 */
bool tracee_has_free_numbers(struct call *c, unsigned n);
/* Whether the caller has nothing at this number and may have something there. */
bool tracee_has_free(struct call *c, int number);
/* The inode number of the caller's descriptor when it is a socket, else 0. */
uint64_t tracee_socket_inode(struct call *c, int fd);

/* 0 while the caller still waits; -ESRCH when it is gone, and then nothing may be done. */
int tracee_check(struct call *c);

/* Fields of /proc/TID/status. */
struct tracee_status {
	pid_t tgid, ppid;
	pid_t tracer; /* 0: nobody traces it */
	mode_t umask;
	uid_t uid[4]; /* real, effective, saved, file system */
	gid_t gid[4];
	uint64_t cap_effective;
	uint64_t sig_pending, sig_shared_pending, sig_blocked;
	int threads;
};
int tracee_status(const struct session *s, pid_t tid, struct tracee_status *st);

/* The caller's limit on file sizes. 0 or -errno. */
int tracee_file_limit(const struct call *c, rlim_t *limit);

/* Whether pid is a thread of the caller's process. */
bool tracee_is_callers(const struct call *c, pid_t pid);

/* The same as tracee_status and, of the same moment, the supplementary groups, allocated, as the kernel shows them. Their number or -errno, and
 * then *groups is NULL. */
int tracee_status_groups(const struct session *s, pid_t tid, struct tracee_status *st, gid_t **groups);

/* Before a change of identity, after which the kernel may let nobody read the caller's memory: keeps a way to it. */
void tracee_pin(struct call *c, const struct tracee_status *st);

#endif
