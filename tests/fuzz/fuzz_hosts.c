/* /etc/hosts of any bytes: whatever is read is found both ways, by a name in its one spelling. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/hosts.h"
#include "tests/fuzz/fuzz.h"

struct question {
	const struct hosts *h;
	const uint8_t *addr;
};

static bool is_addr(const uint8_t addr[16], void *arg)
{
	return memcmp(addr, arg, 16) == 0;
}

static bool check_name(const struct host_name *name, void *arg)
{
	const struct question *q = arg;
	struct host_name again;

	require(!host_canonicalise(name->text, strlen(name->text), &again) &&
			!memcmp(name, &again, sizeof(again)),
		"a name is not canonical");
	require(hosts_each_addr(q->h, name, is_addr, (void *)q->addr), "a name does not lead back");
	return false;
}

/* The addresses to ask for: each place in the text where one could begin. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hosts *h = hosts_parse((const char *)data, size);
	char *text = malloc(size + 1);

	if (!h || !text)
		abort();
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	for (char *word = strtok(text, " \t\r\n\v\f#"); word; word = strtok(NULL, " \t\r\n\v\f#")) {
		struct host_name addr;

		if (!host_canonicalise(word, strlen(word), &addr) && addr.is_ip)
			hosts_each_name(h, addr.addr, check_name, &(struct question){h, addr.addr});
	}
	free(text);
	hosts_free(h);
	return 0;
}
