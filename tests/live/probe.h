/*
 * The probe performs file-system and process operations and prints one line per operation: the call, its result with
 * the errno's name, and what came of it. Run twice in equal places, inside cordon and outside, it must print the same.
 * So it prints nothing that differs between two runs: no times, no pids, no inode numbers, no name of its tree.
 *
 * It is built with libc's functions (probe, static, musl) and with system calls by number (-DPROBE_RAW).
 */
#ifndef LIVE_PROBE_H
#define LIVE_PROBE_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OLD_TIME 1000000000 /* the time that fresh objects carry: a change shows */

/* What a name stands for before an operation. */
enum kind {
	K_ABSENT,
	K_FILE,	   /* "content", 0644 */
	K_RO,	   /* the same, 0444 */
	K_SECRET,  /* the same, 0000 */
	K_HARD,	   /* the same, with a second name NAME.hard */
	K_DIR,	   /* empty */
	K_FULL,	   /* a directory with an entry "in" */
	K_LINK,	   /* to t_file */
	K_LINKDIR, /* to t_dir, which holds "in" */
	K_DANGLE,  /* to t_none, which is absent */
	K_LOOP,	   /* to itself */
	K_FIFO,
	K_SOCK,
	K_KINDS
};
extern const char *const kind_names[K_KINDS];

/* Removes what is at name and makes it anew; also t_file, t_dir and t_none for links. */
void fresh(const char *name, enum kind k);
void fresh_file(const char *name, const char *text, mode_t mode);
void remove_all(const char *name);
void set_old(const char *name);

/* Output. say() adds to the line, done() ends it. "@" stands for the tree's name. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void say_bytes(const char *p, size_t n);
void done(void);
/* " = 0" or " = -1 ENOENT"; returns rc. */
long result(long rc);
const char *errno_name(int err);
/* Type, mode, owner, links, size, times, content or target of name, links not followed. */
void describe(const char *name);
void describe_fd(int fd);
/* Without O_ASYNC, which is refused where nothing keeps its signals in. */
void nonblocking(int fd);
/* Prints the path, long ones shortened. */
void say_path(const char *path);

#define TREE_MAX 1024
extern char tree[TREE_MAX];
extern bool is_root;

void die(const char *what) __attribute__((noreturn));
/* Runs fn in a child, as a program would fork; its output is part of ours. */
int in_child(void (*fn)(void *), void *arg);
void nap_ms(int ms);

struct section {
	const char *name;
	void (*run)(void);
};
extern const struct section look_sections[], open_sections[], path_sections[], name_sections[],
	attr_sections[], socket_sections[], fifo_sections[], proc_sections[], process_sections[],
	deep_sections[], ident_sections[], ipc_sections[], magic_sections[], term_sections[],
	share_sections[], special_sections[], resolve_sections[], notice_sections[], exec_sections[],
	ground_sections[], wait_sections[], vm_sections[], inet_sections[], datagram_sections[],
	held_sections[], beside_sections[], full_sections[], arch_sections[], sticky_sections[],
	signal_sections[], served_sections[];

#define N(a) (sizeof(a) / sizeof(*(a)))

#endif
