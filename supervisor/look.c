#include "supervisor/look.h"

#include <errno.h>
#include <string.h>

#include "supervisor/hide.h"
#include "supervisor/judge.h"
#include "supervisor/path.h"
#include "supervisor/tracee.h"

/* What the kernel finds as well when it walks, and says itself. */
static bool is_kernels_own(int err)
{
	return err == ENOENT || err == ENOTDIR || err == ELOOP || err == ENAMETOOLONG || err == EFAULT ||
	       err == EBADF || err == EINVAL;
}

/* 0, an errno to answer, or JUDGE_GONE. */
static int judge_found(struct call *c, const struct object *o, enum look_purpose purpose)
{
	if (purpose == LOOK_ENTER && (c->s->features & FEATURE_UNSCOPED))
		return judge_place(c, o);
	return 0;
}

void look(struct call *c, int dirfd, int path, int how, enum look_purpose purpose)
{
	int rc = tracee_path(c, c->arg[path], c->path[0]);
	struct object o;

	/* An empty path is a descriptor's own object, or nothing. A process whose memory nobody may read is not kept from
	 * looking, as su is between its change of user and exec. */
	if (rc == 0 || rc == -EPERM) {
		call_continue(c);
		return;
	}
	if (rc > 0 && how < 0) {
		call_error(c, EINVAL);
		return;
	}
	rc = rc < 0 ? rc : resolve_object(c, 0, dirfd, how, 0, &o);
	if (rc < 0) {
		hide_silently(c);
		if (is_kernels_own(-rc) && !c->event.denied)
			call_continue(c);
		else
			call_error(c, -rc);
		return;
	}
	rc = judge_found(c, &o, purpose);
	object_close(&o);
	if (rc) {
		judge_answer(c, rc);
		return;
	}
	if (!c->event.denied) /* looking is not recorded */
		c->event.op = NULL;
	hide_silently(c);
	call_continue(c);
}
