/* DNS messages of any bytes, as a question and as an answer: what is written in reply can be read again and says the same. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/dns.h"
#include "tests/fuzz/fuzz.h"

/* Of one of the two types only, as in an answer. */
static int is_one_type(const struct dns_answer *a, uint16_t type)
{
	for (size_t i = 0; i < a->n; i++)
		if (host_is_v4(a->addr[i]) != (type == DNS_A))
			return 0;
	return 1;
}

static void check_written(const struct dns_question *q, const struct host_name *host,
			  const struct dns_answer *a, size_t size)
{
	uint8_t out[DNS_MESSAGE_MAX];
	size_t n = dns_write_answer(q, a, out, size);
	struct dns_answer again;

	require(n >= 12 && n <= size, "the length of an answer");
	if (out[2] & 2) {
		require(size < DNS_MESSAGE_MAX, "an answer was cut without need");
		return;
	}
	require(dns_parse_answer(out, n, host, q->type, &again), "an answer cannot be read");
	require(again.rcode == (a->rcode & 15) && again.n == a->n && again.n_aliases == a->n_aliases &&
			!memcmp(again.addr, a->addr, a->n * sizeof(a->addr[0])),
		"an answer says something else");
	for (size_t i = 0; i < a->n_aliases; i++)
		require(again.alias[i].len == a->alias[i].len &&
				!memcmp(again.alias[i].wire, a->alias[i].wire, a->alias[i].len),
			"an alias is another");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct dns_answer none = {.rcode = DNS_NXDOMAIN, .ttl = 60};
	struct dns_question q;
	struct host_name host;
	struct dns_answer a;
	uint8_t *copy = malloc(size + 1), out[DNS_MESSAGE_MAX];
	int rc = dns_parse_question(data, size, &q);

	if (!copy)
		abort();
	memcpy(copy, data, size);
	if (rc > 0)
		require(dns_write_answer(&q, &(struct dns_answer){.rcode = (enum dns_rcode)rc}, out, 512) >=
				12,
			"a fault is not answered");
	if (rc == 0 && dns_host(&q.name, &host))
		check_written(&q, &host, &none, DNS_MESSAGE_MAX);
	/* The same bytes as an answer, to the question in them. */
	if (size > 3) {
		copy[2] &= 0x05;
		if (size > 11)
			copy[6] = copy[7] = copy[8] = copy[9] = copy[10] = copy[11] = 0;
		rc = size < 12 ? -1 : dns_parse_question(copy, size, &q);
		memcpy(copy, data, size);
		copy[2] = (copy[2] | 0x80) & 0xfd;
		q.type = data[3] & 0x10 ? DNS_AAAA : DNS_A;
		if (rc == 0 && dns_host(&q.name, &host) && dns_parse_answer(copy, size, &host, q.type, &a)) {
			require(is_one_type(&a, q.type), "an address of the wrong kind");
			if (a.rcode == DNS_NOERROR || a.rcode == DNS_NXDOMAIN) {
				check_written(&q, &host, &a, DNS_MESSAGE_MAX);
				check_written(&q, &host, &a, 512);
			}
		}
	}
	free(copy);
	return 0;
}
