#include "supervisor/quiet.h"

#include <fnmatch.h>
#include <limits.h>
#include <string.h>

static const char *const names[] = {
	"__pycache__",
	/* Where one was in files. */
	".viminfo*",
	/* When a tool last looked for a newer version of itself; seen certificates; where "top" would save settings. */
	"_update-notifier-last-checked",
	".wget-hsts",
	".config",
	"procps",
};

/* What was typed: shells, interpreters, pagers. */
static const char *const histories[] = {
	".*_history", ".*_history-*",		  /* bash's and libedit's while they replace it */
	".lesshst*",  "lesshst",      ".lesshsQ", /* less's while it replaces it */
	"lesshsQ",
};

static bool matches(const char *const *patterns, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (fnmatch(patterns[i], name, 0) == 0)
			return true;
	return false;
}

#define MATCHES(patterns, name) matches(patterns, sizeof(patterns) / sizeof(*(patterns)), name)

bool quiet_is_history(const char *path, size_t len)
{
	char leaf[NAME_MAX + 1];
	const char *slash = memrchr(path, '/', len);
	size_t n = slash ? len - (size_t)(slash + 1 - path) : sizeof(leaf);

	if (n >= sizeof(leaf))
		return false;
	memcpy(leaf, slash + 1, n);
	leaf[n] = '\0';
	return MATCHES(histories, leaf);
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
	if (MATCHES(names, leaf) || MATCHES(histories, leaf))
		return true;
	parent = strrchr(copy, '/');
	/* A Java virtual machine clears away what others of its user left there. */
	return parent &&
	       (strcmp(parent + 1, "__pycache__") == 0 || fnmatch("hsperfdata_*", parent + 1, 0) == 0);
}
