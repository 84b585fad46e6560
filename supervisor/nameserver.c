#include "supervisor/nameserver.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "policy/dns.h"
#include "policy/inet.h"
#include "policy/resolvconf.h"
#include "supervisor/hostfile.h"
#include "supervisor/ifindex.h"

struct nameserver {
	pthread_mutex_t lock;
	struct hostfile *file;
	unsigned number; /* of the text that conf is; 0: none so far */
	struct resolvconf conf;
};

struct nameserver *nameserver_new(const char *file)
{
	struct nameserver *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	pthread_mutex_init(&n->lock, NULL);
	n->file = hostfile_new(NULL, file);
	if (n->file)
		return n;
	nameserver_free(n);
	return NULL;
}

void nameserver_free(struct nameserver *n)
{
	if (!n)
		return;
	hostfile_free(n->file);
	pthread_mutex_destroy(&n->lock);
	free(n);
}

static void read_again(struct nameserver *n)
{
	unsigned number = hostfile_look(n->file);
	char *text;
	size_t len;

	if (number == n->number)
		return;
	n->number = number;
	text = hostfile_text(n->file, &len);
	resolvconf_parse(text ? text : "", len, NULL, &n->conf);
	free(text);
}

socklen_t nameserver_first(struct nameserver *n, int family, struct sockaddr_storage *to)
{
	struct inet_addr a = {.port = DNS_PORT};
	socklen_t len = 0;

	pthread_mutex_lock(&n->lock);
	read_again(n);
	for (size_t i = 0; i < n->conf.n_servers && !len; i++) {
		memcpy(a.addr, n->conf.server[i].addr, sizeof(a.addr));
		a.scope = ifindex_of(n->conf.server[i].scope);
		len = inet_make(&a, family, to);
	}
	pthread_mutex_unlock(&n->lock);
	if (len)
		return len;
	memcpy(a.addr, inet_loopback4, sizeof(a.addr));
	a.scope = 0;
	return inet_make(&a, family, to);
}
