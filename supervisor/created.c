/*
 * What this session made: the facts that allow_own and the rule for a .git of its own rest on.
 */
#include "supervisor/judge.h"

#include <stdio.h>
#include <string.h>

#include "supervisor/compat.h"
#include "supervisor/idset.h"
#include "supervisor/lockdown.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(openat), OWN(close), OWN(statx), OWN_IF(fcntl, ARG_IS(1, F_DUPFD_CLOEXEC)));

bool judge_is_created(const struct session *s, int dir, const struct statx *self, const char *name,
		      size_t len, size_t stop)
{
	bool found = false;
	struct statx st;
	int cur;

	if (idset_is_empty(s->created))
		return false;
	if (self && idset_has(s->created, self))
		return true;
	cur = fcntl(dir, F_DUPFD_CLOEXEC, 3);
	/* From the parent upwards, as long as its name is longer than what may not be looked at any more. */
	while (cur >= 0 && !found) {
		int up;

		while (len > 0 && name[len - 1] != '/')
			len--;
		if (len > 0)
			len--;
		if (len <= stop)
			break;
		found = statx(cur, "", AT_EMPTY_PATH, IDSET_STATX, &st) == 0 && idset_has(s->created, &st);
		up = found ? -1 : openat(cur, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		close(cur);
		cur = up;
	}
	if (cur >= 0)
		close(cur);
	return found;
}

/* The directory that "git worktree add" makes in a .git: what is in it is the session's if the directory is, in a
 * repository from before, too. A submodule's is not: git would run its hooks when it is next updated. */
static bool is_worktree(const char *path)
{
	return strcasestr(path, "/.git/worktrees/") != NULL;
}

void judge_note_created(struct call *c, const struct entry *e, const struct entry_verdict *ev)
{
	bool git = e->leaf_len == 4 && strncasecmp(e->leaf, ".git", 4) == 0;
	char plain[NAME_MAX + 1];
	struct statx st;

	if (!ev->in_own_area && !git && !is_worktree(e->name))
		return;
	memcpy(plain, e->leaf, e->leaf_len);
	plain[e->leaf_len] = '\0';
	if (statx(e->dir.fd, plain, AT_SYMLINK_NOFOLLOW, STATX_TYPE | IDSET_STATX, &st) < 0)
		return;
	if (ev->in_own_area || git || S_ISDIR(st.stx_mode))
		idset_add(c->s->created, &st);
	if (git || (S_ISDIR(st.stx_mode) && is_worktree(e->name)))
		session_note_repository(c->s, e->dir.fd, plain);
}
