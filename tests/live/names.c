/*
 * Names, as libc resolves them, and what a program asks about addresses. Usage: names NAME... prints a line for each name;
 * "names local" the address that the machine would send from, "names interfaces" all that getifaddrs() tells.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char *text_of(const struct sockaddr *a)
{
	static char buf[INET6_ADDRSTRLEN];

	if (!a || (a->sa_family != AF_INET && a->sa_family != AF_INET6))
		return "none";
	inet_ntop(a->sa_family,
		  a->sa_family == AF_INET ? (const void *)&((const struct sockaddr_in *)a)->sin_addr
					  : (const void *)&((const struct sockaddr_in6 *)a)->sin6_addr,
		  buf, sizeof(buf));
	return buf;
}

static void resolve(const char *name)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *all = NULL;
	int rc = getaddrinfo(name, "80", &hints, &all);

	printf("%s", name);
	if (rc)
		printf(" error %d", rc);
	for (struct addrinfo *a = all; a; a = a->ai_next)
		printf(" %s", text_of(a->ai_addr));
	printf("\n");
	if (all)
		freeaddrinfo(all);
}

/* The idiom: a datagram socket is connected, nothing is sent. */
static void local(const char *to, int port)
{
	struct sockaddr_storage a = {0};
	struct sockaddr_in *in = (struct sockaddr_in *)&a;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&a;
	int family = strchr(to, ':') ? AF_INET6 : AF_INET, fd = socket(family, SOCK_DGRAM, 0), rc;
	socklen_t len = family == AF_INET ? sizeof(*in) : sizeof(*in6);

	a.ss_family = (sa_family_t)family;
	in->sin_port = htons((uint16_t)port);
	inet_pton(family, to, family == AF_INET ? (void *)&in->sin_addr : (void *)&in6->sin6_addr);
	rc = fd < 0 ? -1 : connect(fd, (struct sockaddr *)&a, len);
	printf("%s %d: %s", to, port, rc < 0 ? strerror(errno) : "connected");
	len = sizeof(a);
	if (rc == 0 && getsockname(fd, (struct sockaddr *)&a, &len) == 0)
		printf(", from %s, port %s, length %u", text_of((struct sockaddr *)&a),
		       in->sin_port ? "some" : "0", len);
	len = sizeof(a);
	if (rc == 0 && getpeername(fd, (struct sockaddr *)&a, &len) == 0)
		printf(", to %s, port %d, length %u", text_of((struct sockaddr *)&a), ntohs(in->sin_port),
		       len);
	printf("\n");
	close(fd);
}

static int interfaces(void)
{
	struct ifaddrs *all, *i;

	if (getifaddrs(&all) < 0)
		return 1;
	for (i = all; i; i = i->ifa_next) {
		printf("%s %#x %s", i->ifa_name, i->ifa_flags, text_of(i->ifa_addr));
		printf(" %s\n", text_of(i->ifa_netmask));
	}
	freeifaddrs(all);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "interfaces") == 0)
		return interfaces();
	if (argc > 1 && strcmp(argv[1], "local") == 0) {
		local("8.8.8.8", 80);
		local("2001:4860:4860::8888", 80);
		local("127.0.0.1", 9);
		local("::1", 9);
		return 0;
	}
	for (int i = 1; i < argc; i++)
		resolve(argv[i]);
	return 0;
}
