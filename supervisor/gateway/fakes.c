#include "supervisor/gateway/fakes.h"

#include <stdlib.h>
#include <string.h>

#include "supervisor/siphash.h"

#define BUCKETS 4096
#define NONE	UINT32_MAX

struct fake {
	char *name;
	uint32_t next; /* in its bucket */
};

struct fakes {
	struct siphash_key key;
	uint32_t bucket[BUCKETS];
	struct fake fake[FAKES_MAX];
	uint32_t oldest; /* the next to be given away */
};

struct fakes *fakes_new(void)
{
	struct fakes *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	siphash_key_make(&f->key);
	memset(f->bucket, 0xff, sizeof(f->bucket));
	return f;
}

static uint32_t *bucket_of(struct fakes *f, const char *name)
{
	return &f->bucket[siphash(&f->key, name, strlen(name)) % BUCKETS];
}

static void take_out(struct fakes *f, uint32_t i)
{
	uint32_t *p = bucket_of(f, f->fake[i].name);

	while (*p != i)
		p = &f->fake[*p].next;
	*p = f->fake[i].next;
	free(f->fake[i].name);
	f->fake[i].name = NULL;
}

static uint32_t make(struct fakes *f, const char *name)
{
	uint32_t i = f->oldest, *bucket = bucket_of(f, name);
	char *copy = strdup(name);

	if (!copy)
		return NONE;
	if (f->fake[i].name)
		take_out(f, i);
	f->fake[i] = (struct fake){copy, *bucket};
	*bucket = i;
	f->oldest = (i + 1) % FAKES_MAX;
	return i;
}

bool fakes_addr(struct fakes *f, const struct host_name *name, uint8_t addr[16])
{
	uint32_t i = *bucket_of(f, name->text), v4;

	while (i != NONE && strcmp(f->fake[i].name, name->text) != 0)
		i = f->fake[i].next;
	if (i == NONE)
		i = make(f, name->text);
	if (i == NONE)
		return false;
	v4 = 0xf0000001 + i;
	memset(addr, 0, 16);
	addr[10] = addr[11] = 0xff;
	for (int b = 0; b < 4; b++)
		addr[12 + b] = (uint8_t)(v4 >> (24 - 8 * b));
	return true;
}

void fakes_free(struct fakes *f)
{
	for (uint32_t i = 0; f && i < FAKES_MAX; i++)
		free(f->fake[i].name);
	free(f);
}
