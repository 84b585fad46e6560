/*
 * From a copied path to a pinned object: an O_PATH descriptor, its statx and its canonical name. Resolution
 * happens in the caller's terms (its working directory, its descriptors, its /proc/self) with the calling
 * worker's identity, and has no side effect on what it finds.
 *
 * The kernel walks where it can: first without following any symbolic link (then a clean absolute path is the
 * canonical name as it stands), then with links but no magic ones. What remains (/proc/self, /proc/PID/fd/N
 * and their kin mean another object to the supervisor than to the caller) is walked by walk.c.
 *
 * All return 0 or -errno as the kernel would have given it.
 */
#ifndef CORDON_RESOLVE_H
#define CORDON_RESOLVE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "supervisor/call.h"

enum {
	RESOLVE_NOFOLLOW = 1 << 0, /* a symbolic link as the last component is the object itself */
	RESOLVE_EMPTY = 1 << 1,	   /* AT_EMPTY_PATH: an empty path is the descriptor's own object */
	/* With RESOLVE_EMPTY: for an empty path the descriptor must be an opened one (no O_PATH), and NULL is an empty path. */
	RESOLVE_OPENED = 1 << 3,
	RESOLVE_TO_MAGIC =
		1 << 2, /* a magic link of /proc is ELOOP, as with RESOLVE_NO_MAGICLINKS of openat2(2) */
};

/* An access mode that covers nothing. */
#define RESOLVE_NO_MODE (-1)

struct object {
	int fd;	  /* O_PATH; -1: none */
	int slot; /* whose name buffer holds the name */
	struct statx st;
	const char *name; /* canonical, in the call's name buffer; len 0: the object has no name */
	size_t len;
	bool unread;	/* the name is the caller's own path; the kernel was not asked after .st was taken */
	bool deleted;	/* had a name that is gone */
	bool foreign;	/* beyond our mount namespace or root */
	bool by_magic;	/* reached through /proc/PID/fd/N, exe, ... as the last component */
	int magic_mode; /* access mode of that descriptor, RESOLVE_NO_MODE when it allows none */
	/* Its name is longer than the kernel tells, and only a descriptor led to it: what that allows is known, no more. */
	bool untold;
	bool has_parent; /* the name is a long one, put together from the directory's */
	int parent;	 /* O_PATH of that directory */
};

/* A place in a directory: where an entry is, or would be made. */
struct entry {
	struct object dir;
	int slot; /* whose name buffer holds the names */
	char leaf
		[NAME_MAX +
		 3]; /* as given, with one trailing '/' where the path had any; a longer one is cut when it is
				  * too long for the kernel as well */
	size_t leaf_len;  /* without the '/' */
	bool special;	  /* ".", ".." or "/": the kernel refuses every change to it by itself */
	const char *name; /* canonical name of the entry (directory's name, '/', leaf) */
	size_t len;
	bool exists;
	bool hidden;	 /* something is there and looks absent: then .exists is false, and .st is valid */
	int err;	 /* why not: the kernel's errno for looking at it, else 0 */
	struct statx st; /* of the entry itself, links not followed; valid if exists */
	mode_t becomes;	 /* type (S_IFMT) of what a call would put here; 0: a file or its like */
};

/* Copies the path at addr from the caller into c->path[slot] and resolves it. */
int resolve_object_at(struct call *c, int slot, int dirfd, uint64_t addr, int flags, struct object *o);
int resolve_entry_at(struct call *c, int slot, int dirfd, uint64_t addr, struct entry *e);

/* The same for a path that is already in c->path[slot]. extra: RESOLVE_* bits of openat2(2) that the caller asked
 * for. resolve_entry changes the buffer. */
int resolve_object(struct call *c, int slot, int dirfd, int flags, uint64_t extra, struct object *o);
int resolve_entry(struct call *c, int slot, int dirfd, uint64_t extra, struct entry *e);

/* The object behind the caller's descriptor. */
int resolve_fd(struct call *c, int slot, int fd, struct object *o);

/* Takes over an O_PATH descriptor: fills st and name (reading it back from the kernel). On failure fd is closed. What
 * is no directory and too deep for the kernel to tell its name is untold. */
int object_from_pin(struct call *c, int slot, int fd, struct object *o);

/*
 * Asks the kernel for the object's name and facts again, in this order: facts first. So a file whose count of links was
 * one had the name that is then found as its only one.
 */
int object_reread(struct call *c, struct object *o);

/* The same for an entry: the name of its directory, and what is there now. */
int entry_reread(struct call *c, struct entry *e);

/* True if path ends in a '/' that follows a name. */
bool path_wants_directory(const char *path);

void object_close(struct object *o);
void entry_close(struct entry *e);

/* Names an untold object that was found as leaf in the directory parent (taken over). On failure o is closed. */
int object_name_by(struct call *c, struct object *o, int parent, const char *leaf);

/* walk.c: component by component in the caller's terms. base is an O_PATH descriptor (not taken over). */
int walk_path(struct call *c, int slot, int base, const char *path, int flags, struct object *o);

/* walk.c: readlink(2) of a pinned link below /proc, inner being its name in there ("/PID/exe"). The length or -errno. */
ssize_t walk_read_link(const struct call *c, int link, const char *inner, char *buf, size_t size);

/* walk.c: what /proc/self (name "self") or /proc/thread-self says to the caller. The length or -errno. */
int walk_self(struct call *c, const char *name, char *buf, size_t size);

/* walk.c: the access mode of the caller's descriptor, of which pin was taken; RESOLVE_NO_MODE: none. */
int walk_mode_of(const struct call *c, int fd, int pin);

/* walk.c: opens o, which is of the caller's own /proc directory, where the kernel would know the caller by its being
 * itself; -EACCES otherwise. */
int walk_open_own(const struct call *c, const struct object *o, int flags);

/* The same inode, whatever the name or mount. Both with STATX_INO. */
static inline bool object_is_same(const struct statx *a, const struct statx *b)
{
	return a->stx_ino == b->stx_ino && a->stx_dev_major == b->stx_dev_major &&
	       a->stx_dev_minor == b->stx_dev_minor;
}

#define OBJECT_STATX                                                                                         \
	(STATX_TYPE | STATX_MODE | STATX_NLINK | STATX_INO | STATX_UID | STATX_SIZE | STATX_CTIME |          \
	 STATX_BTIME | STATX_MNT_ID)

#endif
