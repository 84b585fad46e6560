#include "supervisor/load.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/expand.h"

#define MAX_POLICY (16u << 20)

/* The user database is read by hand: a static program can load no name service modules. */
static const char *home_from_passwd(void)
{
	static char home[PATH_MAX];
	char line[4096];
	FILE *f = fopen("/etc/passwd", "re");

	home[0] = '\0';
	while (f && !home[0] && fgets(line, sizeof(line), f)) {
		char *field[7], *p = line;
		int n = 0;

		for (; n < 7 && p; n++)
			field[n] = strsep(&p, ":\n");
		if (n >= 6 && (uid_t)strtoul(field[2], NULL, 10) == getuid() && field[5][0] == '/')
			snprintf(home, sizeof(home), "%s", field[5]);
	}
	if (f)
		fclose(f);
	return home[0] ? home : NULL;
}

const char *load_home(void)
{
	const char *home = getenv("HOME");

	if (home && home[0] == '/')
		return home;
	home = home_from_passwd();
	return home ? home : "/nonexistent";
}

static const char *get_variable(const char *name, void *arg)
{
	(void)arg;
	return getenv(name);
}

static void print_faults(const struct faults *f)
{
	for (size_t i = 0; i < faults_kept(f); i++)
		fprintf(stderr, "cordon: %s\n", f->text[i]);
	if (faults_count(f) > faults_kept(f))
		fprintf(stderr, "cordon: and %zu more\n", faults_count(f) - faults_kept(f));
}

/* The whole file, or NULL with a fault. */
static char *read_policy(const char *name, size_t *len, struct faults *f)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *buf = NULL;
	ssize_t n = 0;

	*len = 0;
	if (fd < 0 || fstat(fd, &st) < 0) {
		faults_add(f, name, 0, "cannot be read: %s", strerror(errno));
	} else if (S_ISDIR(st.st_mode)) {
		faults_add(f, name, 0, "is a directory");
	} else {
		buf = malloc(MAX_POLICY + 1);
		while (buf && *len <= MAX_POLICY && (n = read(fd, buf + *len, MAX_POLICY + 1 - *len)) > 0)
			*len += (size_t)n;
		if (!buf || *len > MAX_POLICY || n < 0) {
			faults_add(f, name, 0, "cannot be read: %s",
				   !buf	   ? "out of memory"
				   : n < 0 ? strerror(errno)
					   : "larger than 16 MiB");
			free(buf);
			buf = NULL;
		}
	}
	if (fd >= 0)
		close(fd);
	return buf;
}

static void load_file(struct loaded *l, const struct config_env *env, const char *name, struct faults *f)
{
	size_t len;
	char *bytes;

	if (strcmp(name, "built-in") == 0) {
		l->builtin = true;
		config_load_ini(l->config, env, "built-in", config_default_ini, config_default_ini_len, f);
		return;
	}
	bytes = read_policy(name, &len, f);

	if (!bytes)
		return;
	l->files[l->n_files] = name;
	SHA256Data((uint8_t *)bytes, len, l->hashes[l->n_files]);
	l->n_files++;
	config_load_ini(l->config, env, name, bytes, len, f);
	free(bytes);
}

/* ~/.config/cordon/sandbox.ini when it exists. */
static const char *user_policy(const char *home)
{
	static char name[PATH_MAX + 32];
	const char *xdg = getenv("XDG_CONFIG_HOME");

	if (xdg && xdg[0] == '/')
		snprintf(name, sizeof(name), "%s/cordon/sandbox.ini", xdg);
	else
		snprintf(name, sizeof(name), "%s/.config/cordon/sandbox.ini", home);
	/* One that is there but cannot be read is a fault, told when it is loaded. */
	return faccessat(AT_FDCWD, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ? name : NULL;
}

static void load_files(struct loaded *l, const struct opts *o, const struct config_env *env, struct faults *f)
{
	const char *one = NULL;

	if (o->n_policies == 0) {
		one = getenv("CORDON_POLICY");
		one = one && *one ? one : user_policy(l->home);
	}
	l->files = calloc(o->n_policies + 1, sizeof(*l->files));
	l->hashes = calloc(o->n_policies + 1, sizeof(*l->hashes));
	if (!l->files || !l->hashes) {
		faults_add(f, NULL, 0, "out of memory");
		return;
	}
	for (size_t i = 0; i < o->n_policies; i++)
		load_file(l, env, o->policies[i], f);
	if (one)
		load_file(l, env, one, f);
	if (o->n_policies == 0 && !one)
		load_file(l, env, "built-in", f);
}

bool load_config(struct loaded *l, const struct opts *o)
{
	struct config_env env = {.getvar = get_variable};
	struct faults f = {.count = 0};
	bool ok;

	memset(l, 0, sizeof(*l));
	l->home = load_home();
	l->cwd = getcwd(NULL, 0);
	l->config = config_new();
	if (!l->cwd || l->cwd[0] != '/' || !l->config) {
		fprintf(stderr, "cordon: the current directory has no path: %s\n", strerror(errno));
		return false;
	}
	env.cwd = l->cwd;
	env.home = l->home;
	load_files(l, o, &env, &f);
	for (size_t i = 0; i < o->n_settings; i++)
		config_set(l->config, &env, o->settings[i].section, o->settings[i].key, o->settings[i].value,
			   &f);
	config_finish(l->config, &env, &f);
	ok = faults_count(&f) == 0;
	print_faults(&f);
	faults_free(&f);
	return ok;
}

static void warn(const char *line)
{
	fprintf(stderr, "cordon: %s\n", line);
}

bool load_compile(struct loaded *l, struct mounts *mounts)
{
	struct faults f = {.count = 0};
	bool ok;

	expand_rules(l->config, mounts, &f, warn);
	if (faults_count(&f) == 0)
		l->policy = policy_new(l->config, &f);
	ok = faults_count(&f) == 0 && l->policy;
	print_faults(&f);
	faults_free(&f);
	return ok;
}
