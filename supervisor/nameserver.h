/*
 * The first name server of /etc/resolv.conf, for answers of which nobody knows who was asked: resolvers take answers from
 * any server that they are configured with. So the file is followed as programs read it, whoever changes it. Thread-safe.
 */
#ifndef CORDON_NAMESERVER_H
#define CORDON_NAMESERVER_H

#include <sys/socket.h>

#define NAMESERVER_FILE "/etc/resolv.conf"

struct nameserver;

/* file: borrowed. NULL: out of memory. */
struct nameserver *nameserver_new(const char *file);
void nameserver_free(struct nameserver *n);

/* For a socket of that family. Loopback when there is none. Its length. */
socklen_t nameserver_first(struct nameserver *n, int family, struct sockaddr_storage *to);

#endif
