/*
 * What the supervisor, the front and the gateway may still ask of the kernel once a session runs: a seccomp allow-list of
 * their own. Whoever got them to run foreign code would find no exec, no executable memory, no mount, no new socket but
 * Unix ones (the gateway: but those that its questions need, and no file).
 *
 * Each module states, beside the code that makes them, the system calls that it makes from then on:
 *
 *     OWN_CALLS(OWN_SUPERVISOR, OWN(openat), OWN_IF(fcntl, ARG_IS(1, F_DUPFD_CLOEXEC)));
 *
 * filter_gen collects the statements when cordon is built and makes a program from them for each of these processes,
 * checked by interpretation as those of the command are. Calls of libc's own (memory, threads, locks) stand in lockdown.c.
 *
 * A call that is not stated raises SIGSYS. In the supervisor a handler tells the front which call it was, and ends the
 * supervisor, whereupon the front ends the session; in the gateway it tells the supervisor, and the session goes on without
 * names. It is not answered with an errno: a handler would take that for the
 * kernel's word on the caller's call, and a loop that waits would go on for ever.
 */
#ifndef CORDON_LOCKDOWN_H
#define CORDON_LOCKDOWN_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "supervisor/sysc.h"

enum own_process { OWN_SUPERVISOR = 1, OWN_FRONT = 2, OWN_BOTH = 3, OWN_GATEWAY = 4, OWN_ALL = 7 };

struct own_call {
	int nr;
	enum sysc_action action;
	struct sysc_term term[SYSC_MAX_TERMS]; /* as in sysc.h: all must hold */
};

struct own_calls {
	const struct own_call *call;
	size_t n;
	enum own_process process;
	const char *file; /* that states them */
};

/* clang-format off */
#define OWN(name)         {.nr = SYS_##name, .action = SYSC_ALLOW}
#define OWN_IF(name, ...) {.nr = SYS_##name, .action = SYSC_ALLOW, .term = {__VA_ARGS__}}
/* One that libc does without when told that it does not exist. */
#define OWN_ABSENT(name)  {.nr = SYS_##name, .action = SYSC_ENOSYS}
/* libc's function makes the old call on x86-64 and the new one where the old does not exist. */
#ifdef __x86_64__
#define OWN_OLD(old, new) OWN(old)
#else
#define OWN_OLD(old, new) OWN(new)
#endif
/* getrlimit(), and prlimit() for reading: without a new limit. */
#define OWN_READ_LIMIT OWN_IF(prlimit64, ARG_NULL(2))
/* fdopendir(), readdir() and closedir(). */
#define OWN_READDIR                                                                                          \
	OWN(fstat), OWN(newfstatat), OWN(getdents64), OWN(close), OWN_IF(fcntl, ARG_IS(1, F_GETFL)),         \
		OWN_IF(fcntl, ARG_IS(1, F_SETFD))
/* renameat2() without flags is renameat(). */
#define OWN_RENAMEAT2 OWN(renameat2), OWN(renameat)
/* faccessat() of libc works the answer out where the newer call is not there. */
#define OWN_FACCESSAT                                                                                                  \
	OWN(faccessat2), OWN(faccessat), OWN(newfstatat), OWN(getuid), OWN(geteuid), OWN(getgid), OWN(getegid),        \
		OWN(getgroups)
/* clang-format on */

/* The section holds pointers, since a compiler may align larger things as it likes and leave gaps. */
#define OWN_CALLS(who, ...)	      OWN_CALLS_EXPAND(who, __COUNTER__, __VA_ARGS__)
#define OWN_CALLS_EXPAND(who, i, ...) OWN_CALLS_NAMED(who, i, __VA_ARGS__)
#define OWN_CALLS_NAMED(who, i, ...)                                                                         \
	OWN_CALLS_TABLE(who, own_list_##i, own_calls_##i, own_pointer_##i, __VA_ARGS__)
#define OWN_CALLS_TABLE(who, list, calls, pointer, ...)                                                      \
	static const struct own_call list[] = {__VA_ARGS__};                                                 \
	static const struct own_calls calls = {list, sizeof(list) / sizeof(list[0]), who, __FILE__};         \
	static const struct own_calls *const pointer __attribute__((used, section("own_calls"))) = &calls

/* The programs. filter_gen writes them. */
extern const struct sock_fprog lockdown_supervisor_program, lockdown_front_program, lockdown_gateway_program;

/* False in builds for tools that need more calls than cordon makes: sanitizers, valgrind. */
bool lockdown_is_built(void);

/*
 * Before the first thread, for what cannot be taken back: no new privileges, no core files, SIGSYS let in. A
 * forbidden call is told as a struct front_message by the socket. 0 or -errno.
 */
int lockdown_prepare(int sock);
/* For all threads of the calling process, from any one. 0 or -errno: then the session must not begin. */
int lockdown_supervisor(void);
/* For the front, which has one thread. Sets no_new_privs itself. */
int lockdown_front(void);
/* For the gateway, which has one thread. After lockdown_prepare(). */
int lockdown_gateway(void);

#endif
