/*
 * Calls on other processes: only the session's own may be touched.
 */
#ifndef CORDON_ISOLATE_H
#define CORDON_ISOLATE_H

#include <stdbool.h>

#include "supervisor/call.h"

/* Answers a call on a stranger: ESRCH where there is no such process, else EPERM and a record. */
void isolate_refuse(struct call *c, const char *op, pid_t pid);

/* Continues the call when pid is a member's (or a member's thread's) number, else isolate_refuse(). The number lies
 * in a register, so what was judged is what the kernel acts on. */
void isolate_pid(struct call *c, const char *op, pid_t pid);

/* True when every process of the group is a member, and there is one. */
bool isolate_group_is_own(struct session *s, pid_t pgrp);

#endif
