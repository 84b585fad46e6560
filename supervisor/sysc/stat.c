/*
 * Calls that look at an object without its content. Asked about only where something is to look absent; chdir also
 * without Landlock, since there it would lead into the directories of strangers.
 */
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include "supervisor/look.h"
#include "supervisor/sysc_nr.h"

static int how_of(int at_flags)
{
	return (at_flags & AT_SYMLINK_NOFOLLOW ? RESOLVE_NOFOLLOW : 0) |
	       (at_flags & AT_EMPTY_PATH ? RESOLVE_EMPTY : 0);
}

static void handle_follow(struct call *c)
{
	look(c, AT_FDCWD, 0, 0, LOOK_STAT);
}

static void handle_at(struct call *c)
{
	look(c, call_int(c, 0), 1, 0, LOOK_STAT);
}

static void handle_statx(struct call *c)
{
	look(c, call_int(c, 0), 1, how_of(call_int(c, 2)), LOOK_STAT);
}

static void handle_flags3(struct call *c)
{
	look(c, call_int(c, 0), 1, how_of(call_int(c, 3)), LOOK_STAT);
}

static void handle_flags4(struct call *c)
{
	look(c, call_int(c, 0), 1, how_of(call_int(c, 4)), LOOK_STAT);
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

ROW_FSTAT(newfstatat, 3, handle_flags3);
ROW_FSTAT(statx, 2, handle_statx);
ROW(faccessat, handle_at);
ROW(faccessat2, handle_flags3);
ROW(statfs, handle_follow);
ROW(file_getattr, handle_flags4);
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

ROW(stat, handle_follow);
ROW(lstat, handle_nofollow);
ROW(access, handle_follow);
#endif
