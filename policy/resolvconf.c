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

/* An address of IPv6 may have its interface behind it. */
static void add_server(struct resolvconf *c, const char *p, size_t n)
{
	const char *percent = memchr(p, '%', n);
	size_t len = percent ? (size_t)(percent - p) : n, scope = percent ? n - len - 1 : 0;
	struct resolvconf_server *to;
	struct host_name addr;

	if (c->n_servers == RESOLVCONF_SERVERS_MAX || host_canonicalise(p, len, &addr) || !addr.is_ip ||
	    (percent && (host_is_v4(addr.addr) || scope == 0 || scope >= sizeof(to->scope) ||
			 memchr(percent + 1, '\0', scope))))
		return;
	to = &c->server[c->n_servers++];
	memcpy(to->addr, addr.addr, sizeof(addr.addr));
	if (percent)
		memcpy(to->scope, percent + 1, scope);
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

/* What stands behind the colon, as libc's atoi() but for what is no number: 0. */
static unsigned number(const char *p, size_t n, unsigned max)
{
	unsigned value = 0;

	for (size_t i = 0; i < n && p[i] >= '0' && p[i] <= '9'; i++) {
		value = 10 * value + (unsigned)(p[i] - '0');
		if (value >= max)
			return max;
	}
	return value;
}

static bool is_option(const char *p, size_t n, const char *key)
{
	return n > strlen(key) && memcmp(p, key, strlen(key)) == 0;
}

static void add_option(struct resolvconf *c, const char *p, size_t n)
{
	if (is_option(p, n, "timeout:"))
		c->timeout = number(p + 8, n - 8, RESOLVCONF_TIMEOUT_MAX);
	else if (is_option(p, n, "attempts:"))
		c->attempts = number(p + 9, n - 9, RESOLVCONF_ATTEMPTS_MAX);
	else if (is_word(p, n, "rotate"))
		c->rotate = true;
	else if (is_word(p, n, "use-vc"))
		c->use_vc = true;
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
	} else if (is_word(key, n, "options")) {
		for (; (n = word(&p, end)); p += n)
			add_option(c, p, n);
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
		memcpy(out->server[out->n_servers++].addr, inet_loopback4, sizeof(inet_loopback4));
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
