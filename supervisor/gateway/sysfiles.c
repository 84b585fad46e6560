#include "supervisor/gateway/sysfiles.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "policy/hosts.h"
#include "supervisor/clock.h"
#include "supervisor/gateway/control.h"
#include "supervisor/gateway/upstream.h"
#include "supervisor/hostfile.h"

#define FRESH_MS 1000

struct sysfiles {
	struct gateway *g;
	struct resolvconf conf;
	struct hosts *hosts;
	struct utsname machine; /* its name */
	uint64_t at;		/* when the supervisor looked; 0: not yet */
	bool asking;
	struct fresh *waiting;
};

struct sysfiles *sysfiles_new(struct gateway *g)
{
	struct sysfiles *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->g = g;
	uname(&f->machine);
	resolvconf_parse("", 0, f->machine.nodename, &f->conf);
	return f;
}

static char *bytes_of(int fd, size_t *len)
{
	*len = 0;
	return fd < 0 ? NULL : hostfile_read_fd(fd, len);
}

void sysfiles_resolv(struct sysfiles *f, int fd)
{
	size_t len;
	char *bytes = bytes_of(fd, &len);

	resolvconf_parse(bytes ? bytes : "", len, f->machine.nodename, &f->conf);
	free(bytes);
	upstream_configure(f->g->upstream, &f->conf);
}

void sysfiles_hosts(struct sysfiles *f, int fd)
{
	size_t len;
	char *bytes = bytes_of(fd, &len);

	hosts_free(f->hosts);
	f->hosts = bytes ? hosts_parse(bytes, len) : NULL;
	free(bytes);
}

static void on_looked(void *arg)
{
	struct sysfiles *f = arg;
	struct fresh *w;

	f->asking = false;
	f->at = clock_ms();
	while ((w = f->waiting)) {
		sysfiles_forget(w);
		w->ready(w);
	}
}

void sysfiles_wait(struct sysfiles *f, struct fresh *w)
{
	struct report r = {.kind = REPORT_CHECK};

	if (f->at && clock_ms() - f->at < FRESH_MS) {
		w->link = NULL;
		w->ready(w);
		return;
	}
	w->next = f->waiting;
	w->link = &f->waiting;
	if (w->next)
		w->next->link = &w->next;
	f->waiting = w;
	/* Out of memory: with what is known. */
	if (!f->asking && !(f->asking = control_ask(f->g->control, &r, on_looked, f)))
		on_looked(f);
}

void sysfiles_forget(struct fresh *w)
{
	if (!w->link)
		return;
	*w->link = w->next;
	if (w->next)
		w->next->link = w->link;
	w->link = NULL;
}

const struct resolvconf *sysfiles_conf(const struct sysfiles *f)
{
	return &f->conf;
}

struct found {
	uint8_t (*addr)[16];
	size_t n, max;
};

static bool note(const uint8_t addr[16], void *arg)
{
	struct found *f = arg;

	memcpy(f->addr[f->n++], addr, sizeof(f->addr[0]));
	return f->n == f->max;
}

size_t sysfiles_addrs(const struct sysfiles *f, const struct host_name *name, uint8_t (*addr)[16], size_t max)
{
	struct found found = {addr, 0, max};

	hosts_each_addr(f->hosts, name, note, &found);
	return found.n;
}
