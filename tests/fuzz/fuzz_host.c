/*
 * Hosts, entries, networks of any bytes. What is accepted has one spelling, which is accepted again as the same
 * and matches itself.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/host.h"
#include "tests/fuzz/fuzz.h"

static void check_name(const char *text, size_t len)
{
	struct host_name n, again;

	if (host_canonicalise(text, len, &n))
		return;
	for (const char *s = n.text; *s; s++)
		require(strchr("abcdefghijklmnopqrstuvwxyz0123456789-_.:", *s) != NULL,
			"an odd character in a name");
	require(n.text[0] && (n.is_ip || n.text[strlen(n.text) - 1] != '.'),
		"a name that is empty or ends in a dot");
	require(!host_canonicalise(n.text, strlen(n.text), &again), "a canonical name is refused");
	require(!memcmp(&n, &again, sizeof(n)), "a canonical name changes");
}

static void check_entry(const char *text, bool deny)
{
	struct host_entry e, again;
	char buf[HOST_TEXT_SIZE];

	if (host_parse_entry(text, deny, &e))
		return;
	require(!host_parse_entry(host_format_entry(&e, buf), deny, &again), "a printed entry is refused");
	require(host_entry_equal(&e, &again), "a printed entry changes");
	require(deny || !e.any, "an allow entry for everything");
	if (!e.any)
		require(host_entry_matches(&e, &e.name, e.port ? e.port : 1) != e.wildcard,
			"an entry and its own name");
}

static void check_net(const char *text)
{
	struct host_net net, again;
	char buf[HOST_TEXT_SIZE];

	if (host_parse_net(text, &net))
		return;
	require(!host_parse_net(host_format_net(&net, buf), &again), "a printed network is refused");
	require(!memcmp(&net, &again, sizeof(net)), "a printed network changes");
	require(host_net_matches(&net, net.addr, net.port_lo ? net.port_hi : 1),
		"a network without its first address");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct host_name host;
	uint16_t port, to_port;
	uint8_t addr[16];

	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	check_name(text, size);
	check_entry(text, false);
	check_entry(text, true);
	check_net(text);
	if (!host_parse_resolve(text, &host, &port, addr, &to_port))
		require(!host.is_ip && port && to_port, "a resolve entry without name or ports");
	port = 53;
	if (!host_parse_addr(text, addr, &port))
		require(port != 0, "an address with port 0");
	free(text);
	return 0;
}
