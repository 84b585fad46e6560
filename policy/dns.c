#include "policy/dns.h"

#include <string.h>

#define HEADER	 12
#define CLASS_IN 1

#define FLAG_ANSWER 0x8000
#define FLAG_OPCODE 0x7800
#define FLAG_CUT    0x0200
#define FLAG_RCODE  0x000f

/* A message that is read; bad once something lay beyond its end. */
struct reader {
	const uint8_t *msg;
	size_t len, at;
	bool bad;
};

static uint16_t read16(struct reader *r)
{
	if (r->bad || r->len - r->at < 2) {
		r->bad = true;
		return 0;
	}
	r->at += 2;
	return (uint16_t)(r->msg[r->at - 2] << 8 | r->msg[r->at - 1]);
}

static uint32_t read32(struct reader *r)
{
	uint32_t high = read16(r);

	return high << 16 | read16(r);
}

static void skip(struct reader *r, size_t n)
{
	if (r->bad || r->len - r->at < n)
		r->bad = true;
	else
		r->at += n;
}

/*
 * A name; out may be NULL. A pointer leads to before where the name, or the part that it ends, began: so there is no circle, and
 * no more than len / 2 parts.
 */
static void read_name(struct reader *r, struct dns_name *out)
{
	struct dns_name name = {.len = 0};
	size_t at = r->at, began = r->at;
	bool jumped = false;

	while (!r->bad) {
		size_t n = at < r->len ? r->msg[at] : 256;

		if (n >= 0xc0 && n < 256 && at + 1 < r->len) {
			size_t to = (n & 0x3f) << 8 | r->msg[at + 1];

			if (!jumped)
				r->at = at + 2;
			jumped = true;
			r->bad = to >= began;
			at = began = to;
			continue;
		}
		if (n >= 64 || at + 1 + n > r->len || name.len + 1 + n > DNS_NAME_MAX) {
			r->bad = true;
			break;
		}
		memcpy(name.wire + name.len, r->msg + at, n + 1);
		name.len += n + 1;
		at += n + 1;
		if (n == 0)
			break;
	}
	if (!jumped)
		r->at = at;
	if (out)
		*out = name;
}

/* The rest of the additional records: an OPT tells what the asker can take. */
static int read_additional(struct reader *r, unsigned count, struct dns_question *q)
{
	for (; count && !r->bad; count--) {
		uint16_t type, size;
		uint32_t ttl;

		read_name(r, NULL);
		type = read16(r);
		size = read16(r);
		ttl = read32(r);
		skip(r, read16(r));
		if (type != DNS_OPT || r->bad)
			continue;
		if (q->edns)
			return DNS_FORMERR;
		q->edns = true;
		q->size = size > DNS_SIZE_PLAIN ? size : DNS_SIZE_PLAIN;
		if (ttl >> 16 & 0xff)
			return DNS_BADVERS;
	}
	return r->bad ? DNS_FORMERR : DNS_NOERROR;
}

int dns_parse_question(const uint8_t *msg, size_t len, struct dns_question *q)
{
	struct reader r = {msg, len, 0, false};
	uint16_t count[4], class;
	size_t began;

	*q = (struct dns_question){.size = DNS_SIZE_PLAIN};
	q->id = read16(&r);
	q->flags = read16(&r);
	for (int i = 0; i < 4; i++)
		count[i] = read16(&r);
	if (r.bad || q->flags & FLAG_ANSWER)
		return -1;
	if (q->flags & FLAG_OPCODE)
		return DNS_NOTIMP;
	if (count[0] != 1 || count[1] || count[2])
		return DNS_FORMERR;
	began = r.at;
	read_name(&r, &q->name);
	/* Nothing is before it that it could point to, but the header. */
	if (r.bad || r.at != began + q->name.len) {
		q->name.len = 0;
		return DNS_FORMERR;
	}
	q->type = read16(&r);
	class = read16(&r);
	if (r.bad) {
		q->name.len = 0;
		return DNS_FORMERR;
	}
	if (class != CLASS_IN)
		return DNS_REFUSED;
	return read_additional(&r, count[3], q);
}

static bool is_host_byte(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
	       c == '_';
}

bool dns_host(const struct dns_name *name, struct host_name *out)
{
	char text[DNS_NAME_MAX];
	size_t n = 0;

	for (size_t at = 0; at < name->len && name->wire[at]; at += name->wire[at] + 1u) {
		if (n)
			text[n++] = '.';
		for (size_t i = 1; i <= name->wire[at]; i++) {
			if (!is_host_byte(name->wire[at + i]))
				return false;
			text[n++] = (char)name->wire[at + i];
		}
	}
	return n && !host_canonicalise(text, n, out) && !out->is_ip;
}

static bool from_host(const struct host_name *host, struct dns_name *out)
{
	const char *p = host->text;

	out->len = 0;
	while (*p) {
		size_t n = 0;

		while (p[n] && p[n] != '.')
			n++;
		if (n == 0 || n > 63 || out->len + n + 2 > DNS_NAME_MAX)
			return false;
		out->wire[out->len++] = (uint8_t)n;
		memcpy(out->wire + out->len, p, n);
		out->len += n;
		p += n + (p[n] == '.');
	}
	out->wire[out->len++] = 0;
	return true;
}

static uint8_t lower(uint8_t c)
{
	return c >= 'A' && c <= 'Z' ? (uint8_t)(c + 32) : c;
}

/* Lengths of labels are below 64, so they are no letters. */
static bool same_name(const struct dns_name *a, const struct dns_name *b)
{
	if (a->len != b->len)
		return false;
	for (size_t i = 0; i < a->len; i++)
		if (lower(a->wire[i]) != lower(b->wire[i]))
			return false;
	return true;
}

struct record {
	struct dns_name owner;
	uint16_t type, class;
	uint32_t ttl;
	size_t data, len; /* in the message */
};

static bool read_record(struct reader *r, struct record *rec)
{
	read_name(r, &rec->owner);
	rec->type = read16(r);
	rec->class = read16(r);
	rec->ttl = read32(r);
	/* RFC 2181: with the highest bit set it is none. */
	if (rec->ttl >> 31)
		rec->ttl = 0;
	rec->len = read16(r);
	rec->data = r->at;
	skip(r, rec->len);
	return !r->bad;
}

static void shorten(struct dns_answer *a, uint32_t ttl)
{
	if (ttl < a->ttl)
		a->ttl = ttl;
}

static void add_addr(struct dns_answer *a, const uint8_t *data, size_t len)
{
	uint8_t *to = a->addr[a->n];

	if (a->n == DNS_ADDRS_MAX)
		return;
	if (len == 4)
		memcpy(to, host_v4_prefix, sizeof(host_v4_prefix));
	memcpy(to + 16 - len, data, len);
	/* An IPv4 address in the other one's clothes is none of either. */
	if (len == 4 || !host_is_v4(to))
		a->n++;
}

/* The addresses of the name, and what it is an alias of, if that is among the records. */
static bool read_answers(struct reader r, unsigned count, struct dns_name *name, uint16_t type,
			 struct dns_answer *a, bool *alias)
{
	size_t len = type == DNS_A ? 4 : 16;
	struct dns_name target = {.len = 0};
	struct record rec;

	for (; count; count--) {
		if (!read_record(&r, &rec))
			return false;
		if (rec.class != CLASS_IN || !same_name(&rec.owner, name))
			continue;
		if (rec.type == type && rec.len == len) {
			add_addr(a, r.msg + rec.data, len);
			shorten(a, rec.ttl);
		} else if (rec.type == DNS_CNAME && !target.len) {
			struct reader inner = {r.msg, rec.data + rec.len, rec.data, false};

			read_name(&inner, &target);
			if (inner.bad)
				return false;
			shorten(a, rec.ttl);
		}
	}
	*alias = target.len && !a->n;
	if (*alias)
		*name = target;
	return true;
}

/* RFC 2308: the last number of the SOA, or how long that record lives. */
static void read_negative(struct reader r, unsigned skipped, unsigned count, struct dns_answer *a)
{
	struct record rec;

	a->ttl = 0;
	for (; skipped + count; skipped ? skipped-- : count--) {
		if (!read_record(&r, &rec))
			return;
		if (!skipped && rec.type == DNS_SOA && rec.len >= 22) {
			struct reader last = {r.msg, r.len, rec.data + rec.len - 4, false};

			a->ttl = rec.ttl;
			shorten(a, read32(&last));
			return;
		}
	}
}

bool dns_parse_answer(const uint8_t *msg, size_t len, const struct host_name *host, uint16_t type,
		      struct dns_answer *a)
{
	struct reader r = {msg, len, 0, false};
	struct dns_name name, asked;
	uint16_t flags, count[4];
	bool more = true;

	*a = (struct dns_answer){.ttl = UINT32_MAX};
	if (!from_host(host, &name))
		return false;
	read16(&r);
	flags = read16(&r);
	for (int i = 0; i < 4; i++)
		count[i] = read16(&r);
	read_name(&r, &asked);
	skip(&r, 4);
	if (r.bad || !(flags & FLAG_ANSWER) || flags & FLAG_CUT || count[0] != 1 || !same_name(&asked, &name))
		return false;
	a->rcode = flags & FLAG_RCODE;
	while (more) {
		if (!read_answers(r, count[1], &name, type, a, &more))
			return false;
		if (more && a->n_aliases == DNS_ALIASES_MAX)
			return false;
		if (more)
			a->alias[a->n_aliases++] = name;
	}
	if (a->rcode == DNS_NOERROR || a->rcode == DNS_NXDOMAIN) {
		if (!a->n)
			read_negative(r, count[1], count[2], a);
	}
	return true;
}
