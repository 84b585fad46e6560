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
	size_t digits = strlen(hex), words = digits / 8;
	uint32_t word;

	if (digits != 8 && digits != 32)
		return false;
	memset(addr, 0, 16);
	if (words == 1)
		addr[10] = addr[11] = 0xff;
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
	char here[33], there[33], here_port[5], there_port[5], state[3], inode[21];

	/* Digits alone: numbers would be taken with a sign as well. */
	if (sscanf(line,
		   " %*u: %32[0-9A-Fa-f]:%4[0-9A-Fa-f] %32[0-9A-Fa-f]:%4[0-9A-Fa-f] %2[0-9A-Fa-f] "
		   "%*s %*s %*s %*u %*u %20[0-9]",
		   here, here_port, there, there_port, state, inode) != 6)
		return false;
	out->here.port = (uint16_t)strtoul(here_port, NULL, 16);
	out->there.port = (uint16_t)strtoul(there_port, NULL, 16);
	out->state = (unsigned)strtoul(state, NULL, 16);
	out->inode = strtoull(inode, NULL, 10);
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
	const struct inet_own *own;
	unsigned n[2], n_foreign[2]; /* listeners at all addresses, and at this very one */
	uint64_t connected;
	bool found;
};

static bool is_foreign(const struct search *s, const struct proctcp_line *l)
{
	return !s->own->is(&(struct inet_socket){.inode = l->inode}, s->own->arg);
}

/* One at all addresses of IPv6 may take connects to IPv4 as well, which the list does not say. */
static bool look_for_listener(const struct proctcp_line *l, void *arg)
{
	struct search *s = arg;
	bool exact = memcmp(l->here.addr, s->here->addr, 16) == 0;

	if (l->state != TCP_LISTEN || l->here.port != s->here->port)
		return true;
	if (!exact &&
	    (!inet_is_any(l->here.addr) || (host_is_v4(l->here.addr) && !host_is_v4(s->here->addr))))
		return true;
	s->n[exact]++;
	if (is_foreign(s, l))
		s->n_foreign[exact]++;
	return true;
}

enum inet_answer proctcp_listener(const struct inet_end *to, const struct inet_own *own)
{
	struct search s = {.here = to, .own = own};
	bool exact;

	if (!each(false, look_for_listener, &s))
		return INET_UNKNOWN;
	exact = s.n[true] > 0;
	if (s.n[exact] == 0)
		return INET_NOBODY;
	return s.n_foreign[exact] ? INET_UNKNOWN : INET_SOCKET;
}

static bool look_for_connected(const struct proctcp_line *l, void *arg)
{
	struct search *s = arg;

	if (l->state == TCP_LISTEN || l->here.port != s->here->port || l->there.port != s->there->port ||
	    memcmp(l->here.addr, s->here->addr, 16) != 0 || memcmp(l->there.addr, s->there->addr, 16) != 0)
		return true;
	s->connected = l->inode;
	s->found = true;
	return false;
}

enum inet_answer proctcp_connected(const struct inet_end *here, const struct inet_end *there, uint64_t *inode)
{
	struct search s = {.here = here, .there = there};

	if (!each(false, look_for_connected, &s))
		return INET_UNKNOWN;
	*inode = s.connected;
	return s.found ? INET_SOCKET : INET_NOBODY;
}

static bool look_for_foreign(const struct proctcp_line *l, void *arg)
{
	struct search *s = arg;
	bool overlaps = inet_is_any(l->here.addr) || inet_is_any(s->here->addr) ||
			memcmp(l->here.addr, s->here->addr, 16) == 0;

	if (l->state == TCP_LISTEN && l->here.port == s->here->port && overlaps)
		s->found = is_foreign(s, l);
	return !s->found;
}

bool proctcp_all_own(const struct inet_end *at, const struct inet_own *own)
{
	struct search s = {.here = at, .own = own};

	return each(false, look_for_foreign, &s) && !s.found;
}

struct listening {
	bool (*fn)(uint64_t inode, void *arg);
	void *arg;
};

static bool hand_listening(const struct proctcp_line *l, void *arg)
{
	struct listening *to = arg;

	return to->fn(l->inode, to->arg);
}

bool proctcp_each_listening(bool (*fn)(uint64_t inode, void *arg), void *arg)
{
	struct listening to = {fn, arg};

	return each(true, hand_listening, &to);
}
