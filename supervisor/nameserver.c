#include "supervisor/nameserver.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/dns.h"
#include "supervisor/lockdown.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(openat), OWN(fstat), OWN(read), OWN(close), OWN_IF(fcntl, ARG_IS(1, F_GETFL)));

/* An interface by its number: names would have to be asked for. */
static bool parse_v6(char *text, struct sockaddr_in6 *to)
{
	char *scope = strchr(text, '%');

	*to = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(DNS_PORT)};
	if (scope) {
		*scope++ = '\0';
		to->sin6_scope_id = (uint32_t)strtoul(scope, NULL, 10);
	}
	return inet_pton(AF_INET6, text, &to->sin6_addr) == 1;
}

static bool parse_v4(const char *text, int family, struct sockaddr_storage *to)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(DNS_PORT)};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(DNS_PORT)};

	if (inet_pton(AF_INET, text, &in.sin_addr) != 1)
		return false;
	memset(in6.sin6_addr.s6_addr + 10, 0xff, 2);
	memcpy(in6.sin6_addr.s6_addr + 12, &in.sin_addr, 4);
	memset(to, 0, sizeof(*to));
	if (family == AF_INET)
		memcpy(to, &in, sizeof(in));
	else
		memcpy(to, &in6, sizeof(in6));
	return true;
}

bool nameserver_parse(char *line, int family, struct sockaddr_storage *to)
{
	static const char word[] = "nameserver";
	char *text = line + sizeof(word) - 1;

	if (strncmp(line, word, sizeof(word) - 1) != 0 || !isspace((unsigned char)*text))
		return false;
	text += strspn(text, " \t");
	text[strcspn(text, " \t\n")] = '\0';
	return parse_v4(text, family, to) ||
	       (family == AF_INET6 && parse_v6(text, (struct sockaddr_in6 *)to));
}

socklen_t nameserver_first(int family, struct sockaddr_storage *to)
{
	int fd = open("/etc/resolv.conf", O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a FIFO would wait */
	FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;
	bool found = false;
	char line[256];

	while (f && !found && fgets(line, sizeof(line), f))
		found = nameserver_parse(line, family, to);
	if (f)
		fclose(f);
	else if (fd >= 0)
		close(fd);
	if (!found)
		parse_v4("127.0.0.1", family, to);
	return family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
}
