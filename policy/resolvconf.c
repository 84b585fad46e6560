#include "policy/resolvconf.h"

#include <string.h>

#include "policy/inet.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* The next word of a line; 0: none. */
static size_t word(const char **p, const char *end)
{
	size_t n = 0;

	while (*p < end && is_blank(**p))
		(*p)++;
	while (*p + n < end && !is_blank((*p)[n]))
		n++;
	return n;
}

static bool is_word(const char *p, size_t n, const char *text)
{
	return n == strlen(text) && memcmp(p, text, n) == 0;
}

static void add_server(struct resolvconf *c, const char *p, size_t n)
{
	struct host_name addr;

	if (c->n_servers < RESOLVCONF_SERVERS_MAX && !host_canonicalise(p, n, &addr) && addr.is_ip)
		memcpy(c->server[c->n_servers++], addr.addr, sizeof(addr.addr));
}

static void add_suffix(struct resolvconf *c, const char *p, size_t n)
{
	struct host_name name;

	if (n > 1 && *p == '.') {
		p++;
		n--;
	}
	if (c->n_search < RESOLVCONF_SEARCH_MAX && !host_canonicalise(p, n, &name) && !name.is_ip &&
	    name.text[0])
		c->search[c->n_search++] = name;
}

/* The last line with "domain" or "search" counts. */
static void read_line(struct resolvconf *c, const char *p, const char *end)
{
	size_t n = word(&p, end);
	const char *key = p;
	bool domain = is_word(key, n, "domain");

	p += n;
	if (is_word(key, n, "nameserver")) {
		n = word(&p, end);
		add_server(c, p, n);
	} else if (domain || is_word(key, n, "search")) {
		c->n_search = 0;
		while ((n = word(&p, end))) {
			add_suffix(c, p, n);
			p += n;
			if (domain)
				break;
		}
	}
}

void resolvconf_parse(const char *bytes, size_t len, const char *host, struct resolvconf *out)
{
	const char *p = bytes, *end = bytes + len;
	const char *dot = host ? strchr(host, '.') : NULL;

	memset(out, 0, sizeof(*out));
	if (dot)
		add_suffix(out, dot + 1, strlen(dot + 1));
	while (p < end) {
		const char *eol = memchr(p, '\n', (size_t)(end - p));

		if (!eol)
			eol = end;
		read_line(out, p, eol);
		p = eol + 1;
	}
	if (!out->n_servers)
		memcpy(out->server[out->n_servers++], inet_loopback4, sizeof(inet_loopback4));
}

bool resolvconf_is_search(const struct resolvconf *c, const struct host_name *name, bool *whole)
{
	size_t n = strlen(name->text), longest = 0;

	for (size_t i = 0; i < c->n_search; i++) {
		size_t m = strlen(c->search[i].text);

		if (m + 1 < n && m > longest && name->text[n - m - 1] == '.' &&
		    strcmp(name->text + n - m, c->search[i].text) == 0)
			longest = m;
	}
	*whole = longest && memchr(name->text, '.', n - longest - 1);
	return longest != 0;
}
