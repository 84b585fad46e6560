/*
 * A row whose answer depends on registers, as instructions: each condition in turn, its terms one after the
 * other; a term that fails jumps to the next condition.
 */
#include <endian.h>
#include <errno.h>
#include <linux/seccomp.h>

#include "supervisor/filter_gen.h"

#if __BYTE_ORDER != __LITTLE_ENDIAN
#error "the lower half of an argument is taken from its first word"
#endif

#define NOTHING_LOADED -1

struct block {
	struct gen_program *p;
	int loaded; /* the half of an argument that the accumulator holds: twice its number, and 1 for the upper */
	bool overflow;
};

uint32_t gen_return(enum sysc_action action, int err)
{
	switch (action) {
	case SYSC_ALLOW:
		return SECCOMP_RET_ALLOW;
	case SYSC_NOTIFY:
		return SECCOMP_RET_USER_NOTIF;
	case SYSC_TRAP:
		return SECCOMP_RET_TRAP;
	case SYSC_EPERM:
		return SECCOMP_RET_ERRNO | EPERM;
	case SYSC_ERRNO:
		return SECCOMP_RET_ERRNO | ((uint32_t)err & SECCOMP_RET_DATA);
	case SYSC_ENOSYS:
	default:
		return SECCOMP_RET_ERRNO | ENOSYS;
	}
}

static void emit(struct block *b, struct sock_filter insn)
{
	if (b->p->len < BPF_MAXINSNS)
		b->p->code[b->p->len++] = insn;
	else
		b->overflow = true;
}

static void load(struct block *b, int half)
{
	if (b->loaded == half)
		return;
	emit(b, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					     offsetof(struct seccomp_data, args) + half * sizeof(uint32_t)));
	b->loaded = half;
}

static bool term_is_void(const struct sysc_term *t)
{
	return !t->mask && !t->value && !t->differs;
}

/*
 * The test of one term. The jump that means "does not hold" gets 1 for the caller to replace, the other 0,
 * which is the next instruction. Bits that must be clear, or must not all be clear, are tested without
 * spoiling the accumulator.
 */
static void term(struct block *b, const struct sysc_term *t)
{
	bool holds_if_true = !t->differs;
	uint16_t code = BPF_JMP | BPF_JEQ | BPF_K;
	uint32_t k = t->value;

	load(b, t->arg * 2 + t->high);
	if (t->mask != ~0U && !t->value) {
		code = BPF_JMP | BPF_JSET | BPF_K;
		k = t->mask;
		holds_if_true = t->differs;
	} else if (t->mask != ~0U) {
		emit(b, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, t->mask));
		b->loaded = NOTHING_LOADED;
	}
	emit(b, (struct sock_filter)BPF_JUMP(code, k, !holds_if_true, holds_if_true));
}

/* Returns false when the condition has no terms, so that what follows is never reached. */
static bool condition(struct block *b, const struct sysc_when *w)
{
	size_t jump[SYSC_MAX_TERMS];
	size_t n = 0;
	int loaded_at_next = NOTHING_LOADED;

	for (size_t i = 0; i < SYSC_MAX_TERMS; i++) {
		if (term_is_void(&w->term[i]))
			continue;
		term(b, &w->term[i]);
		/* The next condition is reached from each term: what is loaded there must be the same. */
		loaded_at_next = n == 0 || loaded_at_next == b->loaded ? b->loaded : NOTHING_LOADED;
		jump[n++] = b->p->len - 1;
	}
	emit(b, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, gen_return(w->action, w->err)));
	for (size_t i = 0; i < n && !b->overflow; i++) {
		struct sock_filter *f = &b->p->code[jump[i]];
		uint8_t distance = (uint8_t)(b->p->len - jump[i] - 1);

		if (f->jt)
			f->jt = distance;
		else
			f->jf = distance;
	}
	b->loaded = loaded_at_next;
	return n > 0;
}

bool gen_row(struct gen_program *p, const struct sysc *row, unsigned features)
{
	struct block b = {.p = p, .loaded = NOTHING_LOADED};

	for (size_t i = 0; i < row->n_when; i++)
		if (sysc_when_exists(&row->when[i], features) && !condition(&b, &row->when[i]))
			return !b.overflow;
	emit(&b, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, gen_return(row->action, row->err)));
	return !b.overflow;
}
