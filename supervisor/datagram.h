/*
 * What programs ask of their stand-ins for datagram sockets (standin.h) besides data and addresses. Callable from any worker.
 *
 * Those that return bool answer only when the inode is a stand-in's, else return false.
 */
#ifndef CORDON_DATAGRAM_H
#define CORDON_DATAGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "supervisor/call.h"
#include "supervisor/standin.h"

bool datagram_name(struct call *c, uint64_t inode, bool peer);
/* False also for options that are any socket's. */
bool datagram_getsockopt(struct call *c, uint64_t inode);
bool datagram_setsockopt(struct call *c, uint64_t inode);
/* SIOCGIFADDR and its kin. */
bool datagram_ioctl(struct call *c, uint64_t inode);

/* Answers "0 or -errno"; with 0 the stand-in is from here on as st says. */
void datagram_conclude(struct call *c, uint64_t inode, const struct standin *st, int rc);

#endif
