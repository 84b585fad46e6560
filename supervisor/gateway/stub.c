#include "supervisor/gateway/stub.h"

#include <stdlib.h>
#include <unistd.h>

#include "supervisor/lockdown.h"

OWN_CALLS(OWN_GATEWAY, OWN(close));

struct stub {
	struct gateway *g;
};

struct stub *stub_new(struct gateway *g)
{
	struct stub *s = calloc(1, sizeof(*s));

	if (s)
		s->g = g;
	return s;
}

void stub_channel(struct stub *s, int fd)
{
	(void)s;
	close(fd);
}

void stub_expect(struct stub *s, uint16_t port)
{
	(void)s;
	(void)port;
}
