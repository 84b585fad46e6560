/*
 * The first name server of /etc/resolv.conf, for answers of which nobody knows who was asked: resolvers take answers from
 * any server that they are configured with.
 */
#ifndef CORDON_NAMESERVER_H
#define CORDON_NAMESERVER_H

#include <stdbool.h>
#include <sys/socket.h>

/* For a socket of that family; read anew each time. Loopback when there is none. Its length. */
socklen_t nameserver_first(int family, struct sockaddr_storage *to);

/* A line "nameserver ADDRESS", which it spoils. False: it is none, or not for that family. */
bool nameserver_parse(char *line, int family, struct sockaddr_storage *to);

#endif
