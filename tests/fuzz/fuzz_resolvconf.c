/* /etc/resolv.conf of any bytes: bounded, canonical, and each suffix is found behind a name. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/resolvconf.h"
#include "tests/fuzz/fuzz.h"

static void check_suffix(const struct resolvconf *c, const struct host_name *suffix)
{
	struct host_name again, name = {.is_ip = false};
	bool whole;

	require(!host_canonicalise(suffix->text, strlen(suffix->text), &again) &&
			!strcmp(suffix->text, again.text),
		"a suffix is not canonical");
	if (strlen(suffix->text) + 2 > HOST_LEN_MAX)
		return;
	snprintf(name.text, sizeof(name.text), "x.%.251s", suffix->text);
	require(resolvconf_is_search(c, &name, &whole), "a suffix is not found");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct resolvconf c;

	resolvconf_parse((const char *)data, size, "host.example.com", &c);
	require(c.n_servers >= 1 && c.n_servers <= RESOLVCONF_SERVERS_MAX &&
			c.n_search <= RESOLVCONF_SEARCH_MAX,
		"a bound");
	require(c.timeout <= RESOLVCONF_TIMEOUT_MAX && c.attempts <= RESOLVCONF_ATTEMPTS_MAX, "an option");
	for (size_t i = 0; i < c.n_servers; i++)
		require(memchr(c.server[i].scope, '\0', RESOLVCONF_SCOPE_SIZE) &&
				(!c.server[i].scope[0] || !host_is_v4(c.server[i].addr)),
			"a scope");
	for (size_t i = 0; i < c.n_search; i++)
		check_suffix(&c, &c.search[i]);
	return 0;
}
