/*
 * Lines for the user on stderr: "cordon: TEXT", one per distinct refusal of a session.
 *
 * A thread of its own writes them, since stderr is shared with the workload and may be full or blocked; the
 * calls only copy into a bounded queue and never wait. What is not shown (rate limit, full queue, table of
 * seen texts full) is counted, and the count is told in a line of its own. Bytes that would act on a terminal
 * are shown as \xNN. All calls may come from any thread, and m may be NULL.
 */
#ifndef CORDON_MESSAGE_H
#define CORDON_MESSAGE_H

struct message;

/* fd is borrowed. trail: where all refusals can be read, or NULL; copied. NULL when out of memory or when fd
 * cannot be written. Starts no thread, so that it can be called before fork. */
struct message *message_open(int fd, const char *trail);
/* 0 or -errno. */
int message_start(struct message *m);

/* suggestion: the policy line that would allow it, or NULL. */
void message_refusal(struct message *m, const char *text, const char *suggestion);
/* Not limited in rate and not compared: for the few things that cordon says about itself. */
void message_warn(struct message *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Writes what waits (at most 1 s), ends the thread, frees. */
void message_close(struct message *m);

#endif
