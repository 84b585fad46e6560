/*
 * The calls under test. With -DPROBE_RAW each goes to the kernel under its own number, the old forms too where the
 * architecture has them; else through libc, as programs do it. What libc has no function for is raw in both.
 */
#ifndef LIVE_PROBE_CALLS_H
#define LIVE_PROBE_CALLS_H

#include <linux/openat2.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <utime.h>

#include "probe.h"

#ifdef PROBE_RAW
#define CALL(libc, ...) syscall(__VA_ARGS__)
#else
#define CALL(libc, ...) (libc)
#endif
#if defined(PROBE_RAW) && defined(SYS_open)
#define OLD(libc, ...) syscall(__VA_ARGS__)
#else
#define OLD(libc, ...) (libc)
#endif

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_setxattrat
#define SYS_setxattrat	  463
#define SYS_getxattrat	  464
#define SYS_removexattrat 466
#endif
#ifndef SYS_file_getattr
#define SYS_file_getattr 468
#define SYS_file_setattr 469
#endif
#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE (1 << 0)
#define RENAME_EXCHANGE	 (1 << 1)
#define RENAME_WHITEOUT	 (1 << 2)
#endif
#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif

/* O_TMPFILE is this and O_DIRECTORY. */
#define TMPFILE_BIT (O_TMPFILE & ~O_DIRECTORY)

#define x_open(p, f, m)		OLD(open(p, f, m), SYS_open, p, f, m)
#define x_creat(p, m)		OLD(creat(p, m), SYS_creat, p, m)
#define x_openat(d, p, f, m)	CALL(openat(d, p, f, m), SYS_openat, d, p, f, m)
#define x_openat2(d, p, h, s)	syscall(SYS_openat2, d, p, h, s)
#define x_mkdir(p, m)		OLD(mkdir(p, m), SYS_mkdir, p, m)
#define x_mkdirat(d, p, m)	CALL(mkdirat(d, p, m), SYS_mkdirat, d, p, m)
#define x_mknod(p, m, v)	OLD(mknod(p, m, v), SYS_mknod, p, m, v)
#define x_mknodat(d, p, m, v)	CALL(mknodat(d, p, m, v), SYS_mknodat, d, p, m, v)
#define x_symlink(t, p)		OLD(symlink(t, p), SYS_symlink, t, p)
#define x_symlinkat(t, d, p)	CALL(symlinkat(t, d, p), SYS_symlinkat, t, d, p)
#define x_link(a, b)		OLD(link(a, b), SYS_link, a, b)
#define x_linkat(d, a, e, b, f) CALL(linkat(d, a, e, b, f), SYS_linkat, d, a, e, b, f)
#define x_unlink(p)		OLD(unlink(p), SYS_unlink, p)
#define x_unlinkat(d, p, f)	CALL(unlinkat(d, p, f), SYS_unlinkat, d, p, f)
#define x_rmdir(p)		OLD(rmdir(p), SYS_rmdir, p)
#define x_rename(a, b)		OLD(rename(a, b), SYS_rename, a, b)
#ifdef SYS_renameat
#define x_renameat(d, a, e, b) CALL(renameat(d, a, e, b), SYS_renameat, d, a, e, b)
#else
#define x_renameat(d, a, e, b) renameat(d, a, e, b)
#endif
#define x_renameat2(d, a, e, b, f) syscall(SYS_renameat2, d, a, e, b, f)
#define x_truncate(p, n)	   CALL(truncate(p, n), SYS_truncate, p, n)
#define x_ftruncate(d, n)	   CALL(ftruncate(d, n), SYS_ftruncate, d, n)
#define x_chmod(p, m)		   OLD(chmod(p, m), SYS_chmod, p, m)
#define x_fchmod(d, m)		   CALL(fchmod(d, m), SYS_fchmod, d, m)
#ifdef PROBE_RAW
#define x_fchmodat(d, p, m, f) syscall(SYS_fchmodat, d, p, m)
#else
#define x_fchmodat(d, p, m, f) fchmodat(d, p, m, f)
#endif
#define x_fchmodat2(d, p, m, f)	  syscall(SYS_fchmodat2, d, p, m, f)
#define x_chown(p, u, g)	  OLD(chown(p, u, g), SYS_chown, p, u, g)
#define x_lchown(p, u, g)	  OLD(lchown(p, u, g), SYS_lchown, p, u, g)
#define x_fchown(d, u, g)	  CALL(fchown(d, u, g), SYS_fchown, d, u, g)
#define x_fchownat(d, p, u, g, f) CALL(fchownat(d, p, u, g, f), SYS_fchownat, d, p, u, g, f)
#define x_utime(p, t)		  OLD(utime(p, t), SYS_utime, p, t)
#define x_utimes(p, t)		  OLD(utimes(p, t), SYS_utimes, p, t)
#define x_futimesat(d, p, t)	  OLD(futimesat(d, p, t), SYS_futimesat, d, p, t)
#define x_utimensat(d, p, t, f)	  CALL(utimensat(d, p, t, f), SYS_utimensat, d, p, t, f)
#ifdef PROBE_RAW
#define x_futimens(d, t) syscall(SYS_utimensat, d, NULL, t, 0)
#else
#define x_futimens(d, t) futimens(d, t)
#endif
#define x_setxattr(p, n, v, s, f)  CALL(setxattr(p, n, v, s, f), SYS_setxattr, p, n, v, s, f)
#define x_lsetxattr(p, n, v, s, f) CALL(lsetxattr(p, n, v, s, f), SYS_lsetxattr, p, n, v, s, f)
#define x_fsetxattr(d, n, v, s, f) CALL(fsetxattr(d, n, v, s, f), SYS_fsetxattr, d, n, v, s, f)
#define x_removexattr(p, n)	   CALL(removexattr(p, n), SYS_removexattr, p, n)
#define x_lremovexattr(p, n)	   CALL(lremovexattr(p, n), SYS_lremovexattr, p, n)
#define x_fremovexattr(d, n)	   CALL(fremovexattr(d, n), SYS_fremovexattr, d, n)

#endif
