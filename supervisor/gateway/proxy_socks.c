/* SOCKS 5 for programs: greeting, login by user and password, one CONNECT. Nobody gets further without the token. */
#include <string.h>
#include <sys/socket.h>

#include "supervisor/gateway/client.h"
#include "supervisor/lockdown.h"

OWN_CALLS(OWN_GATEWAY, OWN(sendto));

void socks_client_refuse(struct client *c, const struct refusal *r)
{
	uint8_t reply[SOCKS_REPLY_LEN];

	socks_make_reply(r->reply, reply);
	client_leave(c, (const char *)reply, sizeof(reply));
}

/* Answers a step with two bytes. False: the client is closed. */
static bool say(struct client *c, uint8_t version, uint8_t word, bool goes_on)
{
	const char bytes[2] = {(char)version, (char)word};

	if (!goes_on) {
		client_leave(c, bytes, sizeof(bytes));
		return false;
	}
	if (send(c->watch.fd, bytes, sizeof(bytes), MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(bytes))
		return true;
	client_close(c);
	return false;
}

/* Reads one message of the step that the client is at. Its length; 0: more is wanted; -1: the client is closed. */
static int read_step(struct client *c)
{
	const uint8_t *bytes = (const uint8_t *)c->in;
	struct socks_request request;
	struct socks_login login;
	bool password;
	int n;

	switch (c->socks) {
	case SOCKS_GREETING:
		n = socks_parse_greeting(bytes, c->n_in, &password);
		if (n > 0 && !say(c, SOCKS_VERSION, password ? SOCKS_METHOD_PASSWORD : SOCKS_METHOD_NONE_GOOD,
				  password))
			return -1;
		break;
	case SOCKS_LOGIN:
		n = socks_parse_login(bytes, c->n_in, &login);
		if (n > 0) {
			bool known = client_knows_token(c, (const char *)login.password, login.len);

			if (!say(c, SOCKS_LOGIN_VERSION, !known, known))
				return -1;
		}
		break;
	case SOCKS_REQUEST:
		n = socks_parse_request(bytes, c->n_in, &request);
		if (n > 0 && request.reply != SOCKS_DONE) {
			socks_client_refuse(c, &(struct refusal){.reply = request.reply});
			return -1;
		}
		if (n > 0) {
			c->host = request.host;
			c->port = request.port;
		}
		break;
	case SOCKS_NOT:
	default:
		n = -1;
	}
	if (n < 0)
		client_close(c);
	return n;
}

void socks_client_read(struct client *c)
{
	int n;

	if (!c->socks)
		c->socks = SOCKS_GREETING;
	while ((n = read_step(c)) > 0) {
		if (c->socks == SOCKS_REQUEST) {
			c->head = (size_t)n;
			c->tunnel = true;
			client_reach(c);
			return;
		}
		c->n_in -= (size_t)n;
		memmove(c->in, c->in + n, c->n_in);
		c->socks++;
	}
}
