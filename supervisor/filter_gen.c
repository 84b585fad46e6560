/*
 * Makes the seccomp programs when cordon is built.
 *
 * libseccomp makes the frame of each program: the test of the architecture, the refusal of x32, and a
 * binary search over the numbers with one answer per call. A call whose answer depends on registers gets a
 * mark as its answer there, and the mark is then replaced by a jump to the row's own instructions behind the
 * frame (filter_gen_row.c). libseccomp's own rules on arguments are not used: it takes them as a set without
 * order, so that "the first condition that holds" of ioctl would become thousands of rules for "none of
 * these", and the comparisons of older releases have faults. Nothing here is taken on trust: each program is
 * interpreted and compared with the rows (filter_gen_check.c), and a difference fails the build.
 *
 *	filter_gen          C source on standard output
 *	filter_gen --doc    docs/syscalls.md
 *	filter_gen --own    which module of cordon states which call of its own
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "supervisor/filter.h"
#include "supervisor/filter_gen.h"
#include "supervisor/lockdown.h"

/* The generated file defines them for cordon. Here they satisfy the linker. */
const struct sock_fprog filter_programs[FEATURE_COMBINATIONS];
const struct sock_fprog lockdown_supervisor_program, lockdown_front_program, lockdown_gateway_program;

static uint32_t frame_action(enum sysc_action action, int err)
{
	switch (action) {
	case SYSC_ALLOW:
		return SCMP_ACT_ALLOW;
	case SYSC_NOTIFY:
		return SCMP_ACT_NOTIFY;
	case SYSC_TRAP:
		return SCMP_ACT_TRAP;
	case SYSC_EPERM:
	case SYSC_ERRNO:
	case SYSC_ENOSYS:
	default:
		return SCMP_ACT_ERRNO((uint32_t)err);
	}
}

/* SECCOMP_RET_TRACE is no answer of any row: it marks the place of row i. */
static uint32_t mark(size_t i)
{
	return SCMP_ACT_TRACE(i);
}

static bool is_mark(const struct sock_filter *f)
{
	return f->code == (BPF_RET | BPF_K) && (f->k & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_TRACE;
}

void gen_set_add(struct gen_set *set, int nr, const struct sysc *row)
{
	set->row[set->n] = set->by_nr[nr] = row;
	set->nr[set->n++] = nr;
}

static int add_row(scmp_filter_ctx ctx, const struct gen_set *set, size_t i)
{
	static const uint64_t no_args[6];
	enum sysc_action action;
	int err;

	if (!sysc_is_constant(set->row[i], set->features))
		return seccomp_rule_add_exact(ctx, mark(i), set->nr[i], 0);
	action = sysc_action_for(set->row[i], set->features, no_args, &err);
	/* libseccomp refuses a rule that says the same as the default. */
	if (gen_return(action, err) == gen_return(set->otherwise, 0))
		return 0;
	return seccomp_rule_add_exact(ctx, frame_action(action, err), set->nr[i], 0);
}

static int read_back(scmp_filter_ctx ctx, struct gen_program *p)
{
	int fd = memfd_create("filter", MFD_CLOEXEC);
	ssize_t n;
	int rc;

	if (fd < 0)
		return -errno;
	rc = seccomp_export_bpf(ctx, fd);
	n = rc ? 0 : pread(fd, p->code, sizeof(p->code), 0);
	close(fd);
	if (rc)
		return rc;
	if (n <= 0 || n % (ssize_t)sizeof(p->code[0]) || n == (ssize_t)sizeof(p->code))
		return -E2BIG;
	p->len = (size_t)n / sizeof(p->code[0]);
	return 0;
}

/* The program with marks. */
static int frame(struct gen_program *p, const struct gen_set *set)
{
	uint32_t otherwise = frame_action(set->otherwise, ENOSYS);
	scmp_filter_ctx ctx = seccomp_init(otherwise);
	int rc;

	if (!ctx)
		return -ENOMEM;
	rc = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, otherwise);
	if (!rc)
		rc = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	for (size_t i = 0; i < set->n && !rc; i++) {
		rc = add_row(ctx, set, i);
		if (rc)
			fprintf(stderr, "filter_gen: %s: %s\n", set->row[i]->name, strerror(-rc));
	}
	if (!rc)
		rc = read_back(ctx, p);
	seccomp_release(ctx);
	return rc;
}

/* Each mark becomes a jump to its row's instructions, appended once per mark. */
static int fill_marks(struct gen_program *p, const struct gen_set *set)
{
	size_t frame_len = p->len;

	for (size_t at = 0; at < frame_len; at++) {
		struct sock_filter *f = &p->code[at];
		size_t i = f->k & SECCOMP_RET_DATA;

		if (!is_mark(f))
			continue;
		*f = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, p->len - at - 1);
		if (i >= set->n || !gen_row(p, set->row[i], set->features))
			return -E2BIG;
	}
	return 0;
}

static bool same(const struct gen_program *a, const struct gen_program *b)
{
	return a->len == b->len && !memcmp(a->code, b->code, a->len * sizeof(a->code[0]));
}

static void print_program(const struct gen_program *p, const char *name)
{
	printf("static const struct sock_filter program_%s[] = {\n", name);
	for (size_t i = 0; i < p->len; i++)
		printf("\t{0x%02x, %u, %u, 0x%08x},\n", p->code[i].code, p->code[i].jt, p->code[i].jf,
		       p->code[i].k);
	printf("};\n\n");
}

static void print_own(const struct gen_program *p, const char *name)
{
	print_program(p, name);
	printf("const struct sock_fprog lockdown_%s_program = {%zu, (struct sock_filter *)program_%s};\n\n",
	       name, p->len, name);
}

static void print_all(const struct gen_program *p)
{
	unsigned first[FEATURE_COMBINATIONS];
	char name[16];

	for (unsigned f = 0; f < FEATURE_COMBINATIONS; f++) {
		for (first[f] = 0; !same(&p[first[f]], &p[f]); first[f]++)
			continue;
		snprintf(name, sizeof(name), "%u", f);
		if (first[f] == f)
			print_program(&p[f], name);
	}
	printf("const struct sock_fprog filter_programs[FEATURE_COMBINATIONS] = {\n");
	for (unsigned f = 0; f < FEATURE_COMBINATIONS; f++)
		printf("\t{%zu, (struct sock_filter *)program_%u},\n", p[f].len, first[f]);
	printf("};\n");
}

/* False: told on stderr. */
static bool make(struct gen_program *p, const struct gen_set *set)
{
	int rc = frame(p, set);

	if (!rc)
		rc = fill_marks(p, set);
	if (rc)
		fprintf(stderr, "filter_gen: %s %u: %s\n", set->name, set->features, strerror(-rc));
	return !rc && !gen_check_program(p, set);
}

static bool make_for_command(struct gen_program *p, unsigned features)
{
	static struct gen_set set;

	set = (struct gen_set){.name = "features", .features = features, .otherwise = SYSC_ENOSYS};
	for (size_t i = 0; i < sysc_count(); i++)
		gen_set_add(&set, sysc_row_nr(i), sysc_row(i));
	return make(p, &set);
}

static bool make_own(struct gen_program *p, enum own_process process)
{
	static struct gen_set set;

	return !gen_own(&set, process) && make(p, &set);
}

int main(int argc, char **argv)
{
	static struct gen_program programs[FEATURE_COMBINATIONS], own[3];
	bool ok = gen_check_rows() == 0;

	if (argc > 1 && !strcmp(argv[1], "--doc")) {
		gen_doc(stdout);
		return !ok || fflush(stdout) ? 1 : 0;
	}
	if (argc > 1 && !strcmp(argv[1], "--own")) {
		gen_own_list(stdout);
		return fflush(stdout) ? 1 : 0;
	}
	/* What the kernel of the build machine supports does not matter. */
	seccomp_api_set(5);
	for (unsigned f = 0; f < FEATURE_COMBINATIONS && ok; f++)
		ok = make_for_command(&programs[f], f);
	if (!ok || !make_own(&own[0], OWN_SUPERVISOR) || !make_own(&own[1], OWN_FRONT) ||
	    !make_own(&own[2], OWN_GATEWAY))
		return 1;
	printf("/* Made by filter_gen from supervisor/sysc.def and what the modules state (lockdown.h). "
	       "*/\n");
	printf("#include \"supervisor/filter.h\"\n#include \"supervisor/lockdown.h\"\n\n");
	print_all(programs);
	print_own(&own[0], "supervisor");
	print_own(&own[1], "front");
	print_own(&own[2], "gateway");
	return fflush(stdout) ? 1 : 0;
}
