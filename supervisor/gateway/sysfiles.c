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

static void set_resolv(struct sysfiles *f, char *text, size_t len)
{
	resolvconf_parse(text ? text : "", len, f->machine.nodename, &f->conf);
	free(text);
}

static void set_hosts(struct sysfiles *f, char *text, size_t len)
{
	hosts_free(f->hosts);
	f->hosts = text ? hosts_parse(text, len) : NULL;
	free(text);
}

struct sysfiles *sysfiles_new(struct gateway *g)
{
	struct sysfiles *f = calloc(1, sizeof(*f));
	char *text;
	size_t len;

	if (!f)
		return NULL;
	f->g = g;
	uname(&f->machine);
	text = hostfile_text(g->resolv, &len);
	set_resolv(f, text, len);
	text = hostfile_text(g->hosts, &len);
	set_hosts(f, text, len);
	return f;
}

static char *text_of(int fd, size_t *len)
{
	*len = 0;
	return fd < 0 ? NULL : hostfile_read_fd(fd, len);
}

void sysfiles_resolv(struct sysfiles *f, int fd)
{
	size_t len;
	char *text = text_of(fd, &len);

	set_resolv(f, text, len);
	upstream_configure(f->g->upstream, &f->conf);
}

void sysfiles_hosts(struct sysfiles *f, int fd)
{
	size_t len;
	char *text = text_of(fd, &len);

	set_hosts(f, text, len);
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
