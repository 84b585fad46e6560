/*
 * The gateway: a process of its own that speaks with the outside for the session. It answers questions to DNS (the stub),
 * asks the system's servers (c-ares), and is the proxy of `proxy_env`. What it reads comes from strangers, so it has no file
 * access, no capability and a seccomp list of its own; all that it may do for a hostile stranger is what it does anyway:
 * connect. It decides by a copy of the policy; connects of programs are decided by the supervisor, who is told each name
 * that was handed out before its asker is.
 *
 * Supervisor's side. Started before any thread; the calls are thread-safe.
 */
#ifndef CORDON_GATEWAY_H
#define CORDON_GATEWAY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct session;

/* Makes its listeners: the command is told where the proxy is. 0 or -errno. */
int gateway_listen(struct session *s);
/* Forks it. 0 or -errno. */
int gateway_start(struct session *s);
/* Readable when the gateway says something; gateway_hear() then reads it (main loop only). -1: none. */
int gateway_fd(const struct session *s);
/* False when the gateway is gone: names are not resolved any more, which is said once. */
bool gateway_hear(struct session *s);

/* Hands it one end of a seqpacket pair on which a program asks, one message a question. inode: of the other
 * end. Consumes fd. 0 or -errno. */
int gateway_give_channel(struct session *s, int fd, uint64_t inode);

/* Where a TCP connect to port 53 is to go instead, for a socket of that family. Its length, 0: there is none. */
socklen_t gateway_dns_address(const struct session *s, int family, struct sockaddr_storage *to);
/* The connected socket that comes from this port of loopback is the session's; unknown ones are closed. */
void gateway_expect(struct session *s, uint16_t port);

/* The port of the proxy on loopback and the token that it wants as password; 0: there is none. */
uint16_t gateway_proxy_port(const struct session *s);
const char *gateway_proxy_token(const struct session *s);

void gateway_stop(struct session *s);

#endif
