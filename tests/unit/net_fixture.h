/* A compiled policy of [network] lines, for tests. */
#ifndef CORDON_TESTS_NET_FIXTURE_H
#define CORDON_TESTS_NET_FIXTURE_H

#include "policy/net.h"
#include "tests/unit/config_fixture.h"

struct world {
	struct config *c;
	struct policy *p;
	struct faults f;
};

/* Lines of [network]. */
static inline struct world build(const char *lines)
{
	struct world w = {0};
	char *text;

	assert_true(asprintf(&text, "[network]\n%s", lines) > 0);
	w.c = load(text, &w.f);
	config_finish(w.c, &env, &w.f);
	no_faults(&w.f);
	w.p = policy_new(w.c, &w.f);
	no_faults(&w.f);
	free(text);
	return w;
}

static inline void drop(struct world *w)
{
	policy_free(w->p);
	config_free(w->c);
	faults_free(&w->f);
}

static inline struct host_name name_of(const char *text)
{
	struct host_name n;
	const char *why = host_canonicalise(text, strlen(text), &n);

	if (why)
		fail_msg("%s: %s", text, why);
	return n;
}

#endif
