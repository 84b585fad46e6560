#include "supervisor/names.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "policy/hosts.h"
#include "supervisor/clock.h"
#include "supervisor/hostfile.h"
#include "supervisor/siphash.h"

#define BUCKETS 4096
/* So often the file may have changed. */
#define LOOK_AGAIN_MS 1000

/* In two lists: that of its bucket, the latest bound first, and that of all, the latest used first. */
struct pair {
	struct pair *next, **link;
	struct pair *newer, *older;
	uint8_t addr[16];
	bool refused;
	char name[];
};

struct names {
	pthread_mutex_t lock;
	struct siphash_key key;
	struct pair *bucket[BUCKETS];
	struct pair *newest, *oldest;
	size_t n;
	struct hostfile *file;
	unsigned number;     /* of the file's text that hosts is; 0: none so far */
	struct hosts *hosts; /* NULL: there is none */
	uint64_t looked_at;  /* when the file was last looked at; 0: never */
};

struct names *names_new(struct hostfile *hosts)
{
	struct names *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	pthread_mutex_init(&t->lock, NULL);
	siphash_key_make(&t->key);
	t->file = hosts;
	return t;
}

static struct pair **bucket_of(struct names *t, const uint8_t addr[16])
{
	return &t->bucket[siphash(&t->key, addr, 16) % BUCKETS];
}

static void put_first(struct pair **bucket, struct pair *p)
{
	p->next = *bucket;
	p->link = bucket;
	if (p->next)
		p->next->link = &p->next;
	*bucket = p;
}

static void take_out(struct pair *p)
{
	*p->link = p->next;
	if (p->next)
		p->next->link = p->link;
}

static void make_newest(struct names *t, struct pair *p)
{
	p->newer = NULL;
	p->older = t->newest;
	*(t->newest ? &t->newest->newer : &t->oldest) = p;
	t->newest = p;
}

static void forget_age(struct names *t, struct pair *p)
{
	*(p->newer ? &p->newer->older : &t->newest) = p->older;
	*(p->older ? &p->older->newer : &t->oldest) = p->newer;
}

static struct pair *find(struct pair *p, const uint8_t addr[16], const char *name)
{
	while (p && (memcmp(p->addr, addr, sizeof(p->addr)) != 0 || strcmp(p->name, name) != 0))
		p = p->next;
	return p;
}

static void drop(struct names *t, struct pair *p)
{
	take_out(p);
	forget_age(t, p);
	t->n--;
	free(p);
}

static struct pair *make(const uint8_t addr[16], const char *name)
{
	size_t n = strlen(name) + 1;
	struct pair *p = malloc(sizeof(*p) + n);

	if (!p)
		return NULL;
	memcpy(p->addr, addr, sizeof(p->addr));
	memcpy(p->name, name, n);
	return p;
}

bool names_bind(struct names *t, const struct host_name *name, const uint8_t addr[16], bool refused)
{
	struct pair **bucket, *p;

	pthread_mutex_lock(&t->lock);
	bucket = bucket_of(t, addr);
	p = find(*bucket, addr, name->text);
	if (p) {
		take_out(p);
		forget_age(t, p);
	} else if ((p = make(addr, name->text))) {
		if (t->n == NAMES_MAX)
			drop(t, t->oldest);
		t->n++;
	}
	if (p) {
		p->refused = refused;
		put_first(bucket, p);
		make_newest(t, p);
	}
	pthread_mutex_unlock(&t->lock);
	return p != NULL;
}

struct each {
	bool (*fn)(const struct host_name *name, bool refused, void *arg);
	void *arg;
};

static bool each_host(const struct host_name *name, void *arg)
{
	const struct each *e = arg;

	return e->fn(name, false, e->arg);
}

/* Whether it is another than before. */
static bool read_hosts(struct names *t)
{
	unsigned number = hostfile_look(t->file);
	char *text;
	size_t len;

	t->looked_at = clock_ms();
	if (number == t->number)
		return false;
	t->number = number;
	hosts_free(t->hosts);
	text = hostfile_text(t->file, &len);
	t->hosts = text ? hosts_parse(text, len) : NULL;
	free(text);
	return true;
}

bool names_look_again(struct names *t)
{
	bool changed;

	pthread_mutex_lock(&t->lock);
	changed = read_hosts(t);
	pthread_mutex_unlock(&t->lock);
	return changed;
}

bool names_each(struct names *t, const uint8_t addr[16],
		bool (*fn)(const struct host_name *name, bool refused, void *arg), void *arg)
{
	struct each e = {fn, arg};
	bool found = false;

	pthread_mutex_lock(&t->lock);
	for (struct pair *p = *bucket_of(t, addr); p && !found; p = p->next) {
		struct host_name name = {.is_ip = false};

		if (memcmp(p->addr, addr, sizeof(p->addr)) != 0)
			continue;
		memcpy(name.text, p->name, strlen(p->name) + 1);
		found = fn(&name, p->refused, arg);
		if (found) {
			forget_age(t, p);
			make_newest(t, p);
		}
	}
	if (!found) {
		if (!t->looked_at || clock_ms() >= t->looked_at + LOOK_AGAIN_MS)
			read_hosts(t);
		found = hosts_each_name(t->hosts, addr, each_host, &e);
	}
	pthread_mutex_unlock(&t->lock);
	return found;
}

void names_free(struct names *t)
{
	if (!t)
		return;
	while (t->oldest)
		drop(t, t->oldest);
	hosts_free(t->hosts);
	pthread_mutex_destroy(&t->lock);
	free(t);
}
