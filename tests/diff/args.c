/*
 * Words of a sequence as arguments of the kernel. What is pointed to ends with the last byte before memory that is not
 * mapped, so that reading too much fails.
 */
#include "sequence.h"

#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <utime.h>

#define ARENA_PAGES 20 /* the last is not mapped */
#define N_ARENAS    6

static _Thread_local struct arena {
	char *end;
	size_t size;
	bool used;
} arenas[N_ARENAS];

static struct arena *arena_take(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = ARENA_PAGES * page;

	for (size_t i = 0; i < N_ARENAS; i++) {
		struct arena *a = &arenas[i];

		if (!a->end) {
			char *p =
				mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

			if (p == MAP_FAILED || munmap(p + size - page, page) < 0)
				abort();
			a->end = p + size - page;
			a->size = size - page;
		}
		if (!a->used) {
			a->used = true;
			return a;
		}
	}
	abort();
}

/* A copy at the end of memory. (What is mapped without PROT_READ would not do: /proc/PID/mem, the supervisor's way where
 * process_vm_readv is refused, reads that all the same.) */
static char *place(const void *bytes, size_t n)
{
	struct arena *a = arena_take();

	if (n > a->size)
		n = a->size;
	memcpy(a->end - n, bytes, n);
	return a->end - n;
}

/* What a link holds must not depend on the process. */
static _Thread_local bool is_target;

static size_t expand(const char *p, size_t n, const char *root, char *to, size_t room);

/* What stands in braces, p after the opening one. Returns what was written. */
static size_t expand_brace(const char *p, size_t n, const char *root, char *to, size_t room)
{
	char *star;
	unsigned long times = strtoul(p, &star, 10);
	size_t done = 0;

	if (n == 4 && memcmp(p, "root", 4) == 0)
		return (size_t)snprintf(to, room, "%s", root);
	if (n == 3 && memcmp(p, "pid", 3) == 0)
		return (size_t)snprintf(to, room, is_target ? "self" : "%d", (int)getpid());
	if (*star != '*')
		return 0;
	while (times-- > 0)
		done += expand(star + 1, n - (size_t)(star + 1 - p), root, to + done, room - done);
	return done;
}

static size_t expand(const char *p, size_t n, const char *root, char *to, size_t room)
{
	size_t done = 0, i = 0;
	const char *end;
	unsigned byte;

	while (i < n && done + 1 < room) {
		end = p[i] == '{' ? memchr(p + i, '}', n - i) : NULL;
		if (end) {
			done += expand_brace(p + i + 1, (size_t)(end - p) - i - 1, root, to + done,
					     room - done);
			i = (size_t)(end - p) + 1;
		} else if (n - i >= 4 && p[i] == '\\' && sscanf(p + i, "\\x%2x", &byte) == 1) {
			to[done++] = (char)byte;
			i += 4;
		} else {
			to[done++] = p[i++];
		}
	}
	return done;
}

/* NUL: the string has one at its end. Returns false when the word is no string or address. */
static bool parse_string(const char *word, const char *root, bool nul, long *value, size_t *size)
{
	static _Thread_local char text[3 * PATH_MAX];
	const char *quote = strchr(word, '"'), *end = strrchr(word, '"');
	size_t n;

	*size = 0;
	if (strcmp(word, "NULL") == 0)
		return *value = 0, true;
	if (strcmp(word, "1") == 0)
		return *value = 1, true;
	if (strcmp(word, "kernel") == 0)
		return *value = LONG_MIN, true;
	if (!quote || end == quote)
		return false;
	n = expand(quote + 1, (size_t)(end - quote) - 1, root, text, sizeof(text));
	text[n] = '\0';
	*size = n;
	if (strncmp(word, "edge", 4) == 0) {
		*value = (long)place(text, n);
	} else if (strncmp(word, "cross", 5) == 0) {
		char *at = arena_take()->end - 2 * sysconf(_SC_PAGESIZE) - n / 2;

		memcpy(at, text, n + 1);
		*value = (long)at;
	} else {
		*value = (long)place(text, nul ? n + 1 : n);
	}
	return true;
}

const char *args_string(long value)
{
	for (size_t i = 0; i < N_ARENAS; i++) {
		const char *p = (const char *)value;

		if (arenas[i].used && p >= arenas[i].end - arenas[i].size && p < arenas[i].end)
			return memchr(p, '\0', (size_t)(arenas[i].end - p)) ? p : NULL;
	}
	return NULL;
}

/* "SECONDS.PART,SECONDS.PART"; the parts as they are. */
static bool parse_times(const char *word, char kind, long *value)
{
	long long s[2];
	long part[2];

	if (!strchr(word, ',')) {
		size_t size;

		return parse_string(word, "", false, value, &size);
	}
	if (sscanf(word, "%lld.%ld,%lld.%ld", &s[0], &part[0], &s[1], &part[1]) != 4)
		return false;
	if (kind == 'U') {
		struct utimbuf u = {.actime = s[0], .modtime = s[1]};

		*value = (long)place(&u, sizeof(u));
	} else {
		/* struct timeval has the same form. */
		struct timespec t[2] = {{s[0], part[0]}, {s[1], part[1]}};

		*value = (long)place(t, sizeof(t));
	}
	return true;
}

/* "FLAGS,MODE,RESOLVE,SIZE,TAIL": SIZE bytes, the last of which is TAIL when there are more than the struct has. */
static bool parse_how(const char *word, struct args *a)
{
	static _Thread_local char bytes[2 * PATH_MAX];
	unsigned long long flags, mode, resolve;
	struct open_how how = {0};
	unsigned size, tail;

	if (sscanf(word, "%llx,%llo,%llx,%u,%u", &flags, &mode, &resolve, &size, &tail) != 5 ||
	    size > sizeof(bytes))
		return false;
	how.flags = flags;
	how.mode = mode;
	how.resolve = resolve;
	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes, &how, size < sizeof(how) ? size : sizeof(how));
	if (size > sizeof(how))
		bytes[size - 1] = (char)tail;
	a->how_flags = flags;
	a->value[a->n++] = (long)place(bytes, size);
	a->value[a->n++] = size;
	return true;
}

/* "SIZE,FLAGS": attribute "value" with these. */
static bool parse_xattr_args(const char *word, struct args *a)
{
	struct {
		uint64_t value;
		uint32_t size, flags;
	} x = {.value = (uint64_t)(uintptr_t)place("value", 5)};
	unsigned size;

	if (sscanf(word, "%u,%x", &size, &x.flags) != 2)
		return false;
	x.size = 5;
	a->value[a->n++] = (long)place(&x, size < sizeof(x) ? size : sizeof(x));
	a->value[a->n++] = size;
	return true;
}

/* "TYPE,START,LENGTH" */
static bool parse_lock(const char *word, long *value)
{
	struct flock l = {.l_whence = SEEK_SET};
	long start, length;
	short type;

	if (sscanf(word, "%hd,%ld,%ld", &type, &start, &length) != 3)
		return false;
	l.l_type = type;
	l.l_start = start;
	l.l_len = length;
	*value = (long)place(&l, sizeof(l));
	return true;
}

static long parse_number(const char *word)
{
	return strcmp(word, "cwd") == 0 ? AT_FDCWD : strtol(word, NULL, 0);
}

/* Who shares descriptors has numbers of its own. */
static long parse_descriptor(const char *word, const struct runner *r)
{
	long n = parse_number(word);

	return n >= 0 && n < BESIDE_FDS / 2 ? r->base + n : n;
}

/* "FLAGS,SIZE" */
static bool parse_file_attr(const char *word, struct args *a)
{
	struct {
		uint64_t xflags;
		uint32_t more[4];
	} attr = {0};
	unsigned size;

	if (sscanf(word, "%lx,%u", &attr.xflags, &size) != 2)
		return false;
	a->value[a->n++] = (long)place(&attr, size < sizeof(attr) ? size : sizeof(attr));
	a->value[a->n++] = size;
	return true;
}

static bool parse_flags(const char *word, long *value)
{
	int flags = (int)parse_number(word);

	*value = (long)place(&flags, sizeof(flags));
	return true;
}

static bool parse_word(char kind, const char *word, const struct runner *r, struct args *a)
{
	const char *root = r->root;
	long *value = &a->value[a->n];
	size_t size;

	is_target = kind == 't';
	switch (kind) {
	case 'p':
	case 't':
	case 'k':
		a->n++;
		return parse_string(word, root, true, value, &size);
	case 'v':
		if (!parse_string(word, root, false, value, &size))
			return false;
		a->value[a->n + 1] = (long)(size ? size : 5);
		a->n += 2;
		return true;
	case 'w':
	case 'V':
	case 'U':
		a->n++;
		return parse_times(word, kind, value);
	case 'o':
		return parse_how(word, a);
	case 'e':
		return parse_xattr_args(word, a);
	case 'K':
		a->n++;
		return parse_lock(word, value);
	case 'P':
		a->n++;
		return parse_flags(word, value);
	case 'G':
		return parse_file_attr(word, a);
	case 'd':
	case 'D':
	case 'N':
		*value = parse_descriptor(word, r);
		a->n++;
		return true;
	default:
		*value = parse_number(word);
		a->n++;
		return true;
	}
}

static void add_room(bool sized, struct args *a)
{
	static _Thread_local char room[ROOM_SIZE];

	a->room = memset(room, 0, sizeof(room));
	a->value[a->n++] = (long)room;
	if (sized)
		a->value[a->n++] = sizeof(room);
}

bool args_parse(const struct call *call, char *const *words, int n, const struct runner *r, struct args *a)
{
	int base = -1, used = 0;

	memset(a, 0, sizeof(*a));
	a->descriptor = a->flags = -1;
	for (size_t i = 0; i < N_ARENAS; i++)
		arenas[i].used = false;
	for (const char *k = call->kinds; *k; k++) {
		if (*k == 'b' || *k == 'B') {
			add_room(*k == 'b', a);
			continue;
		}
		if (*k == '=') {
			a->value[a->n++] = call->extra;
			continue;
		}
		if (*k == 'p') {
			a->path[a->n_paths] = a->n;
			a->base[a->n_paths++] = base;
		}
		base = *k == 'd' ? a->n : -1;
		if (*k == 'D')
			a->descriptor = a->n;
		if (*k == 'f')
			a->flags = a->n;
		if (used == n || !parse_word(*k, words[used++], r, a))
			return false;
	}
	return used == n;
}
