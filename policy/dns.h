/*
 * DNS messages (RFC 1035, EDNS of RFC 6891): the questions of programs, the answers of servers, and what is answered to
 * programs. Only addresses and aliases (CNAME) pass through; all else of an answer is left behind. Pure, no allocation; every
 * length is checked against the message, and names are followed backwards only, so that each ends.
 */
#ifndef CORDON_DNS_H
#define CORDON_DNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/host.h"

#define DNS_PORT      53
#define DNS_NAME_MAX  255
#define DNS_ADDRS_MAX 32
/* As many as servers follow (BIND, Unbound). */
#define DNS_ALIASES_MAX 11
/* Enough for any answer that is written here. */
#define DNS_MESSAGE_MAX 8192
/* What an asker without EDNS can take. */
#define DNS_SIZE_PLAIN 512

enum dns_type { DNS_A = 1, DNS_CNAME = 5, DNS_SOA = 6, DNS_AAAA = 28, DNS_OPT = 41, DNS_ANY = 255 };

enum dns_rcode {
	DNS_NOERROR = 0,
	DNS_FORMERR = 1,
	DNS_SERVFAIL = 2,
	DNS_NXDOMAIN = 3,
	DNS_NOTIMP = 4,
	DNS_REFUSED = 5,
	DNS_BADVERS = 16,
};

/* As in a message: labels, each behind its length, and a zero. */
struct dns_name {
	size_t len; /* 0: none */
	uint8_t wire[DNS_NAME_MAX];
};

struct dns_question {
	uint16_t id, flags;
	struct dns_name name; /* as it was written, upper case and all */
	uint16_t type;
	bool edns;
	uint16_t size; /* what the asker can take in one message */
};

/*
 * DNS_NOERROR, the code to answer with (then *q is as far as it could be read), or -1: not to be answered at all, since it
 * is no question.
 */
int dns_parse_question(const uint8_t *msg, size_t len, struct dns_question *q);

/* The name in canonical form. False: it has labels that no host name has, or it is an address or empty. */
bool dns_host(const struct dns_name *name, struct host_name *out);

struct dns_answer {
	enum dns_rcode rcode;
	struct dns_name
		alias[DNS_ALIASES_MAX]; /* the asked name is one of the first, that of the second... */
	size_t n_aliases;
	uint8_t addr[DNS_ADDRS_MAX][16]; /* of the last alias */
	size_t n;
	uint32_t ttl; /* of the shortest-lived record; without an address: for how long that is so */
};

/* What a server answers to a question for the name and the type (A or AAAA). False: it makes no sense. */
bool dns_parse_answer(const uint8_t *msg, size_t len, const struct host_name *name, uint16_t type,
		      struct dns_answer *a);

/*
 * The answer to a question, at most `size` bytes (DNS_MESSAGE_MAX are always enough): what does not fit is left out and the
 * message says that it was cut, so that the asker comes again by TCP. Returns its length.
 */
size_t dns_write_answer(const struct dns_question *q, const struct dns_answer *a, uint8_t *out, size_t size);

#endif
