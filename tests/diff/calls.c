#include "sequence.h"

#include <linux/fs.h>
#include <linux/stat.h>
#include <sys/file.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_setxattrat
#define SYS_setxattrat	  463
#define SYS_getxattrat	  464
#define SYS_listxattrat	  465
#define SYS_removexattrat 466
#endif
#ifndef SYS_file_setattr
#define SYS_file_setattr 469
#endif

#define CALL(name, kinds, weight)                                                                            \
	{                                                                                                    \
#name, SYS_##name, kinds, weight, 0, TELLS_NOTHING                                           \
	}
#define ASK(name, kinds, weight, tells)                                                                      \
	{                                                                                                    \
#name, SYS_##name, kinds, weight, 0, tells                                                   \
	}
#define FCNTL(name, kinds, weight)                                                                           \
	{                                                                                                    \
#name, SYS_fcntl, kinds, weight, name, TELLS_NOTHING                                         \
	}
#define IOCTL(name, kinds, weight, tells)                                                                    \
	{                                                                                                    \
#name, SYS_ioctl, kinds, weight, (long)(name), tells                                         \
	}

const struct call calls[] = {
#ifdef SYS_open
	CALL(open, "pfm", 12),
	CALL(creat, "pm", 3),
	CALL(mkdir, "pm", 4),
	CALL(mknod, "pyn", 3),
	CALL(symlink, "tp", 4),
	CALL(link, "pp", 4),
	CALL(unlink, "p", 4),
	CALL(rmdir, "p", 4),
	CALL(rename, "pp", 6),
	CALL(chmod, "pm", 3),
	CALL(chown, "puu", 3),
	CALL(lchown, "puu", 2),
	CALL(utime, "pU", 2),
	CALL(utimes, "pV", 2),
	CALL(futimesat, "dpV", 2),
	ASK(readlink, "pb", 2, TELLS_BYTES),
	{"old_stat", SYS_stat, "pB", 1, 0, TELLS_STAT},
	{"old_lstat", SYS_lstat, "pB", 1, 0, TELLS_STAT},
	CALL(access, "pc", 1),
	CALL(dup2, "DN", 2),
#endif
	CALL(openat, "dpfm", 20),
	CALL(openat2, "dpo", 12),
	CALL(mkdirat, "dpm", 6),
	CALL(mknodat, "dpyn", 4),
	CALL(symlinkat, "tdp", 6),
	CALL(linkat, "dpdpA", 8),
	CALL(unlinkat, "dpR", 6),
#ifdef SYS_renameat
	CALL(renameat, "dpdp", 3),
#endif
	CALL(renameat2, "dpdpr", 10),
	CALL(truncate, "pl", 4),
	CALL(ftruncate, "Dl", 2),
	CALL(fchmod, "Dm", 3),
	CALL(fchmodat, "dpm", 3),
	CALL(fchmodat2, "dpma", 4),
	CALL(fchown, "Duu", 3),
	CALL(fchownat, "dpuua", 5),
	CALL(utimensat, "dpwa", 6),
	CALL(setxattr, "pkvx", 3),
	CALL(lsetxattr, "pkvx", 2),
	CALL(fsetxattr, "Dkvx", 2),
	CALL(setxattrat, "dpake", 2),
	CALL(removexattr, "pk", 1),
	CALL(lremovexattr, "pk", 1),
	CALL(fremovexattr, "Dk", 1),
	CALL(removexattrat, "dpak", 1),
	ASK(getxattr, "pkb", 1, TELLS_BYTES),
	ASK(lgetxattr, "pkb", 1, TELLS_BYTES),
	ASK(listxattr, "pb", 1, TELLS_BYTES),
	ASK(llistxattr, "pb", 1, TELLS_BYTES),
	ASK(listxattrat, "dpab", 1, TELLS_BYTES),
	CALL(getxattrat, "dpake", 1),
	ASK(readlinkat, "dpb", 2, TELLS_BYTES),
	{"stat", SYS_newfstatat, "dpBa", 3, 0, TELLS_STAT},
	{"statx", SYS_statx, "dpa=B", 2, STATX_BASIC_STATS, TELLS_STATX},
	CALL(statfs, "pB", 1),
	CALL(file_setattr, "dpGa", 1),
	CALL(faccessat2, "dpca", 1),
	CALL(chdir, "p", 3),
	CALL(fchdir, "D", 2),
	CALL(dup, "D", 2),
	CALL(dup3, "DNs", 1),
	CALL(umask, "m", 3),
	CALL(close, "D", 4),
	CALL(getdents64, "Db", 2),
	ASK(read, "Db", 2, TELLS_BYTES),
	CALL(write, "Dv", 4),
	CALL(lseek, "Dis", 1),
	CALL(fallocate, "Dsll", 1),
	CALL(flock, "DL", 1),
	IOCTL(FS_IOC_SETFLAGS, "D=P", 1, TELLS_NOTHING),
	IOCTL(FS_IOC_GETFLAGS, "D=B", 1, TELLS_FLAGS),
	IOCTL(FS_IOC_SETVERSION, "D=P", 1, TELLS_NOTHING),
	FCNTL(F_OFD_SETLK, "D=K", 1),
	FCNTL(F_SETFL, "D=F", 2),
	FCNTL(F_DUPFD, "D=N", 1),
	/* Not calls of that name: the limits of descriptors and of a file's length, a chain of so many links k1 to kN that
	 * ends at f, and a socket with that name. */
	{"nofile", CALL_NOFILE, "s", 1, 0, TELLS_NOTHING},
	{"fsize", CALL_FSIZE, "z", 1, 0, TELLS_NOTHING},
	{"chain", CALL_CHAIN, "s", 1, 0, TELLS_NOTHING},
	{"bind", CALL_BIND, "p", 3, 0, TELLS_NOTHING},
};
const size_t n_calls = N(calls);

const struct call *call_find(const char *name)
{
	for (size_t i = 0; i < n_calls; i++)
		if (strcmp(calls[i].name, name) == 0)
			return &calls[i];
	return NULL;
}
