#include "supervisor/proctcp.h"

#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/host.h"
#include "policy/inet.h"
#include "supervisor/lockdown.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(openat), OWN(fstat), OWN(read), OWN(close));

/* Words of 32 bits as the machine has them, in hexadecimal digits: one for IPv4, four for IPv6. */
static bool parse_addr(const char *hex, uint8_t addr[16])
{
	size_t words = strlen(hex) / 8;
	uint32_t word;

	memset(addr, 0, 16);
	if (words == 1)
		addr[10] = addr[11] = 0xff;
	else if (words != 4)
		return false;
	for (size_t i = 0; i < words; i++) {
		if (sscanf(hex + i * 8, "%8x", &word) != 1)
			return false;
		memcpy(addr + (words == 1 ? 12 : i * 4), &word, sizeof(word));
	}
	return true;
}

/* "sl: local:port remote:port state queues timer retransmits uid timeout inode ..." */
bool proctcp_parse(const char *line, struct proctcp_line *out)
{
	char here[33], there[33];
	unsigned here_port, there_port;
	unsigned long long inode;

	if (sscanf(line, " %*u: %32[0-9A-Fa-f]:%4x %32[0-9A-Fa-f]:%4x %2x %*s %*s %*s %*u %*u %llu", here,
		   &here_port, there, &there_port, &out->state, &inode) != 6)
		return false;
	out->here.port = (uint16_t)here_port;
	out->there.port = (uint16_t)there_port;
	out->inode = inode;
	return parse_addr(here, out->here.addr) && parse_addr(there, out->there.addr);
}

/* Calls fn for each socket of a list until it returns false, which it hands on. */
static bool each_in(FILE *f, bool listening, bool (*fn)(const struct proctcp_line *l, void *arg), void *arg)
{
	struct proctcp_line l;
	char *line = NULL;
	bool going = true;
	size_t size = 0;

	while (going && getline(&line, &size, f) > 0) {
		if (!proctcp_parse(line, &l))
			continue;
		/* Those that listen come first (tcp_get_idx() in the kernel); of the others there may be thousands. */
		if (listening && l.state != TCP_LISTEN)
			break;
		going = fn(&l, arg);
	}
	free(line);
	return going;
}

/* The same for both lists, or for those of them that listen. False: a list could not be read. IPv6 may be missing. */
static bool each(bool listening, bool (*fn)(const struct proctcp_line *l, void *arg), void *arg)
{
	static const char *const lists[] = {"/proc/net/tcp", "/proc/net/tcp6"};
	bool going = true;

	for (size_t i = 0; i < 2 && going; i++) {
		FILE *f = fopen(lists[i], "re");

		if (!f && i == 0)
			return false;
		going = !f || each_in(f, listening, fn, arg);
		if (f)
			fclose(f);
	}
	return true;
}

struct search {
	const struct inet_end *here, *there;
	uint64_t exact, wide; /* inodes */
	unsigned n_exact, n_wide, n_connected;
	bool (*own)(uint64_t inode, void *arg);
	void *arg;
	bool foreign;
};

static bool look_for_listener(const struct proctcp_line *l, void *arg)
{
	struct search *s = arg;

	if (l->state != TCP_LISTEN || l->here.port != s->here->port)
		return true;
	if (memcmp(l->here.addr, s->here->addr, 16) == 0) {
		s->exact = l->inode;
		s->n_exact++;
	} else if (inet_is_any(l->here.addr)) {
		s->wide = l->inode;
		s->n_wide++;
	}
	return true;
}

enum inet_answer proctcp_listener(const struct inet_end *to, uint64_t *inode)
{
	struct search s = {.here = to};

	if (!each(false, look_for_listener, &s) || s.n_exact > 1 || (s.n_exact == 0 && s.n_wide > 1))
		return INET_UNKNOWN;
	*inode = s.n_exact ? s.exact : s.wide;
	return s.n_exact + s.n_wide ? INET_SOCKET : INET_NOBODY;
}

static bool look_for_connected(const struct proctcp_line *l, void *arg)
{
	struct search *s = arg;

	if (l->state == TCP_LISTEN || l->here.port != s->here->port || l->there.port != s->there->port ||
	    memcmp(l->here.addr, s->here->addr, 16) != 0 || memcmp(l->there.addr, s->there->addr, 16) != 0)
		return true;
	s->exact = l->inode;
	s->n_connected++;
	return false;
}

enum inet_answer proctcp_connected(const struct inet_end *here, const struct inet_end *there, uint64_t *inode)
{
	struct search s = {.here = here, .there = there};

	if (!each(false, look_for_connected, &s))
		return INET_UNKNOWN;
	*inode = s.exact;
	return s.n_connected ? INET_SOCKET : INET_NOBODY;
}

static bool look_for_foreign(const struct proctcp_line *l, void *arg)
{
	struct search *s = arg;
	bool overlaps = inet_is_any(l->here.addr) || inet_is_any(s->here->addr) ||
			memcmp(l->here.addr, s->here->addr, 16) == 0;

	if (l->state == TCP_LISTEN && l->here.port == s->here->port && overlaps)
		s->foreign = !s->own(l->inode, s->arg);
	return !s->foreign;
}

bool proctcp_all_own(const struct inet_end *at, bool (*own)(uint64_t inode, void *arg), void *arg)
{
	struct search s = {.here = at, .own = own, .arg = arg};

	return each(false, look_for_foreign, &s) && !s.foreign;
}

static bool hand_listening(const struct proctcp_line *l, void *arg)
{
	struct search *s = arg;

	return s->own(l->inode, s->arg);
}

bool proctcp_each_listening(bool (*fn)(uint64_t inode, void *arg), void *arg)
{
	struct search s = {.own = fn, .arg = arg};

	return each(true, hand_listening, &s);
}
