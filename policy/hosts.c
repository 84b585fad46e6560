#include "policy/hosts.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pair {
	uint8_t addr[16];
	uint32_t order; /* of the file */
	const char *name;
};

struct hosts {
	struct pair *pairs;    /* sorted by address, then order */
	struct pair **by_name; /* sorted by name, then order */
	size_t n;
	char *names, *names_end; /* all of them, one after the other */
};

static const char blanks[] = " \t\r\v\f";

static bool parse_addr(const char *text, size_t len, uint8_t addr[16])
{
	char buf[INET6_ADDRSTRLEN];

	if (len == 0 || len >= sizeof(buf))
		return false;
	memcpy(buf, text, len);
	buf[len] = '\0';
	memcpy(addr, host_v4_prefix, sizeof(host_v4_prefix));
	return inet_pton(AF_INET, buf, addr + 12) == 1 || inet_pton(AF_INET6, buf, addr) == 1;
}

/* False when out of memory. */
static bool add(struct hosts *h, const uint8_t addr[16], const char *text, size_t len)
{
	struct host_name name;
	struct pair *pair;
	size_t size;

	if (h->n == HOSTS_PAIRS_MAX || host_canonicalise(text, len, &name) || name.is_ip)
		return true;
	/* Grows at powers of two, so the room need not be remembered. */
	if ((h->n & (h->n - 1)) == 0) {
		struct pair *more = reallocarray(h->pairs, h->n ? 2 * h->n : 1, sizeof(*more));

		if (!more)
			return false;
		h->pairs = more;
	}
	size = strlen(name.text) + 1;
	pair = &h->pairs[h->n];
	memcpy(pair->addr, addr, 16);
	pair->order = (uint32_t)h->n++;
	pair->name = memcpy(h->names_end, name.text, size);
	h->names_end += size;
	return true;
}

static size_t span(const char *s, const char *end, bool blank)
{
	const char *p = s;

	while (p < end && (*p && strchr(blanks, *p) != NULL) == blank)
		p++;
	return (size_t)(p - s);
}

static bool parse_line(struct hosts *h, const char *s, const char *end)
{
	const char *comment = memchr(s, '#', (size_t)(end - s));
	uint8_t addr[16];
	size_t n;

	end = comment ? comment : end;
	s += span(s, end, true);
	n = span(s, end, false);
	if (!parse_addr(s, n, addr))
		return true;
	while (true) {
		s += n;
		s += span(s, end, true);
		n = span(s, end, false);
		if (n == 0)
			return true;
		if (!add(h, addr, s, n))
			return false;
	}
}

static int compare_order(const struct pair *a, const struct pair *b)
{
	return (a->order > b->order) - (a->order < b->order);
}

static int compare_addr(const void *x, const void *y)
{
	const struct pair *a = x, *b = y;
	int c = memcmp(a->addr, b->addr, 16);

	return c ? c : compare_order(a, b);
}

static int compare_name(const void *x, const void *y)
{
	const struct pair *const *a = x, *const *b = y;
	int c = strcmp((*a)->name, (*b)->name);

	return c ? c : compare_order(*a, *b);
}

static bool sort(struct hosts *h)
{
	h->by_name = calloc(h->n + 1, sizeof(*h->by_name));
	if (!h->by_name)
		return false;
	if (h->n == 0)
		return true;
	qsort(h->pairs, h->n, sizeof(*h->pairs), compare_addr);
	for (size_t i = 0; i < h->n; i++)
		h->by_name[i] = &h->pairs[i];
	qsort(h->by_name, h->n, sizeof(struct pair *), compare_name);
	return true;
}

struct hosts *hosts_parse(const char *bytes, size_t len)
{
	struct hosts *h = calloc(1, sizeof(*h));
	const char *end;
	bool ok;

	if (!h)
		return NULL;
	len = len > HOSTS_BYTES_MAX ? HOSTS_BYTES_MAX : len;
	end = bytes + len;
	/* A name takes no more than its text and the blank in front. */
	h->names = h->names_end = malloc(len + 1);
	ok = h->names != NULL;
	while (ok && bytes < end) {
		const char *line = memchr(bytes, '\n', (size_t)(end - bytes));

		line = line ? line : end;
		ok = parse_line(h, bytes, line);
		bytes = line < end ? line + 1 : end;
	}
	if (ok && sort(h))
		return h;
	hosts_free(h);
	return NULL;
}

void hosts_free(struct hosts *h)
{
	if (!h)
		return;
	free(h->pairs);
	free((void *)h->by_name);
	free(h->names);
	free(h);
}

bool hosts_each_name(const struct hosts *h, const uint8_t addr[16],
		     bool (*fn)(const struct host_name *name, void *arg), void *arg)
{
	size_t lo = 0, hi = h ? h->n : 0, first;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (memcmp(h->pairs[mid].addr, addr, 16) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	first = lo;
	for (; h && lo < h->n && lo < first + HOSTS_NAMES_MAX && memcmp(h->pairs[lo].addr, addr, 16) == 0;
	     lo++) {
		struct host_name name = {0};

		snprintf(name.text, sizeof(name.text), "%s", h->pairs[lo].name);
		if (fn(&name, arg))
			return true;
	}
	return false;
}

bool hosts_each_addr(const struct hosts *h, const struct host_name *name,
		     bool (*fn)(const uint8_t addr[16], void *arg), void *arg)
{
	size_t lo = 0, hi = h ? h->n : 0;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(h->by_name[mid]->name, name->text) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; h && lo < h->n && strcmp(h->by_name[lo]->name, name->text) == 0; lo++)
		if (fn(h->by_name[lo]->addr, arg))
			return true;
	return false;
}
