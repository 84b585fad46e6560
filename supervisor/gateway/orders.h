/*
 * What the supervisor and the gateway say to each other: fixed structs on a SOCK_SEQPACKET pair. Each side takes a message
 * of another length, or of a kind it does not know, for the end of the other. Orders may have a descriptor beside them.
 */
#ifndef CORDON_GATEWAY_ORDERS_H
#define CORDON_GATEWAY_ORDERS_H

#include <stdint.h>

#include "policy/host.h"

/* Supervisor to gateway. */
enum order_kind {
	ORDER_NONE,
	ORDER_CHANNEL, /* fd: an end of a pair on which a program asks; value: the inode of the other end */
	ORDER_EXPECT,  /* value: the port of loopback that a program's connection comes from */
	ORDER_RESOLV,  /* fd: /etc/resolv.conf, for reading */
	ORDER_HOSTS,   /* fd: /etc/hosts, for reading */
	ORDER_DONE,    /* value: the id of the report that was dealt with */
};

struct order {
	uint32_t kind;
	uint32_t value;
};

/* Gateway to supervisor. */
enum report_kind {
	REPORT_NONE,
	REPORT_FAILED, /* it could not be set up */
	REPORT_READY,
	REPORT_CHECK, /* a question is there: have the files changed? Answered by orders of files, then done */
	REPORT_BIND,  /* this is about to be answered about a name. Answered by done */
	REPORT_EVENT, /* for the audit trail */
	REPORT_STRAY, /* a channel has what is no question */
};

#define REPORT_ADDRS_MAX 32
#define REPORT_WHY_MAX	 128

enum report_op { REPORT_OP_RESOLVE, REPORT_OP_CONNECT };

struct report_bind {
	char host[HOST_LEN_MAX + 1];
	uint32_t refused; /* the name itself is; the address, if any, stands for it */
	uint32_t silent;  /* nothing of that on stderr */
	uint32_t blocked; /* an address is left out: */
	uint32_t special; /* enum net_special */
	uint8_t blocked_addr[16];
	uint32_t n;
	uint8_t addr[REPORT_ADDRS_MAX][16];
};

struct report_event {
	uint32_t op;
	uint32_t denied;
	char host[HOST_LEN_MAX + 1]; /* "": none */
	uint8_t addr[16];
	uint32_t has_addr;
	uint32_t port;
	uint64_t rule;		  /* net_rule_number() */
	char why[REPORT_WHY_MAX]; /* "": none */
};

struct report {
	uint32_t kind;
	uint32_t id;
	int32_t err; /* with REPORT_FAILED */
	uint32_t
		channel; /* with REPORT_BIND and REPORT_STRAY: of whom, by the value of its order; 0: of another */
	union {
		char what[32]; /* with REPORT_FAILED */
		struct report_bind bind;
		struct report_event event;
	};
};

#endif
