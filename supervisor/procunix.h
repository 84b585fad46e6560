/*
 * /proc/net/unix: every Unix socket of this machine's network namespace, with its inode. Callable from any thread.
 */
#ifndef CORDON_PROCUNIX_H
#define CORDON_PROCUNIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Calls fn for each socket that a process has until it returns false. shown: the address as the list has it, which shows different ones
 * alike; "" when there is none. False: the list could not be read.
 */
bool procunix_each(bool (*fn)(uint64_t inode, const char *shown, void *arg), void *arg);

/* A line of the list. *shown ends with the line. False when it is none, or the socket waits to be accepted: then it has no inode yet. */
bool procunix_parse(char *line, uint64_t *inode, const char **shown);

/* Their inodes at one moment. */
struct procunix {
	uint64_t *inodes; /* sorted */
	size_t n, room;
	bool known; /* the list could be read */
};

/* Fills *p, which procunix_free() empties. Memory that is short counts as a list that cannot be read. */
void procunix_read(struct procunix *p);
bool procunix_has(const struct procunix *p, uint64_t inode);
void procunix_free(struct procunix *p);

#endif
