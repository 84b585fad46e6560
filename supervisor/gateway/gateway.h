/*
 * Inside of the gateway process: what its parts share. One thread.
 */
#ifndef CORDON_GATEWAY_GATEWAY_H
#define CORDON_GATEWAY_GATEWAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/net.h"
#include "supervisor/gateway/loop.h"

struct config;
struct control;
struct fakes;
struct hostfile;
struct ownaddr;
struct resolving;
struct sysfiles;
struct upstream;
struct stub;
struct proxy;
struct proxyenv;

#define GATEWAY_ADDRS_MAX 32

struct gateway {
	struct loop *loop;
	const struct config *config;
	const struct policy *policy;
	bool log_only;	     /* what is refused is told, and done */
	int socket;	     /* to the supervisor */
	int dns_listener[2]; /* IPv4, IPv6; -1: none */
	int proxy_listener;  /* -1: no proxy */
	/* As the session begins. */
	struct hostfile *resolv, *hosts;
	const char *proxy_token;
	const struct proxyenv *proxyenv;
	struct control *control;
	struct sysfiles *files;
	struct ownaddr *own;
	struct upstream *upstream;
	struct fakes *fakes;
	struct resolving *resolving; /* what the proxy waits for */
	struct stub *stub;
	struct proxy *proxy;
};

/* The process's whole life: gives up what it does not need, serves until the supervisor is gone. Of g the config, policy,
 * log_only, descriptors, files and token are set. */
void gateway_main(struct gateway *g, pid_t parent, int landlock_abi) __attribute__((noreturn));

/* An answer: the addresses that the name may lead to at that port, checked (net_may_lead_to()). */
struct gw_answer {
	int status; /* 0; ENOENT: no such name; ETIMEDOUT, EIO: no server answered; EPERM: all addresses were refused */
	uint8_t addr[GATEWAY_ADDRS_MAX][16];
	size_t n;
	unsigned ttl; /* seconds, of the shortest-lived */
	bool blocked; /* some address was refused, all of them with EPERM. Of the first: */
	uint8_t blocked_addr[16];
	enum net_special special;  /* what it is */
	const struct rule *denied; /* the deny_domain that names it, or NULL */
};

/* Resolves an allowed name for the proxy: `resolve` rules, /etc/hosts, then upstream. done is called once, perhaps before
 * this returns. cancel with gw_resolve_cancel(arg). */
typedef void gw_done(const struct gw_answer *a, void *arg);
void gw_resolve(struct gateway *g, const struct host_name *name, uint16_t port, gw_done *done, void *arg);
/* The same for a name that cordon itself needs: where it leads is not checked. */
void gw_lookup(struct gateway *g, const struct host_name *name, uint16_t port, gw_done *done, void *arg);
void gw_resolve_cancel(struct gateway *g, void *arg);

/* A record of the audit trail and a line on stderr, made by the supervisor. op: "resolve", "connect". Strings are copied. */
struct gw_event {
	const char *op;
	const char *host;    /* or NULL */
	const uint8_t *addr; /* 16 bytes, or NULL */
	uint16_t port;
	bool denied;
	const struct rule *rule; /* one of the policy's (net_rule_number()), or NULL: default */
	const char *why;	 /* for a denial: replaces "no allow_domain matches"; or NULL */
};
void gw_tell(struct gateway *g, const struct gw_event *e);

#endif
