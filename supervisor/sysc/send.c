/*
 * sendto, sendmsg and sendmmsg. Free, as no socket inside can name its destination. But what a program sends from a stand-in
 * for a datagram socket (standin.h) to another than a name server goes nowhere, and it is to know: so they are asked about
 * in the window of numbers where stand-ins are, and where the address that is looked at says so, refused. What is not refused
 * the kernel sends, and whatever has changed by then, it reaches the stub or nobody.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "policy/dns.h"
#include "policy/inet.h"
#include "supervisor/refusal.h"
#include "supervisor/standin.h"
#include "supervisor/tracee.h"

/* Where a message would go: to its own address, else to that of its socket. False: nowhere, as the kernel will say. */
static bool find_target(struct call *c, const struct standin *st, uint64_t name, uint32_t len,
			struct inet_addr *to)
{
	struct sockaddr_storage a = st->peer.a;

	if (!name)
		len = st->peer.len;
	else if (len > sizeof(a) || tracee_read(c, name, &a, len) < 0)
		return false;
	return inet_parse(&a, len, st->family, to) == 0;
}

static void refuse(struct call *c, const struct inet_addr *to)
{
	standin_say_refused(to, c->message, sizeof(c->message));
	host_format_addr(to->addr, false, c->ip);
	c->event.ip = (struct bytes){c->ip, strlen(c->ip)};
	c->event.port = to->port;
	call_error(c, refusal_firm(c, "send", STANDIN_RULE, EPERM, c->message));
}

/* name: the address of the message in the caller's memory, or 0. */
static void judge_message(struct call *c, const struct standin *st, uint64_t name, uint32_t len)
{
	struct inet_addr to;

	if (find_target(c, st, name, len, &to) && to.port != DNS_PORT)
		refuse(c, &to);
	else
		call_continue(c);
}

static bool is_standin(struct call *c, struct standin *st)
{
	if (standin_look(c->s, tracee_socket_inode(c, call_int(c, 0)), st))
		return true;
	call_continue(c);
	return false;
}

static void handle_sendto(struct call *c)
{
	struct standin st;

	if (is_standin(c, &st))
		judge_message(c, &st, c->arg[4], (uint32_t)c->arg[5]);
}

/* Of several messages the first is looked at: they are most often for one. */
static void handle_sendmsg(struct call *c)
{
	struct standin st;
	struct msghdr m;

	if (!is_standin(c, &st))
		return;
	if (tracee_read(c, c->arg[1], &m, sizeof(m)) < 0)
		call_continue(c);
	else
		judge_message(c, &st, (uint64_t)(uintptr_t)m.msg_name, m.msg_namelen);
}

#define ROW(call, flags, handler)                                                                            \
	const struct sysc sysc_##call = {                                                                    \
		.name = #call,                                                                               \
		.op = "send",                                                                                \
		.action = SYSC_ALLOW,                                                                        \
		SYSC_WHEN(SYSC_IF_ERRNO(EOPNOTSUPP, ARG_ANY(flags, MSG_FASTOPEN)),                           \
			  SYSC_IF(SYSC_NOTIFY, STANDIN_IN_WINDOW(0))),                                       \
		.handle = handler,                                                                           \
		.doc = "Free, since no socket inside can name its destination; MSG_FASTOPEN, which "         \
		       "connects, is refused, and so are datagrams to others than name servers, which "      \
		       "would be lost.",                                                                     \
	}

ROW(sendto, 3, handle_sendto);
ROW(sendmsg, 2, handle_sendmsg);
ROW(sendmmsg, 3, handle_sendmsg);
