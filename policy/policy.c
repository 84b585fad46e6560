#include "policy/policy.h"
#include "policy/policy_private.h"

#include <stdlib.h>
#include <string.h>

#include "policy/config.h"

static bool is_abstract(const struct rule *r)
{
	return r->kind == RULE_UNIX_SOCKET && r->path[0] == '@';
}

/* 0, or -1 when out of memory. */
static int compile(struct policy *p, const struct config *cfg, struct faults *f)
{
	p->abstract = calloc(cfg->n_rules + 1, sizeof(struct rule *));
	if (!p->abstract)
		return -1;
	for (size_t i = 0; i < cfg->n_rules; i++) {
		p->count[cfg->rules[i].kind]++;
		if (is_abstract(&cfg->rules[i]))
			p->abstract[p->n_abstract++] = &cfg->rules[i];
	}
	p->set = pathset_new(cfg->rules, cfg->n_rules, f);
	p->net = net_new(cfg);
	return p->net ? 0 : -1;
}

struct policy *policy_new(const struct config *cfg, struct faults *f)
{
	struct policy *p = calloc(1, sizeof(*p));
	size_t faults = faults_count(f);

	if (!p || compile(p, cfg, f))
		faults_add(f, NULL, 0, "out of memory");
	if (faults_count(f) == faults)
		return p;
	policy_free(p);
	return NULL;
}

void policy_free(struct policy *p)
{
	if (!p)
		return;
	free((void *)p->abstract);
	pathset_free(p->set);
	net_free(p->net);
	free(p);
}

bool policy_has(const struct policy *p, enum rule_kind kind)
{
	return p->count[kind] > 0;
}

bool policy_restricts_reads(const struct policy *p)
{
	return policy_has(p, RULE_DENY_READ);
}

bool policy_restricts_exec(const struct policy *p)
{
	return policy_has(p, RULE_ALLOW_EXEC) || policy_has(p, RULE_DENY_EXEC);
}

bool policy_restricts_programs(const struct policy *p)
{
	return policy_restricts_exec(p) || policy_restricts_reads(p);
}

/*
 * What everything beneath a directory inherits. A match further down has a longer anchor than any up
 * here, so of those only these outcomes are left to matter.
 */
struct inherited {
	bool read_refused, protected, git, open_git, deny_write, allow_write, allow_own;
	bool exec_refused, device, unix_socket;
};

static bool get_inherited(const struct policy *p, const char *dir, size_t len, struct inherited *in)
{
	struct pathset_hits h;

	if (!pathset_match(p->set, dir, len, true, &h))
		return false;
	*in = (struct inherited){
		.read_refused = hits_refuse_read(&h, len, true),
		.protected = hits_find_protected(&h, RULE_PROTECT, dir) != NULL,
		.git = hits_find_protected(&h, RULE_PROTECT_GIT, dir) != NULL,
		.open_git = hits_open_git(&h, dir),
		.deny_write = h.best[RULE_DENY_WRITE].rule != NULL,
		.allow_write = h.best[RULE_ALLOW_WRITE].rule != NULL,
		.allow_own = h.best[RULE_ALLOW_OWN].rule != NULL,
		.exec_refused = !hits_allow_exec(&h, policy_has(p, RULE_ALLOW_EXEC)),
		.device = h.best[RULE_ALLOW_DEVICE].rule != NULL,
		.unix_socket = h.best[RULE_UNIX_SOCKET].rule != NULL,
	};
	return true;
}

bool policy_same_beneath(const struct policy *p, const char *a, size_t alen, const char *b, size_t blen)
{
	struct inherited x, y;

	if (!get_inherited(p, a, alen, &x) || !get_inherited(p, b, blen, &y))
		return false;
	if (alen == blen && memcmp(a, b, alen) == 0)
		return true;
	/* Two directories in protected places of git may belong to different repositories. */
	if (x.git || y.git)
		return false;
	return x.open_git == y.open_git && x.read_refused == y.read_refused && x.protected == y.protected &&
	       x.deny_write == y.deny_write && x.allow_write == y.allow_write && x.allow_own == y.allow_own &&
	       x.exec_refused == y.exec_refused && x.device == y.device && x.unix_socket == y.unix_socket &&
	       pathset_same_states(p->set, a, alen, b, blen);
}
