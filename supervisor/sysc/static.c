/*
 * Rows that registers alone decide: no handler, nothing here ever waits for the supervisor.
 */
#include <errno.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "supervisor/sysc.h"

/* Newer than the 6.1 headers. */
#ifndef SO_PASSPIDFD
#define SO_PASSPIDFD 76
#endif
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

/* CLONE_NEWTIME is for unshare only: in clone's flags it lies in the exit signal. */
#define NEW_NAMESPACE                                                                                        \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |        \
	 CLONE_NEWNET)

const struct sysc sysc_clone = {
	.name = "clone",
	.action = SYSC_ALLOW,
	SYSC_WHEN(SYSC_IF(SYSC_EPERM, ARG_ANY(0, NEW_NAMESPACE))),
	.doc = "New processes and threads are free; a new namespace is refused, since it would change what "
	       "names and addresses mean.",
};

const struct sysc sysc_unshare = {
	.name = "unshare",
	.action = SYSC_ALLOW,
	SYSC_WHEN(SYSC_IF(SYSC_EPERM, ARG_ANY(0, NEW_NAMESPACE | CLONE_NEWTIME))),
	.doc = "Sharing with other threads may be ended; a new namespace is refused, as in clone.",
};

/*
 * While the supervisor lives the kernel itself refuses a second listener. After its death a new one would answer for all
 * calls that were the supervisor's, and could let them go on.
 */
const struct sysc sysc_seccomp = {
	.name = "seccomp",
	.action = SYSC_ALLOW,
	SYSC_WHEN(SYSC_IF_ERRNO(EBUSY, ARG_ANY(1, SECCOMP_FILTER_FLAG_NEW_LISTENER))),
	.doc = "Filters of a program's own can only forbid more; one with a listener, which could also "
	       "allow, is "
	       "refused.",
};

/* A routing header makes packets go elsewhere than to the address that connect was judged by. A postponed request goes out when
 * another may listen; and the least TTL is what the supervisor keeps answers out by (connecting.c). */
const struct sysc sysc_setsockopt = {
	.name = "setsockopt",
	.action = SYSC_ALLOW,
	SYSC_WHEN(SYSC_IF_ERRNO(ENOPROTOOPT, ARG_IS(1, SOL_SOCKET), ARG_IS(2, SO_PASSPIDFD)),
		  SYSC_IF(SYSC_EPERM, ARG_IS(1, IPPROTO_IP), ARG_IS(2, IP_OPTIONS)),
		  SYSC_IF(SYSC_EPERM, ARG_IS(1, IPPROTO_IP), ARG_IS(2, IP_MINTTL)),
		  SYSC_IF(SYSC_EPERM, ARG_IS(1, IPPROTO_TCP), ARG_IS(2, TCP_REPAIR)),
		  SYSC_IF_ERRNO(ENOPROTOOPT, ARG_IS(1, IPPROTO_TCP), ARG_IS(2, TCP_FASTOPEN_CONNECT)),
		  SYSC_IF(SYSC_EPERM, ARG_IS(1, IPPROTO_IPV6), ARG_IS(2, IPV6_MINHOPCOUNT)),
		  SYSC_IF(SYSC_EPERM, ARG_IS(1, IPPROTO_IPV6), ARG_IS(2, IPV6_2292RTHDR)),
		  SYSC_IF(SYSC_EPERM, ARG_IS(1, IPPROTO_IPV6), ARG_IS(2, IPV6_2292PKTOPTIONS)),
		  SYSC_IF(SYSC_EPERM, ARG_IS(1, IPPROTO_IPV6), ARG_IS(2, IPV6_HOPOPTS)),
		  SYSC_IF(SYSC_EPERM, ARG_IS(1, IPPROTO_IPV6), ARG_IS(2, IPV6_RTHDRDSTOPTS)),
		  SYSC_IF(SYSC_EPERM, ARG_IS(1, IPPROTO_IPV6), ARG_IS(2, IPV6_RTHDR)),
		  SYSC_IF(SYSC_EPERM, ARG_IS(1, IPPROTO_IPV6), ARG_IS(2, IPV6_DSTOPTS))),
	.doc = "Options that reroute packets past the judged address (IP options, IPv6 extension headers, "
	       "TCP "
	       "repair) or postpone a connect beyond its judgement (TCP_FASTOPEN_CONNECT, a least TTL) are "
	       "refused; "
	       "SO_PASSPIDFD does not exist.",
};

#define NO_FASTOPEN(flags) SYSC_WHEN(SYSC_IF_ERRNO(EOPNOTSUPP, ARG_ANY(flags, MSG_FASTOPEN)))
#define NO_FASTOPEN_DOC                                                                                      \
	"Free, since no socket inside can name its destination; MSG_FASTOPEN, which connects, is refused."

const struct sysc sysc_sendto = {
	.name = "sendto",
	.action = SYSC_ALLOW,
	NO_FASTOPEN(3),
	.doc = NO_FASTOPEN_DOC,
};

const struct sysc sysc_sendmsg = {
	.name = "sendmsg",
	.action = SYSC_ALLOW,
	NO_FASTOPEN(2),
	.doc = NO_FASTOPEN_DOC,
};

const struct sysc sysc_sendmmsg = {
	.name = "sendmmsg",
	.action = SYSC_ALLOW,
	NO_FASTOPEN(3),
	.doc = NO_FASTOPEN_DOC,
};
