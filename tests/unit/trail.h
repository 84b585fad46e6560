/*
 * Helpers of the audit tests: a trail in a temporary directory, opened, written, closed and read back with
 * a JSON reader. Include after cmocka.h.
 */
#ifndef TESTS_UNIT_TRAIL_H
#define TESTS_UNIT_TRAIL_H

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "supervisor/audit.h"
#include "supervisor/jsonw.h"

#define B(s)                                                                                                 \
	{                                                                                                    \
		(s), sizeof(s) - 1                                                                           \
	}

static inline double trail_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* A fresh directory as the working directory; the tests use relative names. */
static inline int trail_enter(void **state)
{
	char dir[] = "/tmp/trail-XXXXXX";

	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	*state = strdup(dir);
	return 0;
}

static inline int trail_leave(void **state)
{
	char cmd[64];

	assert_int_equal(chdir("/"), 0);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", (char *)*state);
	assert_int_equal(system(cmd), 0);
	free(*state);
	return 0;
}

static inline struct audit *trail_try(const char *file, enum audit_level level, char err[256])
{
	struct audit_opts o = {.file = file, .level = level, .stderr_fd = STDERR_FILENO, .session = "s1"};

	return audit_open(&o, err, 256);
}

static inline struct audit *trail_open(const char *file, enum audit_level level)
{
	char err[256] = "";
	struct audit *a = trail_try(file, level, err);

	assert_string_equal(err, "");
	assert_non_null(a);
	assert_int_equal(audit_start(a), 0);
	return a;
}

static inline struct event trail_denial(const char *path)
{
	return (struct event){
		.syscall = "openat",
		.op = "write",
		.pid = 10,
		.path = {path, strlen(path)},
		.denied = true,
		.err = 13,
	};
}

/* Every line must be an object on its own, and their seq without gaps from 1 for each session. */
static inline json_t *trail_parse(const char *buf, size_t len)
{
	json_t *all = json_array();
	json_error_t e;
	json_int_t seq = 0;

	for (const char *p = buf, *nl; p < buf + len; p = nl + 1) {
		nl = memchr(p, '\n', (size_t)(buf + len - p));
		assert_non_null(nl);
		json_t *j = json_loadb(p, (size_t)(nl - p), JSON_REJECT_DUPLICATES, &e);
		if (!j)
			fail_msg("%s: %.*s", e.text, (int)(nl - p), p);
		assert_true(json_is_object(j));
		assert_int_equal(json_integer_value(json_object_get(j, "seq")), ++seq);
		json_array_append_new(all, j);
	}
	return all;
}

static inline char *trail_slurp(int fd, size_t *len)
{
	size_t cap = 1 << 16;
	char *buf = malloc(cap);
	ssize_t n;

	*len = 0;
	while ((n = read(fd, buf + *len, cap - *len)) > 0) {
		*len += (size_t)n;
		if (*len == cap)
			buf = realloc(buf, cap *= 2);
	}
	return buf;
}

static inline json_t *trail_read(const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	size_t len;

	assert_true(fd >= 0);
	char *buf = trail_slurp(fd, &len);
	close(fd);
	json_t *all = trail_parse(buf, len);
	free(buf);
	return all;
}

static inline const char *trail_str(const json_t *all, size_t i, const char *key)
{
	return json_string_value(json_object_get(json_array_get(all, i), key));
}

static inline json_int_t trail_int(const json_t *all, size_t i, const char *key)
{
	return json_integer_value(json_object_get(json_array_get(all, i), key));
}

/* Denials that the trail tells of: one by one, as repeats, or as dropped. */
static inline json_int_t trail_denied(const json_t *all)
{
	json_int_t n = 0;

	for (size_t i = 0; i < json_array_size(all); i++) {
		const char *verdict = trail_str(all, i, "verdict");
		if (strcmp(trail_str(all, i, "kind"), "dropped") == 0)
			n += trail_int(all, i, "denied");
		else if (verdict && strcmp(verdict, "deny") == 0)
			n += trail_int(all, i, "repeat") ? trail_int(all, i, "repeat") : 1;
	}
	return n;
}

#endif
