/*
 * Landlock as a second wall: the command and its children get a domain that can change nothing in the file system by
 * itself. All changes are the supervisor's, whose descriptors are not bound by it; so it takes no rules from the policy and
 * changes no result. It also keeps /proc of strangers shut (their memory, environment, descriptors), stops core files,
 * and, where the kernel can, signals and abstract sockets to the outside.
 */
#ifndef CORDON_LANDLOCK_H
#define CORDON_LANDLOCK_H

#include <stdbool.h>

/* From here on signals and abstract sockets have scopes (Linux 6.12). */
#define LANDLOCK_ABI_SCOPES 6

struct config;

/* The ABI version of this kernel, 0 when there is none. */
int landlock_abi(void);

/* Puts the calling thread into a new domain. no_new_privs must be set. core_files: whose allow_write
 * directories the kernel may write them beneath, in the program's name; NULL: nowhere. 0 or -errno. */
int landlock_restrict(int abi, const struct config *core_files);

/* For a process that needs no file at all: every right on files is handled and none granted, nor any to bind a port; it
 * may connect. no_new_privs must be set. 0 or -errno. */
int landlock_shut(int abi);

#endif
