/* Socket addresses of any bytes: what is accepted comes back the same, and each address is of one kind. */
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/inet.h"
#include "policy/net.h"
#include "tests/fuzz/fuzz.h"

static void check_kind(const uint8_t addr[16])
{
	enum net_special s = net_special(addr, NULL, 0);

	require(!inet_is_any(addr) || s == NET_UNSPECIFIED, "an address that is none");
	require(!inet_is_loopback(addr) || s == NET_LOOPBACK, "a loopback address");
	require(!(inet_is_any(addr) && inet_is_loopback(addr)), "two kinds at once");
	require(net_special_name(s) != NULL, "a kind without a name");
	require(net_special(addr, (const uint8_t(*)[16])addr, 1) != NET_ORDINARY,
		"an own address is ordinary");
}

static void check(const uint8_t *data, size_t size, int family)
{
	struct sockaddr_storage out;
	struct inet_addr a, again;
	int rc = inet_parse(data, size, family, &a);
	socklen_t n;

	if (rc) {
		require(rc == EINVAL || rc == EAFNOSUPPORT, "another errno than the kernel's");
		return;
	}
	require(a.v6 == (family == AF_INET6), "the wrong family");
	n = inet_make(&a, family, &out);
	require(n > 0 && out.ss_family == family, "an address that cannot be made");
	require(!inet_parse(&out, n, family, &again), "what was made is refused");
	require(!memcmp(a.addr, again.addr, 16) && a.port == again.port && a.scope == again.scope,
		"an address changes");
	require((inet_make(&a, AF_INET, &out) > 0) == host_is_v4(a.addr), "an IPv4 address of another");
	check_kind(a.addr);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check(data, size, AF_INET);
	check(data, size, AF_INET6);
	return 0;
}
