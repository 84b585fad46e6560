#include "supervisor/quiet.h"

#include <fnmatch.h>
#include <limits.h>
#include <string.h>

static const char *const names[] = {
	"__pycache__",
	/* What was typed and where one was: shells, interpreters, pagers, editors. */
	".*_history",
	".*_history-*", /* bash's and libedit's while they replace it */
	".lesshst*",
	".viminfo*",
	/* When a tool last looked for a newer version of itself; seen certificates; where "top" would save settings. */
	"_update-notifier-last-checked",
	".wget-hsts",
	".config",
	"procps",
};

static bool is_comfort(const char *name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (fnmatch(names[i], name, 0) == 0)
			return true;
	return false;
}

bool quiet_is_comfort(const char *path, size_t len)
{
	char copy[PATH_MAX], *leaf, *parent;

	if (len >= sizeof(copy))
		return false;
	memcpy(copy, path, len);
	copy[len] = '\0';
	leaf = strrchr(copy, '/');
	if (!leaf)
		return false;
	*leaf++ = '\0';
	if (is_comfort(leaf))
		return true;
	parent = strrchr(copy, '/');
	/* A Java virtual machine clears away what others of its user left there. */
	return parent &&
	       (strcmp(parent + 1, "__pycache__") == 0 || fnmatch("hsperfdata_*", parent + 1, 0) == 0);
}
