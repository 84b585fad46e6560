/* Answers to programs: see dns.h. */
#include <string.h>

#include "policy/dns.h"

#define FLAG_ANSWER 0x8000
#define FLAG_CUT    0x0200
#define FLAG_KEPT   0x7910 /* opcode, recursion desired, checking disabled */
#define FLAG_THERE  0x0080
#define CLASS_IN    1
#define HEADER	    12
/* What this stub says that it can take. */
#define OWN_SIZE 1232
#define OPT_LEN	 11
#define POINTER	 0xc000

/* What does not fit before the end is not written, and nothing after it. */
struct writer {
	uint8_t *out;
	size_t size, at;
	bool full;
};

static void put(struct writer *w, const void *bytes, size_t n)
{
	if (w->full || w->size - w->at < n) {
		w->full = true;
		return;
	}
	memcpy(w->out + w->at, bytes, n);
	w->at += n;
}

static void put16(struct writer *w, unsigned v)
{
	const uint8_t b[2] = {(uint8_t)(v >> 8), (uint8_t)v};

	put(w, b, sizeof(b));
}

static void put32(struct writer *w, uint32_t v)
{
	put16(w, v >> 16);
	put16(w, v & 0xffff);
}

static void set16(struct writer *w, size_t at, unsigned v)
{
	w->out[at] = (uint8_t)(v >> 8);
	w->out[at + 1] = (uint8_t)v;
}

/* Up to its data, whose length is known. The owner stands at that place of the message. */
static void put_head(struct writer *w, size_t owner, uint16_t type, uint32_t ttl, size_t len)
{
	put16(w, POINTER | (unsigned)owner);
	put16(w, type);
	put16(w, CLASS_IN);
	put32(w, ttl);
	put16(w, (unsigned)len);
}

/* Records that came whole; with the rest the message would be longer than the asker can take. */
static unsigned put_answers(struct writer *w, const struct dns_answer *a, size_t owner)
{
	unsigned count = 0;
	size_t whole = w->at;

	for (size_t i = 0; i < a->n_aliases + a->n && !w->full; i++) {
		if (i < a->n_aliases) {
			const struct dns_name *name = &a->alias[i];

			put_head(w, owner, DNS_CNAME, a->ttl, name->len);
			owner = w->at;
			put(w, name->wire, name->len);
		} else {
			const uint8_t *addr = a->addr[i - a->n_aliases];
			size_t len = host_is_v4(addr) ? 4 : 16;

			put_head(w, owner, len == 4 ? DNS_A : DNS_AAAA, a->ttl, len);
			put(w, addr + 16 - len, len);
		}
		if (w->full)
			break;
		count++;
		whole = w->at;
	}
	w->at = whole;
	return count;
}

/* Says for how long there is no such thing. Nobody is told of a zone: it belongs to the name itself. */
static unsigned put_negative(struct writer *w, const struct dns_answer *a)
{
	static const uint8_t nobody[2] = {0, 0};
	size_t began = w->at;

	put_head(w, HEADER, DNS_SOA, a->ttl, 22);
	put(w, nobody, sizeof(nobody));
	put32(w, 1);
	for (int i = 0; i < 4; i++)
		put32(w, a->ttl);
	if (!w->full)
		return 1;
	w->at = began;
	return 0;
}

static void put_opt(struct writer *w, enum dns_rcode rcode)
{
	const uint8_t root = 0;

	put(w, &root, 1);
	put16(w, DNS_OPT);
	put16(w, OWN_SIZE);
	put32(w, (uint32_t)rcode >> 4 << 24);
	put16(w, 0);
}

size_t dns_write_answer(const struct dns_question *q, const struct dns_answer *a, uint8_t *out, size_t size)
{
	size_t reserved = q->edns ? OPT_LEN : 0;
	struct writer w = {out, size, 0, false};
	bool cut = false;

	if (size < DNS_SIZE_PLAIN)
		return 0;
	w.size = size - reserved;
	put16(&w, q->id);
	for (int i = 0; i < 5; i++)
		put16(&w, 0);
	if (q->name.len) {
		set16(&w, 4, 1);
		put(&w, q->name.wire, q->name.len);
		put16(&w, q->type);
		put16(&w, CLASS_IN);
	}
	if (q->name.len && (a->rcode == DNS_NOERROR || a->rcode == DNS_NXDOMAIN)) {
		set16(&w, 6, put_answers(&w, a, HEADER));
		cut = w.full;
		w.full = false;
		if (!a->n && !cut)
			set16(&w, 8, put_negative(&w, a));
	}
	w.size = size;
	if (q->edns) {
		put_opt(&w, a->rcode);
		set16(&w, 10, 1);
	}
	set16(&w, 2,
	      FLAG_ANSWER | FLAG_THERE | (q->flags & FLAG_KEPT) | (cut ? FLAG_CUT : 0) | (a->rcode & 0xf));
	return w.at;
}
