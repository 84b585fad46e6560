/* Canonical host names and entries of domain lists: see host.h. */
#include "policy/host.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

const uint8_t host_v4_prefix[12] = {[10] = 0xff, [11] = 0xff};

bool host_is_v4(const uint8_t addr[16])
{
	return memcmp(addr, host_v4_prefix, sizeof(host_v4_prefix)) == 0;
}

char *host_format_addr(const uint8_t addr[16], bool brackets, char *buf)
{
	char text[INET6_ADDRSTRLEN];

	if (host_is_v4(addr)) {
		inet_ntop(AF_INET, addr + 12, text, sizeof(text));
		brackets = false;
	} else {
		inet_ntop(AF_INET6, addr, text, sizeof(text));
	}
	snprintf(buf, HOST_TEXT_SIZE, brackets ? "[%s]" : "%s", text);
	return buf;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int hex_value(char c)
{
	if (is_digit(c))
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* One part of a numeric IPv4 address, as inet_aton reads it. Returns how much was read, 0 if it is none. */
static size_t parse_number(const char *s, size_t len, uint64_t *out)
{
	unsigned base = 10;
	size_t i = 0;
	uint64_t v = 0;

	if (len > 1 && s[0] == '0') {
		base = s[1] == 'x' ? 16 : 8;
		i = base == 16 ? 2 : 1;
	}
	if (i == len || s[0] == '.' || (base == 16 && s[i] == '.'))
		return 0;
	for (; i < len && s[i] != '.'; i++) {
		int d = hex_value(s[i]);

		if (d < 0 || (unsigned)d >= base)
			return 0;
		v = v * base + (unsigned)d;
		if (v > UINT32_MAX)
			return 0;
	}
	*out = v;
	return i;
}

/* Does the last label look like a number? Then the whole is an IPv4 address or nothing. */
static bool ends_in_number(const char *s)
{
	const char *last = strrchr(s, '.');

	last = last ? last + 1 : s;
	if (!*last)
		return false;
	if (last[0] == '0' && last[1] == 'x')
		return last[2 + strspn(last + 2, "0123456789abcdef")] == '\0';
	return last[strspn(last, "0123456789")] == '\0';
}

static bool parse_numeric_v4(const char *s, uint8_t addr[16])
{
	size_t len = strlen(s);
	unsigned parts = 0;
	uint64_t sum = 0;

	while (true) {
		uint64_t v;
		size_t n = parse_number(s, len, &v);
		bool last = n == len;

		if (n == 0 || parts == 4)
			return false;
		parts++;
		if (last) {
			if (v >> (8 * (5 - parts)))
				return false;
			sum |= v;
			break;
		}
		if (v > 255 || parts == 4)
			return false;
		sum |= v << (8 * (4 - parts));
		s += n + 1;
		len -= n + 1;
		if (len == 0)
			return false;
	}
	memcpy(addr, host_v4_prefix, sizeof(host_v4_prefix));
	for (unsigned i = 0; i < 4; i++)
		addr[12 + i] = (uint8_t)(sum >> (24 - 8 * i));
	return true;
}

static void set_ip(struct host_name *out)
{
	char buf[HOST_TEXT_SIZE];

	memset(out->text, 0, sizeof(out->text));
	strcpy(out->text, host_format_addr(out->addr, false, buf));
	out->is_ip = true;
}

static const char *canonical_v6(const char *text, size_t len, struct host_name *out)
{
	char bare[INET6_ADDRSTRLEN];

	if (len >= sizeof(bare))
		return "not an IPv6 address";
	memcpy(bare, text, len);
	bare[len] = '\0';
	if (strlen(bare) != len || inet_pton(AF_INET6, bare, out->addr) != 1)
		return "not an IPv6 address";
	set_ip(out);
	return NULL;
}

static const char *check_labels(const char *s)
{
	size_t label = 0;

	for (; *s; s++) {
		if (*s == '.') {
			if (label == 0)
				return "an empty part between dots";
			label = 0;
			continue;
		}
		if (++label > 63)
			return "a part is longer than 63 characters";
		if (*s & 0x80)
			return "only ASCII; write an international name in its xn-- form";
		if (!(*s >= 'a' && *s <= 'z') && !is_digit(*s) && *s != '-' && *s != '_')
			return "a character that no host name has";
	}
	return label ? NULL : "an empty part between dots";
}

const char *host_canonicalise(const char *text, size_t len, struct host_name *out)
{
	const char *why;

	memset(out, 0, sizeof(*out));
	if (len == 0)
		return "empty";
	if (text[0] == '[')
		return len > 2 && text[len - 1] == ']' ? canonical_v6(text + 1, len - 2, out)
						       : "'[' without ']' at the end";
	if (memchr(text, ':', len))
		return canonical_v6(text, len, out);
	if (text[len - 1] == '.')
		len--;
	if (len > HOST_LEN_MAX)
		return "longer than 253 characters";
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\0')
			return "a character that no host name has";
		out->text[i] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] + 32) : text[i];
	}
	why = check_labels(out->text);
	if (why || !ends_in_number(out->text))
		return why;
	if (!parse_numeric_v4(out->text, out->addr))
		return "not an IPv4 address";
	set_ip(out);
	return NULL;
}

/* An address before a '/', and a number after it. */
static bool is_network(const char *text)
{
	const char *slash = strchr(text, '/');
	size_t n = (size_t)(slash - text);
	struct host_name name;

	if (n > 2 && text[0] == '[' && text[n - 1] == ']')
		n -= 2, text++;
	return is_digit(slash[1]) && !host_canonicalise(text, n, &name) && name.is_ip;
}

/* What people paste instead of a host: worth a text of its own. */
static const char *check_pasted(const char *text)
{
	if (strstr(text, "://"))
		return "leave out the scheme";
	if (strchr(text, ','))
		return "one host belongs here; each has a line of its own";
	if (strchr(text, '/'))
		return is_network(text) ? "a network belongs in allow_ip" : "leave out the path";
	if (strchr(text, '@'))
		return "leave out the user name";
	return NULL;
}

/* Where the host of HOST[:PORT] ends. */
static const char *host_end(const char *text)
{
	const char *end = *text == '[' ? strchr(text, ']') : strchr(text, ':');

	if (!end)
		return text + strlen(text);
	return *text == '[' ? end + 1 : end;
}

const char *host_parse_port(const char *s, size_t len, uint16_t *port)
{
	unsigned v = 0;

	if (len == 0 || len > 5 || s[0] == '0')
		return "a port is a number from 1 to 65535";
	for (size_t i = 0; i < len; i++) {
		if (!is_digit(s[i]))
			return "a port is a number from 1 to 65535";
		v = v * 10 + (unsigned)(s[i] - '0');
	}
	if (v > 65535)
		return "a port is a number from 1 to 65535";
	*port = (uint16_t)v;
	return NULL;
}

static const char *parse_wildcard(const char *text, const char *end, struct host_entry *out)
{
	const char *why = host_canonicalise(text, (size_t)(end - text), &out->name);

	out->wildcard = true;
	if (why)
		return why;
	if (out->name.is_ip)
		return "'*.' before an address";
	if (!strchr(out->name.text, '.'))
		return "too wide; '*.' needs at least two parts after it";
	return NULL;
}

const char *host_parse_entry(const char *text, bool deny, struct host_entry *out)
{
	const char *end = host_end(text), *why = check_pasted(text);

	memset(out, 0, sizeof(*out));
	if (why)
		return why;
	if (*text != '[' && *end == ':' && strchr(end + 1, ':'))
		return "an IPv6 address stands in brackets, as in [::1]:443";
	if (*end == ':') {
		why = host_parse_port(end + 1, strlen(end + 1), &out->port);
		if (why)
			return why;
	} else if (*end) {
		return "text after ']'";
	}
	if (end - text == 1 && *text == '*') {
		out->any = true;
		return deny ? NULL : "'*' is too wide; only deny_domain takes it";
	}
	if (text[0] == '*' && text[1] == '.')
		return parse_wildcard(text + 2, end, out);
	if (memchr(text, '*', (size_t)(end - text)))
		return "'*' stands only at the front, as in *.example.org";
	return host_canonicalise(text, (size_t)(end - text), &out->name);
}

/* An address in its usual form only: a rule that grants one is not the place for 0177.1. */
static const char *parse_plain_addr(const char *text, size_t len, uint8_t addr[16])
{
	char buf[INET6_ADDRSTRLEN + 1];
	bool v6 = len > 2 && text[0] == '[' && text[len - 1] == ']';

	if (v6) {
		text++;
		len -= 2;
	}
	if (len == 0 || len >= sizeof(buf))
		return "not an IP address";
	memcpy(buf, text, len);
	buf[len] = '\0';
	if (v6)
		return inet_pton(AF_INET6, buf, addr) == 1 ? NULL : "not an IPv6 address";
	memcpy(addr, host_v4_prefix, sizeof(host_v4_prefix));
	return inet_pton(AF_INET, buf, addr + 12) == 1 ? NULL : "not an IP address (IPv6 stands in brackets)";
}

const char *host_parse_addr(const char *text, uint8_t addr[16], uint16_t *port)
{
	const char *end = host_end(text), *why = parse_plain_addr(text, (size_t)(end - text), addr);

	if (why || !*end)
		return why;
	if (*end != ':')
		return "text after ']'";
	return host_parse_port(end + 1, strlen(end + 1), port);
}

static const char *parse_ports(const char *s, struct host_net *out)
{
	const char *dash = strchr(s, '-'), *why;

	if (!dash) {
		why = host_parse_port(s, strlen(s), &out->port_lo);
		out->port_hi = out->port_lo;
		return why;
	}
	why = host_parse_port(s, (size_t)(dash - s), &out->port_lo);
	if (!why)
		why = host_parse_port(dash + 1, strlen(dash + 1), &out->port_hi);
	if (!why && out->port_lo > out->port_hi)
		why = "the first port is higher than the last";
	return why;
}

static const char *parse_prefix(const char **s, const uint8_t addr[16], bool v6, unsigned *prefix)
{
	const char *p = *s;
	unsigned v = 0, max = v6 ? 128 : 32;

	if (!is_digit(*p) || (*p == '0' && is_digit(p[1])))
		return "a number of bits belongs after '/'";
	for (; is_digit(*p); p++) {
		v = v * 10 + (unsigned)(*p - '0');
		if (v > max)
			return strchr(p, '.') ? "a number of bits belongs after '/', no mask"
					      : "more bits after '/' than the address has";
	}
	*s = p;
	*prefix = v6 ? v : v + 96;
	for (unsigned bit = *prefix; bit < 128; bit++)
		if (addr[bit / 8] & (0x80 >> bit % 8))
			return "the address has bits beyond the '/'";
	return NULL;
}

/* What people write in the place of an address, of which end is the end: worth texts of their own. */
static const char *check_not_addr(const char *text, const char *end)
{
	size_t n = (size_t)(end - text);
	struct host_name name;

	if (strchr(text, ','))
		return "one address or network belongs here; each has a line of its own";
	if (*text != '[' && *end == ':' && strchr(end + 1, ':'))
		return "an IPv6 address stands in brackets, as in [::1]:443 or [fd00::]/8";
	if (is_digit(*text) && memchr(text, '-', n))
		return "a range of addresses is written as a network, ADDRESS/BITS";
	if (host_canonicalise(text, n, &name))
		return NULL;
	return name.is_ip ? NULL : "a name belongs in allow_domain, here an IP address";
}

const char *host_parse_net(const char *text, struct host_net *out)
{
	bool v6 = *text == '[';
	const char *end = v6 ? host_end(text) : text + strcspn(text, ":/"), *why = check_not_addr(text, end);

	memset(out, 0, sizeof(*out));
	if (why)
		return why;
	if (v6 && memchr(text, '/', (size_t)(end - text)))
		return "the '/' belongs after the ']', as in [fd00::]/8";
	why = parse_plain_addr(text, (size_t)(end - text), out->addr);
	out->prefix = 128;
	if (!why && *end == '/') {
		end++;
		why = parse_prefix(&end, out->addr, v6, &out->prefix);
	}
	if (why || !*end)
		return why;
	if (*end == '.')
		return "a number of bits belongs after '/', no mask";
	return *end == ':' ? parse_ports(end + 1, out) : "text after the address";
}

const char *host_parse_resolve(const char *text, struct host_name *host, uint16_t *port, uint8_t addr[16],
			       uint16_t *to_port)
{
	const char *c1 = strchr(text, ':'), *c2 = c1 ? strchr(c1 + 1, ':') : NULL, *why;

	if (*text == '[')
		return "a name belongs first, not an address";
	if (!c2)
		return "not of the form HOST:PORT:ADDR[:PORT]";
	why = host_canonicalise(text, (size_t)(c1 - text), host);
	if (why)
		return why;
	if (host->is_ip)
		return "a name belongs first, not an address";
	why = host_parse_port(c1 + 1, (size_t)(c2 - c1 - 1), port);
	if (why)
		return why;
	*to_port = *port;
	return host_parse_addr(c2 + 1, addr, to_port);
}

bool host_is_localhost(const struct host_name *name)
{
	static const char suffix[] = ".localhost";
	size_t n = strlen(name->text), k = sizeof(suffix) - 1;

	return strcmp(name->text, suffix + 1) == 0 || (n > k && strcmp(name->text + n - k, suffix) == 0);
}

char *host_format_entry(const struct host_entry *e, char *buf)
{
	char addr[HOST_TEXT_SIZE], port[8] = "";
	const char *name = e->name.text;

	if (e->name.is_ip)
		name = host_format_addr(e->name.addr, true, addr);
	if (e->port)
		snprintf(port, sizeof(port), ":%u", e->port);
	snprintf(buf, HOST_TEXT_SIZE, "%s%s%s", e->any ? "*" : e->wildcard ? "*." : "", name, port);
	return buf;
}

char *host_format_net(const struct host_net *net, char *buf)
{
	unsigned prefix = net->prefix;
	size_t n;

	/* "::ffff:10.0.0.0/104" and "10.0.0.0/8" are one thing. */
	if (host_is_v4(net->addr) && prefix >= 96)
		prefix -= 96;
	host_format_addr(net->addr, true, buf);
	n = strlen(buf);
	if (net->prefix < 128)
		n += (size_t)snprintf(buf + n, HOST_TEXT_SIZE - n, "/%u", prefix);
	if (net->port_lo)
		n += (size_t)snprintf(buf + n, HOST_TEXT_SIZE - n, ":%u", net->port_lo);
	if (net->port_hi != net->port_lo)
		snprintf(buf + n, HOST_TEXT_SIZE - n, "-%u", net->port_hi);
	return buf;
}

bool host_entry_equal(const struct host_entry *a, const struct host_entry *b)
{
	return a->any == b->any && a->wildcard == b->wildcard && a->port == b->port &&
	       a->name.is_ip == b->name.is_ip && strcmp(a->name.text, b->name.text) == 0;
}

bool host_entry_matches(const struct host_entry *e, const struct host_name *name, uint16_t port)
{
	size_t own = strlen(e->name.text), len = strlen(name->text);

	if (e->port && e->port != port)
		return false;
	if (e->any)
		return true;
	if (!e->wildcard)
		return e->name.is_ip == name->is_ip && strcmp(e->name.text, name->text) == 0;
	return !name->is_ip && len > own + 1 && name->text[len - own - 1] == '.' &&
	       strcmp(name->text + len - own, e->name.text) == 0;
}

bool host_net_matches(const struct host_net *net, const uint8_t addr[16], uint16_t port)
{
	unsigned whole = net->prefix / 8, rest = net->prefix % 8;

	if (net->port_lo && (port < net->port_lo || port > net->port_hi))
		return false;
	if (host_is_v4(addr) && net->prefix < 96)
		return false;
	if (memcmp(net->addr, addr, whole) != 0)
		return false;
	return rest == 0 || ((net->addr[whole] ^ addr[whole]) & (0xff00 >> rest) & 0xff) == 0;
}
