/* SOCKS messages of any bytes: taken whole or not at all, and a request has a canonical host and a port. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/socks.h"
#include "tests/fuzz/fuzz.h"

static void check_request(const uint8_t *data, size_t size)
{
	struct socks_request r, less;
	struct host_name again;
	int n = socks_parse_request(data, size, &r);

	require(n <= (int)size, "more was taken than there is");
	if (n <= 0 || r.reply != SOCKS_DONE)
		return;
	require(n <= SOCKS_MESSAGE_MAX, "a message that is too long");
	for (int i = 0; i < n; i++)
		require(socks_parse_request(data, (size_t)i, &less) == 0, "a part was taken for the whole");
	require(r.port != 0, "port 0");
	require(!host_canonicalise(r.host.text, strlen(r.host.text), &again) &&
			!memcmp(&again, &r.host, sizeof(again)),
		"a host that is not canonical");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct socks_login login;
	bool password;
	int n = socks_parse_greeting(data, size, &password);

	require(n <= (int)size && n <= SOCKS_MESSAGE_MAX, "a greeting longer than what came");
	n = socks_parse_login(data, size, &login);
	require(n <= (int)size && n <= SOCKS_MESSAGE_MAX, "a login longer than what came");
	if (n > 0)
		require(login.password + login.len == data + n, "a password that does not end the login");
	check_request(data, size);
	return 0;
}
