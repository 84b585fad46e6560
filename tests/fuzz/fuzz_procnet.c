/* Lines of /proc/net/tcp, tcp6 and unix of any bytes: what is read says the same when it is written as the kernel does. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/host.h"
#include "supervisor/proctcp.h"
#include "supervisor/procunix.h"
#include "tests/fuzz/fuzz.h"

static void write_end(const struct inet_end *end, char text[40])
{
	size_t first = host_is_v4(end->addr) ? 12 : 0, n = 0;
	uint32_t word;

	for (size_t i = first; i < 16; i += 4) {
		memcpy(&word, end->addr + i, sizeof(word));
		n += (size_t)snprintf(text + n, 40 - n, "%08X", word);
	}
	snprintf(text + n, 40 - n, ":%04X", end->port);
}

static void check_tcp(const char *text)
{
	struct proctcp_line l, again;
	char here[40], there[40], line[256];

	memset(&l, 0, sizeof(l));
	memset(&again, 0, sizeof(again));
	if (!proctcp_parse(text, &l))
		return;
	write_end(&l.here, here);
	write_end(&l.there, there);
	snprintf(line, sizeof(line), "   0: %s %s %02X 00000000:00000000 00:00000000 00000000 0 0 %llu 1",
		 here, there, l.state, (unsigned long long)l.inode);
	require(proctcp_parse(line, &again), "a written line is refused");
	require(!memcmp(&l, &again, sizeof(l)), "a written line changes");
}

static void check_unix(char *text, size_t size)
{
	const char *shown = text;
	uint64_t inode = 0;

	if (!procunix_parse(text, &inode, &shown))
		return;
	require(inode != 0, "a socket without inode");
	require(shown > text && shown <= text + size && !strchr(shown, '\n'),
		"an address outside of the line");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	check_tcp(text);
	check_unix(text, size);
	free(text);
	return 0;
}
