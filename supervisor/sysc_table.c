/*
 * The rows as an array, the index from number to row, and the direct evaluation of a row: all made from
 * sysc.def.
 */
#include <errno.h>

#include "supervisor/sysc.h"
#include "supervisor/sysc_nr.h"

/* clang-format off */

/* The rows: those of their own are declared, the plain ones made here. */
#define SYSC(n)        extern const struct sysc sysc_##n;
#define SYSC_ALLOW(n)  static const struct sysc sysc_##n = {.name = #n, .action = SYSC_ALLOW};
#define SYSC_EPERM(n)  static const struct sysc sysc_##n = {.name = #n, .action = SYSC_EPERM};
#define SYSC_ENOSYS(n) static const struct sysc sysc_##n = {.name = #n, .action = SYSC_ENOSYS};
#include "supervisor/sysc.def"
#undef SYSC
#undef SYSC_ALLOW
#undef SYSC_EPERM
#undef SYSC_ENOSYS

#define SYSC_ALLOW(n)  SYSC(n)
#define SYSC_EPERM(n)  SYSC(n)
#define SYSC_ENOSYS(n) SYSC(n)

static const struct entry {
	const struct sysc *row;
	const char *name;
	int nr;
} entries[] = {
#define SYSC(n) {&sysc_##n, #n, SYS_##n},
#include "supervisor/sysc.def"
#undef SYSC
};

/* Two rows for one number do not compile. */
#pragma GCC diagnostic error "-Woverride-init"
static const struct sysc *const by_nr[] = {
#define SYSC(n) [SYS_##n] = &sysc_##n,
#include "supervisor/sysc.def"
#undef SYSC
};

#undef SYSC_ALLOW
#undef SYSC_EPERM
#undef SYSC_ENOSYS

/* clang-format on */

const struct sysc *sysc_by_nr(int nr)
{
	if (nr < 0 || (size_t)nr >= sizeof(by_nr) / sizeof(by_nr[0]))
		return NULL;
	return by_nr[nr];
}

size_t sysc_count(void)
{
	return sizeof(entries) / sizeof(entries[0]);
}

const struct sysc *sysc_row(size_t i)
{
	return entries[i].row;
}

int sysc_row_nr(size_t i)
{
	return entries[i].nr;
}

const char *sysc_row_name(size_t i)
{
	return entries[i].name;
}

static bool term_holds(const struct sysc_term *t, const uint64_t args[6])
{
	uint32_t half = (uint32_t)(args[t->arg] >> (t->high ? 32 : 0));

	return ((half & t->mask) == t->value) != t->differs;
}

bool sysc_when_exists(const struct sysc_when *w, unsigned features)
{
	return (features & w->needs) == w->needs && !(features & w->needs_not);
}

static bool when_holds(const struct sysc_when *w, const uint64_t args[6])
{
	for (size_t i = 0; i < SYSC_MAX_TERMS; i++)
		if (!term_holds(&w->term[i], args))
			return false;
	return true;
}

static enum sysc_action with_errno(enum sysc_action action, int row_err, int *err)
{
	switch (action) {
	case SYSC_EPERM:
		*err = EPERM;
		break;
	case SYSC_ERRNO:
		*err = row_err;
		break;
	case SYSC_ALLOW:
	case SYSC_NOTIFY:
	case SYSC_TRAP:
		*err = 0;
		break;
	case SYSC_ENOSYS:
	default:
		*err = ENOSYS;
		break;
	}
	return action;
}

enum sysc_action sysc_action_for(const struct sysc *row, unsigned features, const uint64_t args[6], int *err)
{
	if (!row)
		return with_errno(SYSC_ENOSYS, 0, err);
	if ((features & row->needs) != row->needs)
		return with_errno(SYSC_ALLOW, 0, err);
	for (size_t i = 0; i < row->n_when; i++) {
		const struct sysc_when *w = &row->when[i];

		if (sysc_when_exists(w, features) && when_holds(w, args))
			return with_errno(w->action, w->err, err);
	}
	return with_errno(row->action, row->err, err);
}

bool sysc_is_constant(const struct sysc *row, unsigned features)
{
	if (!row || (features & row->needs) != row->needs)
		return true;
	for (size_t i = 0; i < row->n_when; i++) {
		const struct sysc_when *w = &row->when[i];
		bool has_terms = false;

		if (!sysc_when_exists(w, features))
			continue;
		for (size_t t = 0; t < SYSC_MAX_TERMS; t++)
			has_terms |= w->term[t].mask || w->term[t].differs;
		/* A condition on features alone holds always and ends the list. */
		return !has_terms;
	}
	return true;
}
