#include "supervisor/mounts.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "supervisor/lockdown.h"

OWN_CALLS(OWN_SUPERVISOR, OWN(openat), OWN(close), OWN(read), OWN(newfstatat));

struct mount {
	uint64_t id;
	unsigned major, minor;
	bool proc;   /* a procfs */
	bool mqueue; /* the file system of POSIX message queues */
	bool hides;  /* a procfs without what the looker may not trace */
	bool served; /* by a process or another machine, which may take its time */
	char *root;  /* path within the file system */
	char *point; /* where it is mounted */
};

struct mounts {
	pthread_rwlock_t lock;
	struct mount *list;
	size_t count;
};

/* mountinfo shows space, tab, newline and backslash as three octal digits. */
static char *unescape(const char *field)
{
	char *out = strdup(field), *to = out;

	for (const char *p = field; out && *p; p++) {
		if (p[0] == '\\' && p[1] >= '0' && p[1] <= '3' && p[2] && p[3]) {
			*to++ = (char)(((p[1] - '0') << 6) | ((p[2] - '0') << 3) | (p[3] - '0'));
			p += 3;
		} else {
			*to++ = *p;
		}
	}
	if (out)
		*to = '\0';
	return out;
}

static void free_list(struct mount *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(list[i].root);
		free(list[i].point);
	}
	free(list);
}

/* The options of the file system itself come last; hidepid=off is not shown. */
static bool has_hidepid(const char *line)
{
	const char *options = strrchr(line, ' ');

	return options && strstr(options, "hidepid=");
}

/* type: " - TYPE SOURCE OPTIONS" */
static bool is_served(const char *type)
{
	/* With what follows them: fuse.sshfs, fuseblk, nfs4. */
	static const char *const types[] = {"fuse", "nfs", "cifs", "smb3", "9p", "ceph", "afs", "virtiofs"};

	for (size_t i = 0; type && i < sizeof(types) / sizeof(*types); i++)
		if (strncmp(type + 3, types[i], strlen(types[i])) == 0)
			return true;
	return false;
}

static bool parse_line(char *line, struct mount *m)
{
	const char *type = strstr(line, " - ");
	unsigned long long id;
	char *root, *point, *save;

	if (sscanf(line, "%llu %*d %u:%u", &id, &m->major, &m->minor) != 3)
		return false;
	m->proc = type && strncmp(type + 3, "proc ", 5) == 0;
	m->mqueue = type && strncmp(type + 3, "mqueue ", 7) == 0;
	m->hides = m->proc && has_hidepid(line);
	m->served = is_served(type);
	strtok_r(line, " \n", &save);
	strtok_r(NULL, " \n", &save);
	strtok_r(NULL, " \n", &save);
	root = strtok_r(NULL, " \n", &save);
	point = strtok_r(NULL, " \n", &save);
	if (!root || !point)
		return false;
	m->id = id;
	m->root = unescape(root);
	m->point = unescape(point);
	return m->root && m->point;
}

static bool load(struct mounts *m)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	struct mount *list = NULL;
	size_t count = 0, size = 0;
	char *line = NULL;
	bool ok = f != NULL;

	while (ok && getline(&line, &size, f) > 0) {
		struct mount *more = realloc(list, (count + 1) * sizeof(*list));

		ok = more != NULL;
		if (!ok)
			break;
		list = more;
		memset(&list[count], 0, sizeof(*list));
		ok = parse_line(line, &list[count]);
		count++;
	}
	free(line);
	if (f)
		fclose(f);
	if (!ok) {
		free_list(list, count);
		return false;
	}
	free_list(m->list, m->count);
	m->list = list;
	m->count = count;
	return true;
}

struct mounts *mounts_new(void)
{
	struct mounts *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	pthread_rwlock_init(&m->lock, NULL);
	if (!load(m)) {
		mounts_free(m);
		return NULL;
	}
	return m;
}

void mounts_free(struct mounts *m)
{
	if (!m)
		return;
	free_list(m->list, m->count);
	pthread_rwlock_destroy(&m->lock);
	free(m);
}

static const struct mount *find(const struct mounts *m, uint64_t id)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->list[i].id == id)
			return &m->list[i];
	return NULL;
}

bool mounts_is_proc(struct mounts *m, dev_t dev)
{
	bool proc = false;

	pthread_rwlock_rdlock(&m->lock);
	for (size_t i = 0; i < m->count && !proc; i++)
		proc = m->list[i].proc && makedev(m->list[i].major, m->list[i].minor) == dev;
	pthread_rwlock_unlock(&m->lock);
	return proc;
}

/* The rest of path beneath dir (starting with '/' or empty), or NULL when it is not beneath it. */
static const char *beneath(const char *path, const char *dir)
{
	size_t n = strcmp(dir, "/") == 0 ? 0 : strlen(dir);

	if (strncmp(path, dir, n) != 0)
		return NULL;
	if (path[n] != '\0' && path[n] != '/')
		return NULL;
	return strcmp(path + n, "/") == 0 ? path + n + 1 : path + n;
}

static const struct mount *mount_of(const struct mounts *m, const char *path)
{
	const struct mount *best = NULL;

	for (size_t i = 0; i < m->count; i++) {
		const struct mount *x = &m->list[i];

		/* Of two mounts on one point the later one is on top. */
		if (beneath(path, x->point) && (!best || strlen(x->point) >= strlen(best->point)))
			best = x;
	}
	return best;
}

bool mounts_is_served(struct mounts *m, uint64_t id)
{
	const struct mount *x;
	bool served;

	pthread_rwlock_rdlock(&m->lock);
	x = find(m, id);
	served = x && x->served;
	pthread_rwlock_unlock(&m->lock);
	return served;
}

bool mounts_hides_processes(struct mounts *m)
{
	const struct mount *proc;
	bool hides;

	pthread_rwlock_rdlock(&m->lock);
	proc = mount_of(m, "/proc");
	hides = proc && proc->hides;
	pthread_rwlock_unlock(&m->lock);
	return hides;
}

static void join(char *out, size_t size, const char *dir, const char *rest)
{
	if (strcmp(dir, "/") == 0)
		dir = "";
	snprintf(out, size, "%s%s", dir, rest);
	if (out[0] == '\0')
		snprintf(out, size, "/");
}

/* Under m->lock. */
static enum mount_kind look(const struct mounts *m, uint64_t id, const char *name, char *inner, size_t size)
{
	const struct mount *x = find(m, id), *own;
	const char *rest;

	if (!x)
		return MOUNT_UNKNOWN;
	if (!x->proc && !x->mqueue)
		return MOUNT_OTHER;
	rest = beneath(name, x->point);
	join(inner, size, x->root, rest ? rest : "");
	if (x->mqueue)
		return MOUNT_MQUEUE;
	own = mount_of(m, "/proc");
	return own && own->major == x->major && own->minor == x->minor ? MOUNT_PROC : MOUNT_FOREIGN_PROC;
}

enum mount_kind mounts_look(struct mounts *m, uint64_t id, const char *name, char *inner, size_t size)
{
	enum mount_kind kind;

	pthread_rwlock_rdlock(&m->lock);
	kind = look(m, id, name, inner, size);
	pthread_rwlock_unlock(&m->lock);
	if (kind != MOUNT_UNKNOWN)
		return kind;
	pthread_rwlock_wrlock(&m->lock);
	if (load(m))
		kind = look(m, id, name, inner, size);
	pthread_rwlock_unlock(&m->lock);
	return kind;
}

void mounts_aliases(struct mounts *m, const char *path, void (*fn)(const char *alias, void *arg), void *arg)
{
	char inner[2 * PATH_MAX], alias[2 * PATH_MAX];
	const struct mount *own;

	pthread_rwlock_rdlock(&m->lock);
	own = mount_of(m, path);
	for (size_t i = 0; own && i < m->count; i++) {
		const struct mount *x = &m->list[i];
		const char *rest;

		if (x == own || x->major != own->major || x->minor != own->minor)
			continue;
		join(inner, sizeof(inner), own->root, beneath(path, own->point));
		rest = beneath(inner, x->root);
		if (rest)
			join(alias, sizeof(alias), x->point, rest);
		else if (beneath(x->root, inner))
			join(alias, sizeof(alias), x->point, "");
		else
			continue;
		if (strcmp(alias, path) != 0)
			fn(alias, arg);
	}
	pthread_rwlock_unlock(&m->lock);
}

void mounts_each(struct mounts *m, void (*fn)(const char *point, void *arg), void *arg)
{
	pthread_rwlock_rdlock(&m->lock);
	for (size_t i = 0; i < m->count; i++)
		fn(m->list[i].point, arg);
	pthread_rwlock_unlock(&m->lock);
}
