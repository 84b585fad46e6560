#include "supervisor/procname.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

/* The same of a process and of its threads. */
static const char *without_thread(const char *rest)
{
	rest += strspn(rest, "/");
	if (strncmp(rest, "task/", 5) == 0 && isdigit((unsigned char)rest[5])) {
		rest += 5;
		rest += strspn(rest, "0123456789");
		rest += strspn(rest, "/");
	}
	return rest;
}

bool procname_is_public(const char *rest)
{
	static const char *const names[] = {
		"",	   "stat",  "statm",	"status",    "cmdline",	  "comm",
		"cgroup",  "wchan", "loginuid", "sessionid", "oom_score", "oom_score_adj",
		"oom_adj", "task",  "sched",	"cpuset",    "limits",	  "timerslack_ns"};

	rest = without_thread(rest);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(rest, names[i]) == 0)
			return true;
	return false;
}

bool procname_is_held(const char *rest)
{
	rest = without_thread(rest);
	return strncmp(rest, "fd/", 3) == 0 || strncmp(rest, "map_files/", 10) == 0;
}
