#include "supervisor/proxyenv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* This machine and the networks at hand, which need no proxy. */
#define NEAR "localhost,127.0.0.1,::1,169.254.0.0/16,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16"

/* A variable in lower case, which goes first, or in upper case. Empty ones are as if they were not there. */
static const char *get(const char *lower, const char *upper, const char **name)
{
	const char *value = getenv(lower);

	*name = lower;
	if (!value || !*value) {
		value = getenv(upper);
		*name = upper;
	}
	return value && *value ? value : NULL;
}

struct inherited {
	const char *plain, *tunnel;	      /* values, or NULL */
	const char *plain_name, *tunnel_name; /* of the variables */
};

static struct inherited get_inherited(void)
{
	struct inherited in;
	const char *all_name, *all = get("all_proxy", "ALL_PROXY", &all_name);

	in.plain = get("http_proxy", "HTTP_PROXY", &in.plain_name);
	in.tunnel = get("https_proxy", "HTTPS_PROXY", &in.tunnel_name);
	if (all && !in.plain) {
		in.plain = all;
		in.plain_name = all_name;
	}
	if (all && !in.tunnel) {
		in.tunnel = all;
		in.tunnel_name = all_name;
	}
	return in;
}

/* False: it cannot be used, which was said. The value is not shown, as it may hold a password. */
static bool use(struct parent *out, const char *name, const char *value, bool quiet)
{
	const char *why = value ? parent_parse(value, out) : NULL;

	if (!why)
		return true;
	out->port = 0;
	if (!quiet)
		fprintf(stderr, "cordon: %s: %s\n", name, why);
	return false;
}

static bool use_inherited(struct proxyenv *p, const struct inherited *in, bool quiet)
{
	bool same = in->plain == in->tunnel;
	bool ok = use(&p->plain, in->plain_name, in->plain, quiet);

	return use(&p->tunnel, in->tunnel_name, in->tunnel, quiet || same) && ok;
}

static void say(const struct proxyenv *p, const struct config *c, const char *name, bool quiet)
{
	if (quiet || !name)
		return;
	if (!p->on)
		fprintf(stderr,
			"cordon: %s is set, and there is no proxy of the session: programs will want to "
			"reach that "
			"one, which only the policy can let them (proxy_env)\n",
			name);
	else if (!c->parent_proxy)
		fprintf(stderr,
			"cordon: %s is set: programs get a proxy of the session, which goes on through that "
			"one "
			"(proxy_env)\n",
			name);
}

bool proxyenv_init(struct proxyenv *p, const struct config *c, bool quiet)
{
	const struct inherited in = get_inherited();
	const char *name = in.tunnel ? in.tunnel_name : in.plain ? in.plain_name : NULL;
	const char *unused;
	bool usable = true;

	memset(p, 0, sizeof(*p));
	p->no_proxy = get("no_proxy", "NO_PROXY", &unused);
	if (!p->no_proxy)
		p->no_proxy = "";
	if (c->parent_proxy) {
		parent_parse(c->parent_proxy, &p->tunnel);
		p->plain = p->tunnel;
	} else if (c->proxy_env != PROXY_ENV_NO) {
		usable = use_inherited(p, &in, quiet);
	}
	/* Who asked for the proxy is not given one that goes elsewhere. */
	if (!usable && c->proxy_env == PROXY_ENV_YES)
		return false;
	p->on = c->proxy_env == PROXY_ENV_YES ||
		(c->proxy_env == PROXY_ENV_AUTO && (p->plain.port || p->tunnel.port));
	if (c->parent_proxy && !p->on && !quiet)
		fprintf(stderr, "cordon: parent_proxy is of no use with proxy_env = no\n");
	say(p, c, name, quiet);
	return true;
}

struct setter {
	bool (*set)(void *arg, const char *name, const char *value);
	void *arg;
};

static bool set_all(const struct setter *s, const char *const names[], const char *value)
{
	for (size_t i = 0; names[i]; i++)
		if (!s->set(s->arg, names[i], value))
			return false;
	return true;
}

/* One more setting of git's that come by variables. */
static bool set_git(const struct setter *s)
{
	const char *had = getenv("GIT_CONFIG_COUNT");
	unsigned long n = had ? strtoul(had, NULL, 10) : 0;
	char count[32], key[64], value[64];

	if (n > 10000)
		return true;
	snprintf(count, sizeof(count), "%lu", n + 1);
	snprintf(key, sizeof(key), "GIT_CONFIG_KEY_%lu", n);
	snprintf(value, sizeof(value), "GIT_CONFIG_VALUE_%lu", n);
	return s->set(s->arg, "GIT_CONFIG_COUNT", count) && s->set(s->arg, key, "http.proxyAuthMethod") &&
	       s->set(s->arg, value, "basic");
}

bool proxyenv_each(uint16_t port, const char *token,
		   bool (*set)(void *arg, const char *name, const char *value), void *arg)
{
	static const char *const http[] = {"HTTP_PROXY",	 "http_proxy", "HTTPS_PROXY",
					   "https_proxy",	 "ALL_PROXY",  "all_proxy",
					   "GRPC_PROXY",	 "grpc_proxy", "DOCKER_HTTP_PROXY",
					   "DOCKER_HTTPS_PROXY", NULL};
	static const char *const ftp[] = {"FTP_PROXY", "ftp_proxy", NULL};
	static const char *const rsync[] = {"RSYNC_PROXY", NULL};
	static const char *const direct[] = {"NO_PROXY", "no_proxy", NULL};
	const struct setter s = {set, arg};
	char at[256], url[320], number[8];

	snprintf(number, sizeof(number), "%u", port);
	snprintf(at, sizeof(at), "cordon:%s@127.0.0.1:%u", token, port);
	snprintf(url, sizeof(url), "http://%s", at);
	if (!set_all(&s, http, url) || !set_all(&s, rsync, at) || !set_all(&s, direct, NEAR))
		return false;
	snprintf(url, sizeof(url), "socks5h://%s", at);
	return set_all(&s, ftp, url) && set(arg, "CLOUDSDK_PROXY_TYPE", "http") &&
	       set(arg, "CLOUDSDK_PROXY_ADDRESS", "127.0.0.1") && set(arg, "CLOUDSDK_PROXY_PORT", number) &&
	       set(arg, "CLOUDSDK_PROXY_USERNAME", "cordon") && set(arg, "CLOUDSDK_PROXY_PASSWORD", token) &&
	       set(arg, "NODE_USE_ENV_PROXY", "1") && set_git(&s);
}
