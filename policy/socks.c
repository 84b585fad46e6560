#include "policy/socks.h"

#include <string.h>

enum { COMMAND_CONNECT = 1, ADDRESS_V4 = 1, ADDRESS_NAME = 3, ADDRESS_V6 = 4 };

int socks_parse_greeting(const uint8_t *bytes, size_t len, bool *password)
{
	if (len > 0 && bytes[0] != SOCKS_VERSION)
		return -1;
	if (len < 2 || len < 2u + bytes[1])
		return 0;
	*password = memchr(bytes + 2, SOCKS_METHOD_PASSWORD, bytes[1]) != NULL;
	return 2 + bytes[1];
}

int socks_parse_login(const uint8_t *bytes, size_t len, struct socks_login *out)
{
	size_t user, at;

	if (len > 0 && bytes[0] != SOCKS_LOGIN_VERSION)
		return -1;
	if (len < 2)
		return 0;
	user = bytes[1];
	at = 2 + user;
	if (len < at + 1 || len < at + 1 + bytes[at])
		return 0;
	*out = (struct socks_login){bytes + at + 1, bytes[at]};
	return (int)(at + 1 + bytes[at]);
}

/* How many bytes the address takes, with the byte in front that counts a name's. 0: there is no such type. */
static size_t address_size(uint8_t type, uint8_t first)
{
	switch (type) {
	case ADDRESS_V4:
		return 4;
	case ADDRESS_V6:
		return 16;
	case ADDRESS_NAME:
		return 1u + first;
	default:
		return 0;
	}
}

/* False: nobody has such a name. */
static bool read_address(uint8_t type, const uint8_t *at, size_t size, struct host_name *out)
{
	char text[HOST_TEXT_SIZE];
	uint8_t addr[16];

	if (type == ADDRESS_NAME)
		return !host_canonicalise((const char *)at + 1, size - 1, out);
	memcpy(addr, host_v4_prefix, sizeof(host_v4_prefix));
	memcpy(type == ADDRESS_V4 ? addr + 12 : addr, at, size);
	host_format_addr(addr, true, text);
	return !host_canonicalise(text, strlen(text), out);
}

int socks_parse_request(const uint8_t *bytes, size_t len, struct socks_request *out)
{
	size_t size, all;

	if (len > 0 && bytes[0] != SOCKS_VERSION)
		return -1;
	if (len > 2 && bytes[2] != 0)
		return -1;
	if (len < 5)
		return 0;
	memset(out, 0, sizeof(*out));
	size = address_size(bytes[3], bytes[4]);
	if (!size) {
		out->reply = SOCKS_NO_SUCH_ADDRESS;
		return (int)len;
	}
	all = 4 + size + 2;
	if (len < all)
		return 0;
	out->port = (uint16_t)(bytes[all - 2] << 8 | bytes[all - 1]);
	if (bytes[1] != COMMAND_CONNECT)
		out->reply = SOCKS_NO_SUCH_COMMAND;
	else if (!out->port || !read_address(bytes[3], bytes + 4, size, &out->host))
		out->reply = SOCKS_FAILED;
	return (int)all;
}

void socks_make_reply(enum socks_reply reply, uint8_t out[SOCKS_REPLY_LEN])
{
	const uint8_t bytes[SOCKS_REPLY_LEN] = {SOCKS_VERSION, (uint8_t)reply, 0, ADDRESS_V4};

	memcpy(out, bytes, sizeof(bytes));
}
