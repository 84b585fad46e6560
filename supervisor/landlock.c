#include "supervisor/landlock.h"

#include "policy/config.h"
#include "supervisor/compat.h"

/*
 * Every right of ABI 1 that changes something. Not EXECUTE, READ_FILE, READ_DIR; not TRUNCATE (ABI 3), which would make
 * every open dearer (+43 to 49 % measured) and guards nothing more, since truncating calls are the supervisor's.
 */
#define WRITE_RIGHTS                                                                                         \
	(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |    \
	 LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |          \
	 LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |       \
	 LANDLOCK_ACCESS_FS_MAKE_SYM)

int landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	return abi > 0 ? (int)abi : 0;
}

/* For what the kernel itself opens in the caller's name. */
static void allow(int ruleset, const char *dir, uint64_t access)
{
	struct landlock_path_beneath_attr rule = {
		.allowed_access = access,
		.parent_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC),
	};

	if (rule.parent_fd < 0)
		return;
	syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
	close(rule.parent_fd);
}

/* Beneath directories only; one that is made later gets none. */
static void allow_core_files(int ruleset, const struct config *config)
{
	for (size_t i = 0; i < config->n_rules; i++)
		if (config->rules[i].kind == RULE_ALLOW_WRITE && config->rules[i].literal)
			allow(ruleset, config->rules[i].path,
			      LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG);
}

/* With the scopes, and only as far as that kernel knows the structure. The ruleset, or -errno. */
static int make_ruleset(int abi, struct compat_landlock_ruleset_attr *attr)
{
	size_t size = sizeof(attr->handled_access_fs);
	long ruleset;

	if (abi >= 4)
		size = 2 * sizeof(uint64_t);
	if (abi >= LANDLOCK_ABI_SCOPES) {
		attr->scoped = COMPAT_LANDLOCK_SCOPE_ABSTRACT | COMPAT_LANDLOCK_SCOPE_SIGNAL;
		size = sizeof(*attr);
	}
	ruleset = syscall(SYS_landlock_create_ruleset, attr, size, 0);
	return ruleset < 0 ? -errno : (int)ruleset;
}

/* Takes over the ruleset. 0 or -errno. */
static int enforce(int ruleset)
{
	int rc = syscall(SYS_landlock_restrict_self, ruleset, 0) < 0 ? -errno : 0;

	close(ruleset);
	return rc;
}

int landlock_restrict(int abi, const struct config *core_files)
{
	struct compat_landlock_ruleset_attr attr = {.handled_access_fs = WRITE_RIGHTS};
	int ruleset;

	if (abi >= 2)
		attr.handled_access_fs |= COMPAT_LANDLOCK_FS_REFER;
	if (abi >= 4)
		attr.handled_access_net = COMPAT_LANDLOCK_NET_BIND_TCP | COMPAT_LANDLOCK_NET_CONNECT_TCP;
	ruleset = make_ruleset(abi, &attr);
	if (ruleset < 0)
		return ruleset;
	/* ioctl(TIOCGPTPEER) opens a terminal's slave; openpty(3) uses it. */
	allow(ruleset, "/dev/pts", LANDLOCK_ACCESS_FS_WRITE_FILE);
	if (core_files)
		allow_core_files(ruleset, core_files);
	return enforce(ruleset);
}

int landlock_shut(int abi)
{
	struct compat_landlock_ruleset_attr attr = {.handled_access_fs = COMPAT_LANDLOCK_FS_ABI_1};
	int ruleset;

	if (abi >= 2)
		attr.handled_access_fs |= COMPAT_LANDLOCK_FS_REFER;
	if (abi >= 3)
		attr.handled_access_fs |= COMPAT_LANDLOCK_FS_TRUNCATE;
	if (abi >= 4)
		attr.handled_access_net = COMPAT_LANDLOCK_NET_BIND_TCP;
	if (abi >= 5)
		attr.handled_access_fs |= COMPAT_LANDLOCK_FS_IOCTL_DEV;
	ruleset = make_ruleset(abi, &attr);
	return ruleset < 0 ? ruleset : enforce(ruleset);
}
