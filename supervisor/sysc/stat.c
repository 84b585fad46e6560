/*
 * Calls that look at an object without its content. Asked about only where something is to look absent; chdir also
 * without Landlock, since there it would lead into the directories of strangers.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/look.h"
#include "supervisor/sysc_nr.h"

/* RESOLVE_* of the flags of a call that knows these; -1: there are others. */
static int how_of(int at_flags, int known)
{
	if (at_flags & ~known)
		return -1;
	return (at_flags & AT_SYMLINK_NOFOLLOW ? RESOLVE_NOFOLLOW : 0) |
	       (at_flags & AT_EMPTY_PATH ? RESOLVE_EMPTY : 0);
}

/* For calls whose other arguments the kernel checks before it takes the path. */
static void look_if(struct call *c, bool valid, int dirfd, int path, int how)
{
	if (valid && how >= 0)
		look(c, dirfd, path, how, LOOK_STAT);
	else
		call_error(c, EINVAL);
}

static bool is_mode(int mode)
{
	return (mode & ~(R_OK | W_OK | X_OK)) == 0;
}

#define KNOWN_STAT (AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH | AT_STATX_SYNC_TYPE)

static void handle_follow(struct call *c)
{
	look(c, AT_FDCWD, 0, 0, LOOK_STAT);
}

static void handle_newfstatat(struct call *c)
{
	look(c, call_int(c, 0), 1, how_of(call_int(c, 3), KNOWN_STAT), LOOK_STAT);
}

static void handle_statx(struct call *c)
{
	int flags = call_int(c, 2), how = how_of(flags, KNOWN_STAT);

	if ((flags & AT_STATX_SYNC_TYPE) == AT_STATX_SYNC_TYPE || (c->arg[3] & STATX__RESERVED))
		how = -1;
	look(c, call_int(c, 0), 1, how, LOOK_STAT);
}

static void handle_faccessat(struct call *c)
{
	look_if(c, is_mode(call_int(c, 2)), call_int(c, 0), 1, 0);
}

static void handle_faccessat2(struct call *c)
{
	look_if(c, is_mode(call_int(c, 2)), call_int(c, 0), 1,
		how_of(call_int(c, 3), AT_EACCESS | AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH));
}

static void handle_file_getattr(struct call *c)
{
	look_if(c, true, call_int(c, 0), 1, how_of(call_int(c, 4), AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH));
}

static void handle_handle(struct call *c)
{
	int flags = call_int(c, 4);

	look(c, call_int(c, 0), 1, flags & AT_SYMLINK_FOLLOW ? 0 : RESOLVE_NOFOLLOW, LOOK_STAT);
}

static void handle_watch(struct call *c)
{
	look(c, AT_FDCWD, 1, call_int(c, 2) & (int)IN_DONT_FOLLOW ? RESOLVE_NOFOLLOW : 0, LOOK_STAT);
}

static void handle_chdir(struct call *c)
{
	look(c, AT_FDCWD, 0, 0, LOOK_ENTER);
}

#define DOC_LOOK "Judged and left to the kernel where something is to look absent."
#define ROW(call, fn)                                                                                        \
	const struct sysc sysc_##call = {                                                                    \
		.name = #call,                                                                               \
		.op = "read",                                                                                \
		.action = SYSC_NOTIFY,                                                                       \
		.needs = FEATURE_HIDE,                                                                       \
		.handle = fn,                                                                                \
		.doc = DOC_LOOK,                                                                             \
	}
/* The descriptor's own object, which was judged when it was opened. A name relative to the descriptor may be given with
 * the flag as well; such a one is not asked about, since fstat is this call with an empty name. */
#define ROW_FSTAT(call, flags, fn)                                                                           \
	const struct sysc sysc_##call = {                                                                    \
		.name = #call,                                                                               \
		.op = "read",                                                                                \
		.action = SYSC_NOTIFY,                                                                       \
		.needs = FEATURE_HIDE,                                                                       \
		SYSC_WHEN(SYSC_IF(SYSC_ALLOW, ARG_ANY(flags, AT_EMPTY_PATH), ARG_ISNT(0, AT_FDCWD))),        \
		.handle = fn,                                                                                \
		.doc = DOC_LOOK,                                                                             \
	}

ROW_FSTAT(newfstatat, 3, handle_newfstatat);
ROW_FSTAT(statx, 2, handle_statx);
ROW(faccessat, handle_faccessat);
ROW(faccessat2, handle_faccessat2);
ROW(statfs, handle_follow);
ROW(file_getattr, handle_file_getattr);
ROW(name_to_handle_at, handle_handle);
ROW(inotify_add_watch, handle_watch);

const struct sysc sysc_chdir = {
	.name = "chdir",
	.op = "read",
	.action = SYSC_NOTIFY,
	SYSC_WHEN({.needs_not = FEATURE_HIDE | FEATURE_UNSCOPED, .action = SYSC_ALLOW}),
	.handle = handle_chdir,
	.doc = "Judged and left to the kernel where something is to look absent, and where there is no "
	       "Landlock, for directories of strangers' /proc.",
};

#ifdef SYS_stat
static void handle_nofollow(struct call *c)
{
	look(c, AT_FDCWD, 0, RESOLVE_NOFOLLOW, LOOK_STAT);
}

static void handle_access(struct call *c)
{
	look_if(c, is_mode(call_int(c, 1)), AT_FDCWD, 0, 0);
}

ROW(stat, handle_follow);
ROW(lstat, handle_nofollow);
ROW(access, handle_access);
#endif
