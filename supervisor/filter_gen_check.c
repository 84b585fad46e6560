/*
 * The self-check: rows are looked over, and programs are interpreted and compared with the direct evaluation
 * of the rows on arguments made from the rows' own conditions: every value that a term names, that value with
 * each single bit changed, everything outside its mask set, limits, random values, and all that again with
 * junk in the upper halves that no condition looks at, which must not matter.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/bpf_sim.h"
#include "supervisor/filter_gen.h"

#ifdef __x86_64__
#define NATIVE AUDIT_ARCH_X86_64
#define OTHER  AUDIT_ARCH_AARCH64
#else
#define NATIVE AUDIT_ARCH_AARCH64
#define OTHER  AUDIT_ARCH_X86_64
#endif
#define X32_BIT 0x40000000

#define MAX_CANDIDATES 4096
#define PER_TERM       36
#define RANDOM_ROUNDS  2000
#define MAX_TOLD       20

struct candidates {
	uint32_t v[MAX_CANDIDATES];
	size_t n; /* 0: no condition looks at this argument */
};

struct check {
	const struct gen_set *set;
	struct sock_fprog prog;
	unsigned features;
	unsigned differences;
	uint64_t random;
	struct candidates half[12]; /* of the arguments: lower, upper */
};

static uint64_t next_random(struct check *c)
{
	c->random ^= c->random << 13;
	c->random ^= c->random >> 7;
	c->random ^= c->random << 17;
	return c->random;
}

static void tell(struct check *c, const struct seccomp_data *d, uint32_t want, uint32_t got,
		 enum bpf_fault fault)
{
	if (c->differences++ >= MAX_TOLD)
		return;
	fprintf(stderr,
		"filter_gen: %s %u, arch %#x, number %d (%s), "
		"args %#llx %#llx %#llx %#llx %#llx %#llx: expected %#x, program says %#x (%s)\n",
		c->set->name, c->features, d->arch, d->nr,
		sysc_by_nr(d->nr) ? sysc_by_nr(d->nr)->name : "unknown", d->args[0], d->args[1], d->args[2],
		d->args[3], d->args[4], d->args[5], want, got, bpf_fault_text(fault));
}

static void compare(struct check *c, const struct seccomp_data *d, bool number_only, uint32_t want)
{
	uint32_t got;
	enum bpf_fault fault = bpf_sim(&c->prog, d, number_only, &got);

	if (fault || got != want)
		tell(c, d, want, got, fault);
}

static void compare_row(struct check *c, const struct sysc *row, int nr, const uint64_t args[6])
{
	struct seccomp_data d = {.nr = nr, .arch = NATIVE, .instruction_pointer = next_random(c)};
	enum sysc_action action;
	int err;

	memcpy(d.args, args, sizeof(d.args));
	action = sysc_action_for(row, c->features, args, &err);
	compare(c, &d, sysc_is_constant(row, c->features), gen_return(action, err));
	for (size_t i = 0; i < 6; i++)
		if (c->half[2 * i + 1].n == 0)
			d.args[i] ^= next_random(c) << 32;
	compare(c, &d, sysc_is_constant(row, c->features), gen_return(action, err));
}

static void add_candidates(struct candidates *c, const struct sysc_term *t)
{
	if (c->n + PER_TERM > MAX_CANDIDATES)
		return;
	c->v[c->n++] = t->value;
	c->v[c->n++] = t->value | ~t->mask;
	c->v[c->n++] = t->mask;
	c->v[c->n++] = t->value ^ t->mask;
	for (int bit = 0; bit < 32; bit++)
		c->v[c->n++] = t->value ^ 1U << bit;
}

static struct candidates *half_of(struct check *c, const struct sysc_term *t)
{
	return &c->half[2 * t->arg + t->high];
}

static void set_half(uint64_t args[6], size_t half, uint32_t v)
{
	unsigned shift = half % 2 ? 32 : 0;

	args[half / 2] = (args[half / 2] & ~(0xffffffffULL << shift)) | (uint64_t)v << shift;
}

static void collect(struct check *c, const struct sysc *row)
{
	static const uint32_t limits[] = {0, 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};

	for (size_t h = 0; h < 12; h++)
		c->half[h].n = 0;
	for (size_t i = 0; i < row->n_when; i++)
		for (size_t t = 0; t < SYSC_MAX_TERMS; t++)
			if (row->when[i].term[t].mask)
				add_candidates(half_of(c, &row->when[i].term[t]), &row->when[i].term[t]);
	for (size_t h = 0; h < 12; h++)
		for (size_t i = 0; c->half[h].n && i < sizeof(limits) / sizeof(limits[0]) + 8; i++)
			if (c->half[h].n < MAX_CANDIDATES)
				c->half[h].v[c->half[h].n++] = i < 6 ? limits[i] : (uint32_t)next_random(c);
}

/* From a starting point, each argument in turn takes every value of interest. */
static void vary(struct check *c, const struct sysc *row, int nr, const uint64_t base[6])
{
	uint64_t args[6];

	for (size_t h = 0; h < 12; h++) {
		memcpy(args, base, sizeof(args));
		for (size_t i = 0; i < c->half[h].n; i++) {
			set_half(args, h, c->half[h].v[i]);
			compare_row(c, row, nr, args);
		}
	}
}

/* Arguments for which a condition holds, unless its own terms contradict each other. */
static void satisfy(struct check *c, const struct sysc_when *w, uint64_t args[6])
{
	for (size_t a = 0; a < 6; a++)
		args[a] = (uint32_t)next_random(c);
	for (size_t i = 0; i < SYSC_MAX_TERMS; i++) {
		const struct sysc_term *t = &w->term[i];
		uint32_t lowest = t->mask & -t->mask;
		uint32_t bits = t->differs ? t->value ^ lowest : t->value;

		uint32_t now = (uint32_t)(args[t->arg] >> (t->high ? 32 : 0));

		set_half(args, 2 * t->arg + t->high, (now & ~t->mask) | bits);
	}
}

static void check_row(struct check *c, const struct sysc *row, int nr)
{
	uint64_t args[6] = {0};
	size_t used = 0;

	collect(c, row);
	compare_row(c, row, nr, args);
	for (size_t a = 0; a < 6; a++)
		args[a] = (uint32_t)next_random(c);
	compare_row(c, row, nr, args);
	if (sysc_is_constant(row, c->features))
		return;
	for (size_t h = 0; h < 12; h++)
		used += c->half[h].n > 0;
	vary(c, row, nr, args);
	/* With one argument only the starting point makes no difference. */
	for (size_t i = 0; i < row->n_when && used > 1; i++) {
		satisfy(c, &row->when[i], args);
		vary(c, row, nr, args);
	}
	for (int i = 0; i < RANDOM_ROUNDS && used > 1; i++) {
		for (size_t h = 0; h < 12; h++)
			if (c->half[h].n)
				set_half(args, h, c->half[h].v[next_random(c) % c->half[h].n]);
		compare_row(c, row, nr, args);
	}
}

/* Numbers of this architecture: listed or not, and with the bit that means x32 on x86-64. */
static void check_number(struct check *c, int nr)
{
	struct seccomp_data d = {.nr = nr | X32_BIT, .arch = NATIVE};
	static const uint32_t foreign[] = {AUDIT_ARCH_I386, AUDIT_ARCH_ARM, OTHER, 0, ~0U};
	const struct sysc unknown = {.name = "unknown", .action = c->set->otherwise};
	const struct sysc *row = nr >= 0 && nr < GEN_NUMBERS ? c->set->by_nr[nr] : NULL;

	check_row(c, row ? row : &unknown, nr);
	compare(c, &d, true, gen_return(c->set->otherwise, 0));
	d.nr = nr;
	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
		d.arch = foreign[i];
		compare(c, &d, true, gen_return(c->set->otherwise, 0));
	}
}

unsigned gen_check_program(const struct gen_program *p, const struct gen_set *set)
{
	static const int odd[] = {-1, INT32_MIN, INT32_MAX, X32_BIT - 1, 0x10000, 0x8000};
	struct check *c = calloc(1, sizeof(*c));
	unsigned differences;

	if (!c)
		return 1;
	*c = (struct check){.set = set, .features = set->features, .random = 0x9e3779b97f4a7c15};
	c->prog = (struct sock_fprog){.len = (unsigned short)p->len, .filter = (struct sock_filter *)p->code};
	for (int nr = 0; nr < GEN_NUMBERS; nr++)
		check_number(c, nr);
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		check_number(c, odd[i]);
	differences = c->differences;
	free(c);
	return differences;
}

static unsigned complain(const char *name, const char *what)
{
	fprintf(stderr, "filter_gen: %s: %s\n", name, what);
	return 1;
}

static unsigned check_answer(const struct sysc *row, enum sysc_action action, int err)
{
	if (action == SYSC_NOTIFY && !row->handle)
		return complain(row->name, "SYSC_NOTIFY without .handle");
	if ((action == SYSC_ERRNO) != (err > 0 && err < 4096))
		return complain(row->name, ".err goes with SYSC_ERRNO and only with it");
	return 0;
}

static unsigned check_when(const struct sysc *row, const struct sysc_when *w)
{
	unsigned faults = check_answer(row, w->action, w->err);

	for (size_t i = 0; i < SYSC_MAX_TERMS; i++) {
		const struct sysc_term *t = &w->term[i];

		if (t->arg >= 6)
			return faults + complain(row->name, "a term has no such argument");
		if ((t->value & ~t->mask) || (t->differs && !t->mask))
			faults += complain(row->name, "a term that can never, or never not, hold");
	}
	return faults;
}

unsigned gen_check_rows(void)
{
	unsigned faults = 0;

	for (size_t i = 0; i < sysc_count(); i++) {
		const struct sysc *row = sysc_row(i);

		if (!row->name || strcmp(row->name, sysc_row_name(i)))
			return complain(sysc_row_name(i), "the row has another name");
		if (sysc_by_nr(sysc_row_nr(i)) != row)
			faults += complain(row->name, "its number has another row");
		faults += check_answer(row, row->action, row->err);
		for (size_t k = 0; k < row->n_when; k++)
			faults += check_when(row, &row->when[k]);
	}
	return faults;
}
