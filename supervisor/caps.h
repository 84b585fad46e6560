/*
 * Capabilities, by the raw calls (per thread).
 */
#ifndef CORDON_CAPS_H
#define CORDON_CAPS_H

#include <stdint.h>

/*
 * What a command started with capabilities keeps: CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID, SETUID,
 * NET_BIND_SERVICE, AUDIT_WRITE. Enough for su, install, chown, dpkg; nothing that reaches the kernel or other
 * processes' memory.
 */
#define CAPS_KEPT	  0x200004fbULL
#define CAPS_SYS_PTRACE	  (1ULL << 19)
#define CAPS_DAC_OVERRIDE (1ULL << 1)
#define CAPS_FSETID	  (1ULL << 4)

struct caps {
	uint64_t effective, permitted, inheritable;
};

int caps_get(struct caps *caps); /* of the calling thread; 0 or -errno */
int caps_set(const struct caps *caps);

/* Gives up, in the calling thread, all outside CAPS_KEPT: bounding set, permitted, effective, inheritable, ambient.
 * 0 or -errno. */
int caps_give_up(void);

/* The supervisor's set: what the command has, SYS_PTRACE permitted in addition where there is one. */
int caps_supervisor(void);

/*
 * Raises (1) SYS_PTRACE, where it is permitted, and what is needed beside it to look into a process that changed its
 * user; or sets back (0) what the thread had before. 1 if it is now raised.
 */
int caps_ptrace(int raise);
/* Whether SYS_PTRACE is permitted: then any process can be looked into. */
int caps_may_ptrace(void);

#endif
