#include "supervisor/tell.h"

#include <errno.h>

#include "supervisor/path.h"
#include "supervisor/tracee.h"

static socklen_t least(socklen_t a, size_t b)
{
	return a < b ? a : (socklen_t)b;
}

static void tell(struct call *c, int value, int length, const void *from, socklen_t len, size_t size,
		 bool in_full)
{
	socklen_t room, copy;
	int rc = tracee_read(c, c->arg[length], &room, sizeof(room));

	if (rc == 0 && (int)room < 0)
		rc = -EINVAL;
	if (rc < 0) {
		path_copy_failed(c, rc);
		return;
	}
	copy = least(least(room, len), size);
	if (!in_full)
		len = copy;
	rc = tracee_check(c);
	if (rc == 0)
		rc = tracee_write(c, c->arg[value], from, copy);
	if (rc == 0)
		rc = tracee_write(c, c->arg[length], &len, sizeof(len));
	call_result(c, rc);
}

void tell_address(struct call *c, int value, int length, const void *from, socklen_t len, size_t size)
{
	tell(c, value, length, from, len, size, true);
}

void tell_option(struct call *c, int value, int length, const void *from, socklen_t len)
{
	tell(c, value, length, from, len, len, false);
}
