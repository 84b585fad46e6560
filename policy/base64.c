#include "policy/base64.h"

#include <stdint.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int value(char c)
{
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Four characters to at most three bytes. How many, or -1. */
static int decode_group(const char *text, unsigned char out[3])
{
	int pad = text[3] == '=' ? (text[2] == '=' ? 2 : 1) : 0;
	uint32_t sum = 0;

	for (int i = 0; i < 4; i++) {
		int v = i >= 4 - pad ? 0 : value(text[i]);

		if (v < 0)
			return -1;
		sum = sum << 6 | (uint32_t)v;
	}
	if (sum & ((1u << 8 * pad) - 1))
		return -1;
	for (int i = 0; i < 3; i++)
		out[i] = (unsigned char)(sum >> (16 - 8 * i));
	return 3 - pad;
}

int base64_decode(const char *text, size_t len, char *out, size_t size)
{
	size_t n = 0;

	if (len % 4)
		return -1;
	for (size_t i = 0; i < len; i += 4) {
		unsigned char group[3];
		int got = decode_group(text + i, group);

		if (got < 0 || (got < 3 && i + 4 < len) || n + (size_t)got > size)
			return -1;
		memcpy(out + n, group, (size_t)got);
		n += (size_t)got;
	}
	return (int)n;
}

int base64_encode(const char *bytes, size_t len, char *out, size_t size)
{
	size_t n = 0;

	if ((len + 2) / 3 * 4 >= size)
		return -1;
	for (size_t i = 0; i < len; i += 3) {
		uint32_t sum = 0;

		for (size_t k = 0; k < 3; k++)
			sum = sum << 8 | (i + k < len ? (unsigned char)bytes[i + k] : 0u);
		for (size_t k = 0; k < 4; k++)
			out[n++] = i + k > len ? '=' : digits[sum >> (18 - 6 * k) & 63];
	}
	out[n] = '\0';
	return (int)n;
}
