/*
 * What fs.protected_* refuse in sticky directories. The kernel checks its own walks and its own O_CREAT; where the
 * supervisor walks by itself, or opens what is there through a pin, it is checked here, as the user that the calling
 * thread now is. Any worker may call these.
 */
#ifndef CORDON_STICKY_H
#define CORDON_STICKY_H

#include <stdbool.h>
#include <sys/types.h>

#include "supervisor/resolve.h"

/* Reads the settings. */
void sticky_init(struct session *s);

/* May a link in dir, which belongs to owner, not be followed? */
bool sticky_hides_link(const struct session *s, int dir, uid_t owner);
/* May o, which is there, not be opened with O_CREAT? */
bool sticky_refuses_creat(const struct session *s, const struct object *o);

#endif
