/*
 * What the system says of names: /etc/resolv.conf and /etc/hosts. The gateway cannot open them; the supervisor looks whether
 * they changed, once a second at most and only when there is a question, and hands them over. What they say at first is known
 * from the fork.
 */
#ifndef CORDON_GATEWAY_SYSFILES_H
#define CORDON_GATEWAY_SYSFILES_H

#include "policy/resolvconf.h"
#include "supervisor/gateway/gateway.h"

/* Before the lockdown. NULL: out of memory. */
struct sysfiles *sysfiles_new(struct gateway *g);

/* The file behind fd is what holds from now on; fd -1: there is none. Does not close. */
void sysfiles_resolv(struct sysfiles *f, int fd);
void sysfiles_hosts(struct sysfiles *f, int fd);

/* Owned by whoever waits. */
struct fresh {
	void (*ready)(struct fresh *w);
	struct fresh *next, **link;
};
/* Calls ready, perhaps before this returns, once the files are known to be what they were less than a second ago. */
void sysfiles_wait(struct sysfiles *f, struct fresh *w);
/* Not any more. Also for one that does not wait. */
void sysfiles_forget(struct fresh *w);

const struct resolvconf *sysfiles_conf(const struct sysfiles *f);
/* The addresses of the name in /etc/hosts, of both families, max at most. */
size_t sysfiles_addrs(const struct sysfiles *f, const struct host_name *name, uint8_t (*addr)[16],
		      size_t max);

#endif
