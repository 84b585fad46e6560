/*
 * The first and the last record of a session, and what -v says.
 */
#ifndef CORDON_RECORDS_H
#define CORDON_RECORDS_H

#include "supervisor/load.h"
#include "supervisor/session.h"

void records_start(struct session *s, const struct loaded *l, char *const argv[], int landlock_abi);
/* One line on stderr for -v. */
void records_say(const struct session *s, const struct loaded *l, int landlock_abi);

void records_end(struct session *s, int status);

#endif
