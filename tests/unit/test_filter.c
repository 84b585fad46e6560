/*
 * The seccomp programs that cordon was built with: run through the sheets in tests/bpf, over all numbers, and
 * once in the kernel.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/bpf_sim.h"
#include "supervisor/filter.h"
#include "supervisor/sysc.h"
#include "tests/bpf/names.h"

#ifdef __x86_64__
#define NATIVE	    AUDIT_ARCH_X86_64
#define NATIVE_NAME "x86_64"
#define COMPAT	    AUDIT_ARCH_I386
#else
#define NATIVE	    AUDIT_ARCH_AARCH64
#define NATIVE_NAME "arm64"
#define COMPAT	    AUDIT_ARCH_ARM
#endif
#define X32_BIT	 0x40000000
#define MAX_ROWS 1024
#define MAX_SAID 8
#define N_OF(a)	 (sizeof(a) / sizeof((a)[0]))

/* A line of a sheet. */
struct line {
	const char *file;
	unsigned number;
	unsigned on, off; /* features */
	uint32_t arch;
	int nr;
	uint32_t arg[6];
	bool any[6];
	uint32_t ret;
};

/* What the sheets say about each row, for the test that every answer has a line. */
static uint32_t said[MAX_ROWS][MAX_SAID];
static size_t n_said[MAX_ROWS];
static unsigned faults;

#define COMPLAIN(l, ...)                                                                                     \
	(faults++, print_error("%s:%u: ", (l)->file, (l)->number), print_error(__VA_ARGS__),                 \
	 print_error("\n"))

static uint32_t ret_of(enum sysc_action action, int err)
{
	if (action == SYSC_ALLOW)
		return SECCOMP_RET_ALLOW;
	if (action == SYSC_NOTIFY)
		return SECCOMP_RET_USER_NOTIF;
	return SECCOMP_RET_ERRNO | (uint32_t)err;
}

static bool find_name(const struct name *table, size_t n, const char *word, uint32_t *value)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(table[i].name, word)) {
			*value = table[i].value;
			return true;
		}
	}
	return false;
}

static bool parse_number(const char *word, uint32_t *value)
{
	char *end;
	long long v = strtoll(word, &end, 0);

	*value = (uint32_t)v;
	return *word && !*end;
}

/* A|B|0x10 */
static bool parse_value(char *text, uint32_t *value)
{
	char *save;

	*value = 0;
	for (char *w = strtok_r(text, "|", &save); w; w = strtok_r(NULL, "|", &save)) {
		uint32_t v;

		if (!find_name(names, N_OF(names), w, &v) && !parse_number(w, &v))
			return false;
		*value |= v;
	}
	return true;
}

static bool parse_features(char *text, struct line *l)
{
	static const char *const words[] = {"reads", "exec", "ident", "hide", "unscoped"};
	char *save;

	if (!strcmp(text, "*"))
		return true;
	for (char *w = strtok_r(text, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
		bool off = *w == '-';
		size_t i = 0;

		while (i < N_OF(words) && strcmp(words[i], w + off))
			i++;
		if (i == N_OF(words))
			return false;
		*(off ? &l->off : &l->on) |= 1u << i;
	}
	return true;
}

static bool parse_call(const char *text, struct line *l, size_t *row)
{
	uint32_t v;

	for (*row = 0; *row < sysc_count(); ++*row) {
		if (!strcmp(sysc_row_name(*row), text)) {
			l->nr = sysc_row_nr(*row);
			return true;
		}
	}
	l->nr = parse_number(text, &v) ? (int)v : -1;
	return l->nr >= 0;
}

static bool parse_answer(const char *text, uint32_t *ret)
{
	uint32_t err;

	if (!strcmp(text, "ALLOW"))
		*ret = SECCOMP_RET_ALLOW;
	else if (!strcmp(text, "NOTIFY"))
		*ret = SECCOMP_RET_USER_NOTIF;
	else if (find_name(errnos, N_OF(errnos), text, &err))
		*ret = SECCOMP_RET_ERRNO | err;
	else
		return false;
	return true;
}

/* Returns false for a line of another architecture. */
static bool parse_arch(const char *text, struct line *l)
{
	l->arch = NATIVE;
	if (!strcmp(text, "compat"))
		l->arch = COMPAT;
	else if (!strcmp(text, "x32"))
		l->nr |= X32_BIT;
	else if (!strcmp(text, "x86_64") || !strcmp(text, "arm64"))
		return !strcmp(text, NATIVE_NAME);
	else if (strcmp(text, "native"))
		COMPLAIN(l, "no such architecture: %s", text);
	return true;
}

static void note(size_t row, uint32_t ret)
{
	for (size_t i = 0; i < n_said[row]; i++)
		if (said[row][i] == ret)
			return;
	assert_true(n_said[row] < MAX_SAID);
	said[row][n_said[row]++] = ret;
}

static const char *text_of(uint32_t ret)
{
	const char *name = strerrorname_np((int)(ret & SECCOMP_RET_DATA));

	if (ret == SECCOMP_RET_ALLOW)
		return "ALLOW";
	if (ret == SECCOMP_RET_USER_NOTIF)
		return "NOTIFY";
	return (ret & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO && name ? name : "nothing known";
}

static bool try_line(const struct line *l, unsigned features, uint64_t any, uint64_t junk)
{
	struct seccomp_data d = {.nr = l->nr, .arch = l->arch};
	enum bpf_fault fault;
	uint32_t ret;

	for (size_t i = 0; i < 6; i++)
		d.args[i] = l->any[i] ? any : l->arg[i] | junk << 32;
	fault = bpf_sim(filter_program(features), &d, false, &ret);
	if (fault)
		COMPLAIN(l, "%s", bpf_fault_text(fault));
	else if (ret != l->ret)
		COMPLAIN(l, "expected %s, is %s (with features %#x, * as %#llx)", text_of(l->ret),
			 text_of(ret), features, (unsigned long long)any);
	return !fault && ret == l->ret;
}

static void run_line(const struct line *l)
{
	static const uint64_t any[] = {0, ~0ULL, 1, 0xffffffff, 0x5a5a5a5aa5a5a5a5, 0x1234567800000010};

	for (unsigned f = 0; f < FEATURE_COMBINATIONS; f++) {
		if ((f & l->on) != l->on || (f & l->off))
			continue;
		for (size_t i = 0; i < N_OF(any); i++)
			if (!try_line(l, f, any[i], i % 2 ? 0xffffffff : 0))
				return;
	}
}

static void parse_line(char *text, struct line *l)
{
	char *col[10] = {NULL};
	char *save;
	size_t n = 0;
	size_t row;

	text[strcspn(text, "#\n")] = '\0';
	for (char *w = strtok_r(text, " \t", &save); w; w = strtok_r(NULL, " \t", &save)) {
		if (n < N_OF(col))
			col[n] = w;
		n++;
	}
	if (!n)
		return;
	if (n != N_OF(col)) {
		COMPLAIN(l, "%zu columns", n);
		return;
	}
	l->nr = 0;
	if (!parse_arch(col[1], l))
		return;
	if (!parse_call(col[2], l, &row))
		COMPLAIN(l, "no such call: %s", col[2]);
	parse_arch(col[1], l);
	if (!parse_features(col[0], l))
		COMPLAIN(l, "no such feature");
	for (size_t i = 0; i < 6; i++) {
		l->any[i] = !strcmp(col[3 + i], "*");
		if (!l->any[i] && !parse_value(col[3 + i], &l->arg[i]))
			COMPLAIN(l, "argument %zu", i);
	}
	if (!parse_answer(col[9], &l->ret))
		COMPLAIN(l, "no such answer: %s", col[9]);
	if (row < sysc_count() && l->arch == NATIVE && !(l->nr & X32_BIT))
		note(row, l->ret);
	run_line(l);
}

static void run_sheet(const char *path)
{
	FILE *f = fopen(path, "re");
	char text[512];
	unsigned number = 0;

	assert_non_null(f);
	while (fgets(text, sizeof(text), f)) {
		struct line l = {.file = path, .number = ++number};

		parse_line(text, &l);
	}
	fclose(f);
}

static void test_sheets(void **state)
{
	glob_t g;

	assert_true(sysc_count() <= MAX_ROWS);
	assert_int_equal(glob("tests/bpf/*.tests", 0, NULL, &g), 0);
	for (size_t i = 0; i < g.gl_pathc; i++)
		run_sheet(g.gl_pathv[i]);
	globfree(&g);
	assert_int_equal(faults, 0);
}

static unsigned lacks(size_t row, enum sysc_action action, int err)
{
	uint32_t want = ret_of(action, action == SYSC_EPERM ? EPERM : action == SYSC_ENOSYS ? ENOSYS : err);

	for (size_t i = 0; i < n_said[row]; i++)
		if (said[row][i] == want)
			return 0;
	print_error("%s: no line in tests/bpf expects %s\n", sysc_row_name(row), text_of(want));
	return 1;
}

/* Runs after test_sheets: each answer of each row that can do more than allow has been expected somewhere. */
static void test_rows_have_lines(void **state)
{
	unsigned missing = 0;

	for (size_t i = 0; i < sysc_count(); i++) {
		const struct sysc *row = sysc_row(i);

		if (row->n_when || row->action != SYSC_ALLOW)
			missing += lacks(i, row->action, row->err);
		if (row->needs)
			missing += lacks(i, SYSC_ALLOW, 0);
		for (size_t k = 0; k < row->n_when; k++)
			missing += lacks(i, row->when[k].action, row->when[k].err);
	}
	assert_int_equal(missing, 0);
}

static void test_rows_have_docs(void **state)
{
	unsigned missing = 0;

	for (size_t i = 0; i < sysc_count(); i++) {
		const struct sysc *row = sysc_row(i);

		if ((row->n_when || row->handle) && (!row->doc || !*row->doc)) {
			print_error("%s: no .doc\n", row->name);
			missing++;
		}
		if (row->handle && !row->op) {
			print_error("%s: no .op\n", row->name);
			missing++;
		}
	}
	assert_int_equal(missing, 0);
}

/* Headers newer than sysc.def bring calls that nobody has thought about yet. */
static void test_headers_are_covered(void **state)
{
	static const struct {
		const char *name;
		int nr;
	} header[] = {
#include "header_numbers.h"
	};
	unsigned missing = 0;

	assert_true(N_OF(header) > 250);
	for (size_t i = 0; i < N_OF(header); i++) {
		const struct sysc *row = sysc_by_nr(header[i].nr);

		if (!row || strcmp(row->name, header[i].name)) {
			print_error("%s (%d) is not in sysc.def\n", header[i].name, header[i].nr);
			missing++;
		}
	}
	assert_int_equal(missing, 0);
#ifdef __x86_64__
	assert_int_equal(sysc_count(), 383);
#endif
}

static uint32_t answer(unsigned features, uint32_t arch, int nr, bool number_only)
{
	struct seccomp_data d = {.nr = nr, .arch = arch, .args = {~0ULL, ~0ULL, ~0ULL, ~0ULL, ~0ULL, ~0ULL}};
	uint32_t ret;
	enum bpf_fault fault = bpf_sim(filter_program(features), &d, number_only, &ret);

	if (fault)
		fail_msg("features %#x, number %d: %s", features, nr, bpf_fault_text(fault));
	return ret;
}

static void test_all_numbers(void **state)
{
	static const uint64_t ones[6] = {~0ULL, ~0ULL, ~0ULL, ~0ULL, ~0ULL, ~0ULL};
	const uint32_t absent = ret_of(SYSC_ERRNO, ENOSYS);

	for (unsigned f = 0; f < FEATURE_COMBINATIONS; f++) {
		for (int nr = -1; nr <= 600; nr++) {
			const struct sysc *row = sysc_by_nr(nr);
			int err;
			enum sysc_action action = sysc_action_for(row, f, ones, &err);

			/* What no register decides must not load one: that keeps the kernel's bitmap of
			 * calls that are always allowed. */
			assert_int_equal(answer(f, NATIVE, nr, sysc_is_constant(row, f)),
					 ret_of(action, err));
			if (!row)
				assert_int_equal(answer(f, NATIVE, nr, true), absent);
			assert_int_equal(answer(f, COMPAT, nr, true), absent);
			assert_int_equal(answer(f, NATIVE, nr | X32_BIT, true), absent);
		}
	}
}

/* In a child: loads the program and sees what the kernel makes of it. Nothing may wait for a supervisor. */
static int load_and_probe(void)
{
	int fd;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return 10;
	fd = filter_load(0);
	if (fd < 0)
		return fd == -EBUSY || fd == -EINVAL || fd == -ENOSYS ? 77 : 11;
	if (syscall(SYS_fcntl, fd, F_GETFD) != FD_CLOEXEC)
		return 12;
	if (syscall(SYS_getppid) <= 0)
		return 13;
	if (syscall(SYS_openat, AT_FDCWD, "/", O_RDONLY | O_DIRECTORY) < 0)
		return 14;
	if (syscall(SYS_mount, NULL, NULL, NULL, 0, NULL) != -1 || errno != EPERM)
		return 15;
	if (syscall(SYS_clone3, NULL, 0) != -1 || errno != ENOSYS)
		return 16;
	if (syscall(SYS_getppid | X32_BIT) != -1 || errno != ENOSYS)
		return 17;
	if (syscall(600) != -1 || errno != ENOSYS)
		return 18;
	if (syscall(SYS_sendmsg, -1, NULL, MSG_FASTOPEN) != -1 || errno != EOPNOTSUPP)
		return 19;
	if (filter_load(0) != -EBUSY)
		return 20;
	return 0;
}

static void test_load(void **state)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid)
		_exit(load_and_probe());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sheets),	       cmocka_unit_test(test_rows_have_lines),
		cmocka_unit_test(test_rows_have_docs), cmocka_unit_test(test_headers_are_covered),
		cmocka_unit_test(test_all_numbers),    cmocka_unit_test(test_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
