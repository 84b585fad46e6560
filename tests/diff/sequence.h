/*
 * Random sequences of file system calls as text, and their performance. Run twice in equal places, inside cordon and
 * outside, a sequence must give the same results and leave the same tree.
 *
 * A sequence is a line "sequence NAME" and a line for each call: its name and a word for each argument.
 *
 *     openat cwd "d/new" 0x241 0644
 *
 * With a line "beside threads" or "beside files" the calls before it and those after it are performed at the same time, by
 * two threads or two processes that share the descriptors, in a tree of its own each. Their descriptors have their own numbers,
 * and limits are not set.
 *
 * Strings may hold \xHH, {N*TEXT} (TEXT repeated), {root} (the tree) and {pid}. NULL, 1 and kernel are bad addresses;
 * edge"TEXT" has no end before memory ends, cross"TEXT" lies on two pages. Others end with the last byte of a page.
 */
#ifndef DIFF_SEQUENCE_H
#define DIFF_SEQUENCE_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#define N(a) (sizeof(a) / sizeof(*(a)))

#define OLD_TIME  1000000000 /* of fresh objects: a change shows */
#define WORDS_MAX 8
#define LINE_MAX_ 4096

/*
 * A call: its number and what its arguments are, a letter each.
 *
 *     d descriptor that a path follows	 p path	 t text of a link  D descriptor	 N number for a new descriptor
 *     f flags of open	m mode	y type and mode	 n device  u user or group  a flags of *at  A of linkat	 R of unlinkat
 *     r flags of rename  l length  c bits of access  s small number  i signed number
 *     o struct open_how (and its size)	 w two timespec	 V two timeval	U utimbuf
 *     k name of an attribute  v bytes (and their count)  x flags of setxattr  e struct xattr_args (and its size)
 *     K struct flock  L operation of flock  F flags of F_SETFL	 b room for results (and its size)
 *     B room for results without its size  P flags as ioctl takes them  G struct file_attr (and its size)
 *     z limit of a file's length  = a number that belongs to the call (extra)
 */
enum tells { TELLS_NOTHING, TELLS_BYTES, TELLS_STAT, TELLS_STATX, TELLS_FLAGS };

/* Numbers of what are not calls of that name. */
enum { CALL_NOFILE = -1, CALL_CHAIN = -2, CALL_FSIZE = -3, CALL_BIND = -4 };

struct call {
	const char *name;
	long nr;
	const char *kinds;
	int weight;
	long extra;
	enum tells tells; /* what of the room is the same each time */
};
extern const struct call calls[];
extern const size_t n_calls;
const struct call *call_find(const char *name);

/* Names that the tree begins with; make.c speaks of them. */
void tree_make(const char *root);
/* Prints what is in the directory, and removes it. */
void tree_list(FILE *out, int dir);
/* The name of an errno. */
const char *errno_name(int err);

/* Prints a random sequence. */
void make_sequence(uint64_t seed, int n);

/* Who performs: everything that two of them may not have in common. */
struct runner {
	const char *root;
	FILE *out;
	int base; /* number 0 of its descriptors; not 0: it shares them with another */
	struct rlimit nofile, fsize;
};
#define FIRST_FD   3
#define BESIDE_FDS 200

/* perform.c: a line of a sequence; prints it and what came of it. */
void perform_begin(void);
void perform_line(struct runner *r, const char *line);
/* The limit of descriptors, up to which calls that are not the sequence's may need some. */
void perform_limit(struct runner *r, rlim_t n);

/* args.c: text to what the kernel takes. False: not understood. */
struct args {
	long value[WORDS_MAX];
	int n;
	/* Of each path: which argument, and of its descriptor (-1: none). */
	int path[2], base[2], n_paths;
	int descriptor;	    /* argument that is one, -1: none */
	int flags;	    /* argument that is flags of open, -1: none */
	uint64_t how_flags; /* the same of openat2 */
	char *room;	    /* for results */
};
#define ROOM_SIZE 8192
bool args_parse(const struct call *call, char *const *words, int n, const struct runner *r, struct args *a);
/* The string as it is in memory; NULL when it is none. */
const char *args_string(long value);

/* guard.c: true when what the path leads to, or could make, is in the tree. Others are not touched: outside they would
 * harm the machine, inside they are refused. */
bool guard_path(const char *root, int dirfd, const char *path);
bool guard_descriptor(const char *root, int fd);
/* What differs, and is documented. Opening a file whose name was removed by /proc/self/fd, or reading its
 * attributes, gives no more than the descriptor can do. */
bool guard_object(int dirfd, const char *path);
/* What is done by ioctl is done on a descriptor of the supervisor's, which must be able to open the file once more. */
bool guard_reopen(int fd);

#endif
