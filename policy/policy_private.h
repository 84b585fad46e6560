/* Shared by the files that implement policy.h. */
#ifndef CORDON_POLICY_PRIVATE_H
#define CORDON_POLICY_PRIVATE_H

#include "policy/pathset.h"
#include "policy/policy.h"

struct net;

struct policy {
	struct pathset *set;
	struct net *net;
	/* The rules for abstract sockets, "@name". Such a name is no path: it is compared as a whole. */
	const struct rule **abstract;
	size_t n_abstract;
	size_t count[RULE_KINDS];
};

/* Of the domains, addresses and fixed answers: net.c. NULL when out of memory. */
struct net *net_new(const struct config *cfg);
void net_free(struct net *n);

/* What the rules say of the request's path. False when the path is not canonical. */
bool request_match(const struct policy *p, const struct request *q, struct pathset_hits *hits);

/* The verdict that follows from it. */
struct verdict request_judge(const struct policy *p, const struct request *q, const struct pathset_hits *h);

/* The steps of the judgement that policy_same_beneath() also needs. A directory as object. */
bool hits_refuse_read(const struct pathset_hits *h, size_t len, bool is_dir);
/* The protected name, of that kind, that no allow_protected lifts; NULL if none. */
const struct pathset_hit *hits_find_protected(const struct pathset_hits *h, enum rule_kind kind,
					      const char *path);
/* An allow_protected matched a .git on the path, or something in one. */
bool hits_open_git(const struct pathset_hits *h, const char *path);
bool hits_allow_exec(const struct pathset_hits *h, bool has_allow);

#endif
