#include "supervisor/refusal.h"

#include <string.h>

#include "policy/policy.h"

void refusal_begin(struct call *c, const char *op, const char *name, size_t len)
{
	c->event.syscall = c->sysc->name;
	c->event.op = op;
	if (!c->event.path.bytes) {
		c->event.path.bytes = name;
		c->event.path.len = len;
	}
}

static int mark(struct call *c, int err)
{
	c->event.denied = true;
	c->event.err = err;
	c->recorded = true;
	c->passed = false;
	return err;
}

int refusal_made(struct call *c, int err)
{
	mark(c, err);
	c->passed = c->s->log_only;
	return c->passed ? 0 : err;
}

void refusal_word(struct call *c)
{
	char text[sizeof(c->message)];

	if (!c->passed || !c->event.denied || !c->event.message)
		return;
	policy_say_would(c->event.message, text, sizeof(text));
	memcpy(c->message, text, sizeof(text));
	c->event.message = c->message;
	c->passed = false;
}

int refusal_firm(struct call *c, const char *op, const char *rule, int err, const char *message)
{
	refusal_begin(c, op, NULL, 0);
	c->event.rule = NULL;
	c->event.rule_name = rule;
	c->event.message = message;
	return mark(c, err);
}
