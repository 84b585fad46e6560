#include "policy/netset.h"

#include <stdlib.h>
#include <string.h>

struct netset {
	const struct host_net **sorted;
	size_t n;
	const struct host_net *nets;
	/* Where those of each length begin in sorted, and where the last end. */
	size_t begin[130];
	unsigned lengths;
};

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static int compare(const void *x, const void *y)
{
	const struct host_net *a = *(const struct host_net *const *)x,
			      *b = *(const struct host_net *const *)y;
	int c = COMPARE(b->prefix, a->prefix);

	if (c == 0)
		c = memcmp(a->addr, b->addr, 16);
	if (c == 0)
		c = COMPARE(b->port_lo != 0, a->port_lo != 0);
	return c ? c : COMPARE(a, b);
}

struct netset *netset_new(const struct host_net *nets, size_t n)
{
	struct netset *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->nets = nets;
	s->n = n;
	s->sorted = calloc(n + 1, sizeof(*s->sorted));
	if (!s->sorted) {
		free(s);
		return NULL;
	}
	for (size_t i = 0; i < n; i++)
		s->sorted[i] = &nets[i];
	if (n)
		qsort((void *)s->sorted, n, sizeof(*s->sorted), compare);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || s->sorted[i]->prefix != s->sorted[i - 1]->prefix)
			s->begin[s->lengths++] = i;
	s->begin[s->lengths] = n;
	return s;
}

void netset_free(struct netset *s)
{
	if (!s)
		return;
	free((void *)s->sorted);
	free(s);
}

/* The network of that length in which the address lies. */
static void mask(const uint8_t addr[16], unsigned prefix, uint8_t out[16])
{
	memset(out, 0, 16);
	memcpy(out, addr, prefix / 8);
	if (prefix % 8)
		out[prefix / 8] = addr[prefix / 8] & (uint8_t)(0xff00 >> prefix % 8);
}

bool netset_each(const struct netset *s, const uint8_t addr[16], bool (*fn)(size_t i, void *arg), void *arg)
{
	for (unsigned k = 0; k < s->lengths; k++) {
		size_t lo = s->begin[k], hi = s->begin[k + 1], end = hi;
		uint8_t key[16];

		mask(addr, s->sorted[lo]->prefix, key);
		while (lo < hi) {
			size_t mid = lo + (hi - lo) / 2;

			if (memcmp(s->sorted[mid]->addr, key, 16) < 0)
				lo = mid + 1;
			else
				hi = mid;
		}
		for (; lo < end && memcmp(s->sorted[lo]->addr, key, 16) == 0; lo++)
			if (host_net_matches(s->sorted[lo], addr, s->sorted[lo]->port_lo) &&
			    fn((size_t)(s->sorted[lo] - s->nets), arg))
				return true;
	}
	return false;
}
